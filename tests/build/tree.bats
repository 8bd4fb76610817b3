#!/usr/bin/env bats
# The house keeps its own rules, and the rules can fail.

load ../lib/wardbox

# An archive with one module made of the given C text.
archive() {
	cd "$BATS_TEST_TMPDIR" || return
	echo "$1" >bad.c
	gcc -c bad.c
	ar rc bad.a bad.o
	cd "$TOP" || return
}

@test "libcore keeps quiet, keeps no state, and includes one way" {
	run make -C "$TOP" --no-print-directory O="$O" check-layers
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "check-layers sees a module that prints" {
	archive 'int printf(const char *, ...); int f(void); int f(void) { return printf("x%d", 1); }'
	run sh scripts/check-layers "$BATS_TEST_TMPDIR/bad.a"
	[ "$status" -eq 1 ]
	[[ "$output" == *"neither print"* ]]
}

@test "check-layers sees a module that keeps state" {
	archive 'static int n; int f(void); int f(void) { return n++; }'
	run sh scripts/check-layers "$BATS_TEST_TMPDIR/bad.a"
	[ "$status" -eq 1 ]
	[[ "$output" == *"keep no state"* ]]
}

@test "every header compiles alone" {
	run make -C "$TOP" --no-print-directory O="$O" check-headers
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a field of the wrong type in an option table does not compile" {
	cd "$BATS_TEST_TMPDIR"
	cat >good.c <<-'C'
		#include "cli/cli.h"
		struct s { bool b; unsigned u; const char *c; };
		extern const struct cli_opt o[];
		const struct cli_opt o[] = { CLI_FLAG('b', struct s, b, "bee", "help") };
	C
	sed 's/struct s, b/struct s, u/' good.c >bad.c
	gcc -std=c11 -D_GNU_SOURCE -iquote "$TOP/libcore" -iquote "$O/gen" -c good.c
	run gcc -std=c11 -D_GNU_SOURCE -iquote "$TOP/libcore" -iquote "$O/gen" -c bad.c
	[ "$status" -ne 0 ]
}

@test "a wrong hash stops the fetch, with both hashes and what to do" {
	mkdir "$BATS_TEST_TMPDIR/tarballs"
	echo junk >"$BATS_TEST_TMPDIR/tarballs/x.tar"
	DEPS_DIR=$BATS_TEST_TMPDIR/tarballs run sh "$TOP/scripts/fetch-deps" \
		"$BATS_TEST_TMPDIR/deps" "x stable x.tar 0000"
	[ "$status" -eq 1 ]
	[[ "$output" == *"expected SHA-256 0000"* ]]
	[[ "$output" == *"found            $(sha256sum "$BATS_TEST_TMPDIR/tarballs/x.tar" | cut -d' ' -f1)"* ]]
	[[ "$output" == *"build/deps.mk"* ]]
}

@test "bootstrap says which packages are missing when it may not install" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become nobody"
	local dir
	dir=$(mktemp -d)
	chmod 755 "$dir"
	cp "$TOP/scripts/bootstrap" "$dir/"
	echo "build no-such-package-anywhere no-such" >"$dir/packages"
	cd "$dir"
	run setpriv --reuid 65534 --regid 65534 --clear-groups \
		env PATH=/usr/bin:/bin sh bootstrap build
	cd /
	rm -rf "$dir"
	[ "$status" -eq 1 ]
	[[ "$output" == *no-such-package-anywhere* ]]
}

@test "make help lists the targets" {
	run make -C "$TOP" --no-print-directory help
	for goal in all dev check check-unit check-cli check-e2e fuzz bench lint \
		analyze size bloatcheck stacks install uninstall dist repro clean \
		distclean menuconfig randconfig savedefconfig; do
		[[ "$output" == *"$goal"* ]] || { echo "missing: $goal"; false; }
	done
}

@test "install and uninstall keep to DESTDIR" {
	make -C "$TOP" --no-print-directory O="$O" DESTDIR="$BATS_TEST_TMPDIR/d" install
	[ -x "$BATS_TEST_TMPDIR/d/usr/local/bin/wardbox" ]
	make -C "$TOP" --no-print-directory O="$O" DESTDIR="$BATS_TEST_TMPDIR/d" uninstall
	[ -z "$(find "$BATS_TEST_TMPDIR/d" -type f)" ]
}
