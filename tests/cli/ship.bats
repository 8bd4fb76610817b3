#!/usr/bin/env bats
# ship: audit ship, the log to receivers elsewhere

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
include default
use FULL-AUTO'

setup() {
	sample_log
	exec </dev/null
	FAR=$BATS_TEST_TMPDIR/far
	mkdir "$FAR"
	MARK=$BATS_TEST_TMPDIR/place
}

teardown() {
	local pid
	for pid in ${SHIP-} ${RECEIVER-}; do
		kill "$pid" || :
		wait "$pid" || :
	done
}

receiver() { # KIND MODE... : listens on $PORT
	local kind=$1
	shift
	rm -f "$FAR/port"
	mkfifo "$FAR/port"
	python3 "$TOP/tests/lib/receiver.py" "$kind" "$FAR" "$@" 3>&- &
	RECEIVER=$!
	read -r PORT <"$FAR/port"
	TO=$kind://127.0.0.1:$PORT
}

ship() {
	"$WARDBOX" audit ship -D "$LOG" --checkpoint "$MARK" --to "$TO" "$@"
}

ship_file() {
	"$WARDBOX" audit ship -D "$LOG" --to "file:$FAR/log" "$@"
}

following() { # [OPTION...]: in the background, as $SHIP; its words are $FAR/said
	"$WARDBOX" audit ship -D "$LOG" --checkpoint "$MARK" --to "$TO" -f "$@" \
		>"$FAR/said" 2>&1 3>&- &
	SHIP=$!
}

until_true() { # COMMAND... : waits, as the test's own time limit lets it
	until "$@"; do sleep 0.05; done
}

seqs() { # of what was received, a blank between
	sed 's/^[^{]*{/{/' "$FAR/got" | jq -r 'select(.seq) | .seq' | paste -sd' '
}

here() { # the same of the log
	"$WARDBOX" audit dump -D "$LOG" -o json |
		jq -r 'select(.type != "header" and .type != "ckpt") | .seq' |
		paste -sd' '
}

cursor() { # of the log's end
	"$WARDBOX" audit dump -D "$LOG" -a -o json --show-cursor | sed -n 's/^-- cursor: //p'
}

grow() { # more records in $LOG
	"$WARDBOX" audit rotate -D "$LOG"
}

