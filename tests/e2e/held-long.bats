#!/usr/bin/env bats
# All hostile rows that are open, in each shell, for root and for a user.

load ../lib/wardbox

all() { # OPTION...
	need unshare -mnpif --kill-child true
	run timeout 3000 python3 "$TOP/tests/lib/held.py" "$@" "$WARDBOX" \
		"$TOP"/tests/data/{policy-corpus,policy-lines,policy-siblings,shell-lines,everyday-lines}.tsv
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "bash, root" {
	all -s bash -u 0
}

@test "bash, uid 1000" {
	all -s bash -u 1000
}

@test "dash, uid 1000" {
	all -s dash -u 1000
}
