#!/usr/bin/env bats
# audit: dump, follow, show, sessions, replay, verify, stats, report, export,
# anchor, init, rotate, vacuum, expunge, schema
#
# tests/data/audit/sample is a log as the writer made it: 46 records, two
# segments, three sessions, one command that never ended.

load ../lib/wardbox
load ../lib/full

setup() {
	sample_log
	PIN=$(cat "$DATA/sample.pubkey")
	SEED=$BATS_TEST_TMPDIR/seed
	install -m 600 "$DATA/sample.seed" "$SEED"
}

audit() {
	"$WARDBOX" audit -D "$LOG" "$@"
}

absent() { # GREP-ARGUMENTS: fails when it is there
	! grep "$@"
}

starts() { # the seqs of the commands that a dump shows
	audit -t start -o json "$@" | jq -r .seq | paste -sd' '
}

@test "dump is the default and shows what ran" {
	run audit
	[ "$status" -eq 0 ]
	[[ $output == *"session-one[2] allow ls"* ]]
	[[ $output == *"session-one[2] stdout| README.md"* ]]
	[[ $output == *"session-one[12] deny  curl -u 'me:[REDACTED]' http://example.com/  # deny.curl: sends data out"* ]]
	[[ $output == *"session-two[22] killed by SIGTERM after 1 min 0 s, timed out, killed"* ]]
	[[ $output == *"stdout (7000 bytes left out)"* ]]
	[[ $output != *checkpoint* ]]
	run audit dump --all
	[[ $output == *checkpoint* ]]
	[ "$(audit --no-pager -q | md5sum)" = "$(audit dump | md5sum)" ]
}

@test "nothing in the log steers a terminal or hides" {
	for form in short short-iso short-delta; do
		run audit -o "$form" -s session-two
		[[ $output == *'\x1b]0;owned\x07'* ]]
		[[ $output == *'\u202etxt.exe'* ]]
		[[ $output == *'a\x0ab'* ]]
		[[ $output != *$'\x1b'* ]]
	done
	need command -v script
	# On a terminal the other forms, too.
	for form in json json-pretty json-seq csv verbose cat ocsf contract asciicast cbor cose; do
		script -qec "$WARDBOX audit -D $LOG -s session-two -o $form" /dev/null >tty || [[ $form == c[bo][os][re] ]]
		absent -q $'\x1b\|\x07\|\xe2\x80\xae' tty
	done
	for verb in stats sessions; do
		script -qec "$WARDBOX audit -D $LOG $verb --json" /dev/null >tty
		absent -q $'\x1b\|\x07\|\xe2\x80\xae' tty
	done
}

@test "the last record may be the end of a command that began before" {
	for form in contract ocsf; do
		run audit -o "$form" --exit signal -t start,end -n 1
		[ "$status" -eq 0 ]
		[[ $output == *exit_code* ]]
	done
	run audit --format %c --exit signal -t start,end -n 1
	[ "${#lines[@]}" -eq 1 ]
}

@test "what is secret is not in the files" {
	absent -r -a -q 'hunter2\|s3cr3t' "$LOG"
	run audit -o json
	[[ $output == *'DB_PASSWORD=[REDACTED]'* ]]
	[[ $output == *'"redacted":{"env":1,"assign":2}'* ]]
}

@test "a command does not hide behind a secret, and the mark says how much is gone" {
	need unshare -m true
	local nl=$'\n'
	printf '%s\n' 'X_TOKEN=abc123; : on-stdin' >script
	in_policy 'use OBSERVE' "$WARDBOX" sh -c \
		": \"-----BEGIN RSA PRIVATE KEY-----${nl}x\"; : behind-a-key"
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'X_PASSWORD="a$(: within-it)"'
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'X_PASSWORD=same1; Y_PASSWORD=same1'
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'Z_PASSWORD=other'
	in_policy 'use OBSERVE' "$WARDBOX" sh <script
	in_policy 'use OBSERVE' "$WARDBOX" audit dump -a -o json >dumped
	absent -q 'same1\|other\|abc123' dumped
	for told in behind-a-key within-it on-stdin; do
		grep -q -e "$told" dumped
	done
	# The same key for all of a log: equal secrets have equal digests.
	grep -o '[XYZ]_PASSWORD=\[REDACTED\]{5:[0-9a-f]*}' dumped | cut -d= -f2 >marks
	[ "$(wc -l <marks)" -eq 3 ]
	[ "$(sort -u marks | wc -l)" -eq 2 ]
}