@test "a file gets the records themselves, which verify there" {
	ship_file
	run "$WARDBOX" audit verify --pubkey "$(cat "$DATA/sample.pubkey")" "$FAR"/log/*.aud
	[ "$status" -eq 4 ]
	[[ $output == *"intact but unauthenticated: 46 records, 2 segments"* ]]
	grow
	anchor=$("$WARDBOX" audit anchor -D "$LOG")
	ship_file
	run "$WARDBOX" audit verify --pubkey "$(cat "$DATA/sample.pubkey")" \
		--anchor "$anchor" "$FAR"/log/*.aud
	[ "$status" -eq 0 ]
	# The same again is nothing.
	before=$(cat "$FAR"/log/*.aud | md5sum)
	ship_file
	[ "$(cat "$FAR"/log/*.aud | md5sum)" = "$before" ]
	for name in "$FAR"/log/*; do
		cmp "$name" "$LOG/${name##*/}"
	done
	# One changed byte on the far side is seen there.
	printf x | dd of="$FAR/log/0000000000000000.aud" bs=1 seek=3000 conv=notrunc
	run "$WARDBOX" audit verify "$FAR"/log/*.aud
	[ "$status" -eq 1 ]
}

@test "a file that was cut as somebody died is mended from the log" {
	ship_file
	for cut in 1 50 4000; do
		size=$(stat -c %s "$FAR/log/000000000000001c.aud")
		truncate -s $((size - cut)) "$FAR/log/000000000000001c.aud"
		ship_file
		cmp "$FAR/log/000000000000001c.aud" "$LOG/000000000000001c.aud"
	done
	truncate -s 0 "$FAR/log/000000000000001c.aud"
	ship_file
	rm "$FAR/log/000000000000001c.aud"
	ship_file
	cmp "$FAR/log/000000000000001c.aud" "$LOG/000000000000001c.aud"
	# What is damaged in its midst is not written behind.
	printf x | dd of="$FAR/log/000000000000001c.aud" bs=1 seek=950 conv=notrunc
	run ship_file
	[ "$status" -eq 2 ]
	[[ $output == *"000000000000001c.aud"*"is damaged"* ]]
}

@test "a directory that holds another log's records is left alone" {
	ship_file
	mkdir -m 700 other
	"$WARDBOX" audit init -q -D other
	"$WARDBOX" audit ship -D other --to "file:$FAR/only"
	"$WARDBOX" audit ship -D other --to "file:$FAR/only"
	cmp other/0000000000000000.aud "$FAR/only/0000000000000000.aud"
	LOG=other run ship_file
	[ "$status" -eq 5 ]
	[[ $output == *"ends with record 45, which the log has not"* ]]
	"$WARDBOX" audit init -q -D "$BATS_TEST_TMPDIR/third"
	for _ in {1..60}; do
		"$WARDBOX" audit rotate -D "$BATS_TEST_TMPDIR/third"
	done
	LOG=$BATS_TEST_TMPDIR/third run ship_file
	[ "$status" -eq 5 ]
	cmp "$FAR/log/000000000000001c.aud" "$LOG/000000000000001c.aud"
}

@test "two do not write into one directory, nor into a log's own" {
	before=$(cat "$LOG"/*.aud | md5sum)
	run "$WARDBOX" audit ship -D "$LOG" --to "file:$LOG"
	[ "$status" -eq 2 ]
	[[ $output == *"a log is written there"* ]]
	[ "$(cat "$LOG"/*.aud | md5sum)" = "$before" ]
	exec 9<"$FAR"
	flock -x 9
	run "$WARDBOX" audit ship -D "$LOG" --to "file:$FAR"
	[ "$status" -eq 2 ]
	[[ $output == *"another one ships there"* ]]
	exec 9<&-
	"$WARDBOX" audit ship -D "$LOG" --to "file:$FAR"
}

@test "a full disk is waited for, and then nothing is missing" {
	need unshare -m true
	mkfifo said
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m sh -c '
		mount -t tmpfs -o size=8k tmpfs "$3" &&
		exec 4>said && "$1" audit ship -f -D "$2" --to "file:$3/log" 2>&4 4>&- &
		exec 4>&-
		{
			read -r full
			case $full in *"No space left"*) ;; *) exit 1 ;; esac
			mount -o remount,size=1m "$3" || exit 1
			while read -r line && [ "$line" != "${line#*takes records again}" ]; do :; done
		} <said
		while ! cmp -s "$3/log/000000000000001c.aud" "$2/000000000000001c.aud"; do
			sleep 0.05
		done
		kill $!
		cmp "$3/log/0000000000000000.aud" "$2/0000000000000000.aud"' \
		sh "$WARDBOX" "$LOG" "$FAR" 3>&-
}

@test "syslog: each record once, in order, as RFC 5424 says, and from the place on" {
	receiver syslog good
	ship
	[ "$(seqs)" = "$(here)" ]
	[ "$(cat "$MARK")" = "$(cursor)" ]
	not grep -v -E '^<1(08|10)>1 20[0-9-]{8}T[0-9:]{8}\.[0-9]{6}Z [!-~]+ wardbox ([0-9]+|-) [a-z]+ \[meta sequenceId="[0-9]+"\]\[origin software="wardbox" swVersion="[^"]+"\] \{"log":"05bb9f8318d492ffef1341f516a0bce6",.*\}$' "$FAR/got"
	grep -c '^<108>.* start .*"decision":"deny"' "$FAR/got"
	ship
	[ "$(wc -l <"$FAR/connections")" -eq 1 ]
	grow
	ship
	[ "$(seqs)" = "$(here)" ]
	# By kind; the place moves over what is left out.
	rm "$FAR/got" "$MARK"
	ship -t end
	[ "$(sed 's/^[^{]*{/{/' "$FAR/got" | jq -r .type | sort -u)" = end ]
	ship
	[ "$(wc -l <"$FAR/connections")" -eq 3 ]
	run ship --exit fail
	[ "$status" -eq 2 ]
	[[ $output == *"kind, session and time"* ]]
}

@test "syslog: what does not fit a message is named, and the rest is there" {
	receiver syslog good
	rm -r "$LOG"
	long=$(head -c 9000 /dev/zero | tr '\0' x)
	LOG=$BATS_TEST_TMPDIR/ns/log/wardbox/$(id -u)
	need unshare -m true
	in_policy "$POLICY" "$WARDBOX" sh -c "echo $long"
	ship
	start=$(grep ' start ' "$FAR/got")
	[ "$(printf %s "$start" | wc -c)" -le 8192 ]
	sed 's/^[^{]*{/{/' <<<"$start" |
		jq -e '.left_out == ["argv"] and .decision and .cwd'
}

@test "syslog: a connection that was cut counts for nothing" {
	receiver syslog cut cut good
	run ship
	[ "$status" -eq 2 ]
	[[ $output == *"127.0.0.1:$PORT"* ]]
	[ ! -e "$MARK" ]
	run ship
	[ ! -e "$MARK" ]
	[ ! -e "$FAR/got" ]
	ship
	[ "$(seqs)" = "$(here)" ]
	kill "$RECEIVER"
	wait "$RECEIVER" || :
	grow
	run ship
	[ "$status" -eq 2 ]
	[[ $output == *"Connection refused"* ]]
	receiver syslog good
	ship
	[ "$(seqs)" = "$(here)" ]
}

@test "syslog: who does not end the connection has confirmed nothing" {
	receiver syslog open good
	run ship --timeout 0.3s
	[ "$status" -eq 2 ]
	[[ $output == *"keeps still"*"nothing tells that it has the records"* ]]
	[ ! -e "$MARK" ]
	ship
	# All of it twice: at least once.
	[ "$(seqs)" = "$(here) $(here)" ]
}

@test "-f: comes back to a receiver that was away, and says so once" {
	receiver syslog cut cut good
	following
	until_true [ -s "$MARK" ]
	[ "$(seqs)" = "$(here)" ]
	grep -q 'tried again' "$FAR/said"
	[ "$(grep -c 'tried again' "$FAR/said")" -eq 1 ]
	grep -q 'takes records again' "$FAR/said"
	grow
	want=$(here)
	while [ "$(seqs)" != "$want" ]; do sleep 0.05; done
}

@test "-f: who runs commands waits for no receiver, and a deaf one costs no memory" {
	need unshare -m true
	LOG=$BATS_TEST_TMPDIR/ns/log/wardbox/$(id -u)
	in_policy "$POLICY" "$WARDBOX" sh -c 'head -c 4000000 /dev/zero | tr "\0" x' >out
	receiver syslog deaf good
	following --timeout 10m
	until_true [ -s "$FAR/connections" ]
	for i in {1..40}; do
		in_policy "$POLICY" "$WARDBOX" sh -c "echo $i; head -c 300000 /dev/zero | tr '\0' y" >out
	done
	[ ! -e "$FAR/got" ]
	[ "$(awk '/^VmHWM/ { print $2 }' "/proc/$SHIP/status")" -lt 20000 ]
	touch "$FAR/go"
	want=$(here)
	while [ "$(seqs)" != "$want" ]; do sleep 0.05; done
	[ "$(awk '/^VmHWM/ { print $2 }' "/proc/$SHIP/status")" -lt 20000 ]
}

@test "a log that is another, or lost what was shipped, comes again, and both sides are told" {
	receiver syslog good
	ship
	mkdir -m 700 other
	"$WARDBOX" audit init -q -D other
	LOG=other
	run ship
	[ "$status" -eq 0 ]
	[[ $output == *"record 45, the last one that was shipped, is not in the log"* ]]
	grep -q '^<105>.* note .*is not in the log' "$FAR/got"
	[ "$(cat "$MARK")" = "$(cursor)" ]
	# Deleted before it was shipped.
	LOG=$BATS_TEST_TMPDIR/log
	for _ in {1..5}; do grow; done
	echo 2:0000000000000000 >"$MARK"
	"$WARDBOX" audit vacuum -D "$LOG" --keep-bytes 1
	run ship
	[ "$status" -eq 0 ]
	[[ $output == *"were deleted before they were shipped"* ]]
	echo rubbish >"$MARK"
	run ship
	[ "$status" -eq 2 ]
}

@test "what was shipped and then deleted is no loss, and another log's end is told" {
	receiver syslog good
	grow
	link=$("$WARDBOX" audit dump -D "$LOG" -a -o json-pretty | jq -r \
		'select(.type == "header") | [.seq, .previous_link] | @tsv' | tail -n 1)
	set -- $link
	echo "$(($1 - 1)):${2:0:16}" >"$MARK"
	"$WARDBOX" audit vacuum -D "$LOG" --keep-bytes 1
	run ship
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	echo "$(($1 - 1)):0000000000000000" >"$MARK"
	run ship
	[ "$status" -eq 0 ]
	[[ $output == *"is not in the log"* ]]
}

@test "damage in the log is told to the receiver, too" {
	receiver syslog good
	printf x | dd of="$LOG/0000000000000000.aud" bs=1 seek=3000 conv=notrunc
	run ship
	[ "$status" -eq 0 ]
	[[ $output == *"segment 0000000000000000, byte"*"no record that can be read"* ]]
	grep -q '^<105>.* note .*no record that can be read' "$FAR/got"
	grep -q ' start .*"seq":3[0-9]' "$FAR/got"
}

@test "otlp: each record once, in order, with its own name and the request's fields" {
	receiver otlp good
	umask 077
	printf 'Authorization: Bearer secret\nX-Scope: one\n' >fields
	ship --header-file fields
	[ "$(seqs)" = "$(here)" ]
	grep -q '^POST /v1/logs HTTP/1.1|Host: 127.0.0.1:.*|Authorization: Bearer secret|X-Scope: one' "$FAR/requests"
	jq -e -s 'all(.[]; (.timeUnixNano | test("^[0-9]{19}$")) and
		(.severityNumber == 9 or .severityText == "WARN")) and
		(map(.attributes[] | select(.key == "log.record.uid").value.stringValue)
			| unique | length) == length' "$FAR/raw"
	TO=$TO/own/path
	grow
	ship
	grep -q '^POST /own/path HTTP' "$FAR/requests"
	for wrong in 'no colon' $'A: b\x01' ': x'; do
		printf '%s\n' "$wrong" >fields
		run ship --header-file fields
		[ "$status" -eq 2 ]
	done
}

@test "otlp: answers in every form" {
	for mode in chunked bare 204 slow; do
		rm -f "$MARK" "$FAR/got"
		receiver otlp $mode
		ship
		[ "$(seqs)" = "$(here)" ]
		kill "$RECEIVER"
		wait "$RECEIVER" || :
	done
	RECEIVER=
}

@test "otlp: a liar is not believed" {
	for mode in 500 503 401 404 302 html reset; do
		receiver otlp $mode
		run ship
		[ "$status" -eq 2 ]
		[ ! -e "$MARK" ]
		kill "$RECEIVER"
		wait "$RECEIVER" || :
	done
	receiver otlp html
	run ship
	[[ $output == *"not as a receiver of OTLP does"* ]]
}

@test "otlp: what is refused is told, and never sent again" {
	receiver otlp partial good
	run ship
	[ "$status" -eq 3 ]
	[[ $output == *"refuses 3 of the records 1 to"*"three too many"* ]]
	run ship
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$FAR/connections")" -eq 1 ]
}

@test "otlp: one record that is refused takes no other along" {
	need unshare -m true
	LOG=$BATS_TEST_TMPDIR/ns/log/wardbox/$(id -u)
	for line in : 'echo poison' true; do
		in_policy "$POLICY" "$WARDBOX" sh -c "$line" >out
	done
	receiver otlp picky
	run ship -t start
	[ "$status" -eq 3 ]
	[[ $output == *"refuses 1 of the records"*"answers 400"* ]]
	[ "$(jq -c .argv "$FAR/got" | paste -sd' ')" = '["sh","-c",":"] ["sh","-c","true"]' ]
}

@test "otlp -f: waits as long as it is asked to" {
	receiver otlp 503@1 429 good
	following
	until_true [ -s "$MARK" ]
	[ "$(seqs)" = "$(here)" ]
	[ "$(paste -sd' ' "$FAR/connections")" = "503@1 429 good" ]
	grep -q 'answers 503' "$FAR/said"
}

certificates() { # in $PKI: authorities ca and other, and what they vouch for
	need openssl version
	PKI=$BATS_TEST_TMPDIR/pki
	mkdir "$PKI"
	local name
	for name in ca other; do
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=test $name" \
			-addext basicConstraints=critical,CA:TRUE \
			-keyout "$PKI/$name.key" -out "$PKI/$name.pem" 2>/dev/null
	done
	certificate good localhost rsa:2048 ca 2
	certificate curve localhost ec ca 2
	certificate name else.example rsa:2048 ca 2
	certificate old localhost rsa:2048 ca -1
	certificate stranger localhost rsa:2048 other 2
}

certificate() { # NAME HOST KEY AUTHORITY DAYS
	local how=(-newkey "$3")
	[ "$3" != ec ] || how=(-newkey ec -pkeyopt ec_paramgen_curve:P-256)
	[ "$3" != ec3 ] || how=(-newkey ec -pkeyopt ec_paramgen_curve:P-384)
	openssl req "${how[@]}" -nodes -subj "/CN=$2" -keyout "$PKI/$1.key" \
		-out "$PKI/$1.csr" 2>/dev/null
	openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/$4.pem" -CAkey "$PKI/$4.key" \
		-CAcreateserial -days "$5" -out "$PKI/$1.pem" \
		-extfile <(echo "subjectAltName=DNS:$2") 2>/dev/null
	cat "$PKI/$1.pem" "$PKI/$1.key" >"$PKI/$1"
}

ended() { # the receiver
	kill "$RECEIVER"
	wait "$RECEIVER" || :
	RECEIVER=
}

@test "TLS: who is vouched for gets the records, and nobody else a byte" {
	certificates
	for kind in syslog otlp; do
		for cert in good curve; do
			rm -f "$MARK" "$FAR/got"
			CERT=$PKI/$cert receiver $kind good
			TO=$kind+tls://localhost:$PORT
			cat "$PKI/other.pem" "$PKI/ca.pem" >"$PKI/bundle"
			ship --ca "$PKI/bundle"
			[ "$(seqs)" = "$(here)" ]
			ended
		done
		rm -f "$MARK" "$FAR/got"
		for cert in name:name old:valid stranger:vouches; do
			CERT=$PKI/${cert%:*} receiver $kind good
			TO=$kind+tls://localhost:$PORT
			run ship --ca "$PKI/ca.pem"
			[ "$status" -eq 2 ]
			[[ $output == *"localhost:$PORT: "*"${cert#*:}"* ]]
			ended
		done
		# Nor who speaks no TLS, or has another's name.
		receiver $kind good
		TO=$kind+tls://localhost:$PORT run ship --ca "$PKI/ca.pem" --timeout 5s
		[ "$status" -eq 2 ]
		ended
		CERT=$PKI/good receiver $kind good
		TO=$kind+tls://127.0.0.1:$PORT run ship --ca "$PKI/ca.pem"
		[ "$status" -eq 2 ]
		ended
		[ ! -e "$FAR/got" ]
		[ ! -e "$MARK" ]
	done
	TO=syslog+tls://localhost:1
	run ship
	[[ $status -eq 2 && $output == *"needs --ca"* ]]
	run ship --ca /dev/null
	[ "$status" -eq 2 ]
	run ship --ca /nowhere
	[ "$status" -eq 2 ]
	TO=syslog://localhost:1 run ship --ca "$PKI/ca.pem"
	[ "$status" -eq 2 ]
}

@test "TLS: a receiver that asks who we are gets the certificate that it was told of" {
	certificates
	need openssl ecparam -name secp384r1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:secp384r1 -nodes -days 2 \
		-subj "/CN=test large" -addext basicConstraints=critical,CA:TRUE \
		-sha384 -keyout "$PKI/large.key" -out "$PKI/large.pem" 2>/dev/null
	certificate me client.test rsa:2048 ca 2
	certificate mine client.test ec3 large 2
	certificate wrong client.test ec other 2
	for name in good curve me mine wrong; do
		cat "$PKI/$name.pem" >"$PKI/$name.one"
	done
	certificate far localhost ec3 large 2
	for kind in syslog otlp; do
		for pair in "ca good me" "large far mine"; do
			read -r authority cert name <<<"$pair"
			rm -f "$MARK" "$FAR/got"
			CERT=$PKI/$cert CLIENTS=$PKI/$authority.pem receiver $kind good
			TO=$kind+tls://localhost:$PORT
			ship --ca "$PKI/$authority.pem" --cert "$PKI/$name.one" \
				--key "$PKI/$name.key"
			[ "$(seqs)" = "$(here)" ]
			rm -f "$MARK" "$FAR/got"
			run ship --ca "$PKI/$authority.pem" --cert "$PKI/wrong.one" \
				--key "$PKI/wrong.key" --timeout 5s
			[ "$status" -eq 2 ]
			run ship --ca "$PKI/$authority.pem" --timeout 5s
			[ "$status" -eq 2 ]
			[ ! -e "$FAR/got" ]
			[ ! -e "$MARK" ]
			ended
		done
	done
	run ship --ca "$PKI/ca.pem" --cert "$PKI/me.one"
	[ "$status" -eq 2 ]
	run ship --ca "$PKI/ca.pem" --cert "$PKI/me.one" --key "$PKI/mine.key"
	[[ $status -eq 2 && $output == *"is not the key of"* ]]
}

@test "TLS: cut, and a batch that is larger than any buffer" {
	certificates
	need unshare -m true
	LOG=$BATS_TEST_TMPDIR/ns/log/wardbox/$(id -u)
	in_policy "$POLICY" "$WARDBOX" sh -c 'head -c 3000000 /dev/urandom | base64' >out
	CERT=$PKI/good receiver syslog cut good
	TO=syslog+tls://localhost:$PORT
	run ship --ca "$PKI/ca.pem"
	[ "$status" -eq 2 ]
	[ ! -e "$FAR/got" ]
	ship --ca "$PKI/ca.pem"
	[ "$(seqs)" = "$(here)" ]
}

rsyslog() { # LINES : what it takes is $FAR/rsyslog, a message's text a line
	need rsyslogd -v
	PORT=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	cat >rsyslog.conf <<-EOF
		global(workDirectory="$FAR" $1)
		module(load="imtcp" $2)
		input(type="imtcp" port="$PORT" address="127.0.0.1")
		template(name="text" type="string"
			string="%pri% %app-name% %msgid% %structured-data%|%msg%\n")
		action(type="omfile" file="$FAR/rsyslog" template="text")
	EOF
	rsyslogd -n -C -f "$PWD/rsyslog.conf" -i "$FAR/rsyslog.pid" 3>&- &
	RECEIVER=$!
	until_true nc_listens "$PORT"
}

nc_listens() {
	python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$1" 2>/dev/null
}

rsyslog_seqs() {
	sed 's/^[^{]*{/{/' "$FAR/rsyslog" | jq -r .seq | paste -sd' '
}

@test "rsyslog takes all of it" {
	rsyslog "" ""
	TO=syslog://127.0.0.1:$PORT
	ship
	want=$(here)
	while [ "$(rsyslog_seqs)" != "$want" ]; do sleep 0.05; done
	grep -q '^108 wardbox start \[meta sequenceId="[0-9]*"\]\[origin software="wardbox"' "$FAR/rsyslog"
}

@test "rsyslog takes all of it by TLS" {
	need test -e /usr/lib/*/rsyslog/lmnsd_gtls.so
	certificates
	rsyslog "defaultNetstreamDriverCAFile=\"$PKI/ca.pem\"
		defaultNetstreamDriverCertFile=\"$PKI/good.pem\"
		defaultNetstreamDriverKeyFile=\"$PKI/good.key\"" \
		'streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon"'
	TO=syslog+tls://localhost:$PORT
	ship --ca "$PKI/ca.pem"
	want=$(here)
	while [ "$(rsyslog_seqs)" != "$want" ]; do sleep 0.05; done
}

