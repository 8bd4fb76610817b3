#!/usr/bin/env bats
# drop: every option, as a user meets it. The escapes are in tests/e2e.

load ../lib/sandbox

setup() {
	place
	AS=() W=$PLACE/w OUT=$PLACE/out
	mkdir "$W" "$OUT"
	echo secret >"$OUT/secret"
	echo mine >"$W/mine"
	cd "$W"
}
teardown() { unplace; }

@test "without grants: the system and here, to read" {
	works "$WARDBOX" drop -- cat mine
	stops "ermission denied" "$WARDBOX" drop -- sh -c 'echo x >new'
	stops "ermission denied" "$WARDBOX" drop -- cat "$OUT/secret"
	stops "ermission denied" "$WARDBOX" drop -- cat /etc/shadow
	works "$WARDBOX" drop ls
	works "$WARDBOX" drop -- date
	works "$WARDBOX" drop -- getent passwd root
}

@test "--preset" {
	works "$WARDBOX" drop --preset=workspace -- sh -c 'echo x >new && mktemp'
	[[ $out == /tmp/wardbox-tmp-* ]]
	printf '#!/bin/sh\necho ran\n' >script
	chmod 755 script
	gives 126 "$WARDBOX" drop -P workspace -- ./script
	works "$WARDBOX" drop -P build -- ./script
	works "$WARDBOX" drop --preset=build -- sh -c 'echo $npm_config_cache'
	[[ $out == /tmp/wardbox-tmp-*/npm ]]
	stops "ermission denied" "$WARDBOX" drop -P build -- cat "$OUT/secret"
	stops "ermission denied" "$WARDBOX" drop -P build -- touch /tmp/x-$$
	gives 125 "$WARDBOX" drop --preset=everything -- true
}

@test "grants: --ro --rox --rw --rwx, lists with commas" {
	sys=--rox=/usr,/bin,/lib,/lib64
	works "$WARDBOX" drop $sys --ro=. --ignore-missing -- cat mine
	stops "" "$WARDBOX" drop $sys --ro=. --ignore-missing -- touch new
	works "$WARDBOX" drop $sys --rw=. --ignore-missing -- touch new
	works "$WARDBOX" drop $sys --rwx "$W" --ignore-missing -- sh -c 'cp /bin/true t && ./t'
	works "$WARDBOX" drop $sys --ignore-missing --ro "$W,$OUT" -- cat mine "$OUT/secret"
	gives 125 "$WARDBOX" drop --ro=,x -- true
}

@test "--add-exec and --ldd find what a program needs" {
	gives 126 "$WARDBOX" drop --ro=/usr,/lib,/lib64 --ignore-missing -- cat mine
	works "$WARDBOX" drop --add-exec --ro=/usr,/lib,/lib64,. --ignore-missing -- cat mine
	works "$WARDBOX" drop --add-exec --ldd --ro=. -- cat mine
	printf '#!/bin/sh\nread x <mine; echo $x\n' >script
	chmod 755 script
	works "$WARDBOX" drop --add-exec --ldd --ro=. -- ./script
	[ "$out" = mine ]
}

@test "--hide --tmpfs" {
	works D --hide="$W/mine" -- true
	stops "" D --hide="$W/mine" -- cat mine
	mkdir t
	works D --tmpfs="$W/t" -- sh -c 'echo x >t/x'
	[ -z "$(ls t)" ]
}

@test "--net, --connect-tcp, --bind-tcp, --share-net" {
	background port "$BIN/attack" listen-tcp 0
	stops EPERM D --net=none -- attack_ tcp "$port"
	works D --net=all -- attack_ tcp "$port"
	works D --share-net -- attack_ tcp "$port"
	works D -n "tcp:1,$port" -- attack_ tcp "$port"
	works D --connect-tcp="$port" -- attack_ tcp "$port"
	works D --bind-tcp=0 -- attack_ listen-tcp 0 once
	for bad in --net=some --net=tcp:x --net=tcp:0 --connect-tcp=70000 --bind-tcp=-1; do
		gives 125 D $bad -- true
	done
}

