#!/usr/bin/env bats
# audit: what a person tries, on the log that audit.bats describes

load ../lib/wardbox

setup() {
	sample_log
}

audit() {
	"$WARDBOX" audit -D "$LOG" "$@"
}

# What audit prints, waited for: a line of FILE that holds TEXT.
awaited() { # FILE TEXT
	for _ in $(seq 100); do
		grep -q "$2" "$1" && return
		sleep 0.05
	done
	cat "$1"
	return 1
}

@test "-n counts what can be seen, and 0 is none" {
	audit rotate
	run audit -n 1
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$(audit -n 3 | wc -l)" -eq 3 ]
	[ "$(audit -n 3 -a | grep -c checkpoint)" -eq 1 ]
	[ "$(audit -n 1 -o cat)" = "$(printf 'raw \xff\xfe bytes')" ]
	run audit -n 0
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "times as they are printed can be given back" {
	at=$(audit -t start -o json -n 1 | jq -r .time)
	[ "$(audit -t start -S "$at" -o json | jq .seq)" = 45 ]
	iso=$(TZ=UTC-2 audit -t start -o short-iso -n 1 | cut -d' ' -f1)
	[[ $iso == *+0200 ]]
	[ "$(audit -t start -S "$iso" -o json | jq .seq)" = 45 ]
	[ "$(audit -t start -S "${iso/+0200/-0000}" -o json | jq .seq)" = "" ]
	run audit -U @0
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	# As RFC 3339 and other tools spell the zone.
	[ "$(audit -t start -S "${iso/+0200/+02:00}" -o json | jq .seq)" = 45 ]
	[ "$(audit -t start -S "${iso/+0200/-00:00}" -o json | jq .seq)" = "" ]
	for time in 2025-08-18Z 2025-08-18T06:53:23+2 2025-08-18T06:53:23.x \
		2025-02-30 2025-04-31T00:00:00Z 2025-08-18T06:53:23+0:200; do
		run audit -S "$time"
		[ "$status" -eq 2 ]
	done
}

@test "what is named for output and is no file stays what it is" {
	mkfifo pipe
	timeout 10 cat pipe >page &
	timeout 10 "$WARDBOX" audit -D "$LOG" report --html pipe
	wait
	[ -p pipe ]
	grep -q '^<!DOCTYPE html>' page
	timeout 10 cat pipe >policy.cbor &
	timeout 10 "$WARDBOX" policy export --output pipe
	wait
	[ -p pipe ]
	[ -s policy.cbor ]
	"$WARDBOX" audit -D "$LOG" report --html file
	[ -f file ]
}

@test "a date that is far away is not one of the past" {
	for date in 2600-01-01 9999-12-31; do
		[ "$("$WARDBOX" audit -D "$LOG" -U "$date" -o json | wc -l)" -eq \
			"$("$WARDBOX" audit -D "$LOG" -o json | wc -l)" ]
		run "$WARDBOX" audit -D "$LOG" -S "$date" -o json
		[ "$status" -eq 1 ]
		[ -z "$output" ]
	done
}

@test "follow shows all that comes, however little of the old fits" {
	"$WARDBOX" audit -D "$LOG" follow -t event >out 2>&1 3>&- &
	pid=$!
	until_watching "$pid"
	audit expunge 5 -y
	awaited out 'expunge {"seq":5}'
	kill "$pid"
}

@test "follow chooses by what is known when a command begins" {
	need unshare -m true
	mkdir project && cd project && mkdir .git
	cat >../follow.sh <<-'EOF'
		"$1" sh -c 'echo before'
		"$1" audit follow --decision deny -o json >out &
		pid=$!
		until find /proc/$pid/fd -lname "*inotify*" | grep -q .; do sleep 0.02; done
		"$1" sh -c 'echo allowed'
		"$1" sh -c poweroff
		for _ in $(seq 100); do
			[ -s out ] && break
			sleep 0.05
		done
		kill $pid
	EOF
	in_policy 'use FULL-AUTO' sh ../follow.sh "$WARDBOX"
	[ "$(jq -r .decision <out)" = deny ]
	run audit follow -g text
	[ "$status" -eq 2 ]
}

@test "follow goes on with the log that begins where one was deleted" {
	mkdir -m 700 own
	"$WARDBOX" audit -D own init 2>/dev/null
	timeout 20 "$WARDBOX" audit -D own follow -a -o json >out 2>err &
	awaited out '"seq":0'
	"$WARDBOX" audit -D own rotate
	awaited out '"seq":2'
	rm own/*
	"$WARDBOX" audit -D own init 2>/dev/null
	awaited err 'the log was deleted: another one begins'
	id=$("$WARDBOX" audit -D own -a -o json -n 1 | jq -r .log_id)
	awaited out "$id"
	# Without its directory there is nothing to wait for.
	rm -r own
	wait $! || status=$?
	[ "$status" -eq 2 ]
	grep -q 'it was deleted' err
}

@test "follow takes up what is written where a torn record was cut off" {
	mkdir -m 700 own
	"$WARDBOX" audit -D own init 2>/dev/null
	"$WARDBOX" audit -D own follow -a -o json >out 2>err 3>&- &
	awaited out '"seq":0'
	read -r _ before <"/proc/$!/io"
	printf '\x83\x44\x01\x02\x03\x04\x59\x03\xe8half' >>own/0000000000000000.aud
	# The half record has been read when more was read than before.
	while read -r _ now <"/proc/$!/io" && [ "$now" = "$before" ]; do sleep 0.02; done
	"$WARDBOX" audit -D own rotate
	awaited out '"type":"recover","seq":1'
	awaited out '"type":"header","seq":3'
	kill $!
	[ ! -s err ]
}

@test "follow waits for a log that is yet to begin" {
	mkdir -m 700 new
	"$WARDBOX" audit -D new follow -a >out 2>&1 3>&- &
	pid=$!
	until_watching "$pid"
	"$WARDBOX" audit -D new init -q
	awaited out "segment begins"
	kill "$pid"
}

@test "where there is no log, all say so" {
	mkdir -m 700 new
	for verb in dump stats sessions export "show 1" verify anchor; do
		# shellcheck disable=SC2086 # a verb and its operand
		run "$WARDBOX" audit $verb -D new
		[ "$status" -eq 2 ]
		[[ $output == *"there is no log here, in new: "*"audit init"* ]]
	done
}

@test "what means nothing is refused" {
	run audit --format %q
	[ "$status" -eq 2 ]
	[[ $output == *%q* ]]
	[ "$(audit --format %% -s session-two -t start | sort -u)" = % ]
	for verb in anchor schema rotate; do
		run "$WARDBOX" audit "$verb" extra
		[ "$status" -eq 2 ]
		[[ $output == *"takes no operand"* ]]
	done
	run audit verify --from 1000
	[ "$status" -eq 2 ]
	[[ $output == *"the last is 45"* ]]
	run timeout 10 "$WARDBOX" audit -D "$LOG" -rf
	[ "$status" -eq 2 ]
	run audit replay 12
	[ "$status" -eq 0 ]
	[[ $output == *"no output of 12"* ]]
}

@test "an option that a verb has no use for is an error" {
	while read -r verb option; do
		# shellcheck disable=SC2086 # an option and its value
		run audit $verb $option
		echo "$verb $option: $output"
		[ "$status" -eq 2 ]
		[[ $output == *"has no use for ${option%% *}"* ]]
	done <<-'EOF'
		dump --pubkey x
		dump --html x
		dump --dry-run
		follow --merge .
		follow --boot 0
		follow --after-cursor x
		follow --checkpoint x
		show --since today
		show --lines 3
		sessions --lines 3
		sessions --output json
		replay --since today
		replay --json
		verify --since today
		verify --until today
		verify --session x
		verify --lines 3
		verify --dry-run
		verify --merge .
		stats --reverse
		stats --lines 3
		report --follow
		report --output json
		export --follow
		anchor --quiet
		init --since today
		rotate --json
		vacuum --since today
		vacuum --lines 3
		expunge --json
		schema --dir x
	EOF
	run "$WARDBOX" audit verify -D "$LOG" "$LOG"/*0.aud
	[ "$status" -eq 2 ]
	run "$WARDBOX" audit verify --from 3 "$LOG"/*0.aud
	[ "$status" -eq 2 ]
	run audit verify --links --pubkey x
	[ "$status" -eq 2 ]
	[[ $output == *"looks at no key"* ]]
	run audit --fields seq
	[ "$status" -eq 2 ]
	run audit --format %c -o json
	[ "$status" -eq 2 ]
	run audit -o csv --json
	[ "$status" -eq 2 ]
	[[ $output == *"--json is a form, as --output is"* ]]
	audit --json -o json-pretty >/dev/null
	audit replay --list --since @0
	audit replay --list --json | jq -se 'all(.[]; .type == "start")'
	audit verify --no-pager -q || [ $? -eq 4 ]
}

@test "csv that every reader takes: UTF-8, no control, nothing to reckon with" {
	need unshare -m true
	mkdir project && cd project && mkdir .git
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'printf "%s\n" "-2+3+cmd" "+1" "@x"
		printf "\377\000\033[2J\303\251\n"' "$(printf 'r\xff\xfe')"
	in_policy 'use OBSERVE' "$WARDBOX" sh -c "printf '%s' '-2+3+cmd'"
	in_policy 'use OBSERVE' "$WARDBOX" audit expunge 2 -y
	in_policy 'use OBSERVE' "$WARDBOX" audit -o csv >out
	not grep -q $'\x1b' out
	python3 - out <<-'EOF'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
		data = "".join(r["data"] for r in rows)
		assert "\\xff\\x00\\x1b[2J\u00e9" in data, data
		assert any(r["argv"].endswith("\\xff\\xfe'") for r in rows)
		cells = [c for r in rows for c in r.values() if c[:1] in "=+-@" and c]
		assert all(c.lstrip("+-").isdigit() for c in cells), cells
		assert [r["type"] for r in rows if r["seq"] == "2"] == ["purged"]
	EOF
}

@test "a report of too many commands keeps the newest" {
	# Thirteen commands, as often as makes 50,050.
	segment=./s
	cp "$LOG"/*0.aud "$segment"
	n=$("$WARDBOX" audit -t start -o json "$segment" | wc -l)
	first=$("$WARDBOX" audit -t start -o json "$segment" | head -n 1 | jq .seq)
	times=$((50000 / n + 1))
	for _ in $(seq $times); do echo "$segment"; done |
		xargs "$WARDBOX" audit report -q --html page.html
	left=$((times * n - 50000))
	grep -q "\"commands_in_all\":$((times * n))" page.html
	grep -q "\"left_out\":$left" page.html
	[ "$(grep -o "\"id\":$first," page.html | wc -l)" -eq $((times - 1)) ]
}

@test "-c fits the line that a shell was given" {
	need unshare -m true
	mkdir project && cd project && mkdir .git
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'echo one two'
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'printf "echo three"'
	for pattern in 'echo *' 'echo one two' 'sh -c *one*' 'one t'; do
		in_policy 'use OBSERVE' "$WARDBOX" audit -t start -c "$pattern" -o json >out
		[ "$(jq -r '.argv[2]' out)" = "echo one two" ]
	done
	run in_policy 'use OBSERVE' "$WARDBOX" audit -t start -c 'one*'
	[ "$status" -eq 1 ]
}

@test "-b alone is this boot, --cursor begins with its record" {
	run audit -b
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	audit rotate
	[ "$(audit -b -a -o json | jq -r .type | paste -sd,)" = event,ckpt,header ]
	[ "$(audit --boot -a -o json | jq -r .type | paste -sd,)" = event,ckpt,header ]
	[ "$(audit -b 0 -a -o json | jq -r .type | paste -sd,)" = event,ckpt,header ]
	c=$(audit -n 1 --show-cursor -t end | sed -n 's/^-- cursor: //p')
	[ "$(audit --cursor "$c" -o json | jq .seq | head -n 3 | paste -sd' ')" = "43 44 45" ]
	run audit --cursor 44:0000000000000000
	[ "$status" -eq 5 ]
}

@test "what could not be written is not said to be forged" {
	for verb in verify dump stats "export -o csv"; do
		# shellcheck disable=SC2086 # two words
		run bash -c '"$0" audit -D "$1" ${@:2} >/dev/full' "$WARDBOX" "$LOG" $verb
		[ "$status" -eq 2 ]
		[[ $output == *"No space left"* ]]
	done
}

@test "a user has one log, wherever commands start, and nobody can move it" {
	need unshare -m true
	cat >one.sh <<-'EOF'
		as() { setpriv --reuid 1000 --regid 1000 --clear-groups env -u XDG_STATE_HOME "$@"; }
		cd / && mount -t tmpfs -o mode=755 t /mnt && install -m 755 "$1" /mnt/wardbox
		mount -t tmpfs -o mode=755 t /var/log && mount -t tmpfs -o mode=755 t /home
		mount -t tmpfs -o mode=755 t /run && mount -t tmpfs -o mode=1777 t /tmp
		mkdir -p /home/u/project/.git /home/v/project/.git && chown -R 1000:1000 /home/u /home/v
		export HOME=/home/u
		for dir in /home/u /home/u/project /usr /tmp; do
			cd $dir && as /mnt/wardbox sh -c 'echo out' >/dev/null
		done
		find /home /run /tmp /var/log -name '*.aud' | wc -l
		for dir in / /home/u /usr; do
			cd $dir && as /mnt/wardbox audit -t start -o json | wc -l
		done
		# A log in a home, where others may do what they like above it.
		rm -rf /tmp/wardbox-1000
		cd /home/v/project && export HOME=/home/v
		for mode in 700 777 1777 775; do
			[ $mode = 700 ] || chmod $mode /home/v/.local
			as /mnt/wardbox sh -c "echo $mode"
		done
		chgrp 100 /home/v/.local
		as /mnt/wardbox sh -c "echo group"
		find /home/v /run /tmp /var/log -name '*.aud'
	EOF
	run in_policy 'use FULL-AUTO' unshare -m sh one.sh "$WARDBOX"
	echo "$output"
	[ "${lines[*]:0:5}" = "1 4 4 4 700" ]
	[[ "${lines[5]}" == *"others could move what lies in /home/v/.local (uid 1000, mode 0777)" ]]
	[[ "${lines[6]}" == *"chown 1000 /home/v/.local && chmod go-w /home/v/.local" ]]
	[ "${lines[*]:7:2}" = "1777 775" ]
	[[ "${lines[9]}" == *"mode 0775"* ]]
	[ "${lines[-1]}" = /home/v/.local/state/wardbox/audit/0000000000000000.aud ]
}

@test "of output beyond the limit the log has the count, and the sum of all or none" {
	local n=$((3 * 1024 * 1024)) sum
	in_policy 'use DEV' "$WARDBOX" sh -c "head -c $n /dev/zero" >file
	in_policy 'use DEV' "$WARDBOX" sh -c "head -c $n /dev/zero" | cat >piped
	in_policy 'use DEV' "$WARDBOX" sh -c "head -c 40000000 /dev/zero" >large
	[ "$(stat -c %s file piped large | paste -sd' ')" = "$n $n 40000000" ]
	in_policy 'use DEV' "$WARDBOX" audit -t end -o json >ends
	[ "$(jq .streams.stdout.total ends | paste -sd' ')" = "$n $n 40000000" ]
	sum=$(sha256sum <file)
	[ "$(jq -r .streams.stdout.sha256 ends | head -n 1)" = "${sum%% *}" ]
	for at in 2 3; do
		jq -r '.streams.stdout.sha256 // "none"' ends | sed -n ${at}p |
			grep -q -x -e none -e "${sum%% *}"
	done
}

@test "JSON that goes into a file steers no terminal either" {
	in_policy 'use OBSERVE' "$WARDBOX" sh -c "printf 'a\302\233b\342\200\256c\363\240\201\201d'" >out
	for form in json json-pretty json-seq ocsf contract asciicast; do
		in_policy 'use OBSERVE' "$WARDBOX" audit dump -a -o $form >$form.out
		run grep -c -a -P '\x{9b}|\xe2\x80\xae|\xf3\xa0' $form.out
		[ "$output" = 0 ]
	done
	[ "$(jq -j 'select(.type == "io") | .data' json.out | od -An -tx1 | tr -d ' \n')" = "$(od -An -tx1 out | tr -d ' \n')" ]
	grep -q '\\u009b' json.out
	grep -q '\\u202e' json.out
}
