#!/usr/bin/env bats
# envrun for as long as a harness lives.

load ../lib/wardbox

@test "ten thousand commands in one process leave nothing behind" {
	project
	export WARDBOX_SESSION_ID=session-many
	run in_policy 'use FULL-AUTO' python3 "$TOP/tests/lib/serve-many.py" "$WARDBOX" 10000 . /tmp/wardbox /run/wardbox
	echo "# $output" >&3
	[ "$status" -eq 0 ]
}
