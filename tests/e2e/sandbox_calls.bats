#!/usr/bin/env bats
# System calls, sockets, signals, and what is around a process.

load ../lib/sandbox

setup() { place; }
teardown() { unplace; }

A() { D "$@"; }

@test "the kernel's insides are refused, from any thread" {
	body() {
		local c
		for c in "bpf 0 0 0" "perf_event_open 0 0 0 0 0" "userfaultfd 1" \
			"add_key =user =n =p 1 -1" "request_key =user =n 0 -1" \
			"keyctl 0 -3 0" "open_by_handle_at 0 0 0" "syslog 3 0 0" \
			"mount 0 =/ 0 0x44000 0" "umount2 =/ 0" "pivot_root =/ =/" \
			"open_tree -100 =/ 1" "move_mount -1 0 -1 0 0" "fsopen =tmpfs 0" \
			"fsconfig 0 0 0 0 0" "fsmount 0 0 0" "fspick -100 =/ 0" \
			"mount_setattr -100 =/ 0 0 0" "open_tree_attr -100 =/ 0 0 0" \
			"init_module 0 0 0" "delete_module =x 0" \
			"reboot 0 0 0 0" "swapon =/x 0" "acct =x" \
			"quotactl 0 0 0 0" "sethostname =x 1" \
			"fanotify_init 0x200 0" "file_setattr -100 =/ 0 0 0" \
			"pidfd_getfd 0 0 0" "process_madvise 0 0 0 0 0" \
			"io_uring_setup 4 0" "io_uring_enter 0 0 0 0 0 0" \
			"io_uring_register 0 0 0 0" "ioctl 0 0x541c 0" \
			"ioctl 0 0x5423 0" "ioctl 0 0x50009401 0" "ioctl 0 0x50009417 0"; do
			# shellcheck disable=SC2086
			stops EPERM D -- attack_ sys $c
		done
		stops EPERM D -- attack_ thread sys bpf 0 0 0
		[ "$(uname -m)" != x86_64 ] || stops EPERM D -- attack_ sys modify_ldt 0 0 0
		works D -- attack_ sys getpid
		works D -- attack_ thread sys getpid
	}
	each_user body
}

@test "no new namespaces, by any call" {
	body() {
		local flag
		for flag in 0x80 0x20000 0x2000000 0x4000000 0x8000000 0x10000000 \
			0x20000000 0x40000000; do
			stops EPERM D -- attack_ sys unshare $flag
			[ $flag = 0x80 ] || stops EPERM D -- attack_ sys 56 $((flag | 17)) 0 0 0 0
		done
		stops EPERM D -- attack_ sys setns 0 0
		stops ENOSYS D -- attack_ sys clone3 0 0
		works D -- attack_ sys unshare 0x600
		stops "" D -- unshare -Ur true
	}
	[ "$(uname -m)" = x86_64 ] || skip "numbers of x86_64"
	each_user body
}

@test "no child for whoever is outside" {
	body() {
		bare "$BIN/attack" sys 56 0x8011 0 0 0 0
		stops EPERM D -- attack_ sys 56 0x8011 0 0 0 0
		stops EPERM D --unshare-pid -- attack_ sys 56 0x8011 0 0 0 0
		works D -- attack_ sys 56 0x11 0 0 0 0
	}
	[ "$(uname -m)" = x86_64 ] || skip "numbers of x86_64"
	each_user body
}

@test "other tables of system calls: 32 bits and x32" {
	[ "$(uname -m)" = x86_64 ] || skip "numbers of x86_64"
	body() {
		bare "$BIN/attack" int80 || skip "no 32-bit calls here"
		gives 159 D --net=none -- attack_ int80
		stops ENOSYS D -- attack_ x32
		# calls that are newer than we are
		stops ENOSYS D -- attack_ sys future
	}
	each_user body
}

