#!/usr/bin/env bats
# Limits, the end of all processes, and what the caller sees of it.

load ../lib/sandbox

setup() { place; }
teardown() { unplace; }

# Is a "sleep NUMBER" left? Numbers are unique to a test; with $$ behind them, to
# its run.
left() {
	pgrep -fx "sleep $1$$" >/dev/null
}

gone() { # NUMBER: soon
	local i
	for ((i = 0; i < 200; i++)); do
		left "$1" || return 0
		sleep 0.1
	done
	echo "sleep $1 is still there"
	return 1
}

@test "exit codes and signals are the command's own" {
	body() {
		need bare unshare -Urmpf true
		for how in "" --no-strays --unshare-pid --watch-exec --timeout=60; do
			for code in 0 1 7 124 255; do
				# shellcheck disable=SC2086
				gives $code D $how -- sh -c "exit $code" 2>/dev/null
			done
			# shellcheck disable=SC2086
			gives 143 D $how -- sh -c 'kill -TERM $$'
			# shellcheck disable=SC2086
			gives 127 D $how -- no-such-command
			# shellcheck disable=SC2086
			gives 127 D $how -- ./no-such-file
			# shellcheck disable=SC2086
			gives 126 D $how -- ./mine
		done
		gives 125 D
		gives 125 D --no-such-option -- true
	}
	each_user body
}

@test "exit codes where the caller ignores the end of children" {
	need env --ignore-signal=CHLD true
	body() {
		local before=("${AS[@]}")
		AS+=(timeout -s KILL 20 env --ignore-signal=CHLD)
		for how in "" --no-strays --unshare-pid --watch-exec --timeout=60; do
			# shellcheck disable=SC2086
			gives 3 D $how -- sh -c 'exit 3'
			# shellcheck disable=SC2086
			works D $how --ro=/proc -- grep -E '^SigIgn:.*[13579bdf]0000$' /proc/self/status
		done
		AS=("${before[@]}")
	}
	each_user body
}

@test "time: all of the tree ends, whatever it did to get away" {
	body() {
		need bare unshare -Urmpf true
		for how in "" --unshare-pid --watch-exec; do
			# shellcheck disable=SC2086
			gives 124 D $how --timeout=0.3 -- sh -c "setsid sleep 71.1$$ & sleep 71.1$$"
			gone 71.1
			# shellcheck disable=SC2086
			gives 124 D $how --timeout=0.3 -- sh -c "trap '' TERM; $BIN/attack daemon 71.2$$; $BIN/attack daemon 71.2$$; while :; do sleep 71.2$$; done"
			gone 71.2
		done
		case $out in *"wall time"*) ;; *) echo "$out"; return 1 ;; esac
	}
	each_user body
}

@test "the end of the command is the end of what it left behind" {
	body() {
		need bare unshare -Urmpf true
		for how in --no-strays --unshare-pid; do
			gives 0 D $how -- sh -c "$BIN/attack daemon 72.3$$ && sleep 0.1"
			gone 72.3
			# nobody waits for a pipe that is held open
			SECONDS=0
			D $how -- sh -c "sleep 72.4$$ & echo done" | cat >/dev/null
			[ $SECONDS -lt 60 ]
			gone 72.4
		done
	}
	each_user body
}

@test "what was there before the command is not ended with it" {
	# shellcheck disable=SC2016 # expanded by the inner shells
	body() {
		need bare unshare -Urmpf true
		for how in --no-strays --unshare-pid --watch-exec --timeout=20 --mem=900M --nproc=900; do
			"${AS[@]}" sh -c 'sleep 73.1 & echo $! >before; exec "$@"' sh \
				"$BIN/wardbox" drop "$how" --ignore-missing --rox=/usr,/bin,/lib,/lib64 \
				--rw="$W" -- sh -c 'setsid sleep 73.2 & echo $! >after; sleep 0.2' 2>/dev/null
			kill -0 "$(cat before)"
			[ "$how" = --unshare-pid ] || ! kill -0 "$(cat after)" 2>/dev/null
			kill "$(cat before)"
		done
	}
	each_user body
}

