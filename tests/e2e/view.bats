#!/usr/bin/env bats
# The mount view of a guarded command: nothing but what it may write can be
# changed by any call, and the guard's own files are out of its reach.

load ../lib/wardbox
load ../lib/roots

teardown() { [ -z "${PLACE-}" ] || rm -rf "$PLACE"; }

# A policy, a log and a state of their own, for root and for uid 1000; a project
# of the user's own that has a policy, and, for comparison, a file and a
# directory. Text of the policy's further LINES.
view() { # LINES
	POLICY=$'use FULL-AUTO\npath r '"$HELPERS/**"$'\n'${1-}
	PLACE=$(mktemp -d /tmp/view-test-XXXXXX)
	NS_DIR=$BATS_TEST_TMPDIR/ns
	chmod 755 "$PLACE"
	mkdir -p "$PLACE/home/.config/wardbox" "$PLACE/project/.git" \
		"$PLACE/project/.wardbox" "$PLACE/bin"
	cp "$WARDBOX" "$HELPERS/meddle" "$HELPERS/docker" "$PLACE/bin"
	echo 'policy 1 user' >"$PLACE/home/.config/wardbox/policy"
	echo 'policy 1 project' >"$PLACE/project/.wardbox/policy"
	PROJECT=$PLACE/project OWN=$PLACE/project/.wardbox
	cd "$PROJECT" || return
	need under true
}

# COMMAND... as $USER_ID, on this root with the files above.
under() {
	mkdir -p "$NS_DIR/log/wardbox"
	[ -d "$NS_DIR/log/wardbox/1000" ] ||
		install -d -m 700 -o 1000 -g 1000 "$NS_DIR/log/wardbox/1000"
	in_policy "$POLICY" "${AS[@]}" env HOME="$PLACE/home" "$@"
}

# each BODY: as root and as uid 1000, the project and the home being theirs.
each() {
	local id
	[ "$(id -u)" = 0 ] || skip "needs root"
	for id in 0 1000; do
		echo "# uid $id"
		chown -R "$id:$id" "$PLACE/project" "$PLACE/home"
		AS=()
		[ $id = 0 ] || AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
		USER_ID=$id
		"$@"
	done
}

# What must not have been changed, and how it looks to who looks from outside.
guarded_files() {
	find "$NS_DIR/log/wardbox" "$NS_DIR/run" "$NS_DIR/etc/wardbox" \
		"$PLACE/home/.config/wardbox" ${OWN:+"$OWN"} \
		-not -path '*/run/*/tmp*' -not -path '*/run/*/cache*' \
		-printf '%p %y %m %U:%G %i %n %s %T@\n' | sort
}

# The guard's files by their names in the view.
names() {
	echo "/etc/wardbox/policy"
	echo "$PLACE/home/.config/wardbox/policy"
	(cd "$NS_DIR/log" && find wardbox -printf '/var/log/%p\n')
	(cd "$NS_DIR/run" && find . -not -path './*/tmp*' -not -path './*/cache*' -printf '/run/wardbox/%P\n')
	echo "/etc/wardbox"
	echo "$PLACE/home/.config/wardbox"
	[ -z "$OWN" ] || printf '%s\n' "$OWN/policy" "$OWN"
}

# Reading is no meddling: what may be read may be locked, which the guard does
# with its log and its sessions alone.
through() { # FILE
	grep ' ok$' "$1" | grep -v -e '^flock' -e '^fcntl-'
}

meddles() {
	local before out=$PLACE/out.$USER_ID
	# The log and a session are there, and what the session keeps.
	under "$PLACE/bin/wardbox" sh -c 'ls >/dev/null'
	under "$PLACE/bin/wardbox" exec -- true
	names >"$PROJECT/names"
	before=$(guarded_files)
	under "$PLACE/bin/wardbox" exec -- "$PROJECT/try" >"$out" || true
	grep -q "^chmod path /etc/wardbox/policy EROFS" "$out"
	[ "$(grep -c '^chmod path ' "$out")" = "$(wc -l <"$PROJECT/names")" ]
	through "$out" && return 1
	# What is locked by the guard cannot even be opened.
	grep -e '^flock fd /var/log/wardbox/[0-9]*/' \
		-e '^flock fd /run/wardbox/[0-9]*/sessions/' "$out" | grep ' ok$' && return 1
	# Recording goes on in the log, and only there.
	diff <(grep -v "$NS_DIR" <<<"$before") <(guarded_files | grep -v "$NS_DIR")
	# The guard keeps its policy's image as soon as the policy has rested.
	diff <(grep -v '/policy.img ' <<<"$before" | cut -d' ' -f1-4) \
		<(guarded_files | grep -v '/policy.img ' | cut -d' ' -f1-4)
	under "$PLACE/bin/wardbox" sh -c 'ls >/dev/null'
}

