#!/usr/bin/env bats
# Two libraries are built by a machine whose shells are the shim, and by the
# same machine before: not a byte differs.

load ../lib/wardbox

setup() {
	need unshare -m true
	need cc --version
	need make --version
	export WARDBOX_SESSION_ID=session-builds
	cd "$BATS_TEST_TMPDIR" || return 1
	exec </dev/null
}

# The source of PACKAGE into ./src, from where the build's own come from.
source_of() { # PACKAGE SUITE TARBALL SHA256
	local dir=$O/deps-long
	sh "$TOP/scripts/fetch-deps" "$dir" "$*" >fetched 2>&1 ||
		skip "the source of $1 cannot be had here: $(tail -n 1 fetched)"
	cp -a "$dir/$1" src
}

# The machine's root, its /usr with the shim over sh, bash and dash.
installed() { # COMMAND...
	mkdir -p usr/up usr/work
	# shellcheck disable=SC2016 # expanded by the inner shell
	USR=$PWD/usr BOX=$WARDBOX in_policy 'use OBSERVE' bash -c '
		mount -t overlay overlay -o "lowerdir=/usr,upperdir=$USR/up,workdir=$USR/work" /usr &&
		"$BOX" install --yes --shells=sh,bash,dash >install.log 2>&1 || {
			cat install.log
			exit 1
		}
		unset USR BOX
		exec "$@"' bash "$@"
}

# Nothing that a build installs reaches this machine.
bare() {
	mkdir -p bare/up bare/work
	# shellcheck disable=SC2016 # expanded by the inner shell
	USR=$PWD/bare unshare -m sh -c '
		mount -t overlay overlay -o "lowerdir=/usr,upperdir=$USR/up,workdir=$USR/work" /usr &&
		unset USR && exec "$@"' sh "$@"
}

# Builds by SCRIPT in ./build, once with each; everything in it is compared.
same() { # SCRIPT
	local with
	for with in bare installed; do
		cp -a src build
		$with sh -c "cd build && $1" >"$with.out" 2>"$with.err" || {
			tail "$with.out" "$with.err"
			return 1
		}
		(cd build && find . -type l -printf '%p -> %l\n' -o -printf '%p %m\n' | sort &&
			find . -type f -exec sha256sum {} + | sort -k2) >"$with.sums"
		mv build "built.$with"
	done
	diff bare.sums installed.sums
	diff <(sort bare.out) <(sort installed.out)
	diff bare.err installed.err
	# It was the shim that ran it all.
	local n
	n=$(in_policy 'use OBSERVE' "$WARDBOX" audit dump -o json | grep -c '"start"')
	echo "# $(wc -l <bare.sums) files are the same, $n commands recorded" >&3
	[ "$n" -gt 100 ]
}

@test "BearSSL" {
	source_of bearssl bookworm bearssl_0.6+dfsg.1.orig.tar.xz \
		102a625bd8f6155260867a50c508df8d8c3f796985dd744df1a68e5cd1a79004
	# Any shell but its own is asked for every command.
	same 'make -j4 SHELL=/bin/dash lib tools'
}

@test "musl" {
	source_of musl bookworm musl_1.2.3.orig.tar.gz \
		7d5b0b6062521e4627e099e4c9dc8248d32a30285e959b7eecaa780cf8cfd4a4
	same './configure --disable-gcc-wrapper --prefix=/usr && make -j4 && make DESTDIR="$PWD/root" install'
}
