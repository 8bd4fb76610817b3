#!/usr/bin/env bats
# Every configuration builds and answers. Unoptimised: it is about what links.

load ../lib/wardbox

setup_file() {
	make -C "$TOP" O="$BATS_FILE_TMPDIR/lib" DEPS="$O/deps" OPT=-O0 \
		FRAME=65536 WERROR=1 "$BATS_FILE_TMPDIR/lib/libcore.a"
}

build() { # $CONF is configured; builds and runs it
	run make -C "$TOP" --no-print-directory O="$CONF" DEPS="$O/deps" \
		LIBCORE="$BATS_FILE_TMPDIR/lib/libcore.a" \
		OPT=-O0 FRAME=65536 WERROR=1 all
	[ "$status" -eq 0 ] || { cat "$CONF/.config"; echo "$output"; false; }
	"$CONF/wardbox" --version
	[ "$("$CONF/wardbox" --list | wc -l)" -eq \
		"$(awk '$1 == "APPLETS_ON" { print NF - 2 }' "$CONF/gen/applets.mk")" ]
	run "$CONF/wardbox" no-such-applet
	[ "$status" -eq 127 ]
}

setup() {
	CONF=$BATS_TEST_TMPDIR/conf
}

@test "allnoconfig builds" {
	make -C "$TOP" O="$CONF" allnoconfig
	build
}

@test "the output may be on another file system" {
	need test -w /dev/shm
	CONF=$(mktemp -d /dev/shm/wardbox-XXXXXX)
	make -C "$TOP" O="$CONF" defconfig
	grep -q CONFIG_APPLET_SH=y "$CONF/.config"
	make -C "$TOP" O="$CONF" olddefconfig
	grep -q CONFIG_APPLET_SH=y "$CONF/.config"
}