@test "the policy's redact lines, in arguments, output and session names" {
	need unshare -m true
	policy='use OBSERVE
redact acme "ACME-" [A-Z0-9]{4,6}
redact mine key=*PHRASE*
redact flag {true|false} -y user:
redact word true login 2'
	WARDBOX_SESSION_ID=ACME-5555 in_policy "$policy" "$WARDBOX" sh -c \
		'echo ACME-AB12 ACME-x my_phrase=open; : ACME-ZZ99' >out
	[ "$(cat out)" = "ACME-AB12 ACME-x my_phrase=open" ]
	in_policy "$policy" "$WARDBOX" audit dump -a -o json >dumped
	absent -q 'ACME-[AZ5]\|=open' dumped
	# Lines about programs add to the default policy's, which hold beside any.
	in_policy "$policy" "$WARDBOX" sh -c \
		'true -y me:hunTer21; true login me hunTer22; mysqldump -phunTer23 || :; mysqldump x || :'
	in_policy "$policy" "$WARDBOX" audit dump -a >lines
	absent -q 'hunTer' lines
	grep -q 'true -y me:.*true login me .*mysqldump -p.*mysqldump x' lines
	jq -e -s 'any(.[]; .redacted.acme >= 3 and .redacted.assign >= 1)' dumped
	[[ "$(jq -r 'select(.type == "io").data' dumped)" =~ ^"[REDACTED]{"[0-9]+:[0-9a-f]{8}"} ACME-x my_phrase=[REDACTED]{"[0-9]+:[0-9a-f]{8}"}"$ ]]
	# Without them it is text like any other.
	in_policy 'use OBSERVE' "$WARDBOX" sh -c ': ACME-ZZ99'
	in_policy 'use OBSERVE' "$WARDBOX" audit -c ACME-ZZ99 | grep -q ACME-ZZ99
	in_policy 'use OBSERVE' "$WARDBOX" sh -c 'true login me hunTer22; mysqldump -phunTer23 || :'
	in_policy 'use OBSERVE' "$WARDBOX" audit -c mysqldump >lines
	grep -q 'true login me hunTer22; mysqldump -p.REDACTED' lines
}

@test "json: every record, an object a line, bytes in base64" {
	audit -o json >out
	[ "$(jq -s length out)" -eq 46 ]
	[ "$(jq -r 'select(.seq == 2).argv[0]' out)" = ls ]
	[ "$(jq -r 'select(.type == "io" and .exec == 39 and .data_b64).data_b64' out | base64 -d | head -c 6 | od -An -tx1)" = " 72 61 77 20 ff fe" ]
	[[ $(jq -r 'select(.seq == 2).time' out) == 2025-08-18T06:53:20.0000?????Z ]]
	audit -o json-pretty | jq -s length >n && [ "$(cat n)" -eq 46 ]
	audit -o json-seq | tr -d '\036' | jq -s length >n && [ "$(cat n)" -eq 46 ]
	audit --json | cmp - out
	audit export | cmp - out
	run audit -o json --fields seq,exit -t end -n 1
	[ "$output" = '{"seq":43,"exit":0}' ]
	run audit --fields nonsense -o json
	[ "$status" -eq 2 ]
	# A word that is no UTF-8 is not written as digits, which others may be.
	audit -o json -t start | jq -e 'select(.seq == 45) | .argv[3] == "\ufffd\ufffd"'
}

@test "csv quotes, and makes no formula" {
	run audit -o csv -t start
	[ "${lines[0]}" = "seq,time,type,session,exec,pid,argv,cwd,exe,decision,rule,exit,signal,duration_ns,stream,data,event,detail"$'\r' ]
	[[ $output == *',"touch '\''new file'\''"'* || $output == *",touch 'new file',"* ]]
	audit -o csv >out
	python3 - out <<-'EOF'
		import csv, sys
		rows = list(csv.reader(open(sys.argv[1], newline="", errors="replace")))
		assert len(rows) == 47, len(rows)
		assert all(len(r) == 18 for r in rows)
	EOF
}

@test "contract: the capture schema, field by field" {
	audit -o contract >out
	[ "$(jq -s length out)" -eq 13 ]
	jq -e -s 'all(
		(.correlation_id | test("^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")) and
		(.command | type) == "string" and (.args | type) == "array" and
		(.working_dir | type) == "string" and
		(.stdout | type) == "string" and (.stderr | type) == "string" and
		(.duration_ms | type) == "number" and
		(.resource_usage.cpu_ms | type) == "number" and
		(.resource_usage.memory_peak_bytes | type) == "number" and
		(.policy_rule_matched | type) == "string" and
		(.timestamp | type) == "string")' out
	jq -e -s '.[2] | .command == "npm" and .args == ["test"] and
		.exit_code == 1 and .stdout == "> test\n" and
		.stderr == "npm ERR! missing script\n" and
		.duration_ms == 2400 and .resource_usage.cpu_ms == 15 and
		.resource_usage.memory_peak_bytes == 4194304 and
		.policy_rule_matched == "allow.npm"' out
	jq -e -s '[.[].correlation_id] | unique | length == 13' out
	jq -e -s 'any(.args[0] == "new file" and .rollback_strategy == "restore from snapshot")' out
	# The same id, however the command was chosen.
	[ "$(audit show 8 -o contract | jq -r .correlation_id)" = "$(jq -rs '.[2].correlation_id' out)" ]
}

@test "ocsf: process activity with the required fields" {
	audit export -o ocsf >out
	jq -e -s 'all(.class_uid == 1007 and .category_uid == 1 and
		(.type_uid == 100700 + .activity_id) and .time > 1.7e12 and
		.time < 1.9e12 and .severity_id and .metadata.version and
		.metadata.product.name == "wardbox" and .device and .actor and
		.process.cmd_line)' out
	[ "$(jq -s 'map(select(.disposition_id == 2)) | length' out)" -eq 3 ]
}

@test "asciicast v3 of a terminal" {
	audit show 29 -o asciicast >out
	[ "$(head -n 1 out | jq .version)" -eq 3 ]
	[ "$(sed -n 2p out)" = '[0.000001,"r","100x30"]' ] ||
		[ "$(sed -n 2p out | jq -r '.[1]+.[2]')" = r100x30 ]
	[ "$(tail -n 1 out | jq -r '.[1]+.[2]')" = x130 ]
	[ "$(sed 1d out | jq -s 'map(.[0]) | add | floor')" -eq 5 ]
}

