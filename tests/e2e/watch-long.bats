#!/usr/bin/env bats
# What tests/cli/watch.bats tries, as often as a race wants it.
load ../lib/wardbox

often() { # the tests whose names match PATTERN, with so many tries
	SWAPS=1000000 CALLS=100000 timeout 1100 bats --tap -f "$1" "$TOP/tests/cli/watch.bats"
}

@test "a path that a thread swaps a million times changes no file outside" {
	run often 'a path that a thread swaps'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok 1 "* && $output != *"# skip"* ]] || skip "not here: ${output##*#}"
}

@test "a hundred thousand calls under signals" {
	run often 'a call that waits for its answer'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok 1 "* && $output != *"# skip"* ]] || skip "not here: ${output##*#}"
}