@test "limits: --timeout --cpu --mem --nproc --children --nofile --fsize" {
	gives 124 D --timeout=0.1 -- sleep 9
	gives 124 D -t 100ms -- sleep 9
	gives 137 D --cpu=100ms -- attack_ spin
	gives 137 D --mem=50M -- attack_ alloc 500
	stops E D --nofile=20 -- attack_ fds 50
	D --children=2 -- sh -c 'for i in 1 2 3 4; do sleep 0.3 & done; wait' >said 2>&1 || true
	[ "$(grep -c sleep: said)" = 2 ]
	D --nproc=5 -- attack_ forks 20 >/dev/null 2>&1 && false
	gives 153 D --fsize=1k -- dd if=/dev/zero of=f bs=1k count=3
	for bad in --timeout=x --mem=lots --nofile=-1 --nproc=1.5; do
		gives 125 D $bad -- true
	done
}

@test "--output: what goes beyond is not passed on, and ends it" {
	code=0
	D --output=12 -- sh -c 'echo 12345; echo 67890 >&2; sleep 0.5; echo more; sleep 20' >said 2>err || code=$?
	[ $code = 137 ]
	[ "$(cat said)" = 12345 ]
	grep -q '^67890' err
	grep -q 'more output than allowed' err
	works D --output=1M -- sh -c 'echo one; exit 0'
	[ "$out" = one ]
	gives 3 D --output=1M -- sh -c 'seq 5000 | tail -n 1; exit 3'
	[ "$out" = 5000 ]
	# all of what is written comes through
	[ "$(D --output=10M -- seq 200000 | cksum)" = "$(seq 200000 | cksum)" ]
	gives 125 D --output=much -- true
}

@test "--audit-fd: what --audit records, as CBOR" {
	D --audit-fd=9 --explain-denials -- sh -c "cat $OUT/secret; exit 4" 9>events 2>/dev/null || true
	# maps of text, one behind the other: the first byte of each names its size
	[ "$(head -c 7 events | od -An -tx1 | tr -d ' ')" = a7656576656e74 ]
	for word in sandbox enforced landlock exec file.deny "$OUT/secret" read end exit; do
		grep -aqF "$word" events
	done
	# it is not the command's
	stops "" D --audit-fd=9 -- sh -c 'echo x >&9' 9>events
	gives 125 D --audit-fd=x -- true
	gives 125 D --audit-fd=999 -- true
}

@test "--unshare-pid, -ipc, -net, -mount, -all" {
	need unshare -Urpf true
	works D --unshare-pid --ro=/proc -- sh -c 'test $$ -lt 5'
	works D --unshare-ipc -- true
	works D --unshare-net --net=all -- true
	works D --unshare-mount -- true
	stops EROFS D --unshare-mount -- attack_ utime "$OUT/secret"
	works D --unshare-all -- true
}

@test "environment: --env --unsetenv --clearenv --argv0 --chdir" {
	export KEEP=kept GONE=gone
	works D -- sh -c 'echo $KEEP$GONE'
	[ "$out" = keptgone ]
	works D --clearenv -e KEEP --env=NEW=n -- /bin/sh -c 'echo $KEEP$GONE$NEW'
	[ "$out" = keptn ]
	works D --unsetenv=GONE -- sh -c 'echo $KEEP$GONE'
	[ "$out" = kept ]
	works D --argv0=other -- sh -c 'echo $0'
	works D --chdir=/usr -- pwd
	[ "$out" = /usr ]
	gives 125 D -C /no/such -- true
	works D --clearenv -- /bin/true
}

@test "--keep-fd --new-session --keep-cap --die-with-parent --cap-drop" {
	exec 9<"$OUT/secret"
	stops "" D -- sh -c 'cat <&9'
	works D --keep-fd 9 -- sh -c 'cat <&9'
	exec 9<&-
	works D --new-session --ro=/proc -- sh -c 'read -r _ _ _ _ _ sid _ </proc/self/stat; test $sid = $$'
	works D --die-with-parent --cap-drop=ALL -- true
	gives 125 D --keep-cap=sys_admin -- true
	if [ "$(id -u)" = 0 ]; then
		works D --keep-cap=cap_chown,fowner -- chown 4711 mine
	fi
}