teardown() {
	case $CONF in
	/dev/shm/*) rm -rf "$CONF" ;;
	esac
}

@test "allyesconfig builds" {
	make -C "$TOP" O="$CONF" allyesconfig
	build
}

@test "minimal_defconfig builds: the shim and the log alone" {
	make -C "$TOP" O="$CONF" minimal_defconfig
	build
	[ "$("$CONF/wardbox" --list | cut -d' ' -f1 | sort | tr '\n' ' ')" = "audit sh " ]
}

@test "every applet builds alone" {
	local source applet
	for source in $(grep -l '^ \* APPLET(' "$TOP"/applets/*.c); do
		applet=$(basename "$source" .c)
		CONF=$BATS_TEST_TMPDIR/$applet
		(cd "$TOP" && sh scripts/box-config "$applet" "$CONF")
		build
		# Itself, and the one that it runs commands by.
		"$CONF/wardbox" --list | cut -d' ' -f1 >"$CONF.list"
		grep -qx "$applet" "$CONF.list"
		[ "$(grep -cvx -e "$applet" -e exec "$CONF.list")" = 0 ]
		rm -rf "$CONF"
	done
}

# What libcore is made of depends on the configuration: not the shared one.
alone() { # APPLET: configured alone as box-APPLET is, with a libcore of its own
	CONF=$BATS_TEST_TMPDIR/$1
	(cd "$TOP" && sh scripts/box-config "$1" "$CONF")
	grep -qx CONFIG_SANDBOX_UNOTIFY=y "$CONF/.config"
	make -C "$TOP" --no-print-directory O="$CONF" DEPS="$O/deps" OPT=-O0 \
		FRAME=65536 WERROR=1 LIBCORE="$BATS_TEST_TMPDIR/lib/libcore.a" all
	WARDBOX=$CONF/wardbox
}

@test "each applet that runs guarded commands alone runs one, and denies one" {
	need unshare -m true
	local applet policy='use FULL-AUTO'
	cd "$TOP"
	sh scripts/box-config sh "$BATS_TEST_TMPDIR/lib"
	make O="$BATS_TEST_TMPDIR/lib" DEPS="$O/deps" OPT=-O0 FRAME=65536 \
		WERROR=1 "$BATS_TEST_TMPDIR/lib/libcore.a"
	project
	for applet in sh exec envrun; do
		alone "$applet"
		case $applet in
		sh) set -- sh -c ;;
		exec) set -- exec -- sh -c ;;
		envrun) set -- envrun ;;
		esac
		run in_policy "$policy" "$WARDBOX" "$@" '/bin/echo honest'
		echo "$applet: $status $output"
		[ "$status" -eq 0 ]
		[[ $output == *honest* ]]
		run in_policy "$policy" "$WARDBOX" "$@" 'sudo true'
		echo "$applet: $status $output"
		[ "$status" -eq 126 ]
	done
}

@test "an applet without the watch names the option that is missing" {
	(cd "$TOP" && sh scripts/box-config drop "$CONF")
	make -C "$TOP" --no-print-directory O="$CONF" DEPS="$O/deps" OPT=-O0 \
		FRAME=65536 WERROR=1 all
	"$CONF/wardbox" drop --rox=/ -- /bin/true
	run "$CONF/wardbox" drop --rox=/ --watch-exec -- /bin/true
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"built without SANDBOX_UNOTIFY"* ]]
	# Nor does it bring the log along.
	for option in --audit --audit-fd=2; do
		run "$CONF/wardbox" drop --rox=/ $option -- /bin/true
		[ "$status" -eq 125 ]
		[[ $output == *"not built in (DROP_AUDIT)"* ]]
	done
}

@test "ten random configurations build" {
	local n
	for n in 1 2 3 4 5 6 7 8 9 10; do
		CONF=$BATS_TEST_TMPDIR/random$n
		make -C "$TOP" O="$CONF" randconfig
		build
		rm -rf "$CONF"
	done
}

@test "savedefconfig of each configs/ file gives the file back" {
	local name
	for name in defconfig minimal_defconfig full_defconfig; do
		CONF=$BATS_TEST_TMPDIR/save
		make -C "$TOP" O="$CONF" "$name" savedefconfig
		diff "$CONF/defconfig" "$TOP/configs/$name"
	done
}

@test "SYSTEM_DEPS=1 links the libraries that the system has" {
	local lib=$BATS_TEST_TMPDIR/lib
	mkdir "$lib"
	cp "$O/deps/bearssl.a" "$lib/libbearssl.a"
	cp "$O/deps/tinycbor.a" "$lib/libtinycbor.a"
	make -C "$TOP" O="$CONF" minimal_defconfig
	run make -C "$TOP" --no-print-directory O="$CONF" SYSTEM_DEPS=1 \
		SYSTEM_LIBDIR="$lib" OPT=-O0 FRAME=65536 WERROR=1 \
		SYSTEM_INCLUDE="$O/deps/bearssl/inc $O/deps/tinycbor/src" \
		LIBCORE="$BATS_FILE_TMPDIR/lib/libcore.a" all
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -e "$CONF/deps" ]
	"$CONF/wardbox" --version
}

@test "SYSTEM_DEPS=1 without them names the file and the packages, and builds nothing" {
	make -C "$TOP" O="$CONF" minimal_defconfig
	run make -C "$TOP" --no-print-directory O="$CONF" SYSTEM_DEPS=1 \
		SYSTEM_LIBDIR="$BATS_TEST_TMPDIR/none" OPT=-O0 \
		LIBCORE="$BATS_FILE_TMPDIR/lib/libcore.a" all
	[ "$status" -ne 0 ]
	[[ "$output" == *"$BATS_TEST_TMPDIR/none/libbearssl.a is missing"* ]]
	[[ "$output" == *bearssl-static*tinycbor-static*SYSTEM_LIBDIR* ]]
	[[ "$output" != *"  CC "* ]]
}

@test "without kconfig-frontends, kconfiglib answers as it does" {
	need sh -c 'python3 -c "import kconfiglib" || /usr/bin/python3 -c "import kconfiglib"'
	local c
	for c in defconfig minimal_defconfig allnoconfig allyesconfig; do
		make -C "$TOP" O="$CONF" $c
		make -C "$TOP" O="$CONF.py" KCONFIG_CONF=scripts/kconfig-conf $c
		diff <(grep -E '^CONFIG_' "$CONF/.config" | sort) \
			<(grep -E '^CONFIG_' "$CONF.py/.config" | sort)
	done
}