@test "a 32-bit program does not start to harm" {
	[ "$(uname -m)" = x86_64 ] || skip "programs of x86_64"
	cat >"$PLACE/s.S" <<-'X'
	.globl _start
	_start:	movl $359, %eax
		movl $2, %ebx
		movl $1, %ecx
		xorl %edx, %edx
		int $0x80
		movl %eax, %ebx
		shrl $31, %ebx
		movl $1, %eax
		int $0x80
	X
	need gcc -m32 -nostdlib -static -o "$BIN/small" "$PLACE/s.S"
	need "$BIN/small"
	body() {
		works bare "$BIN/small"
		gives 159 D -- "$BIN/small"
	}
	each_user body
}

@test "typing into the terminal: neither TIOCSTI nor with high bits" {
	body() {
		need script --version
		for high in 0 1 0x80000000; do
			out=$("${AS[@]}" script -qec "$BIN/wardbox drop --ignore-missing --rox=/usr,/bin,/lib,/lib64,$BIN -- $BIN/attack tiocsti /dev/tty $high" /dev/null </dev/null) || true
			case $out in *EPERM*) ;; *) echo "$high: $out"; return 1 ;; esac
		done
	}
	each_user body
}

@test "no network: no family, no protocol, no message" {
	body() {
		background port "$BIN/attack" listen-tcp 0
		works bare "$BIN/attack" tcp "$port"
		stops EPERM D -- attack_ tcp "$port"
		stops EPERM D -- attack_ mptcp "$port"
		stops EPERM D -- attack_ fastopen "$port"
		stops EPERM D -- attack_ udp "$port"
		stops EPERM D -- attack_ listen-tcp 0 once
		stops EPERM D -- attack_ sys socket 10 1 0
		stops EPERM D -- attack_ sys socket 2 3 1
		for family in 3 4 5 9 15 17 21 26 30 31 38 40 41 44; do
			stops EAFNOSUPPORT D --net=all -- attack_ sys socket $family 1 0
		done
		# netlink: routes alone
		works D -- attack_ sys socket 16 3 0
		stops 'Protocol not supported' D -- attack_ sys socket 16 3 9
		stops 'Protocol not supported' D -- attack_ sys socket 16 3 4
		works D -- attack_ sys socketpair 1 1 0 @
		works D --net=all -- attack_ tcp "$port"
		# the type's flags change nothing
		stops EPERM D -- attack_ sys socket 2 0x80801 0
	}
	each_user body
}

@test "TCP to the listed ports alone, past no back door" {
	body() {
		background port "$BIN/attack" listen-tcp 0
		background other "$BIN/attack" listen-tcp 0
		works D --net=tcp:"$port" -- attack_ tcp "$port"
		stops EACCES D --net=tcp:"$port" -- attack_ tcp "$other"
		stops EPERM D --net=tcp:"$port" -- attack_ mptcp "$other"
		stops EPERM D --net=tcp:"$port" -- attack_ fastopen "$other"
		stops EPERM D --net=tcp:"$port" -- attack_ fastopen-msg "$other"
		stops EPERM D --net=tcp:"$port" -- attack_ fastopen-msg "$other" 1
		stops EPERM D --net=tcp:"$port" -- attack_ udp "$other"
		stops EPERM D --net=tcp:"$port" -- attack_ sys socket 2 3 1
		stops EACCES D --net=tcp:"$port" -- attack_ listen-tcp 0 once
		works D --bind-tcp=0 -- attack_ listen-tcp 0 once
		# the files are another matter
		works D --unrestricted-filesystem --net=tcp:"$port" -- attack_ tcp "$port"
		stops EACCES D --unrestricted-filesystem --unrestricted-scoped --net=tcp:"$port" -- attack_ tcp "$other"
		stops EACCES D --learn="$W/learnt" --net=tcp:"$port" -- attack_ tcp "$other"
		works D --connect-tcp="$other,$port" -- attack_ tcp "$other"
		stops EPERM D --connect-tcp="$port" -- attack_ sys socket 2 0x80803 0
	}
	each_user body
}