@test "many batches: killed again and again, nothing is missing and all in order" {
	need unshare -m true
	LOG=$BATS_TEST_TMPDIR/ns/log/wardbox/$(id -u)
	in_policy "$POLICY" "$WARDBOX" envrun --serve-stdin >out < <(
		for i in {1..700}; do echo ": $i"; done)
	receiver otlp good
	for i in 1 2 3 4 5 6; do
		"$WARDBOX" audit ship -D "$LOG" --checkpoint "$MARK" --to "$TO" 3>&- &
		killed=$!
		until_true sh -c "[ \"\$(wc -l <'$FAR/connections')\" -ge $((i + 1)) ] || ! kill -0 $killed" 2>/dev/null
		kill -9 $killed || :
		wait $killed || :
	done
	ship
	# Once each, when what came twice is taken away; never back behind a gap.
	[ "$(jq -r .seq "$FAR/got" | awk '!seen[$1]++' | paste -sd' ')" = "$(here)" ]
	jq -r .seq "$FAR/got" | awk '$1 > max + 0 && NR > 1 && max && $1 < max { exit 1 } { if ($1 > max) max = $1 }'
	[ "$(wc -l <"$FAR/connections")" -gt 3 ]
}

@test "mistakes are named" {
	TO=none
	for to in http://x 'syslog://' 'syslog://a b' syslog://a:0 syslog://a:70000 \
		syslog://a/x otlp://a:1x 'otlp://a/ b' file: 'syslog://[::1'; do
		TO=$to run ship
		[ "$status" -eq 2 ]
		[[ $output == *"'$to'"* ]]
	done
	TO=syslog://$(head -c 300 /dev/zero | tr '\0' a) run ship
	[ "$status" -eq 2 ]
	run "$WARDBOX" audit ship -D "$LOG"
	[[ $status -eq 2 && $output == *"needs --to"* ]]
	run "$WARDBOX" audit ship -D "$LOG" --to syslog://127.0.0.1:1
	[[ $status -eq 2 && $output == *"--checkpoint"* ]]
	run "$WARDBOX" audit ship -D "$LOG" --to "file:$FAR/x" --checkpoint "$MARK"
	[ "$status" -eq 2 ]
	run ship_file -t start
	[[ $status -eq 2 && $output == *"gets all records"* ]]
	TO=syslog://127.0.0.1:1 run ship --header-file /dev/null
	[ "$status" -eq 2 ]
	TO=syslog://no.such.host.invalid run ship
	[ "$status" -eq 2 ]
	mkdir empty
	LOG=empty TO=syslog://127.0.0.1:1 run ship
	[ "$status" -eq 2 ]
	[[ $output == *"there is no log here"* ]]
}
