#!/usr/bin/env bats
# The log's disk is full: nothing begins, and what runs has its end recorded

load ../lib/wardbox

@test "a disk that fills up while a command runs keeps room for its end" {
	need in_policy '' true
	project
	# shellcheck disable=SC2016 # expanded by the inner shell
	WARDBOX=$WARDBOX run in_policy 'use FULL-AUTO' sh -c '
		mount -t tmpfs -o size=1m disk /var/log
		"$WARDBOX" sh -c "echo before"
		waits=
		# As many as have no place in what is left of a page.
		mkdir go
		for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
			(
				"$WARDBOX" sh -c "until [ -e go/now ]; do sleep 0.1; done; echo ran"
				echo "code $?"
			) >out.$n &
			waits="$waits $!"
		done
		sleep 2
		cat /dev/zero >/var/log/filler 2>/dev/null
		i=0
		while [ $i -lt 500 ] && "$WARDBOX" sh -c "echo x >>made" 2>said; do
			i=$((i + 1))
		done
		"$WARDBOX" sh -c "echo x >>made" 2>said
		echo "refused $?"
		touch go/now
		wait $waits
		cat out.* | sort | uniq -c | sed "s/  *//; s/ /x /"
		rm /var/log/filler
		"$WARDBOX" sh -c "echo after"
		"$WARDBOX" audit dump -t start,end -o json >log
		"$WARDBOX" audit verify --links >verify || true'
	echo "$output"
	[ "$output" = $'before\nrefused 125\n16x code 0\n16x ran\nafter' ]
	grep -q 'No space left' said
	grep -q intact verify
	# What ran has its end, and what was refused did not run.
	[ "$(jq -r .type log | grep -c start)" -eq $(($(wc -l <made) + 18)) ]
	[ "$(jq -r .type log | grep -c end)" -eq $(($(wc -l <made) + 18)) ]
	[ "$(wc -l <made)" -lt 500 ]
}
