#!/usr/bin/env bats
# drop --learn and --explain-denials: what fails by itself asks for nothing.

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