@test "the end of the supervisor is the end of the tree" {
	body() {
		need bare unshare -Urmpf true
		for how in --timeout=60 --unshare-pid; do
			"${AS[@]}" "$BIN/wardbox" drop --rox=/usr,/bin,/lib,/lib64 --ignore-missing $how -- sleep 73.5$$ 3>&- &
			pid=$!
			for ((i = 0; i < 200; i++)); do ! left 73.5 || break; sleep 0.1; done
			left 73.5
			kill -9 $pid
			wait $pid || true
			gone 73.5
		done
	}
	each_user body
}

@test "memory: the tree ends, and it is said why" {
	body() {
		gives 137 D --mem=100M -- attack_ alloc 1000
		case $out in *"memory"*"cgroup"* | *"memory"*"watchdog"*) ;; *) echo "$out"; return 1 ;; esac
		works D --mem=100M -- attack_ alloc 20
		# all processes together: a cgroup sees the shortest peak
		D --mem=64M --dry-run -- true | grep -q 'memory: cgroup' &&
			gives 137 D --mem=100M -- sh -c "for i in 1 2 3 4; do $BIN/attack alloc 60 & done; wait; sleep 5"
		gives 137 D --mem=100M -- sh -c \
			'for i in 1 2 3 4; do python3 -c "import time; x = bytearray(60 << 20); time.sleep(4)" & done; wait'
	}
	each_user body
}

@test "memory of a process whose first thread has ended counts" {
	body() {
		gives 137 D --mem=100M -- attack_ alloc-headless 1000
		case $out in *"memory"*) ;; *) echo "$out"; return 1 ;; esac
		works D --mem=100M -- attack_ alloc-headless 20
	}
	each_user body
}

@test "processor time of children that nobody waits for counts" {
	body() {
		gives 137 D --cpu=0.5 -- attack_ burn 40 200
		case $out in *"CPU time"*) ;; *) echo "$out"; return 1 ;; esac
		works D --cpu=9 -- attack_ burn 3 100
		# none of it twice
		works D --cpu=3 -- sh -c "for i in 1 2 3 4 5 6 7 8; do ($BIN/attack burn 1 100); done; $BIN/attack burn 5 100"
	}
	each_user body
}

@test "processes that start the next one and end keep no limit from being kept" {
	body() {
		for how in --timeout=1 "--mem=300M --timeout=1" --cpu=1; do
			code=0
			rm -f late
			# shellcheck disable=SC2086
			D $how -- attack_ chain 8 8 "$W/late" >said 2>&1 || code=$?
			cat said
			[ "$code" = 124 ] || [ "$code" = 137 ]
			grep -q 'more .* time than allowed' said
			[ ! -e late ]
		done
		works D --mem=300M --timeout=30 -- attack_ chain 3 1 "$W/late"
	}
	each_user body
}

@test "nor do they where the shim counts" {
	[ "$(id -u)" = 0 ] || skip "mounts, and another user"
	PROJECT=$PLACE/project
	mkdir -p "$PROJECT/.git"
	cp "$HELPERS/attack" "$PROJECT"
	chown -R 1000:1000 "$PROJECT"
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
	cd "$PROJECT"
	gives 137 in_policy $'use FULL-AUTO\nlimit FULL-AUTO cpu=1s' setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$BIN/wardbox" sh -c "./attack chain 8 9 $PROJECT/late"
	[[ $out == *"its limit on CPU time"* ]]
	[ ! -e late ]
	gives 0 in_policy $'use FULL-AUTO\nlimit FULL-AUTO cpu=60s' setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$BIN/wardbox" sh -c "./attack chain 2 1 $PROJECT/late"
}

