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

@test "--add-exec: a program that lies about its interpreter" {
	# An ELF file whose interpreter's name is said to be longer than the file.
	python3 - evil $(($(getconf LONG_BIT) == 64)) <<-'END'
		import struct, sys
		wide = sys.argv[2] == "1"
		kind = b"\x7fELF" + bytes([1 + wide, 1, 1]) + b"\0" * 9
		if wide:
		    head = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
		    part = struct.pack("<IIQQQQQQ", 3, 4, 0x7fffffff0000, 0, 0, 4000, 4000, 1)
		else:
		    head = struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
		    part = struct.pack("<IIIIIIII", 3, 0x7fff0000, 0, 0, 4000, 4000, 4, 1)
		open(sys.argv[1], "wb").write(kind + head + part)
	END
	chmod +x evil
	gives 126 "$WARDBOX" drop --add-exec -- ./evil
	mkfifo pipe
	chmod +x pipe
	gives 126 timeout 10 "$WARDBOX" drop --add-exec -- ./pipe
}

@test "--hide --tmpfs" {
	works D --hide="$W/mine" -- true
	stops "" D --hide="$W/mine" -- cat mine
	mkdir t
	works D --tmpfs="$W/t" -- sh -c 'echo x >t/x'
	[ -z "$(ls t)" ]
	# a file is not made an empty one
	gives 125 D --tmpfs="$OUT/secret" -- sh -c "echo x >$OUT/secret"
	[[ $out == *"Not a directory"* ]]
	gives 125 D --ro="$OUT" --tmpfs="$OUT/secret" -- true
	[ "$(cat "$OUT/secret")" = secret ]
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
	# what one option closes no other one opens
	for bad in "--net=none --connect-tcp=$port" "--bind-tcp=0 --net=none" \
		"--net=all --connect-tcp=80" "--net=local --connect-tcp=80" \
		"--share-net --connect-tcp=80" "--share-net --net=none" \
		"--share-net --net=tcp:80" "--unrestricted-network --net=none" \
		"--unrestricted-network --bind-tcp=80"; do
		# shellcheck disable=SC2086
		gives 125 D $bad -- true
		[[ $out == *"in two ways that differ"* ]]
	done
	works D --net=tcp:80 --connect-tcp="$port" -- attack_ tcp "$port"
	works D --share-net --net=all -- attack_ tcp "$port"
}

