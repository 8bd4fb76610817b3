#!/usr/bin/env bats
# The shim: decided, confined, run and recorded; and nothing else changes.

load ../lib/wardbox

setup() {
	project
	export WARDBOX_SESSION_ID=session-test
}

g() { # the guarded shell under a profile: g PROFILE SHELL-ARGUMENT...
	local profile=$1
	shift
	in_policy "use $profile" "$WARDBOX" sh "$@"
}

log() { # the log of this test as JSON lines
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json
}

intact() { # without a fingerprint kept elsewhere, 4 is all there is to say
	run in_policy '' "$WARDBOX" audit verify
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	[[ "$output" == *intact* ]]
}

@test "an allowed line runs, with two records" {
	run g DEV -c 'echo hello'
	[ "$status" -eq 0 ]
	[ "$output" = hello ]
	[ "$(log | jq -rs 'map(.type) | join(" ")')" = "header start io end" ] ||
		log | jq -es 'map(.type) | index("start") != null and index("end") != null'
	intact
}

@test "a denied line does not run, is 126, names its rule, and is recorded" {
	run g FULL-AUTO -c 'touch ran; curl http://x.example'
	[ "$status" -eq 126 ]
	[ ! -e ran ]
	[[ "$output" == *"rule net"* ]]
	log | jq -es 'map(select(.decision == "deny")) | length == 1'
}

@test "a question without a terminal is a denial that says how to allow it" {
	run g DEV -c 'make -v' </dev/null
	[ "$status" -eq 126 ]
	[[ "$output" == *"no terminal"* ]]
	[[ "$output" == *policy* ]]
}

@test "SAFE runs nothing, FULL-AUTO runs what is not denied, OBSERVE all" {
	run g SAFE -c ':'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c 'ls -d .'
	[ "$output" = . ]
	run g OBSERVE -c 'cat /etc/hostname >/dev/null; echo "$?"'
	[ "$output" = 0 ]
	log | jq -es 'map(select(.rule? // "" | startswith("would-deny"))) | length >= 1'
}

@test "the environment can tighten and not loosen" {
	WARDBOX_PROFILE=SAFE run g FULL-AUTO -c 'echo no'
	[ "$status" -eq 126 ]
	WARDBOX_PROFILE=OBSERVE run g DEV -c 'make -v'
	[ "$status" -eq 126 ]
	WARDBOX_PROFILE=nonsense run g DEV -c 'echo no'
	[ "$status" -eq 126 ]
}

