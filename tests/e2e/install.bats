#!/usr/bin/env bats
# install: killed at every step, and never a moment without a shell

load ../lib/wardbox
load ../lib/roots

# What may change a tree; a run is killed on entering each of them in turn.
CALLS="openat mkdirat linkat symlinkat renameat unlinkat write fchmod fsync
utimensat"

setup() {
	# A file system whose fsync costs nothing, where there is one.
	ROOM=$BATS_TEST_TMPDIR
	[ ! -w /dev/shm ] || ROOM=$(mktemp -d -p /dev/shm)
	cd "$ROOM" || return 1
	need test -n "$BUSYBOX"
	need strace -V
	exec </dev/null
}

teardown() {
	[ "$ROOM" = "$BATS_TEST_TMPDIR" ] || rm -rf "$ROOM"
}

# A small one, to be copied fast: two shells, of which one is a link.
small_root() { # DIR
	mkdir -p "$1/bin" "$1/etc"
	cp "$WARDBOX" "$1/bin/busybox"
	printf x >>"$1/bin/busybox"
	ln -s /bin/busybox "$1/bin/sh"
	printf '#!/bin/busybox\n' >"$1/bin/bash"
	chmod 755 "$1/bin/bash"
	age "$1"
}

# Every shell can be called: itself, or as a shim with its original.
works() { # DIR
	local name
	for name in sh bash; do
		if [ "$(readlink "$1/bin/$name")" = /bin/wardbox ]; then
			cmp -s "$WARDBOX" "$1/bin/wardbox" || return 1
			[ -L "$1/bin/$name.real" ] || [ -f "$1/bin/$name.real" ] ||
				return 1
		elif [ "$name" = sh ]; then
			[ "$(readlink "$1/bin/sh")" = /bin/busybox ] || return 1
		else
			[ -x "$1/bin/bash" ] || return 1
		fi
	done
}

# Kills wardbox install ARGS at the Nth CALL; false when it came to its end.
killed_at() { # CALL N ARGS...
	local call=$1 n=$2
	shift 2
	! { strace -f -qq -o /dev/null -e trace="$call" \
		-e inject="$call:signal=KILL:when=$n" \
		"$WARDBOX" install "$@"; } >/dev/null 2>&1
}

# Left off where install was killed, in a: completed there, undone in b.
install_step() {
	kills=$((kills + 1))
	works a || { echo "no shell after $call $n" && false; }
	cp -a a b
	"$WARDBOX" install --root a >/dev/null
	outline a | grep -v wardbox | diff <(grep -v wardbox guarded) - ||
		{ echo "not completed after $call $n" && false; }
	"$WARDBOX" install --root a --status >/dev/null
	"$WARDBOX" install --root a --uninstall >/dev/null
	outline a | diff bare - || { echo "left, $call $n" && false; }
	"$WARDBOX" install --root b --uninstall >/dev/null
	outline b | diff bare - || { echo "left at once, $call $n" && false; }
}

uninstall_step() {
	kills=$((kills + 1))
	works a || { echo "no shell after $call $n" && false; }
	cp -a a b
	"$WARDBOX" install --root a --uninstall >/dev/null
	outline a | diff bare - || { echo "left, $call $n" && false; }
	"$WARDBOX" install --root b >/dev/null
	outline b | grep -v wardbox | diff <(grep -v wardbox guarded) - ||
		{ echo "not guarded after $call $n" && false; }
}

# Kills install ARGS at each of its calls, begun with the tree FROM each time.
killed_everywhere() { # FROM STEP ARGS...
	local from=$1 step=$2 n
	shift 2
	small_root before
	outline before >bare
	cp -a before whole
	"$WARDBOX" install --root whole >/dev/null
	outline whole >guarded
	kills=0
	for call in $CALLS; do
		n=0
		while n=$((n + 1)) && rm -rf a b && cp -a "$from" a &&
			killed_at "$call" $n "$@" --root a; do
			$step
		done
	done
	echo "# killed $kills times" >&3
}

@test "an install killed at every call is completed, or undone, by the next" {
	killed_everywhere before install_step
	[ "$kills" -gt 30 ]
}

@test "an uninstall killed at every call is completed, or undone, by the next" {
	killed_everywhere whole uninstall_step --uninstall
	[ "$kills" -gt 15 ]
}

@test "while it is put on and taken off, /bin/sh always runs" {
	root_busybox root
	mkdir -p root/etc/wardbox
	echo 'use OBSERVE' >root/etc/wardbox/policy
	need chroot root /bin/busybox true
	export ROOT=$PWD/root
	while [ ! -e enough ]; do
		"$WARDBOX" install --root root >/dev/null
		sleep 0.3
		"$WARDBOX" install --root root --uninstall >/dev/null
		sleep 0.1
	done &
	for _ in $(seq 100); do
		# 125 and less are answers of a shell or of the shim; without
		# one chroot itself ends with 126 or 127.
		code=0
		# shellcheck disable=SC2016
		unshare -m sh -c 'mount --rbind /proc "$ROOT/proc" &&
			exec chroot "$ROOT" /bin/sh -c :' >out 2>&1 || code=$?
		[ "$code" -lt 126 ] || { touch enough && cat out && false; }
	done
	touch enough
	wait
}