@test "limits: --timeout --cpu --mem --nproc --children --nofile --fsize" {
	gives 124 D --timeout=0.1 -- sleep 9
	gives 124 D -t 100ms -- sleep 9
	gives 137 D --cpu=100ms -- attack_ spin
	gives 137 D --mem=50M -- attack_ alloc 500
	stops E D --nofile=20 -- attack_ fds 50
	# Long enough that all four are asked for while two live, on a busy
	# machine as well.
	D --children=2 -- sh -c 'for i in 1 2 3 4; do sleep 4 & done; wait' >said 2>&1 || true
	cat said
	# Two shells may say it on one line: neither writes it with one call.
	[ "$(grep -o sleep: said | wc -l)" = 2 ]
	grep -q "not started: more processes than allowed" said
	D --nproc=5 -- attack_ forks 20 >/dev/null 2>&1 && false
	gives 153 D --fsize=1k -- dd if=/dev/zero of=f bs=1k count=3
	gives 153 D --fsize=1k --json-status-fd=2 -- dd if=/dev/zero of=f bs=1k count=3
	[[ $out == *"more file size than allowed"*'"limit":"file size","limit-by":"rlimit, each process"'* ]]
	for bad in --timeout=x --mem=lots --nofile=-1 --nproc=1.5; do
		gives 125 D $bad -- true
	done
	# nothing is not the same as no limit
	for bad in --timeout=0 --cpu=0s --mem=0 --nproc=0 --nofile=0 --fsize=0 --output=0; do
		gives 125 D $bad -- true
		[[ $out == *"0 means nothing here: leave it out"* ]]
	done
	works D --children=0 -- sh -c 'echo x'
	stops "Resource temporarily unavailable" D --children=0 -- sh -c 'cat mine; exit'
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
	# a process outside that holds the pipe keeps nobody
	(until [ -s pid ]; do sleep 0.05; done
		exec 5>"/proc/$(cat pid)/fd/1" >held 2>&1 3>&-; : >>"$PLACE/up"; exec sleep 60) 3>&- &
	BACKGROUND+=($!)
	works timeout 20 "$BIN/wardbox" drop --rox=/usr,/bin,/lib,/lib64,"$PLACE" --ignore-missing --rw="$W" \
		--output=1M -- sh -c "echo \$\$ >pid.new; mv pid.new pid; until [ -e $PLACE/up ]; do sleep 0.05; done; seq 9"
	[ "$out" = "$(seq 9)" ]
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
	# what is secret is not told, whoever's variable it is
	touch "$OUT/sesame-one" "$OUT/sesame-two"
	A_TOKEN=sesame-one D --audit-fd=9 --explain-denials --env=MY_SECRET=sesame-two \
		-- sh -c "cat $OUT/sesame-one $OUT/sesame-two" 9>events 2>/dev/null || true
	[ "$(grep -aco 'sesame' events)" = 0 ]
	grep -aqF '[REDACTED]' events
	gives 125 D --audit-fd=9 --keep-fd=9 -- true 9>events
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
	# what a preset sets is no answer to what was asked for
	works D --preset=build --env=TMPDIR=/mine --unsetenv=GOCACHE -- sh -c 'echo $TMPDIR$GOCACHE; echo $XDG_CACHE_HOME'
	[[ $out == /mine$'\n'/tmp/wardbox-tmp-*/cache ]]
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
	gives 125 D --best-effort= -- true
	[[ $out == *"an empty item in --best-effort"* ]]
	works D --best-effort=pid,mount,limits -- true
	# one limit that cannot be had takes no other one with it
	works D -- "$BIN/wardbox" drop --rox=/usr,/bin,/lib,/lib64 --ignore-missing \
		--best-effort=limits,watch --children=3 --nofile=20 --fsize=512k -- \
		sh -c 'ulimit -n; ulimit -f; ulimit -c'
	[ "$out" = "20
1024
0" ]
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

@test "--explain says what happens, by whatever name" {
	# as_explained OPTION... PATH: both rights, by word and by deed
	as_explained() {
		local path=${*: -1} said did
		D "${@:1:$#-1}" --explain "$path" </dev/null >said
		said=$(sed 's/.*: \(.*\) (.*/\1/; s/, execute//; s/hidden/nothing/' said)
		# shellcheck disable=SC2016 # expanded by the inner shell
		did=$(D "${@:1:$#-1}" -- sh -c 'r= w=
			(: >>"$1") && w=write
			(: <"$1") && r=read
			echo "$r, $w"' sh "$path" </dev/null 2>/dev/null)
		did=${did%, } did=${did#, }
		rm -f new here "$OUT/new"
		[ "$said" = "${did:-nothing}" ] || {
			echo "$*: said '$said', did '$did'"
			return 1
		}
	}
	mkdir -p ro
	echo x >ro/f
	ln -s "$OUT/new" leads_out
	ln -s here leads_in
	ln -s ro/../../out/secret winds_out
	ln -s leads_out twice
	echo x >"$OUT/named"
	ln "$OUT/named" "$OUT/other"
	ln -s /proc/self/fd/0 input
	for path in mine ./mine new "$OUT/secret" "$OUT/new" leads_out leads_in \
		twice winds_out ro/f no/new ro/.././mine /dev/null /dev//null \
		/dev/../dev/zero input /etc/hostname; do
		as_explained --ro=/proc "$path"
		as_explained --unrestricted-filesystem "$path"
	done
	as_explained --rw="$OUT/named" "$OUT/other"
	as_explained --ro="$OUT/named" "$OUT/other"
	need unshare -Urm true
	for path in mine ro/f "$OUT/secret" leads_in; do
		as_explained --ro="$W/ro" "$path"
		as_explained --unshare-mount "$path"
		as_explained --unrestricted-filesystem --unshare-mount "$path"
	done
	as_explained --unshare-mount --rw="$OUT/named" "$OUT/other"
	as_explained --hide="$W/mine" mine
	gives 0 D --explain ""
	[[ $out == *nothing* ]]
}

@test "bwrap's words" {
	works "$WARDBOX" drop --ro-bind /usr /usr --ro-bind-try /lib64 /lib64 \
		--ignore-missing --rox=/bin,/lib --bind "$W" "$W" --dev-bind /dev/null /dev/null -- cat mine
	works "$WARDBOX" drop --bind-try / / -- sh -c 'echo --bind a b'
	[ "$out" = "--bind a b" ]
	works "$WARDBOX" drop --ro-bind / / --dev /dev --proc /proc --setenv A 'b c' --unshare-user \
		--unshare-uts --unshare-cgroup-try --cap-drop ALL -- sh -c 'echo "$A" >/dev/full || echo "$A"; cat /proc/self/comm'
	[[ $out == *$'b c\ncat' ]]
	gives 125 "$WARDBOX" drop --bind / /mnt -- true
	gives 125 "$WARDBOX" drop --ro-bind / -- true
	gives 125 "$WARDBOX" drop --setenv A
	gives 125 "$WARDBOX" drop --dev /other -- true
	gives 125 "$WARDBOX" drop --proc "$W" -- true
	# some paths may be missing, and none is a list
	works "$WARDBOX" drop --ro-bind / / --ro-bind-try /no/such /no/such -- true
	gives 125 "$WARDBOX" drop --ro-bind / / --ro-bind /no/such /no/such -- true
	works "$WARDBOX" drop --ro-bind /no/such /no/such --ro-bind / / --ignore-missing -- true
	mkdir x y "x,y"
	works "$WARDBOX" drop --ro-bind / / --bind "$W/x,y" "$W/x,y" -- touch "x,y/new"
	for dir in x y; do
		stops "ermission denied" "$WARDBOX" drop --ro-bind / / --bind "$W/x,y" "$W/x,y" -- touch "$dir/new"
	done
	gives 125 "$WARDBOX" drop --best-effort --ro-bind / / -- true
	[[ $out == *"--best-effort: '--ro-bind' is no part of the sandbox: landlock,"* ]]
	# the usual line, from a directory that it hides
	need unshare -Urm true
	works "$WARDBOX" drop --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all \
		--die-with-parent --new-session --chdir /tmp -- sh -c 'ls; cat /proc/1/comm'
	gives 125 "$WARDBOX" drop --ro-bind / / --tmpfs /tmp -- true
	[[ $out == *"current directory lies in /tmp"* ]]
	# all of them but the network
	background port "$BIN/attack" listen-tcp 0
	works "$WARDBOX" drop --ro-bind / / --unshare-all --share-net -- "$BIN/attack" tcp "$port"
	stops E "$WARDBOX" drop --ro-bind / / --unshare-all --net=all -- "$BIN/attack" tcp "$port"
	gives 125 "$WARDBOX" drop --ro-bind / / --share-net --unshare-all -- true
	gives 125 "$WARDBOX" drop --ro-bind / / --unshare-net --share-net -- true
}

@test "mistakes are 125, and nothing runs" {
	gives 125 "$WARDBOX" drop
	gives 125 "$WARDBOX" drop --no-such -- true
	gives 125 "$WARDBOX" drop --rox=/no/such -- true
	gives 127 "$WARDBOX" drop -- no-such-command
	gives 127 "$WARDBOX" drop -- ./no/such
	for bad in --keep-fd=77 --json-status-fd=77 --audit-fd=77; do
		gives 125 "$WARDBOX" drop "$bad" -- touch ran
		[[ $out == *"'77' is no open descriptor"* ]]
	done
	gives 125 "$WARDBOX" drop --net=tcp:http -- touch ran
	[[ $out == *"'http' is no port (1 to 65535)"* ]]
	[ ! -e ran ]
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
	not grep -q other "$PLACE/learnt"
	not grep -q 'shadow' "$PLACE/learnt"
	rm -r d
	works "$WARDBOX" drop --grants "$PLACE/learnt" -- ./prog
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/learnt" -- sh -c "cat $OUT/secret"
	gives 126 "$WARDBOX" drop --grants "$PLACE/learnt" -- ls
	# reading alone asks for reading alone
	works "$WARDBOX" drop --learn "$PLACE/l2" -- cat mine
	grep -q "^ro $W/mine\$" "$PLACE/l2"
	not grep -q "^rw" "$PLACE/l2"
	works "$WARDBOX" drop --grants "$PLACE/l2" -- cat mine
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/l2" -- cat other
}

@test "--learn: what a build makes and starts, it starts again" {
	mkdir b many
	printf '#!/bin/sh\necho made\n' >make.in
	cat >b/build <<-'X'
	cp ../make.in ./prog && chmod 755 prog && ./prog
	cp ../make.in ./gone && chmod 755 gone && ./gone && rm gone
	X
	works "$WARDBOX" drop --learn "$PLACE/l" -- sh -c 'cd b && sh ./build'
	grep -qx "rwx $W/b" "$PLACE/l"
	not grep -q "$W/b/" "$PLACE/l"
	rm b/prog
	works "$WARDBOX" drop --grants "$PLACE/l" -- sh -c 'cd b && sh ./build'
	[ "$out" = $'made\nmade' ]
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/l" -- sh -c 'echo x >new'
	# another run has other processes, and may have its own
	for how in --no-strays --unshare-pid; do
		works "$WARDBOX" drop "$how" --learn "$PLACE/l" -- sh -c 'cat /proc/$$/comm; ls /proc/$$ >/dev/null'
		grep -qx "ro /proc" "$PLACE/l"
		works "$WARDBOX" drop "$how" --grants "$PLACE/l" -- sh -c 'cat /proc/$$/comm'
		[ "$out" = sh ]
	done
	# what was there before, and is started, asks for no more
	printf '#!/bin/sh\necho x >d/y\n' >tool
	chmod 755 tool
	mkdir d
	works "$WARDBOX" drop --learn "$PLACE/l" -- ./tool
	grep -qx "rox $W/tool" "$PLACE/l"
	grep -qx "rw $W/d" "$PLACE/l"
}

@test "--learn: a crowd of files is their directory, but never home" {
	for d in 1 2 3 4 5 6 7 8 9 10 11 12; do
		mkdir -p "home/src/$d/e"
		for f in 1 2 3 4 5; do : >"home/src/$d/e/$f"; done
		: >"home/.$d"
	done
	works env HOME="$W/home" "$WARDBOX" drop --learn "$PLACE/l" -- \
		sh -c 'cat home/src/*/e/* home/.1*; cat home/.[2-9]; : >"mine"'
	grep -qx "list $W/home" "$PLACE/l"
	grep -qx "ro $W/home/src" "$PLACE/l"
	not grep -q "$W/home/src/" "$PLACE/l"
	not grep -qx "ro $W/home" "$PLACE/l"
	[ "$(grep -c "ro $W/home/[.]" "$PLACE/l")" = 12 ]
	not grep -qE '^r[^ ]* /(etc|usr|lib|bin)?$' "$PLACE/l"
	works env HOME="$W/home" "$WARDBOX" drop --grants "$PLACE/l" -- sh -c 'cat home/src/*/e/*; : >mine' </dev/null
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/l" -- sh -c ': >home/new'
	# names are not contents
	: >home/key
	works "$WARDBOX" drop --grants "$PLACE/l" -- sh -c 'echo home/*' </dev/null
	[[ $out == *home/key* ]]
	stops "ermission denied" "$WARDBOX" drop --grants "$PLACE/l" -- cat home/key
	stops "may not read $W/home/key (" "$WARDBOX" drop --grants "$PLACE/l" --explain-denials -- sh -c 'echo home/*; cat home/key'
	[[ $out != *"may not read $W/home ("* ]]
	works "$WARDBOX" drop --grants "$PLACE/l" --explain "$W/home/key"
	[[ $out == *"list names"* ]]
}

@test "--learn: tens of thousands of files" {
	need python3 -c ''
	python3 -c '
import os
for d in range(300):
    os.makedirs("s/d%d/e" % d)
    for f in range(100): open("s/d%d/e/f%d" % (d, f), "w").close()'
	works "$WARDBOX" drop --learn "$PLACE/l" -- find s -type f -exec cat '{}' +
	grep -qx "ro $W/s" "$PLACE/l"
	not grep -q "^ro $W\$" "$PLACE/l"
	[ "$(wc -l <"$PLACE/l")" -lt 40 ]
	works "$WARDBOX" drop --grants "$PLACE/l" -- find s -type f -exec cat '{}' +
}

@test "--preset: settings that this user cannot reach are as good as none" {
	[ "$(id -u)" = 0 ] || skip "another user"
	mkdir -p "$W/home"
	: >"$W/home/.gitconfig"
	chmod 700 "$W/home"
	chmod 777 "$OUT"
	cd "$OUT"
	works setpriv --reuid 1000 --regid 1000 --clear-groups env HOME="$W/home" \
		"$BIN/wardbox" drop --preset=workspace -- sh -c ': >new'
	gives 125 setpriv --reuid 1000 --regid 1000 --clear-groups "$BIN/wardbox" drop --ro="$W/home/.gitconfig" -- true
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
	# a link to a file that is not there yet is about where it leads
	ln -s there there2
	ln -s "$OUT/new" out1
	ln -s out1 out2
	D --ro=/etc --explain-denials -- sh -c 'echo x >there2; echo x >out2; mv mine mine2' 2>said || true
	[ "$(grep "^denied.*write" said | sed 's/: [0-9]*//')" = "denied may not write $OUT (no grant reaches it)" ]
	mv mine2 mine
	D --explain-denials -- mv "$OUT/secret" "$OUT/b" 2>said || true
	[ "$(grep -c "^denied.*write" said)" = 1 ]
	works "$WARDBOX" drop --learn="$PLACE/l" -- sh -c 'echo x >out2'
	rm "$OUT/new"
	works "$WARDBOX" drop --grants="$PLACE/l" -- sh -c 'echo x >out2'
	[ -e "$OUT/new" ]
	# nothing refused, nothing said; a missing file is no denial
	"$WARDBOX" drop --explain-denials -- sh -c 'cat mine; cat no-such' >/dev/null 2>said || true
	not grep ^denied said
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
	mkdir -m 1777 "$PLACE/state"
	chmod 755 "$PLACE" "$W" "$OUT"
	gives 7 user "$BIN/wardbox" drop --audit --explain-denials -- sh -c "cat $OUT/../no 2>/dev/null; cat /etc/hostid-x 2>/dev/null; ls $OUT >/dev/null 2>&1; exit 7"
	user "$BIN/wardbox" audit dump >log
	grep -q 'allow sh -c' log
	grep -q '"enforced":"landlock' log
	grep -q "file.deny.*$OUT" log
	grep -q 'exit 7' log
	API_TOKEN=sesame-one user "$BIN/wardbox" drop --audit --env=MY_SECRET=sesame-two -- \
		sh -c ': sesame-one sesame-two'
	[ "$(grep -raco sesame "$PLACE/state" | grep -vc ':0$')" = 0 ]
	user "$BIN/wardbox" audit dump | grep -qE ': \[REDACTED\]\{10:[0-9a-f]{8}\} \[REDACTED\]\{10:[0-9a-f]{8}\}'
	user "$BIN/wardbox" audit -t end -o json | jq -e -s 'all(.rollback == "none")'
	gives 125 user "$BIN/wardbox" drop --audit --rwx=/ -- true
	[[ $out == *"could write its log"* ]]
	gives 125 user "$BIN/wardbox" drop --audit --unrestricted-filesystem -- true
	works user "$BIN/wardbox" audit verify || [ $? = 4 ] || true
}

@test "the examples of the man page and of --help do what they say" {
	local line
	printf 'all:\n\techo built\n' >Makefile
	printf '#!/bin/sh\necho x >out/f && cat out/f\n' >fetch
	mkdir out
	chmod 755 fetch
	while read -r line; do
		# what is not from this machine: where wardbox is, and the home
		line=${line//wardbox/\"\$WARDBOX\"}
		works eval "HOME=$W ${line//\~/$W} </dev/null"
	done < <(sed -n 's/^\.Dl //p' "$TOP/applets/drop.1" | sed 's/\\-/-/g'
		"$WARDBOX" drop --help | sed -n 's/^  *\(wardbox drop .*--.*\)/\1/p')
	[ "$(cat out/f)" = x ]
}

@test "a preset works inside of itself, and gives no more than the outer one" {
	need test -w /usr/local/bin
	need unshare -m true
	project
	for preset in workspace build read-only; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run unshare -m sh -c '
			mount -t tmpfs none /usr/local/bin &&
			cp "$1" /usr/local/bin/wardbox && cd "$2" &&
			exec /usr/local/bin/wardbox drop --preset="$3" -- \
				/usr/local/bin/wardbox drop --preset="$3" -- \
				sh -c "echo in; { cat /root/.bashrc || cp /dev/null /var/tmp/out; } 2>/dev/null ||
					exit 7"' sh "$WARDBOX" "$PROJECT" "$preset"
		echo "$output"
		[ "$status" -eq 7 ]
		[[ $output == in* ]]
	done
}

@test "without a control group, what is reserved is no memory, and what is used is" {
	need unshare -m true
	need as_user true
	cd "$PLACE"
	printf '%s\n' '#include <stdlib.h>' '#include <stdio.h>' \
		'int main(void) { char *p = malloc(9); p[1] = 5; printf("ran %d\n", p[1]); free(p); return 0; }' >a.c
	need gcc -fsanitize=address -o asan a.c
	# shellcheck disable=SC2016 # expanded by the inner shell
	bare() {
		unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh \
			setpriv --reuid 1000 --regid 1000 --clear-groups \
			timeout 60 "$BIN/wardbox" drop --rox=/ --mem=256M -- "$@"
	}
	export ASAN_OPTIONS=detect_leaks=0
	run bare "$PLACE/asan"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ran 5"* ]]
	hog='
b = []
while True: b.append(bytearray(b"x") * (1 << 20))'
	run bare python3 -c "$hog"
	[ "$status" -eq 137 ]
	[[ $output == *"more memory than allowed"* ]]
	# Many together, too, of which each is below.
	# shellcheck disable=SC2016 # expanded by the inner shell
	run bare sh -c 'for i in 1 2 3 4 5 6; do
		python3 -c "import time; b = bytearray(b\"x\") * (100 << 20); time.sleep(30)" & done; wait'
	[ "$status" -eq 137 ]
	[[ $output == *"more memory than allowed"* ]]
}