@test "a write outside of the project is stopped by the kernel" {
	mkdir "$BATS_TEST_TMPDIR/outside"
	# What no reading of the line can see: the path is in a file.
	echo "$BATS_TEST_TMPDIR/outside/f" >where
	run g FULL-AUTO -c 'read -r p <where; echo x >inside && python3 -c "open(input(), \"w\")" <where'
	[ "$status" -ne 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/outside/f" ]
	[ -e inside ]
}

@test "a program that is only known at run time is judged when it starts" {
	cat >run.py <<-'P'
		import os, sys
		os.execvp(sys.argv[1][::-1], [sys.argv[1][::-1], "fine"])
	P
	run g FULL-AUTO -c 'python3 run.py lruc'
	[ "$status" -ne 0 ]
	[[ "$output" == *"Permission"* ]]
	log | grep -q exec.deny
	run g FULL-AUTO -c 'python3 run.py ohce'
	[ "$output" = fine ]
}

@test "every order of -c is read" {
	local args
	run g FULL-AUTO -c -e 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -ec 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c -- 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -o errexit -c 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c -e 'echo "$0 $1 $-"' zero one
	[[ "$output" == "zero one "*e* ]]
}

@test "a script file and a script on stdin are read before they run" {
	printf 'touch ran\ncurl http://x.example\n' >bad.sh
	printf 'echo fine $1\n' >good.sh
	run g FULL-AUTO bad.sh
	[ "$status" -eq 126 ]
	run g FULL-AUTO good.sh arg
	[ "$output" = "fine arg" ]
	run g FULL-AUTO <bad.sh
	[ "$status" -eq 126 ]
	run g FULL-AUTO -s arg <good.sh
	[ "$output" = "fine arg" ]
	[ ! -e ran ]
	cat bad.sh | { run g FULL-AUTO; [ "$status" -eq 126 ]; }
	[ ! -e ran ]
}

@test "a script on stdin shares it with its commands, byte for byte" {
	printf 'read x\nvalue\necho "<$x>"\ncat\nthe rest\n' >in
	bash <in >want
	[ "$(head -n 1 want)" = "<value>" ]
	in_policy 'use OBSERVE' "$WARDBOX" bash <in >out
	cmp out want
	cat in | in_policy 'use OBSERVE' "$WARDBOX" bash >out
	cmp out want
}

@test "exit codes, signals and names are the real shell's" {
	run g FULL-AUTO -c 'exit 7'
	[ "$status" -eq 7 ]
	run g FULL-AUTO -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	run g FULL-AUTO -c 'no-such-command-anywhere'
	[ "$status" -eq 127 ]
	links bash
	run in_policy 'use FULL-AUTO' "$LINKS/bash" -c 'echo "$0 ${BASH_VERSION:+bash}"'
	[[ "$output" == *"bash bash" ]]
	run in_policy 'use OBSERVE' bash -c 'exec -a -bash "$1" -c "shopt -q login_shell && echo login"' _ "$LINKS/bash"
	[ "$output" = login ]
}

@test "a nested shim is inside by the kernel's word, not by a variable" {
	cp "$WARDBOX" ./sh
	run g FULL-AUTO -c "./sh -c 'echo nested'"
	[ "$output" = nested ]
	[ "$(log | jq -rs 'map(select(.type == "start")) | length')" = 1 ]
	WARDBOX_IN_SESSION=1 run g FULL-AUTO -c 'curl http://x.example'
	[ "$status" -eq 126 ]
}

@test "the tree ends with the command, and says which limit ended it" {
	run g FULL-AUTO -c 'sleep 321 & echo started'
	[ "$output" = started ]
	! pgrep -f '^sleep 321' || false
	run in_policy $'use FULL-AUTO\nlimit FULL-AUTO mem=64M' "$WARDBOX" sh -c \
		'python3 -c "x = bytearray(300 << 20)"'
	[ "$status" -ne 0 ]
	[[ "$output" == *memory* || "$output" == *Memory* ]]
}

@test "the environment is clean: kept, set and denied by the policy" {
	LD_PRELOAD_X=1 SECRET_THING=1 LANG=C.UTF-8 run g FULL-AUTO -c 'env'
	[[ "$output" != *SECRET_THING* ]]
	[[ "$output" == *LANG=C.UTF-8* ]]
	[[ "$output" == *WARDBOX_IN_SESSION=1* ]]
	[[ "$output" == *TMPDIR=* ]]
	run g FULL-AUTO -c 'f=$(mktemp) && echo x >"$f" && cat "$f"'
	[ "$output" = x ]
}

@test "the log, the state and the policy are out of the command's reach" {
	g FULL-AUTO -c ':'
	cat >try.py <<-'P'
		import os
		for path, mode in (("/var/log/wardbox/%d/head" % os.getuid(), "r"),
		                   ("/run/wardbox/%d/x" % os.getuid(), "w"),
		                   ("/etc/wardbox/policy", "a")):
		    try:
		        open(path, mode)
		        print("open")
		    except OSError as e:
		        print("closed" if isinstance(e, PermissionError) else e)
	P
	run g FULL-AUTO -c 'python3 try.py'
	[ "$output" = $'closed\nclosed\nclosed' ]
}

@test "secrets are redacted in the log, never in the output" {
	local token=ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789
	run g FULL-AUTO -c "echo token $token" 
	[ "$output" = "token $token" ]
	log >all
	! grep -q "$token" all || false
	grep -q REDACTED all
}

@test "a broken policy, an unwritable log: 125, one line, nothing ran" {
	run in_policy 'nonsense here' "$WARDBOX" sh -c 'touch ran'
	[ "$status" -ne 0 ]
	[ ! -e ran ]
	[[ "$output" == *policy* ]]
	run in_policy 'use FULL-AUTO' sh -c \
		'mkdir -p /var/log/wardbox/$(id -u) && mount -t tmpfs -o ro tmpfs /var/log/wardbox/$(id -u) && exec "$@"' \
		_ "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "two hundred shims, eight at a time, lose no record" {
	in_policy 'use FULL-AUTO' sh -c 'seq 200 | xargs -P 8 -n 1 "$1" sh -c ": \$0"' _ "$WARDBOX"
	[ "$(log | jq -rs 'map(select(.type == "start")) | length')" -eq 200 ]
	[ "$(log | jq -rs 'map(select(.type == "end")) | length')" -eq 200 ]
	intact
}

@test "as another user, with its own log and state" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become another"
	local home
	home=$(mktemp -d)
	chown 1000:1000 "$home"
	cp "$WARDBOX" "$home/wardbox"
	cd "$home"
	HOME=$home run in_policy 'use FULL-AUTO' setpriv --reuid 1000 --regid 1000 \
		--clear-groups ./wardbox sh -c 'id -u; cat /etc/shadow'
	rm -rf "$home"
	[[ "$output" == *"denied"* || "${lines[0]}" = 1000 ]]
}

