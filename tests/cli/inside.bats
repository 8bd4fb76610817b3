#!/usr/bin/env bats
# What is guarded already: the applets pass through, and loosen nothing

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	project
	cp "$WARDBOX" .
	exec </dev/null
}

g() { # LINE [OPTION...]: a line of the guarded shell
	local line=$1
	shift
	in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" sh "$@" -c "$line"
}

log() {
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json
}

@test "exec runs its command, with its streams and code" {
	run g 'echo in | ./wardbox exec -- cat; ./wardbox exec s -- sh -c "echo err >&2; exit 7"'
	[ "$status" -eq 7 ]
	[ "$output" = "in
err" ]
	run -127 g './wardbox exec -- no-such-program'
	run g './wardbox exec --timeout 200ms -- sleep 5'
	[ "$status" -eq 124 ]
	run g './wardbox exec --json -- sh -c "echo out; exit 3"'
	[ "$status" -eq 3 ]
	jq -e '.stdout == "out\n" and .exit_code == 3 and .ran and .policy_rule_matched == "inside"' <<<"$output"
	[ ! -e .wardbox ]
}

@test "what is denied outside is denied inside, whoever starts it" {
	run g 'su -c id'
	[[ $output == *"denied: su -c id"* ]]
	# Not a word of these is read before they run.
	echo '"$1" -c id' >start
	echo './wardbox exec -- "$1" -c id' >inner
	echo './wardbox envrun -- "$1 -c id"' >line
	for how in start inner line; do
		run g "sh ./$how su"
		[ "$status" -eq 126 ]
		[[ $output == *"Permission denied"* ]]
		[[ $output == *"denied: su -c id: "*"(rule "* ]]
	done
	echo 'for a; do ./wardbox exec -- touch "$a"; ./wardbox envrun -- "touch $a"; done' >reach
	run g "sh ./reach /srv/outside"
	[ "$status" -ne 0 ]
	[ ! -e /srv/outside ]
	run g 'sh ./reach within'
	[ "$status" -eq 0 ]
	[ -e within ]
}

@test "the programs it starts are in the log of the one that guards" {
	run g 'sh ./wardbox.sh; ./wardbox exec -- uname -s'
	log | jq -es 'map(select(.type == "start")) | length == 1'
	log | jq -rs 'map(tostring) | join("\n")' >all
	grep -q uname all
}

@test "a session is kept from one inner command to the next, in TMPDIR" {
	mkdir sub
	run g './wardbox envrun -- "cd sub && export A=1 LD_PRELOAD=/x"; ./wardbox envrun -- "pwd; echo \$A\$LD_PRELOAD"'
	[ "$status" -eq 0 ]
	[ "$output" = "$PROJECT/sub
1" ]
	run g './wardbox envrun -- pwd; ./wardbox exec -- pwd; ./wardbox session list'
	[ "${lines[0]}" = "$PROJECT/sub" ]
	[ "${lines[1]}" = "$PROJECT/sub" ]
	[[ $output == *"* session-"* ]]
	run g './wardbox session create s --cwd sub && ./wardbox exec s -- pwd && ./wardbox session end s && ./wardbox session list'
	[ "${lines[1]}" = "$PROJECT/sub" ]
	[[ $output != *"  s  "* ]]
	[ ! -e .wardbox ]
	# The outer session is not touched.
	run in_policy 'use FULL-AUTO' "$WARDBOX" envrun -- pwd
	[ "$output" = "$PROJECT" ]
}

@test "with a file for the state no other place is needed" {
	run g 'unset TMPDIR; ./wardbox envrun --state st -- "export A=1"; ./wardbox envrun --state st -- "echo \$A"'
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
	run g 'unset TMPDIR; ./wardbox envrun -- true'
	[ "$status" -eq 125 ]
	[[ $output == *"TMPDIR names no place for sessions"* ]]
	run g 'TMPDIR=/etc ./wardbox envrun -- true'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"/etc: Permission denied"* || $output == *"Read-only file system"* ]]
	run g 'unset TMPDIR; ./wardbox exec -- echo here'
	[ "$output" = here ]
	[ ! -e .wardbox ]
}

@test "a program that serves lines serves them inside, too" {
	printf 'echo 1\ncd .git\npwd\nexit 4\n' >in
	run g './wardbox envrun --serve-stdin <in'
	[ "$status" -eq 0 ]
	[ "$(jq -r .stdout <<<"$output" | tr -d '\n')" = "1$PROJECT/.git" ]
	[ "$(jq -rs 'map(.exit_code) | join(" ")' <<<"$output")" = "0 0 0 4" ]
}

@test "on a terminal the command has that very terminal" {
	cat >prog <<-'X'
		tty
		./wardbox exec -- sh -c 'tty; exit 3'
		echo $?
		./wardbox envrun -- 'tty; stty size'
	X
	run in_policy 'use FULL-AUTO' script -qec "stty rows 31 cols 97; $WARDBOX sh ./prog" /dev/null
	[ "$status" -eq 0 ]
	output=${output//$'\r'/}
	mapfile -t at <<<"$output"
	[[ ${at[0]} == /dev/pts/* ]]
	[ "${at[1]}" = "${at[0]}" ]
	[ "${at[2]}" = 3 ]
	[ "${at[3]}" = "${at[0]}" ]
	[ "${at[4]}" = "31 97" ]
}

@test "in a sandbox of drop the same holds" {
	need "$WARDBOX" drop --rwx=/ true
	run in_policy 'use FULL-AUTO' "$WARDBOX" drop --rwx=/ sh -c './wardbox exec -- echo ran'
	[ "$output" = ran ]
	run in_policy 'use FULL-AUTO' "$WARDBOX" drop --rox=/ --rw="$PROJECT" \
		sh -c './wardbox exec -- touch within; ./wardbox exec -- touch ../outside'
	[ "$status" -ne 0 ]
	[ -e within ]
	[ ! -e ../outside ]
}

@test "a variable or a word makes nobody inside" {
	export WARDBOX_IN_SESSION=1
	run in_policy 'use FULL-AUTO' "$WARDBOX" exec -- su -c id
	[ "$status" -eq 126 ]
	run in_policy 'use FULL-AUTO' "$WARDBOX" envrun -- 'su -c id'
	[ "$status" -eq 126 ]
}

@test "what is asked of the guard's own says that this is not the place" {
	run g './wardbox audit dump'
	[ "$status" -eq 2 ]
	[[ $output == *"a guarded command cannot read it: ask outside"* ]]
	run g './wardbox doctor --json'
	[[ $output == *'"inside":true'* ]]
}
