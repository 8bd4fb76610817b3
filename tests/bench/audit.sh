#!/bin/sh
# audit.sh - appending to the log, proving it, reading it
. tests/bench/lib.sh

bench=$O/test/bench/audit
log() { rm -rf "$work/log" && mkdir -m 700 "$work/log"; }
k() { calc %.1f "$1 / 1000"; }

# append NAME COUNT PROCESSES [sync]: the median of five, each with a new log.
append() {
	name=$1 count=$2 processes=$3
	shift 3
	for _ in 1 2 3 4 5; do
		log
		"$bench" append "$work/log" "$count" 380 "$processes" "$@"
	done | sort -n >"$work/rates"
	# shellcheck disable=SC2046 # two numbers
	set -- $(sed -n 3p "$work/rates")
	row "$name $(k "$1") k/s"
	row "${name}_cpu $2 us"
}
append audit_append 20000 1
append audit_append_8 2500 8
append audit_append_synced 100 1 sync

# A command's two records, behind the first ever written.
log
"$bench" commands "$work/log" 1 >/dev/null
if have strace && one=$(behind 'write(' "$bench" commands "$work/log" 1) &&
	two=$(behind 'write(' "$bench" commands "$work/log" 2); then
	row "audit_command_instructions $((two - one)) count"
fi

for _ in 1 2 3; do "$bench" redact 30; done | sort -n |
	awk 'NR == 2 { print "audit_redact", $1, "MB/s" }'

# The chain of records of 380 bytes, as the others are measured.
log
"$bench" append "$work/log" 60000 380 1 >/dev/null
took5=$(took 5 "$box" audit verify --links -D "$work/log")
size=$(cat "$work/log"/*.aud | wc -c)
row "audit_verify_links $(calc %.0f "$size / $took5 * 1000") MB/s"
took5=$(took 5 "$bench" verify "$work/log")
row "audit_verify_portable $(calc %.0f "$size / $took5 * 1000") MB/s"

# Logs of commands, growing: a command is two records.
log
size=0
for commands in 1000 9000 40000; do
	"$bench" commands "$work/log" $commands >/dev/null
	size=$(cat "$work/log"/*.aud | wc -c)
	mb=$(calc %.3f "$size / 1048576")
	verify=$(took 5 "$box" audit verify --links -D "$work/log")
	dump=$(took 3 "$box" audit dump -a -o json -D "$work/log")
	scan=$(took 3 "$box" audit dump --exit fail -D "$work/log")
	curve log "verify --links" "$mb" "$(calc %.2f "$verify / 1e6")"
	curve log "dump as JSON" "$mb" "$(calc %.2f "$dump / 1e6")"
	curve log "filter" "$mb" "$(calc %.2f "$scan / 1e6")"
done
records=$("$box" audit dump -a -o json -D "$work/log" | wc -l)
row "audit_log $mb MB"
row "audit_verify_commands $(calc %.0f "$size / $verify * 1000") MB/s"
row "audit_dump_json $(k "$(calc %.0f "$records / $dump * 1e9")") k/s"
row "audit_filter $(k "$(calc %.0f "$records / $scan * 1e9")") k/s"
row "audit_verify_signed $(calc %.0f "$size / $(took 3 "$box" audit verify -D "$work/log") * 1000") MB/s"

# journald's reader over as many entries of the same text.
remote=/lib/systemd/systemd-journal-remote
if [ -x $remote ] && have journalctl; then
	"$box" audit dump -D "$work/log" | head -n 20000 | awk '{
		print "__REALTIME_TIMESTAMP=17000000" 10000000 + NR
		print "__MONOTONIC_TIMESTAMP=" NR
		print "_BOOT_ID=0123456789abcdef0123456789abcdef"
		print "SYSLOG_IDENTIFIER=sh"
		print "MESSAGE=" $0 "\n" }' |
		$remote -o "$work/peer.journal" - >/dev/null 2>&1 || true
	n=$(journalctl --file "$work/peer.journal" -o cat 2>/dev/null | wc -l)
	if [ "$n" -gt 0 ]; then
		t=$(took 3 journalctl --file "$work/peer.journal" -o json)
		row "audit_peer_journalctl_json $(k "$(calc %.0f "$n / $t * 1e9")") k/s"
		t=$(took 3 journalctl --file "$work/peer.journal" --verify)
		row "audit_peer_journalctl_verify $(calc %.0f "$(stat -c %s "$work/peer.journal") / $t * 1000") MB/s"
	else
		skip journalctl "reads no file here"
	fi
else
	skip "journalctl beside audit" "needs systemd-journal-remote"
fi
