#!/usr/bin/env bats
# session: list, show, create, env, end

load ../lib/wardbox

setup() {
	RUN=$BATS_TEST_TMPDIR/run
	WORK=$BATS_TEST_TMPDIR/work
	LOG=$BATS_TEST_TMPDIR/log
	mkdir -p "$RUN" "$WORK" "$LOG"
	cd "$WORK" || return 1
	need unshare -m true
}

# wardbox with a /run and a log of its own, and nothing of the machine's in /tmp
box() {
	# shellcheck disable=SC2016
	unshare -m sh -c '{ ! [ -d "/tmp/wardbox-$(id -u)" ] ||
			mount -t tmpfs none "/tmp/wardbox-$(id -u)"; } &&
		mount --bind "$2" /var/log && mount --bind "$1" /run &&
		shift 2 && exec "$@"' - "$RUN" "$LOG" "$WARDBOX" "$@"
}

@test "nothing is there and nothing is made by looking" {
	run box session
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run box session list --json
	[ "$status" -eq 0 ]
	[ "$output" = "[]" ]
	run box session show
	[ "$status" -eq 1 ]
	[[ $output == *"has no session yet"*"create --here"* ]]
	run box session env
	[ "$status" -eq 1 ]
	run box session end
	[ "$status" -eq 1 ]
	[ -z "$(ls -A "$RUN")" ]
	[ -z "$(ls -A "$LOG")" ]
}

@test "the log is told of its beginning and its end" {
	box session create s
	box session end s
	run box audit dump
	[[ $output == *session.open*session.end* ]]
}

