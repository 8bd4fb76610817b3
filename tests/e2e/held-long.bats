#!/usr/bin/env bats
# All hostile rows that are open, in each shell, for root and for a user.

load ../lib/wardbox

all() { # OPTION...
	need unshare -mnpif --kill-child true
	run timeout 3000 python3 "$TOP/tests/lib/held.py" "$@" "$WARDBOX" \
		"$TOP"/tests/data/{policy-corpus,policy-lines,policy-siblings,shell-lines,everyday-lines,hidden-lines}.tsv
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

hidden() { # OPTION...
	need unshare -mnpif --kill-child true
	run timeout 1800 python3 "$TOP/tests/lib/held.py" "$@" "$WARDBOX" "$TOP/tests/data/hidden-lines.tsv"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "what is hidden, without namespaces: root" {
	hidden -w "$HELPERS/docker" -u 0
}

@test "what is hidden, without namespaces: uid 1000" {
	hidden -w "$HELPERS/docker" -u 1000
}

@test "what is hidden, by the policy agent: root" {
	hidden -p agent -u 0
}

@test "what is hidden, by the policy agent, without namespaces: uid 1000" {
	hidden -p agent -w "$HELPERS/docker" -u 1000
}

@test "what is hidden, by ci, image, contract, SAFE and DEV: a part each" {
	hidden -p ci -u 1000 -n 4
	hidden -p image -u 1000 -n 4
	hidden -p contract -u 1000 -n 4
	hidden -p SAFE -u 1000 -n 8
	hidden -p DEV -u 1000 -n 2
}
