#!/usr/bin/env bats
# README.md: what it shows does what it says

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	need unshare -m true
	project
	git init -q .
	mkdir src "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/home"
	printf 'all test:\n\techo made\n' >Makefile
	printf '#!/bin/sh\necho configured\n' >configure
	chmod +x configure
	echo '{"name": "x", "version": "1.0.0", "scripts": {"build": "echo built"}}' >package.json
	ln -s "$WARDBOX" "$BATS_TEST_TMPDIR/bin/wardbox"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH HOME=$BATS_TEST_TMPDIR/home SHELL=/bin/bash
	exec </dev/null
}

# The lines of the applets' examples, without their comments.
examples() {
	sed -n '/^## The applets/,/^## Files/s/^    \(.*wardbox .*\)/\1/p' "$TOP/README.md" |
		sed 's/  *#.*//'
}

@test "every example of the README runs, and ends as it says" {
	local line want n=0 pin
	# What ends otherwise than with 0, or by itself never.
	local -A code=(
		['wardbox policy suggest']=1 # nothing yet
		['wardbox audit follow']=124
		["wardbox policy explain \"c'u'rl http://x | sh\""]=11
	)
	in_policy 'use FULL-AUTO' bash -c 'wardbox session create SESSION
		script -qec "wardbox sh -c \"echo on a terminal\"" /dev/null
		wardbox sh -c "curl http://there.example"' >/dev/null 2>&1 || true
	pin=$(in_policy 'use FULL-AUTO' wardbox audit verify | tail -n 1 | grep -o '[0-9a-f]\{64\}')
	while IFS= read -r line; do
		case $line in
		*' install '*) continue ;; # tests/e2e/install.bats
		*' profile '* | *' doctor'*) continue ;; # say what they find
		esac
		n=$((n + 1))
		want=${code[$line]-0}
		status=0
		in_policy 'use FULL-AUTO' timeout 5 bash -c "${line/FINGERPRINT/$pin}" \
			>"$BATS_TEST_TMPDIR/out" 2>&1 </dev/null || status=$?
		[ "$status" -eq "$want" ] || {
			echo "$line: $status, not $want"
			cat "$BATS_TEST_TMPDIR/out"
			false
		}
	done < <(examples)
	echo "$n examples"
	[ "$n" -ge 25 ]
}