@test "cbor: another library reads every body" {
	need /usr/bin/python3 -c 'import cbor2'
	audit -o cbor >out
	/usr/bin/python3 - out "$LOG" <<-'EOF'
		import cbor2, glob, io, sys
		def all_of(data):
		    f = io.BytesIO(data)
		    while f.tell() < len(data):
		        yield cbor2.load(f)
		bodies = list(all_of(open(sys.argv[1], "rb").read()))
		assert [b[1] for b in bodies] == list(range(46))
		seen = []
		for name in sorted(glob.glob(sys.argv[2] + "/*.aud")):
		    for crc, body, link in all_of(open(name, "rb").read()):
		        m = cbor2.loads(body)
		        # Deterministic: written again it is the same.
		        assert cbor2.dumps(m, canonical=True) == body
		        assert len(crc) == 4 and len(link) == 32
		        seen.append(m)
		assert seen == bodies
	EOF
}

@test "cose: OpenSSL verifies the checkpoints' signatures" {
	need /usr/bin/python3 -c 'import cbor2'
	need openssl version
	audit export -o cose >cose
	/usr/bin/python3 - "$LOG" <<-'EOF'
		import cbor2, glob, io, subprocess, sys
		spki = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
		pk = None
		f = open("cose", "rb")
		first = sorted(glob.glob(sys.argv[1] + "/*.aud"))[0]
		pk = cbor2.loads(cbor2.load(open(first, "rb"))[1])[43]
		def int_der(b):
		    b = b.lstrip(b"\0") or b"\0"
		    b = (b"\0" if b[0] & 128 else b"") + b
		    return b"\2" + bytes([len(b)]) + b
		n = 0
		for tag in iter(lambda: cbor2.load(f), None):
		    prot, un, payload, sig = tag.value
		    assert tag.tag == 18 and un == {}
		    open("tbs", "wb").write(cbor2.dumps(["Signature1", prot, b"aud1", payload]))
		    open("pk.der", "wb").write(spki + pk)
		    rs = int_der(sig[:32]) + int_der(sig[32:])
		    open("sig", "wb").write(b"\x30" + bytes([len(rs)]) + rs)
		    subprocess.run("openssl dgst -sha256 -keyform DER -verify pk.der"
		                   " -signature sig tbs", shell=True, check=True)
		    pk = cbor2.loads(payload)[5]
		    n += 1
		    if f.tell() == len(open("cose", "rb").read()):
		        break
		assert n == 4, n
	EOF
}

@test "filters: what a command was" {
	[ "$(starts -c npm)" = 8 ]
	[ "$(starts --command 'curl *')" = "12 13" ]
	[ "$(starts -x '*/bash')" = 29 ]
	[ "$(starts --cwd /srv/repo)" = "15 19 22 25 39 45" ]
	[ "$(starts --decision deny)" = "12 13 14" ]
	[ "$(starts --decision deny,confirm)" = "12 13 14 15" ]
	[ "$(starts --rule 'deny.*')" = "12 13 14" ]
	[ "$(starts -p 5000)" = 29 ]
	[ "$(starts -s session-two)" = "15 19 22 25 39 45" ]
	[ "$(starts -s 3fa85f64)" = 29 ]
	[ "$(starts --session 3fa85f64-5717-4562-b3fc-2c963f66afa6)" = 29 ]
}

@test "filters: how it ended and what it printed" {
	[ "$(starts --exit 1)" = 8 ]
	[ "$(starts --exit fail)" = "8 22 29" ]
	[ "$(starts --exit signal)" = 22 ]
	[ "$(starts --exit '!0')" = "8 22 29" ]
	[ "$(starts --min-duration 1s)" = "8 22 29" ]
	[ "$(starts -g 'missing script')" = 8 ]
	[ "$(starts -v --decision allow)" = "12 13 14 15" ]
	[ "$(starts --decision allow --exit fail --cwd /srv/repo)" = 22 ]
	run audit --exit 300
	[ "$status" -eq 2 ]
	run audit --decision maybe
	[ "$status" -eq 2 ]
	run audit -c nothing-of-the-kind
	[ "$status" -eq 1 ]
	[ -z "$output" ]
}

@test "filters: when, which boot, how many, which way round" {
	[ "$(starts --since '2025-08-18 06:54:00')" = "29 39 45" ] ||
		[ "$(starts --since '2025-08-18 06:54:24')" = "25 29 39 45" ]
	[ "$(starts -U @1755500001)" = "2 5 8" ]
	[ "$(starts -S @1755500003 -U '2025-08-18 06:53:23.05')" = 12 ]
	[ -z "$(starts -S now)" ]
	[ -z "$(starts -S today)" ]
	[ -z "$(starts -S yesterday)" ]
	[ -z "$(starts -S recent)" ]
	[ -z "$(starts -S -2h)" ]
	[ -z "$(starts -S boot)" ]
	[ -z "$(starts -b 00000000)" ]
	id=$(audit -o json -t header | head -n 1 | jq -r .boot_id)
	[ "$(starts -b "${id:0:8}" | wc -w)" -eq 13 ]
	[ "$(audit -n 2 -o json | jq .seq | paste -sd' ')" = "44 45" ]
	[ "$(audit -n 2 -r -o json | jq .seq | paste -sd' ')" = "45 44" ]
	[ "$(audit -e -o json | wc -l)" -eq 46 ]
	[ "$(audit -t header --utc -o short-iso | head -c 19)" = 2025-08-18T06:53:20 ]
	run audit -S someday
	[ "$status" -eq 2 ]
	[[ $output == *"YYYY-MM-DD"* ]]
	[ "$(audit --only stderr -o cat)" = "$(printf 'npm ERR! missing script\nTo host:repo\nraw \xff\xfe bytes')" ]
}