@test "an own loopback" {
	body() {
		need bare unshare -Urn true
		background port "$BIN/attack" listen-tcp 0
		stops ECONNREFUSED D --net=local -- attack_ tcp "$port"
		works D --net=local -- sh -c "$BIN/attack listen-tcp 4321 >/dev/null & sleep 0.2; $BIN/attack tcp 4321; r=\$?; kill \$!; exit \$r"
	}
	each_user body
}

@test "sockets of others: abstract and by path" {
	body() {
		background up "${AS[@]}" "$BIN/attack" listen-unix "@sandbox-$$-${#AS[@]}"
		works bare "$BIN/attack" unix "@sandbox-$$-${#AS[@]}"
		stops EPERM D -- attack_ unix "@sandbox-$$-${#AS[@]}"
		stops EPERM D --unrestricted-network -- attack_ unix "@sandbox-$$-${#AS[@]}"
		background up "${AS[@]}" "$BIN/attack" listen-unix "$OUT/sock"
		works bare "$BIN/attack" unix "$OUT/sock"
		stops E D -- attack_ unix "$OUT/sock"
		stops E D --net=all -- attack_ unix "$OUT/sock"
		# a single path needs ABI 9: refused, or granted
		if D --unix="$OUT/sock" -- true 2>/dev/null; then
			works D --unix="$OUT/sock" -- attack_ unix "$OUT/sock"
		else
			gives 125 D --unix="$OUT/sock" -- true
			case $out in *ABI*) ;; *) echo "$out"; return 1 ;; esac
			works D --unix="$OUT/sock" --best-effort=unix -- attack_ unix "$OUT/sock"
		fi
	}
	each_user body
}

@test "datagrams to sockets of others, by a pair of one's own" {
	body() {
		background up "${AS[@]}" "$BIN/attack" listen-dgram "$OUT/dgram"
		works bare "$BIN/attack" pair-dgram "$OUT/dgram" 2
		stops E D -- attack_ pair-dgram "$OUT/dgram" 2
		# the type's flags change nothing, nor does the other datagram type
		stops E D -- attack_ pair-dgram "$OUT/dgram" 0x80802
		stops E D -- attack_ pair-dgram "$OUT/dgram" 3
		works D -- attack_ sys socketpair 1 1 0 @
		works D -- attack_ sys socketpair 1 0x80805 0 @
		works D --unrestricted-network -- attack_ pair-dgram "$OUT/dgram" 2
	}
	each_user body
}

@test "listening without a bind takes no port that was not named" {
	body() {
		works bare "$BIN/attack" listen-unbound
		stops EPERM D --net=tcp:443 -- attack_ listen-unbound
		stops EPERM D -- attack_ listen-unbound
		works D --net=all -- attack_ listen-unbound
		works D --bind-tcp=0 -- attack_ listen-tcp 0 once
	}
	each_user body
}

@test "no lease, for which whoever opens a file has to wait" {
	body() {
		bare "$BIN/attack" lease "$W/mine"
		stops EPERM D -- attack_ lease "$W/mine"
		works D -- attack_ flock "$W/mine"
	}
	each_user body
}

@test "no signal reaches outside, by any call, nor by the kernel's own" {
	body() {
		background up "${AS[@]}" sh -c 'trap "echo hit >>$1" WINCH; trap "echo mark >>$1" PWR; echo up; while :; do sleep 0.1; done' sh "$OUT/hits"
		works bare "$BIN/attack" signals "$LAST"
		for i in 1 2 3 4 5 6 7 8 9 10; do [ -e "$OUT/hits" ] && break; sleep 0.1; done
		rm "$OUT/hits"
		works bare "$BIN/attack" sigio "$LAST"
		for i in 1 2 3 4 5 6 7 8 9 10; do [ -e "$OUT/hits" ] && break; sleep 0.1; done
		rm "$OUT/hits"
		stops EPERM D -- attack_ signals "$LAST"
		D -- attack_ sigio "$LAST" || true
		# all that there are: 28 harms nobody
		D -- attack_ kill -1 28 || true
		# The signal of our own comes behind all of those.
		bare kill -PWR "$LAST"
		until [ -e "$OUT/hits" ]; do sleep 0.02; done
		[ "$(cat "$OUT/hits")" = mark ]
		works D -- sh -c "trap 'exit 0' WINCH; $BIN/attack signals \$\$; sleep 1; exit 1"
	}
	each_user body
}

