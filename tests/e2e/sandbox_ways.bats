#!/usr/bin/env bats
# The same escapes, by whatever way they are tried: from a session of their own,
# from a thread, from a process whose parent is gone, within a container.

load ../lib/sandbox

setup() { place; }
teardown() { unplace; }

# A line each: what it must end in, and the attack.
escapes() {
	cat <<-END
		EACCES read $OUT/secret
		EACCES write $OUT/secret
		EACCES creat $OUT/new
		EACCES truncate $OUT/secret
		EXDEV sys linkat -100 =$OUT/secret -100 =hard 0
		EACCES sys renameat2 -100 =mine -100 =$OUT/mine 0
		EACCES memfd /bin/sh -c :
		EACCES tmpfile /bin/sh -c :
		EPERM tcp 9
		EPERM mptcp 9
		EPERM fastopen 9
		EPERM udp 9
		EPERM kill $LAST 9
		EPERM prlimit $LAST
		EPERM affinity $LAST
		EPERM vmread $LAST
		EPERM sys ptrace 16 $LAST 0 0
		EPERM sys setpriority 0 $LAST 19
		EPERM sys unshare 0x10000000
		EPERM sys setns 0 0
		EPERM sys mount 0 =/ 0 0x44000 0
		EPERM sys io_uring_setup 4 0
		EPERM sys bpf 0 0 0
		EPERM sys open_by_handle_at 0 0 0
		EPERM sys pidfd_getfd 0 0 0
		EPERM sys keyctl 0 -3 0
		ENOSYS sys clone3 0 0
		ENOSYS sys shmget 0 4096 01600
		EPERM sys ioctl 0 0x541c 0
	END
}

# all_stop WAY...: every escape behind the words of the way.
all_stop() {
	local end attack
	while read -r end attack; do
		# shellcheck disable=SC2086 # words
		stops "$end" D -- "$@" $attack
	done < <(escapes)
	works D -- "$@" read mine
	works D -- "$@" sys getpid
}

with_victim() {
	background up "${AS[@]}" sh -c 'echo up; exec sleep 60 >/dev/null 2>&1'
	"$@"
	kill -0 "$LAST"
}

@test "from a session of its own" {
	body() { all_stop setsid -w attack_; }
	each_user with_victim body
}

@test "from a thread" {
	body() { all_stop attack_ thread; }
	each_user with_victim body
}

@test "from a process whose parent is gone" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	body() {
		all_stop sh -c '(trap "" HUP; (sleep 0.01; "$@"; echo $? >code) & ); until [ -s code ]; do sleep 0.01; done; read c <code; rm code; exit $c' sh attack_
	}
	each_user with_victim body
}

@test "within a container, where there are no namespaces" {
	body() {
		AS+=("$BIN/docker")
		all_stop attack_
	}
	each_user with_victim body
	AS=()
}

@test "a namespace that does not work is named, with the kernel and the way round" {
	body() {
		local how
		AS+=("$BIN/docker")
		for how in "pid --unshare-pid" "mount --hide=$W/mine" \
			"netns --unshare-net" "ipc --unshare-ipc"; do
			gives 125 D "${how#* }" -- touch "$W/ran"
			[[ $out == *"${how% *}: "*"this is Linux "*"--best-effort=NAME"* ]]
			[ ! -e "$W/ran" ]
			works D "${how#* }" --best-effort="${how% *}" --json-status-fd=2 -- true
			[[ $out == *'"missing":["'"${how% *}"'"]'* ]]
		done
		# what could not be hidden is not said to be
		works D --hide="$W/mine" --best-effort=mount --explain "$W/mine"
		[[ $out == *": read, write ("* ]]
		[ "$(uname -m)" = x86_64 ] || return 0
		# the namespace alone is not enough: open_tree
		AS=("${AS[@]:0:${#AS[@]}-1}" "$BIN/attack" without 428 38)
		gives 125 D --hide="$W/mine" -- true
		[[ $out == *"mount: "*"this is Linux "* ]]
		works D --hide="$W/mine" --best-effort=mount -- true
	}
	need unshare -Urm true
	each_user body
	AS=()
}

@test "in a sandbox within the sandbox that grants all" {
	body() {
		all_stop "$BIN/wardbox" drop --rwx=/ --net=all -- attack_
	}
	each_user with_victim body
}

@test "where a call is missing, or refused: 125 before anything runs, or all of it holds" {
	[ "$(uname -m)" = x86_64 ] || skip "numbers of x86_64"
	# landlock_*, seccomp, its sizes, clone, pidfd_open, close_range, memfd_create,
	# unshare, mount, prctl and four of its options, capset, prlimit, setpgid,
	# openat2, readlink, eventfd, signalfd, socketpair, sendmsg, recvmsg, mount
	# calls, ioctl, getrandom, process_vm_readv
	body() {
		local call err how code
		for call in 444 445 446 317 317/3 56 434 436 319 272 165 157 157/38 157/28 \
			157/36 157/1 126 302 109 437 89 290 289 53 46 47 428 429 442 430 16 318 310; do
			for how in --no-strays --unshare-pid --watch-exec --mem=64M --hide="$W/mine"; do
				err=$((${call%/*} % 2 ? 38 : 1))
				rm -f ran
				code=0
				out=$("${AS[@]}" timeout 20 "$BIN/attack" without "$call" "$err" "$BIN/wardbox" \
					drop --rox=/usr,/bin,/lib,/lib64 --ignore-missing --rw="$W" "$how" -- \
					sh -c ": >ran; read x <$OUT/secret && exit 77; exit 3" 2>&1) || code=$?
				case $code in
				3) [ -e ran ] ;;
				*) ! [ -e ran ] && [ -n "$out" ] && { [ $code = 125 ] || [ $code = 126 ]; } ;;
				esac || { echo "$call $how: $code: $out"; return 1; }
			done
		done
		# a watch that cannot be taken over is named, and not waited for
		for how in --no-strays --unshare-pid; do
			gives 125 "${AS[@]}" timeout 20 "$BIN/attack" without 47 1 "$BIN/wardbox" drop \
				--rox=/usr,/bin,/lib,/lib64 --ignore-missing $how --watch-exec -- true
			[[ $out == *"handing over the exec watch: "* ]]
		done
		# nor is there a core dump where it is not to be limited
		ulimit -S -c unlimited 2>/dev/null || return 0
		gives 125 "${AS[@]}" "$BIN/attack" without 302 1 "$BIN/wardbox" drop \
			--rox=/usr,/bin,/lib,/lib64 --ignore-missing -- true
		[[ $out == *"setting limits"* ]]
		ulimit -S -c 0
		works D -- true
	}
	each_user body
}