@test "--format, a line per command" {
	run audit --format '%i %D %x %d %s %c %w %r %%' -c npm
	[ "$output" = "8 allow 1 2.40 s session-one npm test /home/agent/project allow.npm %" ]
	run audit --format %t -c npm
	[[ $output == 2025-08-18T06:53:20.* ]]
}

@test "cursors: only what is new, and a loss is told" {
	c=$(audit -n 1 --show-cursor -t end | sed -n 's/^-- cursor: //p')
	[ "$(audit --after-cursor "$c" -o json | jq .seq | paste -sd' ')" = "44 45" ]
	audit -U @1755500001 --checkpoint mark >/dev/null
	[ "$(stat -c %a mark)" = 600 ]
	a=$(audit --checkpoint mark -o json | jq -s 'map(.seq) | min')
	[ "$a" -gt 8 ]
	run audit --checkpoint mark
	[ -z "$output" ]
	echo 44:0000000000000000 >mark
	run audit --checkpoint mark
	[ "$status" -eq 5 ]
	run audit --after-cursor nonsense
	[ "$status" -eq 2 ]
}

@test "a pipe, single files, several logs" {
	cat "$LOG"/*.aud | "$WARDBOX" audit - -o json >out
	audit -o json | cmp - out
	"$WARDBOX" audit dump "$LOG"/*.aud -o json | cmp - out
	cat "$LOG"/*.aud | "$WARDBOX" audit dump --exit fail -t start -o json - | jq .seq | paste -sd' ' >n
	[ "$(cat n)" = "8 22 29" ]
	mkdir -m 700 other
	install -m 600 "$DATA"/sample/* other
	[ "$(audit --merge other -o json | wc -l)" -eq 92 ]
	audit --merge other -o json | jq -r .time >t
	sort -c t
}

@test "show: all of one command" {
	run audit show 8
	[ "$status" -eq 0 ]
	[[ $output == *'ARGV=["npm","test"]'* ]]
	[[ $output == *'EXIT=1'* ]]
	[ "$(audit show 11 -o json | wc -l)" -eq "$(audit show 8 -o json | wc -l)" ]
	run audit show 999
	[ "$status" -eq 1 ]
	run audit show x
	[ "$status" -eq 2 ]
}

@test "sessions" {
	run audit sessions
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	audit sessions --json | jq -e '.[0].name == "session-one" and
		.[0].commands == 6 and .[0].denied == 3 and .[0].failed == 1'
}

@test "replay gives the bytes back, at the pace that is asked for" {
	[ "$(audit replay 5 --speed 1000)" = hi ]
	audit replay 29 -m 1ms | od -c >a
	audit show 29 -o cat | od -c >b
	cmp a b
	run audit replay 12
	[ "$status" -eq 0 ]
	run audit replay 3
	[ "$status" -eq 1 ]
	run audit replay 5 --speed none
	[ "$status" -eq 2 ]
	run audit replay -l
	[[ $output == *"[29] allow bash -i"* ]]
	[ "$(audit replay 8 --only stderr --max-wait 1ms)" = "npm ERR! missing script" ]
	run audit replay 29 --max-wait 1ms --speed 0.5
	[ "$status" -eq 0 ]
}

@test "replay --follow shows a command that still runs, to its end" {
	need unshare -m true
	cat >run.sh <<-'EOF'
		"$1" sh -c 'echo one; while [ ! -e go ]; do sleep 0.1; done; echo two' | cat >/dev/null &
		for _ in $(seq 100); do
			"$1" audit -t io -q 2>/dev/null | grep -q one && break
			sleep 0.1
		done
		timeout 20 "$1" audit replay --follow --max-wait 1ms >shown &
		for _ in $(seq 100); do
			grep -q one shown 2>/dev/null && break
			sleep 0.1
		done
		grep -q two shown && exit 3
		>go
		wait
	EOF
	in_policy 'use OBSERVE' sh run.sh "$WARDBOX"
	[ "$(cat shown)" = "$(printf 'one\ntwo')" ]
	# A denied command has nothing to wait for.
	[ -z "$(timeout 20 "$WARDBOX" audit -D "$LOG" replay 12 --follow)" ]
}

@test "replay gives the terminal back when it is killed" {
	cat >kill.py <<-'EOF'
		import os, pty, signal, sys, termios, time
		for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, None):
		    master, slave = pty.openpty()
		    before = termios.tcgetattr(slave)
		    pid = os.fork()
		    if not pid:
		        os.setsid()
		        for n in range(3):
		            os.dup2(slave, n)
		        os.execv(sys.argv[1], [sys.argv[1], "audit", "-D", sys.argv[2],
		                 "replay", "29", "--speed", "0.01"])
		    for _ in range(200):
		        if not termios.tcgetattr(slave)[3] & termios.ECHO:
		            break
		        time.sleep(0.02)
		    else:
		        sys.exit("it never took the terminal")
		    if sig:
		        os.kill(pid, sig)
		    else:
		        os.write(master, b"q")
		    status = os.waitpid(pid, 0)[1]
		    assert termios.tcgetattr(slave) == before
		    assert os.waitstatus_to_exitcode(status) == (-sig if sig else 0), status
	EOF
	python3 kill.py "$WARDBOX" "$LOG"
}

@test "grep finds what two records share" {
	need unshare -m true
	in_policy 'use OBSERVE' "$WARDBOX" sh -c \
		'printf "a need"; sleep 0.3; printf l; sleep 0.3; printf "e in it\n"' | cat >/dev/null
	in_policy 'use OBSERVE' "$WARDBOX" audit -t io -o json >dumped
	[ "$(wc -l <dumped)" -ge 3 ]
	[ "$(in_policy 'use OBSERVE' "$WARDBOX" audit -g 'needle in' -t start | wc -l)" -eq 1 ]
	[ -z "$(in_policy 'use OBSERVE' "$WARDBOX" audit -g 'needles' -t start)" ]
	run in_policy 'use OBSERVE' "$WARDBOX" audit -g "$(printf '%0300d' 1)"
	[ "$status" -eq 2 ]
}

@test "verify: intact with the pin, the seed, an anchor; not without" {
	run audit verify
	[ "$status" -eq 4 ]
	[[ $output == *"intact but unauthenticated"* ]]
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 0 ]
	run audit verify --pubkey "sha256:$PIN" --seed "$SEED"
	[ "$status" -eq 0 ]
	[[ $output == *"the pinned key; the seed; and itself"* ]]
	cp -a "$LOG" copy
	"$WARDBOX" audit verify -D copy | grep -q 'not signed yet'
	line=$("$WARDBOX" audit anchor -D copy)
	# What is noted elsewhere is signed and on the disk here.
	run "$WARDBOX" audit verify -D copy
	[[ $output != *'not signed yet'* ]]
	"$WARDBOX" audit anchor -D copy --json | jq -e '.seq >= 0 and (.link | length == 64)'
	[[ $line == "aud1 "* ]]
	run "$WARDBOX" audit verify -D copy --anchor "$line"
	[ "$status" -eq 0 ]
	set -- $line
	run "$WARDBOX" audit verify -D copy --anchor "$3:$4"
	[ "$status" -eq 0 ]
	run "$WARDBOX" audit verify -D copy --anchor "$3:${4%?}$([ "${4: -1}" = 0 ] && echo 1 || echo 0)"
	[ "$status" -eq 1 ]
	run audit verify --pubkey "${PIN%?}$([ "${PIN: -1}" = 0 ] && echo 1 || echo 0)"
	[ "$status" -eq 1 ]
	[[ $output == *"another log"* ]]
	run audit verify --pubkey short
	[ "$status" -eq 2 ]
	run audit verify --links
	[ "$status" -eq 4 ]
	[[ $output == *"signatures not looked at"* && $output != *"not signed yet"* ]]
	run audit verify --from 30
	[ "$status" -eq 4 ]
	[[ $output == *"unauthenticated from record 28 on: 18 records"* ]]
	run "$WARDBOX" audit verify "$LOG"/*.aud --pubkey "$PIN"
	[ "$status" -eq 4 ]
	audit verify --json --pubkey "$PIN" | jq -e '.outcome == "intact" and
		.records == 46 and .pinned and .findings == []'
}

@test "verify: tampering, loss, where and of what kind" {
	f=$LOG/0000000000000000.aud
	cp "$f" keep
	printf X | dd of="$f" bs=1 seek=900 conv=notrunc status=none
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 1 ]
	[[ $output == *"tampered: record "*"byte "*"crc"* ]]
	cp keep "$f"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 0 ]
	# A writer died within a record.
	printf '\203D\001\002\003\004Zpart' >>"$LOG/000000000000001c.aud"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 3 ]
	[[ $output == *torn* ]]
	run audit -n 1
	[ "$status" -eq 0 ]
	[[ $output == *"are no whole record"* ]]
	rm "$LOG/head"
	run audit verify --json
	[ "$status" -eq 1 ]
	[ "$(jq -r '.findings[-1].kind' <<<"$output")" = torn ] ||
		[[ $output == *'"kind":"head"'* ]]
}

@test "init --seal prints what proves the log, and keeps it nowhere" {
	run "$WARDBOX" audit init --seal -D new --json
	[ "$status" -eq 0 ]
	pin=$(jq -r .pubkey <<<"$output")
	jq -r .seed <<<"$output" >seed2
	[ "$(stat -c %a new)" = 700 ]
	[ "$(stat -c %a new/head)" = 600 ]
	absent -r -q -a "$(cat seed2)" new
	run "$WARDBOX" audit verify -D new --pubkey "$pin" --seed seed2
	[ "$status" -eq 0 ]
	[[ $output == *"intact: 1 record, 1 segment, "*" bytes, 0 signed epochs"* ]]
	# What was printed, kept as it is, in both forms.
	"$WARDBOX" audit init --seal -D fifth >two-lines
	run "$WARDBOX" audit verify -D fifth --seed two-lines
	[ "$status" -eq 0 ]
	[[ $output == *"held against: the seed"* ]]
	"$WARDBOX" audit init --seal -D sixth --json >two.json
	run "$WARDBOX" audit verify -D sixth --seed two.json
	[ "$status" -eq 0 ]
	run "$WARDBOX" audit verify -D sixth --seed two-lines
	[ "$status" -eq 1 ]
	head -n 1 two-lines >no-seed
	run "$WARDBOX" audit verify -D fifth --seed no-seed
	[ "$status" -eq 2 ]
	[[ $output == *"no-seed: no seed: "* ]]
	run "$WARDBOX" audit init -D new
	[ "$status" -eq 2 ]
	run "$WARDBOX" audit init -D third -q
	[ "$status" -eq 0 ]
	[[ $output == "pubkey "* && $output != *seed* ]]
	run "$WARDBOX" audit init -D fourth --dry-run
	[ "$status" -eq 0 ]
	[ ! -e fourth ]
	"$WARDBOX" audit init -D fourth --dry-run --json | jq -e .would
	# What would fail fails dry, too.
	run "$WARDBOX" audit init -D third --dry-run
	[ "$status" -eq 2 ]
	[[ $output == *"there is an audit log already"* ]]
	# By default where the log of this user is.
	run env HOME="$PWD/h" XDG_STATE_HOME="$PWD/s" setpriv --reuid 54321 --regid 54321 --clear-groups "$WARDBOX" audit -n 1
	[ "$status" -eq 2 ]
}

@test "rotate, vacuum and expunge leave a chain that verifies" {
	run audit rotate --dry-run
	[ "$(ls "$LOG"/*.aud | wc -l)" -eq 2 ]
	run audit rotate
	[ "$status" -eq 0 ]
	[ "$(ls "$LOG"/*.aud | wc -l)" -eq 3 ]
	run audit expunge 3 --dry-run
	[ "$status" -eq 0 ]
	grep -q -a README "$LOG"/*.aud
	run audit expunge 99999 --dry-run
	[ "$status" -eq 2 ]
	[[ $output == *"no record 99999"* ]]
	run audit expunge 3 --yes --reason 'a name leaked'
	[ "$status" -eq 0 ]
	absent -q -a README "$LOG"/*.aud
	run audit verify --pubkey "$PIN" --seed "$SEED"
	[ "$status" -eq 0 ]
	[[ $output == *"expunged, as the log says: 1 record"* ]]
	run audit -t purged,event
	[[ $output == *"record 3 expunged"* && $output == *"a name leaked"* ]]
	run audit verify --links
	[ "$status" -eq 4 ]
	[[ $output == *"expunged, as the log says: 1 record"* ]]
	run audit expunge 0 -y
	[ "$status" -eq 2 ]
	run audit expunge 3 -y
	[ "$status" -eq 2 ]
	[[ $output == *"expunged before"* ]]
	run audit expunge 4 </dev/null
	[ "$status" -eq 1 ]
	run audit vacuum
	[ "$status" -eq 2 ]
	run audit vacuum --keep-bytes 6k --dry-run
	[ "$output" = "1 segment would be deleted" ]
	run audit vacuum --keep-time 300d
	[ "$output" = "0 segments deleted" ]
	run audit vacuum --keep-bytes 6k
	[ "$output" = "1 segment deleted" ]
	[ ! -e "$LOG/0000000000000000.aud" ]
	[ "$(stat -c %a "$LOG/spine")" = 600 ]
	run audit verify --pubkey "$PIN" --seed "$SEED"
	[ "$status" -eq 0 ]
	# What is of no one record names no place.
	[[ $output == "note: records 0 to "*"were lawfully deleted"* ]]
	run audit verify --links
	[ "$status" -eq 4 ]
	rm "$LOG/spine"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 1 ]
}

@test "stats draws, and counts the same as JSON" {
	run audit stats
	[ "$status" -eq 0 ]
	[[ $output == *"13 commands in 46 records"* ]]
	[[ $output == *"deny                3 #"* ]]
	[[ $output == *"1 min 0 s  [22] sleep 600"* ]]
	[[ $output == *"2  curl -u 'me:[REDACTED]' http://example.com/"* ]]
	audit stats --json | jq -e '.decisions.deny == 3 and .exits.signal == 1
		and .exits.none == 1 and .most_denied[0].count == 2
		and .slowest[0].exec == 22 and .timeouts == 1
		and .decisions.open == 0'
	run audit stats --since 2040-01-01
	[ "$status" -eq 1 ]
	[[ $output != *decisions* && $output != *"how they ended"* ]]
}

@test "report: one page, nothing from elsewhere, no script of the log's" {
	full_box
	full_need
	run audit report
	[ "$status" -eq 2 ]
	run audit report --html page.html --json
	[ "$status" -eq 2 ]
	run audit report --html page.html
	[ "$status" -eq 0 ]
	[ "$(stat -c %a page.html)" = 600 ]
	# But for a favicon that is empty.
	absent -E -q 'src=|href="[^d]|@import|url\(' page.html
	[ "$(grep -o '</script>' page.html | wc -l)" -eq 3 ]
	audit report --html - | cmp - page.html
	audit report --json | jq -e '.commands | length == 13'
	audit report --json -n 2 | jq -e '.left_out == 11 and .commands_in_all == 13 and
		(.commands | length == 2)'
	audit report --json --decision deny | jq -e '[.commands[].decision] == ["deny", "deny", "deny"]'
	need command -v chromium
	cat >look.py <<-'EOF'
		from browser import *
		b = Browser()
		b.go("file://" + os.getcwd() + "/page.html")
		assert b.until("document.documentElement.dataset.ready") == "13"
		text = b.js("document.body.innerText")
		# What would turn a command's letters round is spelt out.
		assert "\\u{202e}txt.exe" in text, text
		# Nothing is cut off, wide or narrow, and what was allowed is not red.
		for width in 1280, 420:
		    b.look(width)
		    cut = b.js("[...document.querySelectorAll('.row span:not(.line)')].filter(e => "
		               "e.scrollWidth > e.clientWidth && e.clientWidth).map(e => e.textContent)")
		    assert cut == [], cut
		    assert b.js("document.documentElement.scrollWidth") <= width
		    seen = b.js("[...document.querySelector('#log-rows .row').children].filter(e => "
		                "e.textContent && !e.offsetHeight).length")
		    assert seen == 0, seen
		assert b.js("document.querySelectorAll('.tag.good').length") == 10
		assert b.js("[...document.querySelectorAll('.tag.bad')].every(e => e.textContent === 'deny')")
		assert b.js("$('totals').textContent").startswith("13 commands · 9 allow · 3 deny · 1 confirm · 3 failed")
		b.js("$('f-command').value = 'npm'; $('search').requestSubmit()")
		b.until("found.length === 1")
		b.js("$('f-command').value = 'bash'; $('search').requestSubmit()")
		b.js("document.querySelector('#log-rows button').click()")
		b.until("document.querySelector('.xterm-rows').textContent.includes('src')")
		# A script that is not the page's own does not run.
		b.js("document.body.append(Object.assign(document.createElement('script'), "
		     "{textContent: 'window.other = 1'}))")
		assert b.js("window.other") is None
		assert len(b.complaints()) == 1 and "Security Policy" in b.complaints()[0], b.complaints()
		b.close()
	EOF
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib TMPDIR=$PWD timeout 60 python3 look.py
}

@test "schema names every key" {
	run "$WARDBOX" audit schema
	[ "$status" -eq 0 ]
	[[ $output == *"frame  = [crc"* ]]
	[[ $output == *" 13  rule "* ]]
	"$WARDBOX" audit schema --json | jq -e '.keys | length > 40'
}

@test "follow prints what comes, and the next segment" {
	"$WARDBOX" audit -D "$LOG" follow -o json >out 3>&- &
	pid=$!
	for _ in $(seq 50); do
		[ "$(wc -l <out)" -ge 10 ] && break
		sleep 0.1
	done
	[ "$(wc -l <out)" -eq 10 ]
	audit rotate
	for _ in $(seq 50); do
		grep -q '"type":"header","seq":4[78]' out && break
		sleep 0.1
	done
	kill "$pid"
	grep -q '"type":"header"' out
	run audit -f --exit 1
	[ "$status" -eq 2 ]
}

@test "what is not private is refused" {
	chmod 755 "$LOG"
	run audit rotate
	[ "$status" -eq 2 ]
	[[ $output == *"not private"* ]]
	chmod 700 "$LOG"
	chmod 644 "$LOG/head"
	run audit rotate
	[ "$status" -eq 2 ]
	[[ $output == *"open to others"* ]]
	rm "$LOG/head"
	ln -s /etc/passwd "$LOG/head"
	run audit anchor
	[ "$status" -eq 2 ]
	[ "$(head -c 4 /etc/passwd)" != wbau ]
}

@test "a log that nobody honest wrote is read, and steers nothing" {
	mkdir -m 700 false
	python3 "$TOP/tests/lib/audit-hostile.py" false
	for form in short short-iso short-delta verbose json json-pretty json-seq \
		csv ocsf asciicast contract cat cbor cose; do
		run timeout 60 "$WARDBOX" audit -D false -o "$form"
		[ "$status" -le 1 ]
		[[ $form != short* || $output != *$'\x1b'* ]]
	done
	run timeout 60 "$WARDBOX" audit -D false --format '%t %s %i %x %d %c %w %D %r'
	[ "$status" -eq 0 ]
	[[ $output == *'\x1b]0;owned\x07\x1b[2J'* ]]
	[[ $output != *$'\x1b'* ]]
	[[ $output != *$'\u202e'* ]]
	for verb in "dump --all" "show 1" "show 2" sessions stats "replay --list" verify; do
		# shellcheck disable=SC2086 # words
		run timeout 60 "$WARDBOX" audit $verb -D false
		[ "$status" -le 4 ]
		[[ $output != *$'\x1b'* ]]
	done
	run "$WARDBOX" audit verify -D false
	[ "$status" -eq 1 ]
}

@test "what has no end is not read to it" {
	need truncate -s 2T hole
	truncate -s 2T "$LOG/0000000000000000.aud"
	run timeout 60 "$WARDBOX" audit verify -D "$LOG"
	[ "$status" -eq 1 ]
	[[ $output == *"bytes that are no record, and nothing says why"* ]]
	run timeout 60 "$WARDBOX" audit -D "$LOG" -n 1
	[ "$status" -eq 0 ]
	[[ $output == *"session-two[45]"* ]]
	cp -a "$DATA/sample/." vacuumed
	chmod 700 vacuumed
	chmod 600 vacuumed/*
	"$WARDBOX" audit vacuum -D vacuumed --keep-bytes 1
	run "$WARDBOX" audit verify -D vacuumed --pubkey "$PIN"
	[ "$status" -eq 0 ]
	rm vacuumed/spine
	mkfifo -m 600 vacuumed/spine
	# One process, which is gone when it is killed and holds nothing of bats'.
	yes >vacuumed/spine 3>&- &
	run timeout 60 "$WARDBOX" audit verify -D vacuumed --pubkey "$PIN"
	kill $! || :
	[ "$status" -eq 1 ]
	[[ $output == *"spine is a pipe where a file of the log must be"* ]]
}

@test "what is shown is what is verified, and every file is named" {
	last=$(audit -a -o json | tail -n 1 | jq .seq)
	records=$(audit -a -o json | wc -l)
	# A segment without a record behind the last, and a forged one behind that.
	next=$(printf %016x $((last + 1)))
	: >"$LOG/$next.aud"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 0 ]
	[[ $output == *"$next.aud, 0 bytes, no part of the log"* ]]
	[[ $output == *"beside the log in its directory: 1 file, named above"* ]]
	cp "$LOG/0000000000000000.aud" "$LOG/$(printf %016x $((last + 2))).aud"
	run audit verify --pubkey "$PIN" --seed "$SEED"
	[ "$status" -eq 1 ]
	[[ $output == *"a segment that the head knows nothing of"* ]]
	[ "$(audit -a -o json | wc -l)" -eq "$records" ]
	[ "$(audit export | md5sum)" = "$("$WARDBOX" audit export -D "$DATA/sample" | md5sum)" ]
	rm "$LOG"/*$next.aud "$LOG/$(printf %016x $((last + 2))).aud"
	# Whatever else lies there is named, and nothing of it is shown.
	cp "$LOG/0000000000000000.aud" "$LOG/5.aud"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 1 ]
	[[ $output == *"5.aud, a file, is nearly a segment's name and none"* ]]
	mv "$LOG/5.aud" "$LOG/$(printf 'no\033[2Jte')"
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 0 ]
	[[ $output == *'no?[2Jte, a file, is no part of the log'* ]]
	rm "$LOG"/no*
	ln -s /dev/zero "$LOG/$next.aud"
	run audit verify --json --pubkey "$PIN"
	[ "$status" -eq 1 ]
	jq -e '.other_files == 1 and (.findings[0].text | contains("symbolic link"))' <<<"$output"
	[ "$(audit -a -o json | wc -l)" -eq "$records" ]
	rm "$LOG/$next.aud"
	# Behind damage nothing vouches for a record, and none is shown.
	printf X | dd of="$LOG/0000000000000000.aud" bs=1 seek=1500 conv=notrunc 2>/dev/null
	run audit -a -o json
	[[ $output == *"nothing vouches for it: 'tail -c +"* ]]
	[ "$(audit -q -a -o json | wc -l)" -eq "$(audit verify -q --json | jq .records)" ]
}

@test "verify: a fingerprint that is not there, a log that was emptied" {
	"$WARDBOX" audit verify "$LOG/"*[1-9a-f].aud >part || [ $? -le 4 ]
	absent 0000000000000000000000000000 part
	run "$WARDBOX" audit verify --json "$LOG/"*[1-9a-f].aud
	[ "$(jq -r .pubkey <<<"$output")" = null ]
	rm "$LOG"/*
	run audit verify
	[ "$status" -eq 2 ]
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 1 ]
	[[ $output == *"there is no record: the log was emptied, or is elsewhere"* ]]
}

@test "verify: what was deleted lawfully, and an anchor from before" {
	anchor=$(audit anchor)
	audit rotate
	run audit verify --anchor "$anchor"
	[ "$status" -eq 0 ]
	audit vacuum --keep-bytes 1
	run audit verify --pubkey "$PIN"
	[ "$status" -eq 0 ]
	[[ $output == *"records 0 to "*" were lawfully deleted, the last of them on 20"*UTC* ]]
	run audit verify --anchor "$anchor"
	[ "$status" -eq 0 ]
	[[ $output == *"the anchor holds: record "*" were lawfully deleted on 20"* ]]
	# shellcheck disable=SC2086 # its words
	set -- $anchor
	run audit verify --anchor "$3:$(tr 0-9a-f 1-9a-f0 <<<"$4")"
	[ "$status" -eq 1 ]
	run audit verify --anchor "1:$4"
	[ "$status" -eq 3 ]
	[[ $output == *"keeps no link of it"* ]]
}

@test "a disk that is full is told, and harms nothing" {
	need unshare -m true
	cat >full.sh <<-'EOF'
		set -e
		mount -t tmpfs -o size=64k,mode=700 tmpfs "$1"
		"$2" audit init -D "$1" -q >pin
		# Fill it, page by page, to every place where a write can fail.
		dd if=/dev/zero of="$1/fill" bs=4096 2>/dev/null || true
		"$2" audit rotate -D "$1" 2>err && exit 3
		grep -q 'No space' err
		"$2" audit verify -D "$1" --pubkey "$(cut -d' ' -f2 pin)"
		rm "$1/fill"
		"$2" audit rotate -D "$1"
		"$2" audit verify -D "$1" --pubkey "$(cut -d' ' -f2 pin)"
	EOF
	mkdir full
	run unshare -m sh full.sh full "$WARDBOX"
	[ "$status" -eq 0 ]
}

@test "a directory that cannot be written" {
	need unshare -m true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
		"$2" audit verify -D "$1" --pubkey "$3" && ! "$2" audit rotate -D "$1"' \
		- "$LOG" "$WARDBOX" "$PIN"
	[ "$status" -eq 0 ]
}

@test "mistakes" {
	run audit frobnicate
	[ "$status" -eq 2 ]
	run audit -o nonsense
	[ "$status" -eq 2 ]
	[[ $output == *asciicast* ]]
	run "$WARDBOX" audit -D "$BATS_TEST_TMPDIR/nothing"
	[ "$status" -eq 2 ]
	run "$WARDBOX" audit rotate -D "$BATS_TEST_TMPDIR"
	[ "$status" -eq 2 ]
	run audit --help
	[ "$status" -eq 0 ]
	[[ $output == *verify* ]]
}