@test "what a command left behind and has ended takes no room" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	body() {
		for how in --no-strays --timeout=60 --watch-exec; do
			works D "$how" --ro=/proc -- sh -c '
				for i in 1 2 3 4 5 6 7 8 9 10; do (true & true &); done
				for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
					set -- $(cat "/proc/$PPID/task/$PPID/children")
					[ $# != 1 ] || exit 0
					sleep 0.2
				done
				exit 1'
		done
		# nor has it used no time
		# shellcheck disable=SC2016
		gives 137 D --cpu=0.5 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
			for k in 1 2 3 4 5 6 7 8 9 10; do ("$1" burn 1 30 & ); done; done; sleep 20' sh "$BIN/attack"
		case $out in *"CPU time"*) ;; *) echo "$out"; return 1 ;; esac
	}
	each_user body
}

@test "what nobody can count is refused, and not let go" {
	[ "$(id -u)" = 0 ] || skip "mounts"
	need unshare -m true
	cat >"$PLACE/blind" <<-'X'
	mount -t tmpfs none /proc || exit 9
	exec setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
	X
	AS=()
	cd /
	for how in --mem=64M --cpu=9 --nproc=9 --children=9; do
		gives 125 unshare -m sh "$PLACE/blind" "$BIN/wardbox" drop "$how" --rox=/usr,"$BIN" -- "$BIN/attack" sys getpid
		case $out in *limits*proc*) ;; *) echo "$out"; return 1 ;; esac
		works unshare -m sh "$PLACE/blind" "$BIN/wardbox" drop "$how" --best-effort=limits --rox=/usr,"$BIN" -- "$BIN/attack" sys getpid
		works setpriv --reuid 1000 --regid 1000 --clear-groups "$BIN/wardbox" drop "$how" --rox=/usr,"$BIN" -- "$BIN/attack" sys getpid
	done
	works unshare -m sh "$PLACE/blind" "$BIN/wardbox" drop --timeout=9 --rox=/usr,"$BIN" -- "$BIN/attack" sys getpid
}

@test "a control group whose maker was killed goes with the next one" {
	AS=() W=$PLACE
	D --mem=64M --dry-run -- true | grep -q 'memory: cgroup' || skip "no cgroup here"
	"$BIN/wardbox" drop --mem=64M --rox=/ -- sleep 74.1$$ 3>&- &
	pid=$!
	for ((i = 0; i < 200; i++)); do ! left 74.1 || break; sleep 0.1; done
	kill -9 $pid
	wait $pid || true
	gone 74.1
	sleep 3
	works D --mem=64M -- true
	! find /sys/fs/cgroup -maxdepth 8 -name "wardbox-$pid-*" 2>/dev/null | grep -q .
}

# A process that goes to its group waits for all CPUs, 5 to 20 ms where they are
# idle; one thread does not (version 1), nor who is made there (version 2).
@test "a command is in its control group without a wait" {
	AS=() W=$PLACE
	need strace -V
	local ways=0 limit
	for limit in --mem=64M --cpu=60s; do
		works strace -qq -f -o "$PLACE/trace" "$BIN/wardbox" drop $limit --rox=/ \
			-- cat /proc/self/cgroup
		[[ $out == *wardbox-* ]] || continue
		ways=$((ways + 1))
		not grep -E '"cgroup.procs", O_WRONLY' "$PLACE/trace"
		# Where a container refuses the newer call it works all the same.
		works strace -qq -f -e fault=clone3:error=ENOSYS -o "$PLACE/trace" \
			"$BIN/wardbox" drop $limit --rox=/ -- cat /proc/self/cgroup
		[[ $out == *wardbox-* ]]
		# The init of a pid namespace is in none: it would count.
		works strace -qq -f -o "$PLACE/trace" "$BIN/wardbox" drop $limit \
			--unshare-pid --rox=/ -- cat /proc/self/cgroup
		[[ $out == *wardbox-* ]]
		not grep -E '"cgroup.procs", O_WRONLY' "$PLACE/trace"
		not grep -E 'clone3.*CLONE_NEWPID' "$PLACE/trace"
	done
	[ $ways -gt 0 ] || skip "no cgroup here"
}

