#!/usr/bin/env bats
# drop --learn and --explain-denials: what they say, and to whom.

load ../lib/sandbox

setup() {
	place
	AS=() W=$PLACE/w OUT=$PLACE/out
	mkdir "$W" "$OUT"
	echo mine >"$W/mine"
	cd "$W"
}
teardown() { unplace; }

@test "--learn: to ask for a directory that is there writes none" {
	for how in learn grants; do
		rm -rf b
		echo mine >mine
		works "$WARDBOX" drop "--$how" "$PLACE/l" -- \
			sh -c "mkdir -p $W/b/c/d && rm -f /usr/no-such && mv mine b/c"
		[ "$(grep '^rw' "$PLACE/l")" = "rw $W" ]
	done
}

@test "--learn: what its own user may not write it does not need to" {
	[ "$(id -u)" = 0 ] || skip "another user"
	chmod 755 "$PLACE" "$W"
	chmod 777 "$OUT"
	works setpriv --reuid 1000 --regid 1000 --clear-groups "$BIN/wardbox" drop --learn "$OUT/l" -- \
		sh -c ": >$OUT/new; (: >/usr/new); mkdir /etc/new; touch /etc/passwd; :"
	[ "$(grep '^rw' "$OUT/l")" = "rw $OUT" ]
}

@test "--learn: a socket has a name, and a descriptor's leads to no other" {
	bind='import socket; socket.socket(socket.AF_UNIX).bind("b/sock")'
	for how in learn grants; do
		rm -rf b linked
		mkdir b
		works "$WARDBOX" drop --unrestricted-network "--$how" "$PLACE/l" -- \
			sh -c 'exec 3<mine && ln -L /proc/self/fd/3 linked && python3 -c "$1"' sh "$bind"
		[ "$(grep '^rw' "$PLACE/l")" = "rw $W" ]
	done
}

@test "--explain-denials: what is there already, or is not, was not refused" {
	"$WARDBOX" drop --explain-denials -- sh -c 'mkdir /usr; mkdir -p /usr/bin; rm -f /usr/no-such
		rmdir no-such; ln -s x mine; ln mine said; mv no-such x
		set -C; echo x >mine' >/dev/null 2>said || true
	not grep ^denied said
	for c in 'mkdir d' 'mknod p p' 'ln -s x l' 'rm -f mine' 'ln mine l' 'mv mine l' 'mv mine said'; do
		stops "may not write $W (" "$WARDBOX" drop --explain-denials -- sh -c "$c"
	done
}

@test "--learn: a file that cannot be written is told before anything runs" {
	for bad in "" /no/such/f "$W"; do
		gives 125 "$WARDBOX" drop --learn="$bad" -- touch ran
		[ ! -e ran ]
	done
	# what is no file is written to, and an open one by its descriptor's name
	"$WARDBOX" drop --learn /proc/self/fd/1 -- true >f
	grep -q '^rox /.*/true$' f
	"$WARDBOX" drop --learn /proc/self/fd/1 -- true | grep -q '^rox /.*/true$'
	# a run that fails leaves what was there
	echo old >f
	gives 125 "$WARDBOX" drop --learn f --net=tcp:none -- true
	gives 127 "$WARDBOX" drop --learn f -- no-such
	[ "$(cat f)" = old ]
}

@test "who no longer reads what is told does not end the command" {
	mkfifo unread
	exec 8<>unread 9>unread 8<&-
	for how in --json-status-fd=9 "--watch-exec --json-status-fd=9"; do
		# shellcheck disable=SC2086
		gives 3 D $how -- sh -c ': >ran; exit 3'
		rm ran
	done
	code=0
	D --watch-exec -- sh -c 'cat mine >ran; exit 3' 2>&9 || code=$?
	[ $code = 3 ]
	rm ran
	# but what is not recorded does not run
	gives 125 D --audit-fd=9 -- touch ran
	[ ! -e ran ]
	# and its own signal is its own
	gives 141 D --no-strays -- sh -c 'kill -PIPE $$'
	exec 9>&-
}
