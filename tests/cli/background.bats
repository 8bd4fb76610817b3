#!/usr/bin/env bats
# What commands leave running: kept by a session, listed, ended, or told of

bats_require_minimum_version 1.5.0
load ../lib/wardbox

FULL='policy 1 system
include default
use FULL-AUTO'
KEEP="$FULL
profile FULL-AUTO background=keep"

setup() {
	need unshare -m true
	project
	POLICY=$FULL
	need in_policy "$POLICY" "$WARDBOX" sh -c :
	exec </dev/null
	# A server that reads a line from `in`, starts a program for it, and writes
	# the line to `out`. It opens `in` once and for all.
	cat >server <<'SERVER'
exec 3<>in
: >ready
while read -r line <&3; do
	/bin/true && echo "got $line" >>out
done
SERVER
	mkfifo in
	chmod -R a+rwX .
}

teardown() {
	# Nothing of a test is left, whatever failed.
	for s in "$BATS_TEST_TMPDIR"/ns/run/*/sessions/*.live/*; do
		[ ! -e "$s" ] || kill -9 "$(basename "${s%.*}")" 2>/dev/null || :
	done
	[ ! -s pids ] || xargs kill -9 <pids 2>/dev/null || :
	[ ! -s yama ] || cat yama >/proc/sys/kernel/yama/ptrace_scope
}

wb() {
	in_policy "$POLICY" "$WARDBOX" "$@"
}

until_() { # COMMAND... : waits until it succeeds, ten seconds at most
	local i
	for ((i = 0; i < 1000; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.01
	done
	echo "never: $*" >&2
	return 1
}

gone() { # PID
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# The supervisors that stay with something.
supervisors() {
	local f
	for f in "$BATS_TEST_TMPDIR"/ns/run/*/sessions/*.live/*; do
		[ ! -e "$f" ] || basename "${f%.*}"
	done
}

# The numbers of the programs that a session left running.
programs() { # [SESSION]
	wb session show --json "$@" | python3 -c '
import json, sys
for p in json.load(sys.stdin)["background"]: print(p["pid"])'
}

events() {
	wb audit dump | grep -o ' [a-z]*\.[a-z]* {.*'
}

start_server() { # HOW... : starts it by that command
	"$@" 'sh server >/dev/null 2>&1 & until [ -e ready ]; do :; done; echo $! >>pids; echo up'
}

uses_it() { # HOW... : three later commands
	local pid
	"$@" 'echo one >in'
	until_ grep -q 'got one' out
	"$@" 'echo two >in'
	until_ grep -q 'got two' out
}

# In the session $1, a line.
in_s() { # SESSION LINE
	wb exec "$1" -- sh -c "$2"
}

@test "a reader sees the end when what lives on has let go of the output" {
	local how text
	POLICY=$KEEP
	# The child holds both streams beyond the command's end.
	text='(until [ -e go ]; do :; done; exec sleep 314 >/dev/null 2>&1) & echo $! >>pids; echo up'
	for how in "sh -c" "exec s -- sh -c"; do
		rm -f go front
		# shellcheck disable=SC2086 # words
		{ wb $how "$text" 3>&-; : >front; } 2>&1 | cat >out 3>&- &
		until_ [ -e front ]
		: >go
		wait $!
		[ "$(cat out)" = up ]
		! gone "$(tail -n 1 pids)"
	done
}

@test "a later command of the session signals what an earlier one left, and nobody else does" {
	in_s s 'sleep 311 >/dev/null 2>&1 & echo $! >>pids; sh -c "setsid sleep 312 >/dev/null 2>&1 & echo \$! >>pids"'
	local one two front
	one=$(sed -n 1p pids) two=$(sed -n 2p pids)
	# another session, what is not guarded, and the guard itself
	run in_s other "kill -0 $one || kill $one || echo held"
	[[ $output == *held ]]
	sleep 313 >/dev/null 2>&1 &
	echo $! >>pids
	run in_s s "kill -0 $! || kill -9 $! || echo held"
	[[ $output == *held ]]
	for front in $(supervisors); do
		run in_s s "p=$front; kill -0 \$p 2>/dev/null || kill -9 \$p 2>/dev/null || echo held"
		[[ $output == held ]]
	done
	gone "$one" && false
	# by number, by name, as a group, by a program
	run in_s s "kill -0 $one && kill -STOP $one && kill -CONT $one && echo sent"
	[ "$output" = sent ]
	run in_s s "pkill -f '[s]leep 311' && echo killed"
	[ "$output" = killed ]
	until_ gone "$one"
	run in_s s "python3 -c 'import os; os.kill(-$two, 15)' && echo group"
	[ "$output" = group ]
	until_ gone "$two"
	run in_s s "kill $one || echo none"
	[[ $output == *"No such process"*none ]]
}

@test "a server that one command started is used, listed and ended by later ones" {
	run start_server wb exec s -- sh -c
	[ "$status" -eq 0 ]
	[ "$output" = up ]
	uses_it wb exec s -- sh -c
	run wb session list
	[[ $output == *"sh server"* ]]
	run wb session list --json
	[[ $output == *'"command":"sh server"'*'"memory":'* ]]
	pid=$(programs s)
	[ "$(cat pids)" = "$pid" ]
	run wb session stop s "$pid"
	[ "$status" -eq 0 ]
	gone "$pid"
	until_ test -z "$(supervisors)"
	run programs s
	[ -z "$output" ]
	run wb session stop s
	[ "$status" -eq 1 ]
	[[ $output == *"session s left nothing running"* ]]
}

@test "where a filter is around the guard, too, a session lists and signals its programs alone" {
	need "$HELPERS/abi" 5 true
	# This one traces the calls of Landlock, as of an older one.
	wb() { in_policy "$POLICY" "$HELPERS/abi" 5 "$WARDBOX" "$@"; }
	in_s s 'sleep 311 >/dev/null 2>&1 & echo $! >>pids'
	[ "$(programs s)" = "$(cat pids)" ]
	sleep 313 >/dev/null 2>&1 &
	run in_s s "kill -0 $! || kill $! || echo held; kill \$(cat pids) && echo sent"
	kill $!
	echo "$output"
	[[ $output == *held$'\n'sent ]]
	until_ gone "$(cat pids)"
}

@test "background=keep does so for single commands, in the session of the place" {
	POLICY=$KEEP
	run start_server wb sh -c
	[ "$output" = up ]
	uses_it wb sh -c
	pid=$(programs)
	run wb session stop "$(wb session show --json | python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])')"
	[ "$status" -eq 0 ]
	gone "$pid"
	[ -z "$(supervisors)" ]
}

@test "a server on the loopback is the next command's, too" {
	need in_policy "$POLICY" "$WARDBOX" exec s -- python3 -c \
		'import socket; socket.create_server(("127.0.0.1", 0))'
	POLICY=$KEEP
	cat >serve.py <<'SERVE'
import socket
s = socket.create_server(("127.0.0.1", 8456))
open("ready", "w").close()
while True:
    s.accept()[0].sendall(b"served")
SERVE
	cat >ask.py <<'ASK'
import socket
print(socket.create_connection(("127.0.0.1", 8456)).recv(9).decode())
ASK
	wb sh -c 'python3 serve.py >/dev/null 2>&1 & until [ -e ready ]; do :; done
		echo $! >>pids'
	run wb sh -c 'python3 ask.py'
	[ "$output" = served ]
	# Nobody else's.
	run python3 ask.py
	[ "$status" -ne 0 ]
	wb session end --all
	gone "$(cat pids)"
}

@test "an ordinary user's server is used, listed and ended" {
	need in_policy "$POLICY" setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$WARDBOX" sh -c :
	chmod a+rx "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" 2>/dev/null || :
	chown -R 1000:1000 .
	user() { in_policy "$POLICY" setpriv --reuid 1000 --regid 1000 \
		--clear-groups env HOME="$BATS_TEST_TMPDIR" "$WARDBOX" "$@"; }
	run start_server user exec s -- sh -c
	[ "$output" = up ]
	uses_it user exec s -- sh -c
	run user session list
	[[ $output == *"sh server"* ]]
	run user session stop s "$(cat pids)"
	[ "$status" -eq 0 ]
	gone "$(cat pids)"
}

# As a container without namespaces runs it, where Yama can be had under Yama: only
# an ancestor may read what a program asks for.
@test "without namespaces, as root and as an ordinary user, under Yama" {
	need "$HELPERS/docker" true
	local who up yama=/proc/sys/kernel/yama/ptrace_scope
	if [ -w $yama ]; then
		cat $yama >yama
		echo 1 >$yama
	fi
	POLICY="$FULL
relax netns"
	chmod a+rx "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" 2>/dev/null || :
	chown -R 1000:1000 .
	for who in 0 1000; do
		as() { in_policy "$POLICY" setpriv --reuid $who --regid $who \
			--clear-groups env HOME="$BATS_TEST_TMPDIR" \
			"$HELPERS/docker" "$WARDBOX" "$@"; }
		rm -f ready out pids
		run start_server as exec s -- sh -c
		echo "$output"
		[ "$output" = up ]
		uses_it as exec s -- sh -c
		run as session list
		[[ $output == *"sh server"* ]]
		# What Yama asks of who looks.
		up=$(cat pids)
		while [ "$up" -gt 1 ] && [ "$up" != "$(supervisors)" ]; do
			up=$(awk '/^PPid:/ {print $2}' "/proc/$up/status")
		done
		[ "$up" = "$(supervisors)" ]
		run as session stop s "$(cat pids)"
		[ "$status" -eq 0 ]
		gone "$(cat pids)"
	done
}

@test "what a single command leaves is ended, and told once, by name" {
	run --separate-stderr start_server wb sh -c
	[ "$output" = up ]
	gone "$(cat pids)"
	[[ $stderr == *"ended with the command that left it running: sh (pid $(cat pids))"* ]]
	[[ $stderr == *"background=keep"* ]]
	run --separate-stderr wb sh -c 'sleep 1000 & sleep 1000 & sleep 1000 & exit 3'
	[ "$status" -eq 3 ]
	[ "$(grep -c ended <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"and 2 more"* ]]
	run --separate-stderr wb sh -c 'sleep 0 & wait'
	[ -z "$stderr" ]
	# The policy's word holds for sessions as well.
	POLICY="$FULL
profile FULL-AUTO background=end"
	run --separate-stderr wb exec s -- sh -c 'sleep 1000 & echo $! >pids'
	gone "$(cat pids)"
	[[ $stderr == *"(pid $(cat pids))"* ]]
}

@test "a project's policy ends what the system's keeps, and not the reverse" {
	mkdir .wardbox
	printf 'policy 1 project\nprofile FULL-AUTO background=end\n' >.wardbox/policy
	POLICY=$KEEP
	run --separate-stderr wb sh -c 'sleep 1000 & echo $! >pids'
	gone "$(cat pids)"
	printf 'policy 1 project\nprofile FULL-AUTO background=keep\n' >.wardbox/policy
	POLICY="$FULL
profile FULL-AUTO background=end"
	run --separate-stderr wb exec s -- sh -c 'sleep 1000 & echo $! >pids'
	gone "$(cat pids)"
	run wb policy check .wardbox/policy
	[ "$status" -eq 0 ]
	printf 'policy 1 project\nprofile FULL-AUTO background=maybe\n' >.wardbox/policy
	run wb policy check .wardbox/policy
	[ "$status" -ne 0 ]
	[[ $output == *"background=keep|end"* ]]
}

@test "the code, or the signal, comes when the command ends" {
	POLICY=$KEEP
	run wb sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >>pids; exit 7'
	[ "$status" -eq 7 ]
	run wb sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >>pids; kill -TERM $$'
	[ "$status" -eq 143 ]
	run wb exec --json s -- sh -c 'sleep 1000 & echo $! >>pids; echo out; exit 9'
	[ "$status" -eq 9 ]
	[[ $output == *'"stdout":"out\n"'* ]]
	run wb sh -c 'kill -0 '"$(tail -n 1 pids)"
	for pid in $(cat pids); do
		not gone "$pid"
	done
	run wb session end --all
	[ "$status" -eq 0 ]
	for pid in $(cat pids); do
		gone "$pid"
	done
}

@test "a pipe of the caller is held by who has it, as with a plain shell" {
	POLICY=$KEEP
	# The end of file comes although the program lives.
	[ "$(wb sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >>pids; echo closed' | cat)" = closed ]
	not gone "$(tail -n 1 pids)"
	# And here when the program ends, with what it wrote late.
	mkfifo go
	wb sh -c 'read -r x <go; echo late' >direct &
	(wb sh -c '(read -r x <in; echo late) & echo early' | cat >through; : >closed) &
	until_ grep -q early through
	[ ! -e closed ]
	echo now >in
	until_ test -e closed
	[ "$(cat through)" = "early
late" ]
	echo now >go
	wait
	[ "$(cat direct)" = late ]
}

@test "the front is killed: the server lives, the command ends, the log has both" {
	POLICY=$KEEP
	wb sh -c 'sh server >/dev/null 2>&1 & until [ -e ready ]; do :; done
		echo $! >>pids; echo $$ >shell; read -r x <never' 2>/dev/null &
	shell=$!
	mkfifo never
	until_ test -s shell
	front=$(pgrep -P "$shell")
	kill -9 "$front"
	wait "$shell" || code=$?
	[ "$code" -eq 137 ]
	until_ gone "$(cat shell)"
	uses_it wb sh -c
	until_ test -n "$(supervisors)"
	run events
	[[ $output == *"background.begin"* ]]
	run wb audit dump
	[[ $output == *"killed by SIGKILL"* || $output == *"signal 9"* || $output == *KILL* ]]
	run wb audit verify
	[[ $output == intact* ]]
	[ "$(programs)" = "$(cat pids)" ]
	wb session stop "$(wb session show --json | python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])')"
	gone "$(cat pids)"
}

@test "the supervisor is killed: nothing lives on, the next command works" {
	POLICY=$KEEP
	wb sh -c 'sh server >/dev/null 2>&1 & until [ -e ready ]; do :; done
		echo $! >>pids; read -r x <in' 2>/dev/null &
	shell=$!
	until_ test -s pids
	front=$(pgrep -P "$shell")
	kill -9 "$(pgrep -P "$front")"
	wait "$shell" || code=$?
	[ "$code" -eq 137 ]
	gone "$(cat pids)"
	run wb audit dump
	[[ $output == *supervisor.lost* ]]
	run wb audit verify
	[[ $output == intact* ]]
	# The same when the command has ended.
	: >pids
	rm ready
	start_server wb sh -c
	kill -9 "$(supervisors)"
	until_ gone "$(cat pids)"
	run wb sh -c 'echo works'
	[ "$output" = works ]
	run wb session list
	[[ $output != *"sh server"* ]]
}

@test "a session's programs end with the login that it came from" {
	POLICY=$KEEP
	export -f in_policy unshare lacking
	export POLICY WARDBOX BATS_TEST_TMPDIR
	mkfifo logout
	# shellcheck disable=SC2016 # expanded by that shell
	setsid bash -c 'in_policy "$POLICY" "$WARDBOX" sh -c \
		"sleep 1000 >/dev/null 2>&1 & echo \$! >>pids"; : >left; read -r x <logout' &
	until_ test -e left
	not gone "$(cat pids)"
	[ -n "$(supervisors)" ]
	echo >logout
	until_ gone "$(cat pids)"
	until_ test -z "$(supervisors)"
	run events
	[[ $output == *'background.end'*'"why":"session"'* ]]
}

@test "a session that nobody uses ends after the policy's time" {
	POLICY="$KEEP
limit FULL-AUTO idle=1s"
	wb sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >>pids'
	not gone "$(cat pids)"
	until_ gone "$(cat pids)"
	run events
	[[ $output == *'background.end'*'"why":"session"'* ]]
}

@test "what lives on is judged, and kept within its limits" {
	POLICY="$KEEP
limit FULL-AUTO mem=64M"
	sed -i 's|/bin/true|env curl --version; true|' server
	start_server wb sh -c
	echo one >in
	until_ grep -q 'got one' out
	run events
	[[ $output == *'exec.deny {'*curl* ]]
	wb session end --all
	wb sh -c 'python3 -c "
import os, time
os.set_blocking(0, True)
open(\"up\", \"w\").close()
open(\"in\").readline()
x = bytearray(256 << 20)
time.sleep(1000)" >/dev/null 2>&1 & echo $! >pids; until [ -e up ]; do :; done'
	not gone "$(cat pids)"
	echo >in
	until_ gone "$(cat pids)"
}

@test "only what a session left running can be stopped" {
	start_server wb exec s -- sh -c
	sleep 1000 &
	mine=$!
	run wb session stop s "$mine"
	[ "$status" -eq 1 ]
	[[ $output == *"session s left no process $mine running"* ]]
	kill -0 "$mine"
	run wb session stop s 1
	[ "$status" -eq 1 ]
	run wb session stop s word
	[ "$status" -eq 2 ]
	run wb session stop other "$(cat pids)"
	[ "$status" -eq 1 ]
	not gone "$(cat pids)"
	kill "$mine"
	# A command of the session sees nothing of the guard's files.
	run wb exec s -- sh -c 'cat /run/wardbox/*/sessions/*.live/* || wardbox session stop s'
	[ "$status" -ne 0 ]
	run wb session end s
	[ "$status" -eq 0 ]
	gone "$(cat pids)"
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/$(id -u)/sessions/s.live" ]
}

@test "whatever is killed, and when: nothing survives its session" {
	need python3 -c ''
	POLICY=$KEEP
	run in_policy "$POLICY" python3 "$TOP/tests/lib/background_kills.py" "$WARDBOX" 15
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run wb audit verify
	[[ $output == intact* ]]
	run wb sh -c 'echo works'
	[ "$output" = works ]
}
