#!/usr/bin/env bats
# Hostile rows of the corpora are held: denied before, by the watch, or by the box.

load ../lib/wardbox

rows() { # FILE; what the runner itself is proven by
	printf 'PROFILE-FULL-AUTO\tOPEN/DENY\t%s\tx\n' \
		'x=$(echo curl); $x a' \
		'e=$(echo eval); $e "echo x >/secret.txt"' \
		'e=$(echo eval); $e "kill -9 $(pgrep -x cat)"' \
		'e=$(echo eval); $e "cat /home/dev/.ssh/id_rsa"' \
		'e=$(echo eval); $e "exec 3<>/dev/tcp/127.0.0.1/80"' >"$1"
}

held() {
	timeout 900 python3 "$TOP/tests/lib/held.py" "$@"
}

@test "the runner sees a stub that starts, a file that changes, a signal, a secret, a connection" {
	need unshare -mnpif --kill-child true
	rows "$BATS_TEST_TMPDIR/rows.tsv"
	run held -p OBSERVE "$WARDBOX" "$BATS_TEST_TMPDIR/rows.tsv"
	echo "$output"
	[ "$status" -eq 1 ]
	for what in 'started curl' 'changed secret.txt' 'signalled the witness' \
		'read a secret' "reached ('127.0.0.1', 80)"; do
		[[ $output == *"$what"* ]]
	done
	[[ $output == *", 5 leaks"* ]]
}

@test "of the hostile rows that are open, a sample is held, for root and for a user" {
	need unshare -mnpif --kill-child true
	rows "$BATS_TEST_TMPDIR/rows.tsv"
	for uid in 0 1000; do
		run held -u $uid "$WARDBOX" "$BATS_TEST_TMPDIR/rows.tsv"
		echo "$output"
		[ "$status" -eq 0 ]
		[[ $output == *", 0 leaks"* ]]
	done
	run held -n 40 "$WARDBOX" "$TOP"/tests/data/{policy-corpus,policy-lines,policy-siblings,shell-lines,everyday-lines}.tsv
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "so is a sample of the hidden ones, by profile and policy, with and without namespaces" {
	need unshare -mnpif --kill-child true
	for how in '-n 31' '-n 67 -p agent -u 1000' '-n 83 -p DEV' \
		"-n 59 -u 1000 -w $HELPERS/docker"; do
		# shellcheck disable=SC2086 # options
		run held $how "$WARDBOX" "$TOP/tests/data/hidden-lines.tsv"
		echo "$output"
		[ "$status" -eq 0 ]
	done
}