# Runs COMMAND... in the root, which gets /proc, /dev, a /tmp and a project.
enter() { # DIR COMMAND...
	# shellcheck disable=SC2016
	unshare -mpf sh -c 'mount --bind "$1" "$1" &&
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		mount -t tmpfs tmpfs "$1/tmp" && mkdir -p "$1/project/.git" &&
		ROOT=$1 && shift &&
		exec env LC_ALL=C unshare --root "$ROOT" --wd /project "$@"' - "$(realpath "$1")" "${@:2}"
}

guards() { # DIR SHELL
	printf '#!/bin/sh\necho REACHED\n' >"$1/bin/curl"
	chmod 755 "$1/bin/curl"
	run enter "$1" "$2" -c 'echo hi; echo "$0"'
	[ "$output" = "hi
$2" ]
	# Below it a shim is the shell, at no cost but an exec.
	run enter "$1" "$2" -c 'sh -c "echo nested \$0"'
	[ "$output" = "nested sh" ]
	run enter "$1" "$2" -c 'curl http://there.example/'
	[ "$status" -eq 126 ]
	[[ $output == *denied* ]]
	# Also where the line does not show it.
	run enter "$1" "$2" -c 'echo "curl x" >s && sh s'
	[ "$status" -eq 126 ]
	[[ $output != *REACHED* ]]
	run enter "$1" "$2" -c 'wardbox session list'
	[ "$status" -eq 126 ]
	run enter "$1" "$2" -c 'exit 7'
	[ "$status" -eq 7 ]
	run enter "$1" "$2" -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	# In a script's first line, under a login's name.
	printf '#!%s\necho script "$@"\n' "$2" >"$1/project/hello"
	chmod 755 "$1/project/hello"
	printf "#!%s\necho system \$1\n" "$2" >"$1/bin/sys"
	chmod 755 "$1/bin/sys"
	run enter "$1" /bin/sys a
	[ "$output" = "system a" ]
	run enter "$1" "$2" -c "sys b"
	[ "$output" = "system b" ]
	run enter "$1" ./hello a 'b c'
	[ "$output" = "script a b c" ] || { echo "$output" && false; }
}

@test "a busybox root is guarded, below too" {
	root_busybox root
	"$WARDBOX" install --root root >/dev/null
	need enter root /bin/busybox true
	guards root /bin/sh
	guards root /bin/ash
	"$WARDBOX" install --root root --uninstall >/dev/null
	run enter root /bin/sh -c 'echo "$0" $((1 + 1))'
	[ "$output" = "/bin/sh 2" ]
}

@test "a merged root is guarded, sh being a link to dash" {
	root_merged root
	"$WARDBOX" install --root root --profile FULL-AUTO >/dev/null
	need enter root /bin/true
	guards root /bin/sh
	guards root /usr/bin/dash
	guards root /bin/bash
	run enter root /bin/bash -c 'echo $BASH_VERSION $- $0'
	[[ $output == 5*hBc*/bin/bash ]] || [[ $output == [4-9]*/bin/bash ]]
	run enter root /bin/bash --login -c 'shopt -q login_shell && echo login'
	[ "$output" = login ]
	# Whatever name the caller gives it.
	run enter root /usr/bin/bash.real -c 'exec -a other /bin/sh -c "echo \$0"'
	[ "$output" = other ]
	run enter root /usr/bin/bash.real -c 'exec -a session /bin/sh -c "echo \$0"'
	[ "$output" = session ]
	ln -s bash root/usr/bin/rbash
	run enter root /bin/rbash -c 'cd .'
	[[ $output == *restricted* ]] || { echo "$status: $output" && false; }
	run enter root /bin/sh.real -c 'echo "$0"'
	[ "$output" = /bin/sh.real ]
}

@test "a plain chroot is guarded too, and nothing of it is mounted outside" {
	root_busybox root
	"$WARDBOX" install --root root >/dev/null
	mkdir -p root/project/.git root/project/.wardbox
	echo 'policy 1 project' >root/project/.wardbox/policy
	need enter root /bin/busybox true
	# The directory is no mount; what it lies in is shared with others.
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount --make-rshared / &&
		mount -t proc proc root/proc && mount --rbind /dev root/dev &&
		wc -l </proc/self/mountinfo >before &&
		unshare --root "$PWD/root" --wd /project /bin/sh -c \
			"pwd; echo in >file; sh -c \"read -r x <file; echo \\\$x\"" &&
		unshare --root "$PWD/root" --wd /project /bin/sh -c \
			"cd .wardbox; >>policy"; echo "code $?"
		wc -l </proc/self/mountinfo | diff before - && echo same'
	[[ $output == "/project
in"*"code "[1-9]*same ]] || { echo "$output" && false; }
	[ "$(cat root/project/file)" = in ]
	[ "$(cat root/project/.wardbox/policy)" = 'policy 1 project' ]
}