@test "asks on the terminal: no, yes, always" {
	need command -v tmux
	local s=wardbox-sh-$$
	printf '#!/bin/sh\nPS1=ready; export PS1\nexec dash\n' >go
	chmod +x go
	cat >ask <<-A
		#!/bin/sh
		"$WARDBOX" sh -c 'ls -d .; exit 5'
		echo "code \$?"
	A
	chmod +x ask
	in_policy 'use DEV' tmux -L "$s" new-session -d -x 100 -y 40 ./go
	answer() {
		tmux -L "$s" send-keys ./ask Enter
		for i in $(seq 50); do
			tmux -L "$s" capture-pane -p | grep -c 'Run it' >n || true
			[ "$(cat n)" -ge "$2" ] && break
			sleep 0.1
		done
		tmux -L "$s" send-keys "$1" Enter
		sleep 0.7
	}
	answer n 1
	answer y 2
	answer a 3
	tmux -L "$s" send-keys ./ask Enter
	sleep 1
	tmux -L "$s" capture-pane -p >screen
	tmux -L "$s" kill-server
	cat screen
	[ "$(grep -c 'Run it' screen)" -eq 3 ]
	[ "$(grep -c 'code 126' screen)" -eq 1 ]
	[ "$(grep -c 'code 5' screen)" -eq 3 ]
}

@test "in / there is no project: nothing of the system can be touched" {
	cd /
	run g FULL-AUTO -c 'echo fine; pwd'
	[ "$output" = $'fine\n/' ]
	run g FULL-AUTO -c 'cat etc/shadow'
	[ "$status" -ne 0 ]
	run g FULL-AUTO -c 'python3 -c "print(open(input()).read())"' <<<"/etc/shadow"
	[ "$status" -ne 0 ]
	[[ "$output" != *root:* ]]
}

@test "a log and a state inside of the project are hidden from it" {
	mkdir -p home/.local/state
	cd home
	# Neither /var/log nor /run can be written: the log goes home.
	HOME=$PWD in_policy 'use FULL-AUTO' sh -c 'mount -t tmpfs -o ro none /var/log && exec "$@"' \
		_ "$WARDBOX" sh -c ':'
	[ -n "$(find .local/state/wardbox -name head)" ]
	printf 'import os\nfor d, _, f in os.walk(".local/state"):\n  print(d, f)\n' >look.py
	HOME=$PWD run in_policy 'use FULL-AUTO' sh -c 'mount -t tmpfs -o ro none /var/log && exec "$@"' \
		_ "$WARDBOX" sh -c 'python3 look.py; echo done'
	[[ "$output" == *done* ]]
	[[ "$output" != *head* ]]
}

@test "a program that is not there is not found, and that is no denial" {
	cat >try.py <<-'P'
		import os, sys
		for name in ("/usr/local/bin/none-such", "none-such"):
		    try: os.execvp(name, [name])
		    except FileNotFoundError: print("not found")
		sys.stdout.flush()
		# itself, not its supervisor
		os.execv("/proc/self/exe", ["python3", "-c", "print('again')"])
	P
	run g FULL-AUTO -c 'python3 try.py'
	[ "$output" = $'not found\nnot found\nagain' ]
	run g FULL-AUTO -c 'timeout 5 none-such'
	[ "$status" -eq 127 ]
	[ "$(log | jq -rs 'map(select(.event == "exec.deny")) | length')" = 0 ]
}

@test "a program by a descriptor's number is that program, in every spelling" {
	cat >try.py <<-'P'
		import os
		fd = os.open("@FILE@", os.O_RDONLY)
		os.set_inheritable(fd, True)
		for name in ("/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/",
		             "/proc//self/fd/", "/proc/self/../self/fd/"):
		    if os.fork() == 0:
		        try: os.execv(name + str(fd), ["true"])
		        except OSError: os._exit(9)
		    print(os.waitstatus_to_exitcode(os.wait()[1]), end=" ", flush=True)
	P
	curl=$(type -P curl || type -P wget) || skip "not here: curl or wget"
	sed "s|@FILE@|$(type -P true)|" try.py >allowed.py
	run g FULL-AUTO -c "python3 allowed.py"
	[[ "$output" == "0 "* ]]
	sed "s|@FILE@|$curl|" try.py >denied.py
	run g FULL-AUTO -c "python3 denied.py"
	[ "$output" = "9 9 9 9 9 " ]
}

@test "where no terminal can be made, the one that is there is the command's" {
	need script -qec true /dev/null
	cat >boot <<-'X'
		mount -t tmpfs none /dev
		exec "$0" sh -c '[ -t 0 ] && [ -t 1 ] && echo "$((6 * 7))"'
	X
	for profile in OBSERVE FULL-AUTO; do
		in_policy "use $profile" script -qec "unshare -m sh -c '. ./boot' '$WARDBOX'" /dev/null >out </dev/null
		[ "$(tr -d '\r' <out)" = 42 ] || { cat out; false; }
	done
}