meddle_program() {
	cp "$HELPERS/meddle" "$PROJECT/meddle"
	# shellcheck disable=SC2016 # expanded by the inner shell
	printf '#!/bin/sh\nwhile read -r name; do ./meddle "$name"; done <names\n' >"$PROJECT/try"
	chmod 755 "$PROJECT/try" "$PROJECT/meddle"
}

@test "no call changes, moves or locks a file of the guard's own" {
	view
	meddle_program
	each meddles
}

@test "nor in a project that has no policy of its own" {
	view
	rm -r "$OWN"
	OWN=
	meddle_program
	each meddles
}

@test "nor where the policy lets write everywhere" {
	view 'path rw /**'
	meddle_program
	each meddles
}

swaps() {
	local before done
	rm -f mine link link.other
	echo text >mine
	ln -s mine link
	ln -s "$PLACE/home/.config/wardbox/policy" link.other
	chown -h "$USER_ID" mine link link.other
	before=$(stat -c '%a %u:%g %Y %Z' "$PLACE/home/.config/wardbox/policy")
	done=$(under "$PLACE/bin/wardbox" exec -- "$PROJECT/meddle" -s 200000 link)
	echo "$done went through"
	# Both were met.
	[ "$done" -gt 0 ]
	[ "$done" -lt 200000 ]
	[ "$before" = "$(stat -c '%a %u:%g %Y %Z' "$PLACE/home/.config/wardbox/policy")" ]
}

@test "nor by a link that leads elsewhere when it is used" {
	view
	rm -r "$OWN"
	meddle_program
	each swaps
}

own_file() {
	rm -rf mine dir
	echo text >mine
	mkdir dir
	chown "$USER_ID" mine dir
	under "$PLACE/bin/wardbox" exec -- "$PROJECT/meddle" mine >"$PLACE/out" || true
	cat "$PLACE/out"
	for call in chmod chown utimensat setxattr open-write fchmod futimens \
		link linkat rename renameat exchange replace unlink; do
		grep -q "^$call .* ok\$" "$PLACE/out"
	done
}

@test "all of it works on what the command may write" {
	view
	meddle_program
	each own_file
}

other_ways() {
	rm -rf link hard sub
	# A name through this process's root and directory, and its supervisor's.
	cat >ways.sh <<-'X'
		for way in /proc/self/root /proc/$PPID/root /proc/1/root /proc/self/cwd/../../../../../..; do
			chmod 777 $way/etc/wardbox/policy && echo "$way"
		done
		ln -s /etc/wardbox link && chmod 777 link/policy && echo link
		ln /etc/wardbox/policy hard && echo hard
		mv "$HOME/.config" "$HOME/.moved" && echo moved
		mv .wardbox other && echo moved
		rm -rf .wardbox && echo removed
		chmod 700 .git && echo fine
	X
	chmod 755 ways.sh
	chown "$USER_ID" ways.sh
	run under "$PLACE/bin/wardbox" sh -c 'sh ways.sh 2>/dev/null'
	echo "$output"
	[ "$output" = fine ]
	[ "$(cat .wardbox/policy)" = 'policy 1 project' ]
}

@test "nor by another name: a process's root, links, a parent that is moved" {
	view
	each other_ways
}

gone_directory() {
	mkdir gone
	chown "$USER_ID" gone
	chmod 755 "$PLACE/home"
	# shellcheck disable=SC2016 # expanded by the inner shell
	run under sh -c 'cd gone && rmdir ../gone &&
		echo ../../home | "$1" sh -c "$2"' sh "$PLACE/bin/wardbox" \
		'read -r d; chmod 777 "$d"; touch "$d/new"; echo ran'
	echo "$output"
	[[ $output == *ran ]]
	[ "$(stat -c %a "$PLACE/home")" = 755 ]
}

@test "a directory that was removed leads nowhere" {
	view
	each gone_directory
}

owners() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run under "$PLACE/bin/wardbox" sh -c 'touch new; stat -c %u:%g new; id -u; id -g'
	echo "$output"
	[ "$output" = "$(printf '%s:%s\n%s\n%s' "$USER_ID" "$USER_ID" "$USER_ID" "$USER_ID")" ]
	rm new
}

@test "who a file belongs to looks the same" {
	view
	each owners
}