@test "signals, limits and priorities of others" {
	body() {
		background up "${AS[@]}" sh -c 'echo up; exec sleep 60 >/dev/null 2>&1'
		works bare kill -0 "$LAST"
		stops EPERM D -- attack_ kill "$LAST" 0
		stops EPERM D -- attack_ kill "$LAST" 9
		stops EPERM D -- attack_ prlimit "$LAST"
		works D -- attack_ prlimit "$LAST" read
		works D -- attack_ prlimit 0 read
		stops EPERM D -- attack_ sys setpriority 0 "$LAST" 19
		works D -- attack_ sys setpriority 0 0 19
		stops EPERM D -- attack_ sys ioprio_set 1 "$LAST" 0
		works D -- attack_ sys ioprio_set 1 0 0
		works bare "$BIN/attack" affinity "$LAST"
		stops EPERM D -- attack_ affinity "$LAST"
		stops EPERM D -- attack_ sys sched_setscheduler "$LAST" 5 0
		stops EPERM D -- attack_ sys sched_setattr "$LAST" 0 0
		works D -- attack_ affinity 0
		# all of the user's, or of the group's
		stops EPERM D -- attack_ sys setpriority 2 0 0
		stops EPERM D -- attack_ sys setpriority 1 0 0
		stops EPERM D -- attack_ sys ioprio_set 3 0 0
		# its own, and the group that it shares with the one who started it
		works D -- sh -c 'sleep 9 & kill $! && ! wait $!'
		works D -- sh -c 'kill -TERM 0; :' || [ -n "$out" ] || true
		kill -0 "$LAST"
		need bare unshare -Urmpf true
		# where they are not to be seen, nothing of them is to be changed
		for a in "kill $LAST 9" "prlimit $LAST" "affinity $LAST" "sys setpriority 0 $LAST 19"; do
			# shellcheck disable=SC2086
			stops ESRCH D --unshare-pid -- attack_ $a
		done
		works D --unshare-pid -- attack_ affinity 0
		# nor of the group that is shared with those outside
		stops EPERM D --unshare-pid -- attack_ sys setpriority 1 0 19
		stops EPERM D --unshare-pid -- attack_ sys ioprio_set 2 0 0
		works D --unshare-pid -- attack_ sys setpriority 0 0 19
		kill -0 "$LAST"
	}
	each_user body
}

@test "kill 0 does not reach whoever started it" {
	body() {
		works bare sh -c 'trap "echo hit" TERM; "$@"; echo fine' sh \
			"$BIN/wardbox" drop --ignore-missing --rox=/usr,/bin,/lib,/lib64,"$BIN" \
			-- "$BIN/attack" kill 0 15
		case $out in *hit*) return 1 ;; *fine*) ;; esac
	}
	each_user body
}

@test "System V shared memory is nobody's, or an own one" {
	need ipcmk --version
	body() {
		id=$(bare ipcmk -M 4096 | tr -dc 0-9)
		works bare "$BIN/attack" sys shmctl "$id" 2 0 || true
		stops ENOSYS D -- attack_ sys shmget 0 4096 0666
		stops ENOSYS D -- attack_ sys shmctl "$id" 0 0
		stops ENOSYS D -- attack_ sys semget 0 1 0666
		stops ENOSYS D -- attack_ sys msgget 0 0666
		stops ENOSYS D -- attack_ sys mq_open =q 0 0 0
		if D --unshare-ipc -- true 2>/dev/null; then
			works D --unshare-ipc -- attack_ sys shmget 0 4096 0666
			stops E D --unshare-ipc -- attack_ sys shmctl "$id" 0 0
		fi
		works D --unrestricted-ipc -- attack_ sys shmget 0 4096 0666
		bare ipcrm -m "$id"
		bare ipcs -m -c | awk '/^[0-9]/ { print $1 }' | while read -r id; do
			bare ipcrm -m "$id" 2>/dev/null || true
		done
	}
	each_user body
}