@test "--best-effort names what may be missing, --unrestricted-* what is not wanted" {
	gives 125 D --best-effort=everything -- true
	works D --best-effort=pid,mount,limits -- true
	works D --unrestricted-filesystem -- cat "$OUT/secret"
	works D --unrestricted-syscalls --unrestricted-network -- attack_ sys personality 0xffffffff
	background up "$BIN/attack" listen-unix "@drop-$$"
	stops EPERM D --unrestricted-network -- attack_ unix "@drop-$$"
	works D --unrestricted-network --unrestricted-scoped -- attack_ unix "@drop-$$"
	works D --unrestricted-ipc -- attack_ sys shmget 0 100 0600
	works D --unrestricted-network -- attack_ sys socket 2 2 0
}

@test "--no-strays --watch-exec --json-status-fd" {
	works D --no-strays -- true
	works D --watch-exec -- sh -c 'true; ls >/dev/null'
	[[ $out == *"/ls"* ]]
	D --json-status-fd=9 -- true 9>status
	grep -q '"exit-code":0' status
	grep -q '"enforced":\["landlock"' status
}

@test "--dry-run runs nothing; --explain says why; --probe what works" {
	works D --dry-run --timeout=1s -- touch "$W/ran"
	[ ! -e ran ]
	[[ $out == *"landlock"*"wall time: timer"*"read, write"*"$W"*"--rw"* ]]
	works D --dry-run --json -- true
	echo "$out" | python3 -m json.tool >/dev/null
	works D --explain "$W/new"
	[[ $out == *"read, write"*"--rw $W"* ]]
	works D --explain "$OUT/secret"
	[[ $out == *"nothing"*"no grant"* ]]
	works D --ro="$W/mine" --explain "$W/mine"
	[[ $out == *": read ("* ]]
	works D --hide="$W/mine" --explain "$W/mine"
	[[ $out == *hidden* ]]
	works D --json --explain "$W/mine"
	echo "$out" | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d["write"] and not d["execute"]'
	"$WARDBOX" drop --probe | grep -q '^works'
	"$WARDBOX" drop --probe --json | python3 -m json.tool >/dev/null
}

@test "bwrap's words" {
	works "$WARDBOX" drop --ro-bind /usr /usr --ro-bind-try /lib64 /lib64 \
		--ignore-missing --rox=/bin,/lib --bind "$W" "$W" --dev-bind /dev/null /dev/null -- cat mine
	works "$WARDBOX" drop --bind-try / / -- sh -c 'echo --bind a b'
	[ "$out" = "--bind a b" ]
	gives 125 "$WARDBOX" drop --bind / /mnt -- true
	gives 125 "$WARDBOX" drop --ro-bind / -- true
}

@test "mistakes are 125, and nothing runs" {
	gives 125 "$WARDBOX" drop
	gives 125 "$WARDBOX" drop --no-such -- true
	gives 125 "$WARDBOX" drop --rox=/no/such -- true
	gives 127 "$WARDBOX" drop -- no-such-command
	gives 127 "$WARDBOX" drop -- ./no/such
	# where nobody may look, nothing is found, and the search goes on
	mkdir -m 700 closed
	if [ "$(id -u)" = 0 ]; then
		chmod 755 "$PLACE" "$W"
		gives 127 setpriv --reuid 1000 --regid 1000 --clear-groups \
			env PATH="$W/closed:/usr/bin:/bin" "$BIN/wardbox" drop -- no-such-command
		works setpriv --reuid 1000 --regid 1000 --clear-groups \
			env PATH="$W/closed:/usr/bin:/bin" "$BIN/wardbox" drop -- true
	fi
	gives 126 "$WARDBOX" drop -- ./mine
	gives 126 "$WARDBOX" drop -- /
	works "$WARDBOX" drop --help
}

