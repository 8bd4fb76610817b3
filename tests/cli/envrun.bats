#!/usr/bin/env bats
# envrun: state that survives, as data.

load ../lib/wardbox

POLICY='policy 1 system
use FULL-AUTO'

setup() {
	project
	export WARDBOX_SESSION_ID=session-test
}

e() { # runs envrun with the given arguments under FULL-AUTO
	in_policy "$POLICY" "$WARDBOX" envrun "$@"
}

@test "directory, variables and code are carried over" {
	mkdir sub
	run e -- 'export FOO=bar; cd sub; exit 7'
	[ "$status" -eq 7 ]
	run e -- 'echo "$? $FOO"; pwd'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "7 bar" ]
	[ "${lines[1]}" = "$PROJECT/sub" ]
}

@test "unexported variables, functions and traps are not" {
	e -- 'X=1; f() { :; }; trap "echo trapped" EXIT; export Y=2'
	run e -- 'echo "<$X><$Y>"; type f'
	[[ "$output" == "<><2>"* ]]
	[[ "$output" != *trapped* ]]
}

@test "unset is carried over" {
	e -- 'export A=1'
	e -- 'unset A'
	run e -- 'echo "<${A-unset}>"'
	[ "$output" = "<unset>" ]
}

@test "dangerous variables never reach the next command, and are named" {
	run e --json -- 'export LD_PRELOAD=/x BASH_ENV=/y FINE=1 2>/dev/null'
	if [ "$(jq -r .decision <<<"$output")" = allow ]; then
		[[ "$(jq -r .stripped <<<"$output")" == *LD_PRELOAD* ]]
		[[ "$(jq -r .stripped <<<"$output")" == *BASH_ENV* ]]
	fi
	run e -- 'echo "<$LD_PRELOAD$BASH_ENV>"'
	[ "$output" = "<>" ]
}

@test "--strict carries only what the policy keeps by name" {
	e --strict -- 'export MINE=1 LANG=C.UTF-8'
	run e --strict -- 'echo "<$MINE>"'
	[ "$output" = "<>" ]
}

@test "SHLVL does not grow, PWD cannot be spoofed" {
	e --shell bash -- 'export PWD=/etc'
	e --shell bash -- ':'
	run e --shell bash -- 'echo "$SHLVL"; pwd -P'
	[ "${lines[0]}" -le 1 ]
	[ "${lines[1]}" = "$PROJECT" ]
}

@test "newlines, empty values and bytes that are no UTF-8 survive" {
	e -- 'export N="a
b" E= B=$(printf "\377\376")'
	run e -- 'printf "%s|%s|" "$N" "$E"; printf %s "$B" | od -An -tx1'
	[ "$output" = $'a\nb|| ff fe' ]
}

@test "the outcome table, in every shell that is here" {
	local sh
	for sh in bash dash "busybox" mksh zsh; do
		command -v "$sh" >/dev/null || continue
		export WARDBOX_SESSION_ID=session-$sh
		table "$sh" || { echo "in $sh"; false; }
	done
}

# CODE CAPTURE LINE: both must come back so.
row() {
	local out
	out=$(e --shell "$sh" --json -- "$3")
	[ "$(jq -r '"\(.exit_code) \(.capture)"' <<<"$out")" = "$1 $2" ] || {
		echo "line: $3"
		echo "$out"
		return 1
	}
}

table() {
	local sh=$1
	row 0 captured 'true' &&
		row 1 captured 'false' &&
		row 0 captured 'true # comment' &&
		row 0 captured $'true\n' &&
		row 0 captured 'true;' &&
		row 0 captured $'cat <<E\nx\nE' &&
		row 5 captured 'exit 5' &&
		row 1 captured 'set -e; false; true' &&
		row 0 captured 'env() { :; }; true' &&
		row 3 captured 'sleep 3 & exit 3' &&
		row 137 killed 'kill -9 $$' &&
		row 0 no-dump 'exec /bin/true'
}

@test "a large variable and a large environment" {
	e -- 'x=$(head -c 100000 /dev/zero | tr "\0" y); export BIG=$x'
	run e -- 'echo ${#BIG}'
	[ "$output" = 100000 ]
	run e --json -- 'x=$(head -c 200000 /dev/zero | tr "\0" y); export BIG=$x'
	[ "$(jq -r .capture <<<"$output")" = no-dump ]
	run e -- 'echo ${#BIG}'
	[ "$output" = 100000 ]
}

@test "cd, cd -, pushd, popd and dirs work across commands" {
	mkdir -p a/b
	e -- 'cd a'
	run e -- 'cd -'
	[ "$output" = "$PROJECT" ]
	run e -- pwd
	[ "$output" = "$PROJECT" ]
	run e -- 'pushd a/b'
	[ "$output" = "$PROJECT/a/b $PROJECT" ]
	run e -- dirs
	[ "$output" = "$PROJECT/a/b $PROJECT" ]
	run e -- 'popd'
	[ "$output" = "$PROJECT" ]
	run e -- 'popd'
	[ "$status" -eq 1 ]
	run e -- 'cd nowhere'
	[ "$status" -eq 1 ]
	run e -- 'echo $?'
	[ "$output" = 1 ]
}