@test "capabilities are gone at uid 0, and do not come back" {
	body() {
		works D --ro=/proc -- sh -c 'grep -h -E "^Cap(Inh|Prm|Eff|Amb):" /proc/self/status'
		case $out in *[1-9a-f]*[0-9a-f]) echo "$out" | grep -qv 0000000000000000 && return 1 ;; esac
		works D --ro=/proc -- grep NoNewPrivs:.1 /proc/self/status
		stops "" D -- chown 12345 mine
	}
	each_user body
	[ "$(id -u)" = 0 ] || return 0
	AS=() W=$PLACE/root/w
	cd "$W"
	works D --keep-cap=chown -- chown 12345 mine
	stops "" D --keep-cap=kill -- chown 1234 mine
	works D --keep-cap=chown --ro=/proc -- grep -E 'CapEff:.0000000000000001$' /proc/self/status
}

@test "the inside answer, and no second listener" {
	body() {
		stops E bare "$BIN/attack" inside
		works D -- attack_ inside
		works D -- sh -c "$BIN/attack inside && unset WARDBOX_IN_SESSION && $BIN/attack inside"
		stops E env WARDBOX_IN_SESSION=1 "$BIN/attack" inside
		stops EBUSY D --watch-exec -- attack_ listener
		gives 125 D -- "$BIN/wardbox" drop --watch-exec --rox=/usr -- true
		case $out in *"guarded tree"*) ;; *) echo "$out"; return 1 ;; esac
	}
	each_user body
}

@test "nested: each takes away, none gives back" {
	body() {
		works D -- "$BIN/wardbox" drop --ignore-missing --rox=/usr,/bin,/lib,/lib64 --ro="$W" -- cat mine
		stops "ermission" D -- "$BIN/wardbox" drop --ignore-missing --rox=/usr,/bin,/lib,/lib64 --ro="$W" -- touch new
		stops "ermission" D -- "$BIN/wardbox" drop --ignore-missing --rox=/ -- cat "$OUT/secret"
		stops EPERM D -- "$BIN/wardbox" drop --net=all --ignore-missing --rox="$BIN" -- "$BIN/attack" tcp 9
		# as deep as the kernel goes, then an error and not less
		cmd=("$BIN/wardbox" drop --ignore-missing "--rox=/usr,/bin,/lib,/lib64,$BIN" --)
		deep=()
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do deep+=("${cmd[@]}"); done
		works bare "${deep[@]}" true
		gives 125 bare "${cmd[@]}" "${deep[@]}" true
	}
	each_user body
}

@test "inside of a container's filter, without namespaces" {
	body() {
		AS+=("$BIN/docker")
		works D -- cat mine
		stops EACCES D -- attack_ read "$OUT/secret"
		stops EPERM D -- attack_ tcp 9
		stops EPERM D -- attack_ sys unshare 0x10000000
		works D --watch-exec -- sh -c 'true'
		works D --timeout=5 -- true
		gives 124 D --timeout=0.2 -- sleep 9
		gives 125 D --unshare-pid -- true
		case $out in *doctor*) ;; *) echo "$out"; return 1 ;; esac
		works D --unshare-pid --best-effort=pid -- true
		gives 125 D --net=local -- true
	}
	each_user body
	# back to the real ones
	AS=()
}

@test "io descriptors 0, 1, 2 closed: no crash, nothing leaks in" {
	body() {
		works D -- sh -c 'exit 0' <&-
		gives 0 D -- sh -c 'exit 0' >&-
		gives 3 D -- sh -c 'exit 3' 2>&-
	}
	each_user body
}