@test "create prints an id that list and show know" {
	run box session create
	[ "$status" -eq 0 ]
	id=$output
	[[ $id =~ ^session-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
	run box session list --json
	[ "$(jq -r '.[0].id' <<<"$output")" = "$id" ]
	[ "$(jq -r '.[0].workspace' <<<"$output")" = "$(realpath .)" ]
	[ "$(jq -r '.[0].current' <<<"$output")" = false ]
	run box session show "$id"
	[[ $output == *"$id"*"named by     id"*"/run/wardbox"* ]]
	run box session create --json other
	[ "$(jq -r .id <<<"$output")" = other ]
	box session end other
	run box session create "$id"
	[ "$status" -eq 1 ]
	[[ $output == *already* ]]
}

@test "create --here binds the directory, by any of its names" {
	id=$(box session create --here my-agent_1 --cwd ..)
	[ "$id" = my-agent_1 ]
	run box session show --json
	[ "$(jq -r .id <<<"$output")" = my-agent_1 ]
	[ "$(jq -r .source <<<"$output")" = workspace ]
	[ "$(jq -r .cwd <<<"$output")" = "$(realpath ..)" ]
	ln -s "$WORK" ../alias
	cd ../alias
	[ "$(box session show --json | jq -r .id)" = my-agent_1 ]
	run box session
	[[ $output == *"* my-agent_1"* ]]
	cd ..
	run box session show
	[ "$status" -eq 1 ]
}

@test "the variable wins, then the file, and a bad one is an error" {
	box session create a >/dev/null
	box session create b >/dev/null
	box session create --here c >/dev/null
	echo b >file
	export WARDBOX_SESSION_FILE=file
	[ "$(box session show --json | jq -r .id)" = b ]
	export WARDBOX_SESSION_ID=a
	[ "$(box session show --json | jq -r '.id + .source')" = aid ]
	WARDBOX_SESSION_ID=../a run box session show
	[ "$status" -eq 1 ]
	[[ $output == *WARDBOX_SESSION_ID* ]]
	unset WARDBOX_SESSION_ID
	chmod 666 file
	run box session show
	[ "$status" -eq 1 ]
	[[ $output == *"can be written"* ]]
	chmod 644 file
	ln -s file link
	WARDBOX_SESSION_FILE=link run box session show
	[ "$status" -eq 1 ]
	WARDBOX_SESSION_FILE=/dev/null run box session show
	[ "$status" -eq 1 ]
	[[ $output == *"regular file"* ]]
}

@test "env prints and edits, and keeps every byte" {
	box session create s >/dev/null
	run box session env s
	[ "$status" -eq 0 ]
	[[ $output == *"no environment is saved"* ]]
	run box session env s --json
	[ "$(jq -c . <<<"$output")" = '{"saved":false,"env":{}}' ]
	OLD=1 GONE=1 box session env s "NEW=two
lines" EMPTY= "$(printf 'BYTES=\xff\xfe')" --unset GONE
	box session env s --null >out
	tr '\0' '\n' <out | grep -qx OLD=1
	tr '\0' '\n' <out | grep -qx EMPTY=
	tr '\0' '\n' <out | not grep -q GONE
	grep -qz "^NEW=two
lines$" out
	grep -qaz "$(printf '^BYTES=\xff\xfe$')" out
	# What each shell sets itself is no part of it, nor what the guard does.
	tr '\0' '\n' <out | not grep -q -E '^(PWD|OLDPWD|SHLVL|_|WARDBOX_[A-Z_]*)='
	# The second edit is one of what was saved, not of what is around.
	OTHER=1 box session env s NEW=3
	box session env s | not grep -q OTHER
	box session env s | grep -qx NEW=3
	run box session env s --dry-run ONLY=dry
	[[ $output == *ONLY=dry* ]]
	box session env s | not grep -q ONLY
	run box session env s =x
	[ "$status" -eq 2 ]
	[[ $output == *NAME=VALUE* ]]
	stat -c %a "$RUN"/wardbox/*/sessions/s.state | grep -qx 600
}

@test "a dry run of create makes nothing, and tells what would be in the way" {
	run box session create --dry-run --here s
	[ "$status" -eq 0 ]
	[ "$output" = s ]
	[ -z "$(find "$RUN" "$LOG" -mindepth 1)" ]
	box session create s >/dev/null
	run box session create --dry-run s
	[ "$status" -eq 1 ]
	[[ $output == *"there is a session s already"* ]]
	run box session create --dry-run 'a b'
	[ "$status" -eq 2 ]
}

@test "sessions that others could have written are not passed over in silence" {
	box session create s >/dev/null
	chmod 777 "$RUN"/wardbox/*/sessions
	for verb in list show end env; do
		run box session "$verb"
		[ "$status" -eq 1 ]
		[[ $output == *"/run/wardbox/$(id -u)/sessions is not private"* ]]
	done
	chmod 700 "$RUN"/wardbox/*/sessions
	run box session list
	[ "$status" -eq 0 ]
	[[ $output == *" s "* ]]
}

@test "end forgets a session and the workspace's claim on it" {
	box session create --here s >/dev/null
	run box session end --dry-run s
	[ "$status" -eq 0 ]
	[ "$output" = s ]
	run box session end --dry-run nobody
	[ "$status" -eq 1 ]
	[[ $output == *"no session nobody"* ]]
	run box session show s
	[ "$status" -eq 0 ]
	run box session env nobody
	[ "$status" -eq 1 ]
	[[ $output == *"no session nobody"* ]]
	run box session end
	[ "$status" -eq 0 ]
	run box session end s
	[ "$status" -eq 1 ]
	[[ $output == *"no session s"* ]]
	run box session show
	[ "$status" -eq 1 ]
	box session create a >/dev/null
	box session create b >/dev/null
	run box session end --older 1h
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(box session end --older 1h --json)" = "[]" ]
	box session end --all --dry-run --json | jq -e '. == ["a", "b"]'
	box session create c >/dev/null
	box session end c --json | jq -e '. == ["c"]'
	run box session end --all
	[ "$output" = "a
b" ]
	[ "$(box session list --json)" = "[]" ]
}

@test "a session that cannot be ended keeps no other" {
	box session create a >/dev/null
	box session create c >/dev/null
	dir=$(echo "$RUN"/wardbox/*/sessions)
	mkdir "$dir/b.state"
	run box session end --all --json
	[ "$status" -eq 1 ]
	[[ $output == *"cannot end session b"*'["a","c"]'* ]]
	[ "$(cd "$dir" && ls -d ./*.state)" = ./b.state ]
	rmdir "$dir/b.state"
	run box session end --all
	[ "$status" -eq 0 ]
}

@test "usage: unknown verbs, bad ids, too many operands" {
	run box session lst
	[ "$status" -eq 2 ]
	[[ $output == *list* ]]
	run box session show a/b
	[ "$status" -eq 2 ]
	[[ $output == *"no session id"* ]]
	run box session create .hidden
	[ "$status" -eq 2 ]
	run box session show a b
	[ "$status" -eq 2 ]
	run box session list x
	[ "$status" -eq 2 ]
	run box session end a --all
	[ "$status" -eq 2 ]
	# Not the session of this place.
	box session create --here kept >/dev/null
	run box session end --older 0
	[ "$status" -eq 2 ]
	[[ $output == *"--older: 0"* ]]
	run box session show kept
	[ "$status" -eq 0 ]
	run box session --help
	[ "$status" -eq 0 ]
	[[ $output == *"--older"* ]]
}

@test "a broken state is named and touches nothing else" {
	box session create ok >/dev/null
	box session create bad >/dev/null
	echo junk >"$RUN"/wardbox/0/sessions/bad.state
	run box session list
	[ "$status" -eq 0 ]
	[[ $output == *"no state of wardbox"* && $output == *" ok "* ]]
	run box session show bad
	[ "$status" -eq 1 ]
	[[ $output == *bad.state* ]]
	run box session end bad
	[ "$status" -eq 0 ]
}

@test "a directory that others planted is not used" {
	mkdir -m 777 "$RUN/wardbox"
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c 'cd / && mount --bind "${3%/*}" /mnt &&
		mount --bind "$2" /var/log && mount --bind "$1" /run &&
		mount -t tmpfs -o mode=1777 none /tmp &&
		/mnt/wardbox session create s >/dev/null && ls -A /run/wardbox &&
		/mnt/wardbox session show s --json | jq -r .base' - "$RUN" "$LOG" "$WARDBOX"
	[ "$output" = "/tmp/wardbox-$(id -u)" ]
}

@test "every user has a place of his own in /tmp, and the same from everywhere" {
	need unshare -m true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use FULL-AUTO' sh -c '
		as() { uid=$1; shift; setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"; }
		mount --bind "${1%/*}" /mnt && cd / && umask 077 && unset XDG_STATE_HOME &&
		mount -t tmpfs -o ro none /run/wardbox && mount -t tmpfs -o mode=1777 none /tmp &&
		/mnt/wardbox session create root >/dev/null &&
		as 1000 /mnt/wardbox session create first >/dev/null &&
		as 1001 /mnt/wardbox session create second >/dev/null &&
		stat -c "%a %u" /tmp/wardbox-0 /tmp/wardbox-1000 /tmp/wardbox-1001/1001 &&
		cd /usr && as 1001 /mnt/wardbox session show second >/dev/null &&
		{ as 1001 mv /tmp/wardbox-1000 /tmp/x 2>/dev/null; [ $? = 1 ]; } &&
		ls /tmp/wardbox-1000/1000/sessions' - "$WARDBOX"
	echo "$output"
	[ "$output" = "700 0
700 1000
700 1001
first.state" ]
}

@test "a place in /tmp that another user prepared is refused and named" {
	need unshare -m true
	local how
	for how in 'install -d -m 700 -o 1001 /tmp/wardbox-1000' \
		'ln -s /var/tmp /tmp/wardbox-1000' 'install -d -m 777 -o 1000 /tmp/wardbox-1000' \
		': >/tmp/wardbox-1000'; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run in_policy 'use FULL-AUTO' sh -c '
			mount --bind "${1%/*}" /mnt && cd /usr && unset XDG_STATE_HOME &&
			mount -t tmpfs -o ro none /run/wardbox && mount -t tmpfs -o mode=1777 none /tmp &&
			'"$how"' && cd /tmp && mkdir -m 777 p && cd p &&
			setpriv --reuid 1000 --regid 1000 --clear-groups /mnt/wardbox session create mine
			echo $?; ls -A' - "$WARDBOX"
		echo "$output"
		[[ "${lines[0]}" == *"/tmp/wardbox-1000"* ]]
		[ "${lines[-1]}" = 1 ]
	done
}

@test "who has no place for a state is observed all the same, and else told why not" {
	need unshare -m true
	local profile
	for profile in OBSERVE FULL-AUTO; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run in_policy "use $profile" bash -c '
			as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
			mount --bind "${1%/*}" /mnt && cd / && unset WARDBOX_SESSION_ID &&
			mount -t tmpfs -o ro none /run/wardbox && mount -t tmpfs -o mode=1777 none /tmp &&
			install -d -m 755 -o 1000 /tmp/wardbox-1001 && install -d -m 755 -o 1001 /tmp/p /tmp/p/.git /tmp/p/own && export HOME=/tmp/p/own
			as 1001 /mnt/wardbox sh -c "echo in \$PWD"; echo $?
			cd /tmp/p && as 1001 /mnt/wardbox sh -c "echo in \$PWD"
			cd / && as 1000 env HOME=/tmp/wardbox-1001 /mnt/wardbox sh -c "echo in \$PWD"' - "$WARDBOX"
		echo "$output"
		[ "${lines[-2]} ${lines[-1]}" = "in /tmp/p in /" ]
		if [ "$profile" = OBSERVE ]; then
			[ "${lines[0]} ${lines[1]}" = "in / 0" ]
		else
			[[ "${lines[0]}" == *"/ is no project"*"no place for temporary files"* ]]
			[[ "${lines[1]}" == *"by root, makes one"* ]]
			[ "${lines[2]}" = 125 ]
		fi
	done
}

@test "a state base in a project is its user's, also below /tmp" {
	need unshare -m true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use FULL-AUTO' sh -c '
		mount --bind "${1%/*}" /mnt && cd / && umask 022 &&
		mount -t tmpfs -o ro none /run/wardbox && mount -t tmpfs -o mode=1777 none /tmp &&
		mkdir -p /tmp/p/.git && mount --bind /tmp/p /srv && mount -o remount,bind,ro /tmp && cd /srv &&
		/mnt/wardbox session create here >/dev/null && stat -c %a .wardbox' - "$WARDBOX"
	[ "$output" = 755 ]
}
