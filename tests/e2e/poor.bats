#!/usr/bin/env bats
# Places that lack something: each has its way, or a refusal that names what is
# missing and what this caller can do.

load ../lib/wardbox

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need unshare -m true
	PLACE=$(mktemp -d /srv/poor-XXXXXX)
	chmod 755 "$PLACE"
	NS_DIR=$BATS_TEST_TMPDIR/ns
	POLICY='include agent'
	PROJECT=$PLACE/home/ours
	mkdir -p "$PROJECT/.git" "$PLACE/bin" "$PLACE/none"
	cp "$WARDBOX" "$HELPERS"/{docker,refuse} "$PLACE/bin"
	LINE='echo hi; f=$(mktemp) && echo x >"$f" && cat "$f"; echo y >made && cat made'
	FINE=$'hi\nx\ny'
	SETUP=: REFUSED=()
	cd "$PROJECT" || return
}

teardown() {
	[ -z "${PLACE-}" ] || rm -rf --one-file-system "$PLACE"
}

# each BODY: in a view and without namespaces, each as root and as uid 1000.
each() {
	local id
	for TIER in view bare; do
		for id in 0 1000; do
			echo "# $TIER, uid $id"
			chown -R "$id:$id" "$PLACE/home"
			AS=() WITHOUT=()
			[ $id = 0 ] || AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
			[ "$TIER" = view ] || WITHOUT=("$PLACE/bin/docker")
			"$@"
		done
	done
}

# The line, where $SETUP was run before as root, with $PLACE.
g() {
	mkdir -p "$NS_DIR/log/wardbox"
	[ -d "$NS_DIR/log/wardbox/1000" ] ||
		install -d -m 700 -o 1000 -g 1000 "$NS_DIR/log/wardbox/1000"
	export PLACE
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy "$POLICY" bash -ec 'eval "$1"; shift; exec "$@"' bash \
		"export HOME=$PLACE/home; $SETUP" "${AS[@]}" "${WITHOUT[@]}" "${REFUSED[@]}" \
		"$PLACE/bin/wardbox" sh -c "${1-$LINE}"
	echo "$output"
}
works() {
	g
	[ "$status" -eq 0 ]
	[ "$output" = "$FINE" ]
}

@test "HOME is a file, unset, empty, or leads nowhere" {
	for SETUP in 'echo x >$PLACE/file; HOME=$PLACE/file' 'unset HOME' 'HOME=' \
		'HOME=/nonexistent/home' 'HOME=relative'; do
		each works
	done
}

@test "the machine's /tmp is full: a command's own is elsewhere" {
	SETUP='for d in /tmp /var/tmp; do
		mount -t tmpfs -o size=8k,mode=1777 none $d
		head -c 100000 /dev/zero >$d/fill 2>/dev/null || true
	done'
	each works
}

@test "/run is missing" {
	SETUP='mount --bind $PLACE/none /run; mount -o remount,bind,ro /run'
	each works
}

full() {
	g
	[[ $output == hi$'\n'*[Ee]rror*$'\n'y || $output == hi$'\n'*"o space"*$'\n'y ]]
}

@test "/run is missing and /tmp is full: what needs no room runs, the rest is told so" {
	SETUP='mount --bind $PLACE/none /run; mount -o remount,bind,ro /run
		for d in /tmp /var/tmp; do
			mount -t tmpfs -o size=32k,mode=1777 none $d
			head -c 100000 /dev/zero >$d/fill 2>/dev/null || true
		done'
	each full
}

@test "no cgroup: limits are watched over all the same" {
	SETUP='mount --bind $PLACE/none /sys/fs/cgroup'
	each works
}

@test "64 KB of /dev/shm" {
	SETUP='mount -t tmpfs -o size=64k,mode=1777 none /dev/shm'
	each works
}

refused() { # TEXT...
	g
	[ "$status" -eq 125 ]
	[[ $output != hi* ]]
	for text; do
		[[ $output == *"$text"* ]]
	done
}

@test "no seccomp notification: refused by name, or relaxed by name" {
	for REFUSED in "$PLACE/bin/refuse seccomp 1" "$PLACE/bin/refuse listener 0"; do
		read -r -a REFUSED <<<"$REFUSED"
		each refused 'watch: ' "a line 'relax watch' in /etc/wardbox/policy"
	done
	POLICY=$'include agent\nrelax watch limits mount netns'
	each works
}

blind() {
	g 'echo hi; cat made'
	[ "$status" -eq 126 ]
	[[ $output == *"the guard cannot see"*"'wardbox doctor'"* ]]
}

@test "where the guard may not look into a program, none starts, and doctor is named" {
	REFUSED=("$PLACE/bin/refuse" process_vm_readv 1)
	each blind
	run "${REFUSED[@]}" "$WARDBOX" doctor
	[[ $output == *"MISSING  memory of others"*"process_vm_readv"* ]]
}

@test "no Landlock, by a container's filter: refused by name" {
	REFUSED=("$PLACE/bin/refuse" landlock_create_ruleset 38)
	each refused 'landlock: ' 'a container may forbid it' "'relax landlock'"
}