@test "a logical path is kept, a directory that vanished is replaced and told" {
	mkdir -p real/deep
	ln -s real link
	e -- 'cd link'
	run e -- pwd
	[ "$output" = "$PROJECT/link" ]
	e -- 'cd deep'
	rm -r real/deep
	run e -- 'pwd -P'
	[[ "$output" == *"gone"* ]]
	[[ "$output" == *"$PROJECT/real"* ]]
}

@test "a denied line does not run, and the state stays" {
	e -- 'export A=1'
	run e -- 'export A=2; curl http://x.example'
	[ "$status" -eq 126 ]
	run e -- 'echo $A'
	[ "$output" = 1 ]
}

@test "cd out of the project is denied, as the shell's would be" {
	run e -- 'cd /etc'
	[ "$status" -eq 126 ]
	run e -- pwd
	[ "$output" = "$PROJECT" ]
}

@test "--timeout ends the whole tree with 124" {
	run e --timeout 300ms -- 'sleep 300 & sleep 300'
	[ "$status" -eq 124 ]
}

@test "--state keeps the state in a file of its own" {
	e --state st -- 'export Q=9'
	run e --state st -- 'echo $Q'
	[ "$output" = 9 ]
	run e -- 'echo "<$Q>"'
	[ "$output" = "<>" ]
	echo garbage >st
	run e --state st -- 'true'
	[ "$status" -eq 125 ]
	[[ "$output" == *st* ]]
}

@test "--keep passes a variable of the caller's on, --session names another" {
	export MINE=here
	run e --keep MINE -- 'echo "<$MINE>"'
	[ "$output" = "<here>" ]
	e --session other -- 'export S=1'
	run e -- 'echo "<$S>"'
	[ "$output" = "<>" ]
}

@test "--diff says what changed" {
	e -- 'export A=1 B=1'
	run e --diff -- 'export A=2; unset B; export C=3'
	[[ "$output" == *"~ A=2"* ]]
	[[ "$output" == *"- B=1"* ]]
	[[ "$output" == *"+ C=3"* ]]
}

@test "--serve-stdin answers each command with a JSON line" {
	printf 'cd /nowhere\nexport A=5\n\necho $A; echo e >&2\nexit 3\n' >in
	in_policy "$POLICY" sh -c '"$1" envrun --serve-stdin <in >out' _ "$WARDBOX"
	[ "$(wc -l <out)" -eq 4 ]
	[ "$(sed -n 3p out | jq -r '.stdout + .stderr')" = $'5\ne\n' ] ||
		[ "$(sed -n 3p out | jq -r .stdout)" = 5 ]
	[ "$(sed -n 4p out | jq -r .exit_code)" = 3 ]
}

@test "--serve-stdin --null takes commands of several lines" {
	printf 'echo a\necho b\0echo c' >in
	in_policy "$POLICY" sh -c '"$1" envrun --serve-stdin --null <in >out' _ "$WARDBOX"
	[ "$(jq -r .stdout out)" = $'a\nb\n\nc' ]
}

@test "a thousand commands in one process leave nothing behind" {
	run in_policy "$POLICY" python3 "$TOP/tests/lib/serve-many.py" "$WARDBOX" 1000 . /tmp/wardbox /run/wardbox
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "--repl talks to a person on a terminal" {
	need command -v tmux
	local s=wardbox-envrun-$$
	cat >go <<-G
		#!/bin/sh
		exec $WARDBOX envrun --repl
	G
	chmod +x go
	in_policy "$POLICY" tmux -L "$s" new-session -d -x 80 -y 24 ./go
	tmux -L "$s" send-keys 'export A=hello' Enter
	sleep 1
	tmux -L "$s" send-keys 'echo $A-$((1+1))' Enter
	for i in $(seq 50); do
		tmux -L "$s" capture-pane -p | grep -q '^hello-2' && break
		sleep 0.1
	done
	tmux -L "$s" send-keys 'sleep 100' Enter
	sleep 0.5
	tmux -L "$s" send-keys C-c
	sleep 0.3
	tmux -L "$s" send-keys 'history' Enter
	for i in $(seq 50); do
		tmux -L "$s" capture-pane -p | grep -q '3  sleep 100' && break
		sleep 0.1
	done
	tmux -L "$s" capture-pane -p >screen
	tmux -L "$s" kill-server
	cat screen
	grep -q '^hello-2' screen
	grep -q '3  sleep 100' screen
}

@test "bad calls are 125 and say what is needed" {
	run "$WARDBOX" envrun
	[ "$status" -eq 125 ]
	run "$WARDBOX" envrun -- a b
	[ "$status" -eq 125 ]
	[[ "$output" == *"in quotes"* ]]
	run "$WARDBOX" envrun --shell /no/such/shell -- true
	[ "$status" -eq 127 ]
	run "$WARDBOX" envrun --timeout soon -- true
	[ "$status" -eq 125 ]
	run "$WARDBOX" envrun --dump 9 junk
	[ "$status" -eq 125 ]
}

@test "--repl: a line is edited, and the terminal is given back" {
	run in_policy "$POLICY" python3 "$TOP/tests/lib/repl.py" "$WARDBOX"
	echo "$output"
	[ "$output" = "all as typed" ]
}