@test "memory in a file that has no name counts, where there is a cgroup" {
	AS=() W=$PLACE
	D --mem=64M --dry-run -- true | grep -q 'memory: cgroup' || skip "no cgroup here"
	gives 137 D --mem=64M -- attack_ memfd-fill 300
	works D --mem=64M -- attack_ memfd-fill 20
}

@test "memory that is in nobody's sum is not to be had" {
	body() {
		stops ENOSYS D --mem=60M -- attack_ sys 447 0
		stops ENOSYS D -- attack_ sys 447 0
		works D --mem=60M -- attack_ memfd-fill 1
	}
	each_user body
}

@test "processor time of all together" {
	body() {
		gives 137 D --cpu=0.4 -- sh -c "$BIN/attack spin & $BIN/attack spin"
		case $out in *"CPU time"*) ;; *) echo "$out"; return 1 ;; esac
		works D --cpu=5 -- true
	}
	each_user body
}

@test "a fork bomb is stopped" {
	body() {
		SECONDS=0
		D --nproc=24 --timeout=3 -- sh -c ':(){ :|:& };:; sleep 1' >/dev/null 2>&1 || true
		[ $SECONDS -lt 60 ]
		# shellcheck disable=SC2086
		D --nproc=24 --timeout=5 -- attack_ forks 100 >/dev/null 2>&1 && return 1
		works D --nproc=24 --timeout=5 -- sh -c 'true | true | true'
		# one that no program starts in, before it starves who is to end it
		SECONDS=0
		D --children=5 --timeout=3 -- sh -c 'b() { b | b & }; b; sleep 9' >/dev/null 2>&1 && return 1
		[ $SECONDS -lt 60 ]
		# our own are not touched by it
		works bare sh -c 'true | true'
	}
	each_user body
}

@test "a number of processes, whatever their threads" {
	body() {
		need bare unshare -Urmpf true
		# two more than there may be do not start
		D --children=3 -- sh -c 'for i in 1 2 3 4 5; do sleep 4 & done; wait' >said 2>&1 || true
		[ "$(grep -c sleep: said)" = 2 ]
		works D --children=5 -- sh -c 'for i in 1 2 3 4 5; do sleep 0.2 & done; wait'
		works D --children=2 -- attack_ threads 20
		works D --children=3 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true; sh -c :; done; ls | cat | cat'
		works D --children=3 --unshare-pid -- sh -c 'sh -c :; sh -c :; sh -c :; ls | cat | cat'
		# what only forks is ended, too
		gives 137 D --children=3 -- attack_ forks 500 stay
		case $out in *processes*) ;; *) echo "$out"; return 1 ;; esac
	}
	each_user body
}

@test "a shell without restarted calls is not disturbed by the watch" {
	body() {
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			works D --watch-exec --children=20 -- sh -c 'ls | cat | cat; /bin/true & /bin/true; wait'
		done
	}
	each_user body
}

@test "open files, file size, core dumps" {
	body() {
		stops EMFILE D --nofile=20 -- attack_ fds 30
		works D --nofile=40 -- attack_ fds 30
		gives 153 D --fsize=10k -- dd if=/dev/zero of=big bs=1k count=20
		[ "$(stat -c %s "$W/big")" = 10240 ]
		works D --fsize=10k -- dd if=/dev/zero of=small bs=1k count=5
		works D -- sh -c 'ulimit -c'
		[ "$out" = 0 ]
		# a limit of nothing would start a handler that is a pipe
		works D --ro=/proc -- sh -c 'ulimit -c 0 && exec grep "core file size  *1  *1 " /proc/self/limits'
		works D --nofile=40 -- sh -c 'ulimit -n; ulimit -Hn'
		[ "$out" = $'40\n40' ]
		# too few for the supervisor: it does not start, or it stays
		for how in --no-strays --output=1M --watch-exec; do
			for n in 5 6 7 8 9 10 11 12; do
				rm -f ran
				code=0
				out=$("${AS[@]}" sh -c 'ulimit -n "$0" && exec "$@"' $n "$BIN/wardbox" drop \
					--rox="$BIN" --rw="$W" "$how" -- "$BIN/attack" creat ran 2>&1 3>&- 4>&- 5>&- 6>&- 7>&-) || code=$?
				case "$code$(echo ran*) $out" in
				"0ran "* | "125ran* "*": No file desc"*) ;;
				*) echo "$how $n $code: $out"; return 1 ;;
				esac
			done
		done
	}
	each_user body
}

