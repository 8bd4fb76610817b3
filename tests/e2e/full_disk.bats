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

@test "each write to the log can fail: what runs is recorded, or it is said" {
	need in_policy '' true
	need strace -qq true
	project
	cat >walk <<-'END'
		mount -t tmpfs disk /var/log
		log=/var/log/wardbox/$(id -u)
		line='echo x >made; head -c 200000 /dev/zero; sleep 0.2; echo more'
		"$1" sh -c 'echo begun' >/dev/null
		for call in write pwrite64; do
			n=0 code=125
			while [ $code -ne 0 ] && [ $n -lt 40 ]; do
				n=$((n + 1)) code=0
				rm -f made
				strace -f -qq -o /dev/null -P "$log/head" \
					-P "$log/0000000000000000.aud" -e trace=$call \
					-e inject=$call:error=ENOSPC:when=$n+ \
					"$1" sh -c "$line" >out 2>said || code=$?
				[ -e made ] && ran=ran || ran=not
				[ $n -gt 1 ] || echo "$call $ran $code"
				[ $code -eq 0 ] || grep -q 'audit log: No space' said ||
					echo "$call $n: ended with $code and not a word"
				[ $code -eq 0 ] || [ $code -eq 125 ] || [ $code -eq 137 ] ||
					echo "$call $n: ended with $code"
				# The next one finds a log that it can go on with.
				"$1" sh -c : || echo "$call $n: not after it"
				"$1" audit verify --links >verify || true
				grep -q intact verify || cat verify
			done
			[ $n -gt 3 ] && [ $n -lt 40 ] && [ $code -eq 0 ] || echo "$call: $n"
		done
		"$1" audit dump -t start -o json >starts
	END
	run in_policy 'use FULL-AUTO' sh walk "$WARDBOX"
	echo "$output"
	[ "$output" = $'write not 125\npwrite64 not 125' ]
	[ "$(jq -s length starts)" -gt 8 ]
}