@test "a script without a first line runs, as a shell would run it" {
	printf 'echo "$1"\n' >plain
	chmod 755 plain
	works D --rwx="$W" -- ./plain hello
	[ "$out" = hello ]
}

@test "--learn writes what was used, --grants gives just that" {
	cat >prog <<-'X'
	#!/bin/sh
	read x <mine
	echo "$x" >made
	mkdir -p d && mv made d/made
	X
	chmod 755 prog
	echo no >other
	works "$WARDBOX" drop --learn "$PLACE/learnt" -- ./prog
	grep -q "^rw $W\$" "$PLACE/learnt"
	grep -q "^rox $W/prog\$" "$PLACE/learnt"
	! grep -q other "$PLACE/learnt"
	! grep -q 'shadow' "$PLACE/learnt"
	rm -r d
	works "$WARDBOX" drop --grants "$PLACE/learnt" -- ./prog
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/learnt" -- sh -c "cat $OUT/secret"
	gives 126 "$WARDBOX" drop --grants "$PLACE/learnt" -- ls
	# reading alone asks for reading alone
	works "$WARDBOX" drop --learn "$PLACE/l2" -- cat mine
	grep -q "^ro $W/mine\$" "$PLACE/l2"
	! grep -q "^rw" "$PLACE/l2"
	works "$WARDBOX" drop --grants "$PLACE/l2" -- cat mine
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/l2" -- cat other
}

@test "--grants: a bad line is named" {
	printf 'ro /usr\nrx /bin\n' >bad
	gives 125 "$WARDBOX" drop --grants bad -- true
	[[ $out == *"bad:2"* ]]
	printf 'ro usr\n' >bad
	gives 125 "$WARDBOX" drop --grants bad -- true
	printf 'ro /usr\0\n' >bad
	gives 125 "$WARDBOX" drop --grants bad -- true
	gives 125 "$WARDBOX" drop --grants no-such -- true
}

@test "--explain-denials names the path, the right and the grant" {
	"$WARDBOX" drop --explain-denials -- sh -c "cat $OUT/secret; echo x >mine; mkdir d; cat mine" >/dev/null 2>said || true
	grep -q "^denied: [0-9]* may not read $OUT/secret (no grant" said
	grep -q "^denied: [0-9]* may not write $W/mine (preset: here" said
	grep -q "^denied: [0-9]* may not write $W (preset: here" said
	[ "$(grep -c ^denied said)" = 3 ]
	cp /bin/true t
	D --explain-denials -- ./t 2>said || true
	grep -q "may not execute $W/t" said
	# nothing refused, nothing said; a missing file is no denial
	"$WARDBOX" drop --explain-denials -- sh -c 'cat mine; cat no-such' >/dev/null 2>said || true
	! grep ^denied said
}

@test "--audit records the command, its sandbox, and what it was refused" {
	user() {
		if [ "$(id -u)" = 0 ]; then
			setpriv --reuid 1000 --regid 1000 --clear-groups \
				env XDG_STATE_HOME="$PLACE/state" "$@"
		else
			env XDG_STATE_HOME="$PLACE/state" "$@"
		fi
	}
	mkdir -m 777 "$PLACE/state"
	chmod 755 "$PLACE" "$W" "$OUT"
	gives 7 user "$BIN/wardbox" drop --audit --explain-denials -- sh -c "cat $OUT/../no 2>/dev/null; cat /etc/hostid-x 2>/dev/null; ls $OUT >/dev/null 2>&1; exit 7"
	user "$BIN/wardbox" audit dump >log
	grep -q 'allow sh -c' log
	grep -q '"enforced":"landlock' log
	grep -q "file.deny.*$OUT" log
	grep -q 'exit 7' log
	gives 125 user "$BIN/wardbox" drop --audit --rwx=/ -- true
	[[ $out == *"could write its log"* ]]
	gives 125 user "$BIN/wardbox" drop --audit --unrestricted-filesystem -- true
	works user "$BIN/wardbox" audit verify || [ $? = 4 ] || true
}