@test "signals go to the command" {
	body() {
		need bare unshare -Urmpf true
		for how in --no-strays --unshare-pid; do
			"${AS[@]}" "$BIN/wardbox" drop --rox=/usr,/bin,/lib,/lib64 --rw="$W" --ignore-missing $how \
				-- sh -c 'trap "exit 9" TERM; : >ready; while :; do sleep 0.05; done' 3>&- &
			pid=$!
			for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do [ -e ready ] && break; sleep 0.1; done
			rm ready
			code=0
			kill -TERM $pid
			wait $pid || code=$?
			[ $code = 9 ]
		done
	}
	each_user body
}

@test "what happened, as JSON" {
	body() {
		D --json-status-fd=7 --timeout=0.2 -- sleep 9 7>status 2>/dev/null || true
		python3 - status <<-'X'
		import json, sys
		a, b = [json.loads(l) for l in open(sys.argv[1])]
		assert a["child-pid"] > 0 and "landlock" in a["enforced"], a
		assert b["exit-code"] == 124 and b["limit"] == "wall time", b
		X
	}
	need python3 -c 'import json'
	AS=() W=$PLACE
	cd "$PLACE"
	body
}

@test "the watch shows every program, from threads and by descriptor too" {
	body() {
		works D --watch-exec -- sh -c "ls >/dev/null; exec $BIN/attack thread sys getpid"
		case $out in *"exec "*" -c ls"*"exec "*"/ls"*"exec "*"attack thread sys getpid"*) ;; *) echo "$out"; return 1 ;; esac
		works D --watch-exec --json -- sh -c 'true; /bin/true a "b c"'
		echo "$out" | grep -qF '"argv":["/bin/true","a","b c"]'
		# fork and vfork, many at once
		works D --watch-exec -- sh -c 'for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do /bin/true; done) & done; wait'
		[ "$(echo "$out" | grep -c '^exec [0-9]* [^ ]*/true$')" = 40 ]
		# a program that is not there, and no arguments at all
		works D --watch-exec -- sh -c './no-such 2>/dev/null; true'
	}
	each_user body
}

@test "the watch answers, whatever its own calls are interrupted by" {
	need strace -qq -o /dev/null true
	AS=() W=$PLACE
	for ((i = 1; i < 20; i++)); do
		gives 3 strace -qq -o /dev/null -e inject=ioctl:error=EINTR:when=$i "$BIN/wardbox" drop \
			--watch-exec --rox=/usr,/bin,/lib,/lib64 --ignore-missing -- sh -c '/bin/true && /bin/true && exit 3'
	done
}

@test "a thread that swaps the path wins against no one who asks Landlock" {
	body() {
		mkdir -p "$W/b" "$W/c"
		# /c/ may not be started
		printf '#!/bin/sh\nexit 42\n' >"$W/c/true_"
		chmod 755 "$W/c/true_"
		printf '#!/bin/sh\nexit 0\n' >"$W/b/true_"
		chmod 755 "$W/b/true_"
		# The race is one: without a sandbox it is won now and then.
		local won='' round
		for round in {1..100}; do
			works bare "$BIN/attack" race 60 "$W/b/true_" "$W/c/true_" && won=$round && break
		done
		[ "$won" ] || { echo "not won in $round rounds"; return 1; }
		stops "0 " D --rox="$W/b" --best-effort=mount --watch-exec -- attack_ race 60 "$W/b/true_" "$W/c/true_"
		case $(echo "$out" | grep -v '^exec') in "0 "*) ;; *) echo "$out" | tail -1; return 1 ;; esac
	}
	each_user body
}