without() {
	run under "$PLACE/bin/docker" "$PLACE/bin/wardbox" sh -c 'ls -d .git; touch x && rm x'
	echo "$output"
	[ "$output" = .git ]
}

@test "where there are no namespaces, commands run all the same" {
	view
	rm -r "$PROJECT/.wardbox"
	each without
}

@test "what the policy opens twice, a single file, and a place that is not there" {
	view "path rw \$HOME/one \$HOME/none \$HOME/two/** \$HOME/two/in/**"
	AS=()
	mkdir -p "$PLACE/home/two/in"
	echo old >"$PLACE/home/one"
	# shellcheck disable=SC2016 # expanded by the inner shell
	printf '#!/bin/sh\ncd "$HOME"; echo new >one; chmod 600 one; mv two/a two/in/a; echo x >none; echo x >three\n' >do
	chmod 755 do
	touch "$PLACE/home/two/a"
	run under "$PLACE/bin/wardbox" exec -- ./do
	echo "$output"
	[ "$(cat "$PLACE/home/one")" = new ]
	[ "$(stat -c %a "$PLACE/home/one")" = 600 ]
	[ -e "$PLACE/home/two/in/a" ]
	[ ! -e "$PLACE/home/none" ]
	[ ! -e "$PLACE/home/three" ]
}

# A line of a shell in the root $R, which is no mount itself; its policy's LINES.
in_chroot() { # LINES LINE
	printf 'use FULL-AUTO\n%s\n' "$1" >"$R/etc/wardbox/policy"
	# shellcheck disable=SC2016 # expanded by the inner shell
	R=$R unshare -m sh -c 'mount --rbind /dev "$R/dev" && mount -t proc proc "$R/proc" &&
		mount --bind "$R/etc" "$R/alt" && cd "$R/project" &&
		exec chroot "$R" /bin/busybox env -i PATH=/bin /bin/busybox sh -c \
			"cd /project && exec /bin/wardbox sh -c \"\$0\"" "$1"' sh "$2"
}

@test "in a chroot that is no mount, also where the policy lets write everywhere" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	local lines
	R=$BATS_TEST_TMPDIR/root
	need test -n "$BUSYBOX"
	root_busybox "$R"
	mkdir -p "$R/project/.git" "$R/etc/wardbox" "$R/alt" "$R/run" "$R/var/log"
	ln -s busybox "$R/bin/chmod"
	ln -s busybox "$R/bin/touch"
	cp "$WARDBOX" "$R/bin/wardbox"
	for lines in '' 'path rw /**'; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run in_chroot "$lines" 'touch made; chmod 700 made
			read -r a; read -r b; chmod 777 "$a" "$b"' \
			<<<$'/etc/wardbox\n/alt/wardbox'
		echo "$output"
		[[ $output == *"/etc/wardbox: Read-only"* ]]
		# What is not granted is not shown.
		[[ $output == *"/alt/wardbox: "@(Read-only|No such)* ]]
		[ "$(stat -c %a "$R/etc/wardbox")" != 777 ]
		[ "$(stat -c %a "$R/project/made")" = 700 ]
	done
}

@test "a policy under which no command could start is refused" {
	view
	AS=()
	printf 'use FULL-AUTO\npath rw /proc/self/**\n' >bad
	run "$WARDBOX" policy check bad
	[ "$status" -eq 3 ]
	[[ $output == *"/proc/"*"the wrapper's own process"* ]]
	printf 'use FULL-AUTO\npath rw /**\nruntime rw /**\n' >good
	run "$WARDBOX" policy check good
	[ "$status" -eq 0 ]
}

relaxed() {
	run under "$PLACE/bin/wardbox" exec -- "$PROJECT/try"
	[[ $output == *"Read-only"*ran ]]
	[ "$(cat "$OWN/policy")" = 'policy 1 project' ]
	run under "$PLACE/bin/wardbox" drop --best-effort=mount --rox=/usr,/bin,/lib,/lib64 \
		--rw="$PROJECT" --ro="$OWN" -- sh -c "echo x >>$OWN/policy"
	[[ $output == *"Read-only"* ]]
}

@test "relax mount gives up nothing where the view can be had" {
	view 'relax mount'
	printf '#!/bin/sh\necho x >>.wardbox/policy\necho ran\n' >try
	chmod 755 try
	each relaxed
}

@test "doctor proves the view by making one, as root and as a user" {
	view
	each doctor_works
}
doctor_works() {
	run under "$PLACE/bin/wardbox" doctor --json
	echo "$output"
	[ "$(jq '.findings[] | select(.name == "mount namespace").works' <<<"$output")" = true ]
}
