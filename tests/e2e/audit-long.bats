#!/usr/bin/env bats
# what the log must survive, as often as was asked

load ../lib/wardbox

@test "2,000 kills over eight writers lose no record, and the chain verifies" {
	WARDBOX_KILLS=2000 run "$O/test/test_audit_kills"
	[ "$status" -eq 0 ]
	[[ $output == *"OK ] survives_kills"* ]]
}
