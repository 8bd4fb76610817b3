#!/usr/bin/env bats
# install: plans, states, refusals, undo

load ../lib/wardbox
load ../lib/roots

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need test -n "$BUSYBOX"
	R=$BATS_TEST_TMPDIR/root
	exec </dev/null
}

teardown() {
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
}

put() {
	run "$WARDBOX" install --root "$R" "$@"
}

state_of() { # PATH
	"$WARDBOX" install --root "$R" --status --json |
		jq -r ".shells[] | select(.path == \"$1\") | .state"
}

@test "a dry run says what it would do and does nothing" {
	root_busybox "$R"
	picture "$R" >before
	put --dry-run
	[ "$status" -eq 0 ]
	[[ $output == *"/bin/sh: keep as .real"* ]]
	[[ $output == *"use FULL-AUTO"* ]]
	put --dry-run --json
	[ "$(jq -r '.shells[0].would' <<<"$output")" = \
		"keep as .real, put the shim over it" ]
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"not installed here"* ]]
	put --uninstall
	[ "$status" -eq 0 ]
	picture "$R" | diff before -
}

@test "the policy is for all users, whatever the umask" {
	root_busybox "$R"
	picture "$R" >before
	umask 077
	put
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$R/etc/wardbox")" = 755 ]
	[ "$(stat -c %a "$R/etc/wardbox/policy")" = 644 ]
	[ "$(stat -c %a "$R/etc/wardbox/install")" = 644 ]
	put --uninstall
	picture "$R" | diff before -
}

@test "a busybox root: links stay links, undo is exact" {
	root_busybox "$R"
	picture "$R" >before
	put
	[ "$status" -eq 0 ]
	[ "$(readlink "$R/bin/sh")" = /bin/wardbox ]
	[ "$(readlink "$R/bin/sh.real")" = /bin/busybox ]
	[ "$R/bin/ash.real" -ef "$R/bin/busybox" ]
	[ -x "$R/bin/wardbox" ]
	[ "$(stat -c %a "$R/bin/wardbox")" = 755 ]
	grep -qx 'use FULL-AUTO' "$R/etc/wardbox/policy"
	put --status
	[ "$status" -eq 0 ]
	put --uninstall
	[ "$status" -eq 0 ]
	picture "$R" | diff before -
}

@test "a merged /usr: each file once, sh a link to a shim" {
	root_merged "$R"
	picture "$R" >before
	put --shells sh,bash,dash --profile dev
	[ "$status" -eq 0 ]
	[ "$(readlink "$R/usr/bin/sh")" = /usr/bin/wardbox ]
	[ "$(readlink "$R/usr/bin/sh.real")" = dash ]
	[ "$(readlink "$R/usr/bin/dash")" = /usr/bin/wardbox ]
	cmp "$R/usr/bin/bash.real" "$(command -v bash)"
	grep -qx 'use DEV' "$R/etc/wardbox/policy"
	[ "$("$WARDBOX" install --root "$R" --status --json |
		jq '.shells | length')" = 3 ]
	put --uninstall
	picture "$R" | diff before -
}

@test "installing twice changes nothing; a newer wardbox is put in place" {
	root_busybox "$R"
	picture "$R" >before
	put
	outline "$R/bin" >once
	put
	[ "$status" -eq 0 ]
	outline "$R/bin" | diff once -
	cp "$WARDBOX" newer
	printf 'x' >>newer
	put --binary newer
	[ "$status" -eq 0 ]
	cmp newer "$R/bin/wardbox"
	put --uninstall
	outline "$R" >after
	(mkdir again && R=$PWD/again && root_busybox "$R" && outline "$R") |
		diff - after
}

@test "a root whose policy is broken keeps its shells" {
	root_busybox "$R"
	mkdir -p "$R/etc/wardbox/policy.d"
	echo 'use OBSERVE' >"$R/etc/wardbox/policy"
	echo 'allow' >"$R/etc/wardbox/policy.d/x.policy"
	picture "$R" >before
	for how in --dry-run --yes; do
		put $how
		[ "$status" -eq 1 ]
		[[ $output == *"policy.d/x.policy:1"*"nothing is changed"* ]]
		picture "$R" | diff before -
	done
	echo 'allow ls **' >"$R/etc/wardbox/policy.d/x.policy"
	put --yes
	[ "$status" -eq 0 ]
	put --status
	[ "$status" -eq 0 ]
	# Broken since, --status says that no shell runs.
	echo 'nonsense' >"$R/etc/wardbox/policy"
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"etc/wardbox/policy:1"* ]]
	[ "$("$WARDBOX" install --root "$R" --status --json 2>/dev/null | jq .sound)" = false ]
	chmod 666 "$R/etc/wardbox/policy"
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"written by"* ]]
}

@test "a dry run foretells the binary, and what would stop the run" {
	root_busybox "$R"
	put --yes
	put --dry-run
	[ "$status" -eq 0 ]
	[[ $output != *"copy this wardbox"* ]]
	cp "$WARDBOX" newer
	printf 'x' >>newer
	put --dry-run --binary newer
	[ "$status" -eq 0 ]
	[[ $output == *"/bin/wardbox: copy this wardbox"* ]]
	put --uninstall
	echo other >"$R/bin/wardbox"
	picture "$R" >before
	put --dry-run
	[ "$status" -eq 1 ]
	[[ $output == *"another one"*"--bindir"* ]]
	rm "$R/bin/wardbox"
	put --dry-run --bindir /no/such
	[ "$status" -eq 1 ]
	[[ $output == *"no place for /no/such/wardbox"*"--bindir names"* ]]
	need unshare -m true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c 'mount --bind "$1" "$1" &&
		mount -o remount,bind,ro "$1" && exec "$2" install --root "$1" -n' \
		- "$R" "$WARDBOX"
	[ "$status" -eq 1 ]
	[[ $output == *"Read-only file system"* ]]
}

@test "a shim whose original leads to nothing is told of" {
	root_busybox "$R"
	put
	put --status
	[ "$status" -eq 0 ]
	mv "$R/bin/busybox" kept
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"guarded"*"/bin/sh"*"the original is gone"* ]]
	put --status --json
	[ "$(jq .sound <<<"$output")" = false ]
	mv kept "$R/bin/busybox"
	put --status
	[ "$status" -eq 0 ]
	put --uninstall
	[ "$(readlink "$R/bin/sh")" = /bin/busybox ]
}

@test "another wardbox in its place is refused, the same one is kept" {
	root_busybox "$R"
	echo other >"$R/bin/wardbox"
	picture "$R" >before
	put
	[ "$status" -eq 1 ]
	[[ $output == *"another one"*"--bindir"* ]]
	picture "$R" | diff before -
	cp "$WARDBOX" "$R/bin/wardbox"
	picture "$R" >before
	put
	[ "$status" -eq 0 ]
	put --uninstall
	picture "$R" | diff before -
}

@test "a policy that is there is kept, one that was edited too" {
	root_busybox "$R"
	mkdir "$R/etc/wardbox"
	echo 'use SAFE' >"$R/etc/wardbox/policy"
	picture "$R" >before
	put --profile DEV
	[ "$status" -eq 0 ]
	[[ $output == *"not applied"* ]]
	grep -qx 'use SAFE' "$R/etc/wardbox/policy"
	put --uninstall
	picture "$R" | diff before -
	rm -r "$R/etc/wardbox"
	put
	echo 'allow make' >>"$R/etc/wardbox/policy"
	put --uninstall
	[ "$status" -eq 0 ]
	[ "$(ls "$R/etc/wardbox")" = policy ]
}

@test "a package's upgrade over the shim is seen and mended" {
	root_busybox "$R"
	put
	cp "$R/bin/busybox" "$R/bin/new"
	mv "$R/bin/new" "$R/bin/ash"
	rm "$R/bin/sh"
	[ "$(state_of /bin/ash)" = overwritten ]
	[ "$(state_of /bin/sh)" = removed ]
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"run install again"* ]]
	inode=$(stat -c %i "$R/bin/ash")
	put
	[ "$status" -eq 0 ]
	[ "$(state_of /bin/ash)" = guarded ]
	[ "$(stat -c %i "$R/bin/ash.real")" = "$inode" ]
	[ "$(readlink "$R/bin/sh.real")" = /bin/busybox ]
	put --status
	[ "$status" -eq 0 ]
	# Undone over an upgrade, the newer one stays.
	cp "$R/bin/busybox" "$R/bin/new"
	mv "$R/bin/new" "$R/bin/ash"
	inode=$(stat -c %i "$R/bin/ash")
	put --uninstall
	[ "$status" -eq 0 ]
	[ "$(stat -c %i "$R/bin/ash")" = "$inode" ]
	[ ! -e "$R/bin/ash.real" ]
	[ ! -L "$R/bin/ash.real" ]
}

@test "a foreign .real or a lost original: told, and nothing is changed" {
	root_busybox "$R"
	echo mine >"$R/bin/ash.real"
	picture "$R" >before
	for how in --yes --dry-run; do
		put $how
		[ "$status" -eq 1 ]
		[[ $output == *"/bin/ash: "*"not from wardbox"*"nothing is changed"* ]]
		picture "$R" | diff before -
	done
	put --shells sh
	[ "$status" -eq 0 ]
	[ "$(cat "$R/bin/ash.real")" = mine ]
	[ "$(state_of /bin/sh)" = guarded ]
	[ "$(state_of /bin/ash)" = foreign ]
	rm "$R/bin/sh.real"
	[ "$(state_of /bin/sh)" = lost ]
	outline "$R" >lost
	put --shells sh
	[ "$status" -eq 1 ]
	outline "$R" | diff lost -
	put --uninstall
	[ "$status" -eq 1 ]
	[[ $output == *"original is gone"* ]]
	[ "$(cat "$R/bin/ash.real")" = mine ]
}

@test "a run that fails half-way takes back what it did" {
	root_busybox "$R"
	picture "$R" >before
	chattr +i "$R/bin/ash" 2>/dev/null || skip "not here: chattr +i"
	put
	chattr -i "$R/bin/ash"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"/bin/ash"* ]]
	picture "$R" | diff before -
	put
	[ "$status" -eq 0 ]
	# Over an installation that is there, that one stays.
	cp "$R/bin/busybox" "$R/bin/new"
	mv "$R/bin/new" "$R/bin/ash"
	chattr +i "$R/bin/ash"
	put
	chattr -i "$R/bin/ash"
	[ "$status" -eq 1 ]
	[ "$(state_of /bin/sh)" = guarded ]
	put
	[ "$status" -eq 0 ]
	put --status
	[ "$status" -eq 0 ]
}

@test "a write through a shim's link is told, and mended by another install" {
	root_busybox "$R"
	put
	[ "$status" -eq 0 ]
	cat "$R/bin/busybox" >"$R/bin/wardbox"
	put --status
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"overwritten"*"/bin/sh"*"was written over"* ]]
	[ "$(state_of /bin/sh)" = overwritten ]
	[ "$("$WARDBOX" install --root "$R" --status --json | jq .sound)" = false ]
	put
	[ "$status" -eq 0 ]
	cmp "$WARDBOX" "$R/bin/wardbox"
	put --status
	[ "$status" -eq 0 ]
	put --uninstall
	[ "$status" -eq 0 ]
	# A wardbox that a package brings may be another one tomorrow.
	cp "$WARDBOX" "$R/bin/wardbox"
	put
	printf x >>"$R/bin/wardbox"
	put --status
	[ "$status" -eq 0 ]
	cat "$R/bin/busybox" >"$R/bin/wardbox"
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"was written over"* ]]
}

@test "doctor says that a shell is no longer guarded, and how to put it back" {
	need chroot / true
	local row='.findings[] | select(.name == "guarded shells")'
	root_busybox "$R"
	put
	mkdir -p "$R/proc" "$R/tmp" "$R/dev"
	look() {
		# shellcheck disable=SC2016 # expanded by the inner shell
		unshare -mpf sh -c 'mount -t proc proc "$1/proc" &&
			chroot "$1" /bin/wardbox doctor --json' sh "$R"
	}
	need look
	[ "$(look | jq "$row.works")" = true ]
	cp "$R/bin/busybox" "$R/bin/new"
	mv "$R/bin/new" "$R/bin/ash"
	look >found || [ $? = 1 ]
	jq "$row" found
	[ "$(jq "$row.works" found)" = false ]
	[[ $(jq -r "$row.error" found) == *"/bin/ash is overwritten"* ]]
	[[ $(jq -r "$row.fix" found) == *"wardbox install --yes"* ]]
	run look
	[ "$status" -eq 1 ]
	mkdir -p "$R/var/lib/dpkg"
	touch "$R/var/lib/dpkg/status"
	look >found || true
	[[ $(jq -r "$row.fix" found) == *dpkg-divert* ]]
}

@test "what cannot be installed into is told: no shell, read-only, no root" {
	mkdir -p "$R/etc" "$R/bin"
	put
	[ "$status" -eq 1 ]
	[[ $output == *"no shell to stand in for"* ]]
	[ -z "$(ls -A "$R/etc")" ]
	ln -s nowhere "$R/bin/sh"
	put
	[ "$status" -eq 1 ]
	put --root "$R/missing"
	[ "$status" -eq 1 ]
	[[ $output == *missing* ]]
	rm -r "$R"
	root_busybox "$R"
	picture "$R" >before
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount --bind "$2" "$2" &&
		mount -o remount,bind,ro "$2" && exec "$1" install --root "$2"' \
		- "$WARDBOX" "$R"
	[ "$status" -eq 1 ]
	[[ $output == *"/bin: Read-only file system"*"remount it"* ]]
	picture "$R" | diff before -
}

@test "the running root is refused without --yes" {
	run "$WARDBOX" install
	[ "$status" -eq 1 ]
	[[ $output == *"--yes"* ]]
	run "$WARDBOX" install --root /usr/..
	[ "$status" -eq 1 ]
	[[ $output == *"--yes"* ]]
	run "$WARDBOX" install --uninstall
	[ "$status" -eq 1 ]
	[ ! -e /etc/wardbox/install ]
	run "$WARDBOX" install --dry-run
	[ "$status" -eq 0 ]
}

@test "a binary that needs libraries is refused" {
	root_busybox "$R"
	picture "$R" >before
	put --binary "$(command -v bash)"
	[ "$status" -eq 1 ]
	[[ $output == *"linked dynamically"* ]]
	picture "$R" | diff before -
}

@test "a binary that would not run there is refused" {
	root_busybox "$R"
	picture "$R" >before
	put --binary "$BATS_TEST_FILENAME"
	[ "$status" -eq 1 ]
	[[ $output == *"no ELF"* ]]
	cp "$WARDBOX" foreign
	printf '\002' | dd of=foreign bs=1 seek=18 conv=notrunc status=none
	put --binary foreign
	[ "$status" -eq 1 ]
	[[ $output == *"another machine"* ]]
	picture "$R" | diff before -
}

@test "links of the root lead within the root" {
	root_busybox "$R"
	rm -r "$R/bin"
	mkdir -p "$R/usr/local/sbin" "$R/usr/bin"
	ln -s /usr/bin "$R/bin"
	ln -s ../../../../../../../../usr/local/sbin "$R/usr/local/bin"
	cp "$BUSYBOX" "$R/usr/bin/sh"
	cp "$BUSYBOX" "$R/usr/local/sbin/bash"
	mkdir "$BATS_TEST_TMPDIR/outside"
	ln -s "$BATS_TEST_TMPDIR/outside" "$R/etc/wardbox"
	put
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/outside")" ]
	[ "$status" -eq 1 ]
	rm "$R/etc/wardbox"
	put
	[ "$status" -eq 0 ]
	[ "$(readlink "$R/usr/local/sbin/bash")" = /usr/bin/wardbox ]
	[ "$(state_of /usr/bin/sh)" = guarded ]
	[ "$(state_of /usr/local/sbin/bash)" = guarded ]
}

@test "some shells alone, and taken off one by one" {
	root_busybox "$R"
	picture "$R" >before
	put --shells ash
	[ "$(state_of /bin/ash)" = guarded ]
	[ "$(state_of /bin/sh)" = "not guarded" ]
	put --shells sh
	put --uninstall --shells ash
	[ "$status" -eq 0 ]
	[ "$(state_of /bin/ash)" = "not guarded" ]
	[ "$(state_of /bin/sh)" = guarded ]
	[ -e "$R/bin/wardbox" ]
	put --uninstall
	outline "$R" >after
	[ ! -e "$R/etc/wardbox" ]
	[ ! -e "$R/bin/wardbox" ]
	put --shells zsh
	[ "$status" -eq 2 ]
	[[ $output == *"sh, bash, dash and ash"* ]]
	put --profile nonsense
	[ "$status" -eq 2 ]
	put operand
	[ "$status" -eq 2 ]
	put --status --uninstall
	[ "$status" -eq 2 ]
}

@test "a record that cannot be read stops it" {
	root_busybox "$R"
	put
	echo junk >>"$R/etc/wardbox/install"
	outline "$R" >before
	put
	[ "$status" -eq 1 ]
	[[ $output == *"install:"*"no line"* ]]
	put --uninstall
	[ "$status" -eq 1 ]
	outline "$R" | diff before -
	chmod 666 "$R/etc/wardbox/install"
	put --status
	[ "$status" -eq 1 ]
	[[ $output == *"can be written"* ]]
}

@test "only one install works on a root" {
	root_busybox "$R"
	flock -F "$R" sleep 30 3>&- &
	until_locked "$R"
	put
	[ "$status" -eq 1 ]
	[[ $output == *"another install"* ]]
	kill $!
}

@test "an image in layers: the lower one is not touched" {
	root_busybox lower
	picture lower >before
	mkdir -p upper work "$R"
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs t work && mkdir work/w work/up &&
		mount -t overlay o -o lowerdir=lower,upperdir=work/up,workdir=work/w "$2" &&
		"$1" install --root "$2" && "$1" install --root "$2" --status &&
		test -L "$2/bin/sh.real" && test -f "$2/bin/ash.real" &&
		"$1" install --root "$2" --uninstall && readlink "$2/bin/sh"' \
		- "$WARDBOX" "$R"
	[ "$status" -eq 0 ] || { echo "$output" && false; }
	[[ $output == *"/bin/busybox" ]]
	picture lower | diff before -
}

@test "the owner of a root needs no privilege" {
	OPEN=$(mktemp -d)
	chmod 755 "$OPEN"
	R=$OPEN/root
	root_busybox "$R"
	cp "$WARDBOX" "$OPEN/wardbox"
	chown -R 1000:1000 "$OPEN"
	need as_user test -x "$OPEN/wardbox"
	picture "$R" >before
	run as_user "$OPEN/wardbox" install --root "$R"
	[ "$status" -eq 0 ]
	run as_user "$OPEN/wardbox" install --root "$R" --status
	[ "$status" -eq 0 ]
	run as_user "$OPEN/wardbox" install --root "$R" --uninstall
	[ "$status" -eq 0 ]
	picture "$R" | diff before -
	chown 0:0 "$R/bin"
	run as_user "$OPEN/wardbox" install --root "$R"
	[ "$status" -eq 1 ]
	[[ $output == *"Permission denied"*owner* ]]
}

@test "a shipped policy is written by its name, and taken away again" {
	root_busybox "$R"
	picture "$R" >before
	put --policy agent --dry-run
	[ "$status" -eq 0 ]
	[[ $output == *"write 'include agent'"* ]]
	picture "$R" | diff before -
	put --policy agent
	[ "$status" -eq 0 ]
	grep -qx 'include agent' "$R/etc/wardbox/policy"
	not grep -q "^use" "$R/etc/wardbox/policy"
	put --policy ci
	[ "$status" -eq 0 ]
	[[ $output == *"--policy is not applied"* ]]
	grep -qx 'include agent' "$R/etc/wardbox/policy"
	put --uninstall
	[ "$status" -eq 0 ]
	picture "$R" | diff before -
	# what somebody added stays
	put --policy image
	echo 'deny make **' >>"$R/etc/wardbox/policy"
	put --uninstall
	grep -qx 'deny make \*\*' "$R/etc/wardbox/policy"
	put --policy what
	[ "$status" -eq 2 ]
	[[ $output == *"agent, ci, image or contract"* ]]
	put --policy agent --profile DEV
	[ "$status" -eq 2 ]
}

@test "on a terminal it asks for the policy" {
	root_busybox "$R"
	need python3 -c 'import pty'
	cat >ask.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], ["wardbox", "install", "--root", sys.argv[3]])
seen = b""
while b"policy [" not in seen:
    seen += os.read(fd, 1000)
os.write(fd, sys.argv[1].encode() + b"\n")
try:
    while os.read(fd, 1000):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
	run timeout 20 python3 ask.py observe "$WARDBOX" "$R"
	[ "$status" -eq 0 ]
	grep -qx 'use OBSERVE' "$R/etc/wardbox/policy"
	put --uninstall
	run timeout 20 python3 ask.py "" "$WARDBOX" "$R"
	[ "$status" -eq 0 ]
	grep -qx 'use FULL-AUTO' "$R/etc/wardbox/policy"
	put --uninstall
	run timeout 20 python3 ask.py agent "$WARDBOX" "$R"
	[ "$status" -eq 0 ]
	grep -qx 'include agent' "$R/etc/wardbox/policy"
	put --uninstall
	run timeout 20 python3 ask.py what "$WARDBOX" "$R"
	[ "$status" -eq 2 ]
	[ ! -e "$R/etc/wardbox" ]
}

@test "a full disk leaves the shells as they are" {
	root_busybox "$R"
	cp -a "$R" full
	# Room for the half of what is to be installed.
	local size=$(($(stat -c %s "$BUSYBOX") + $(stat -c %s "$WARDBOX") / 2))
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs -o size="$3" t "$2" &&
		cp -a full/. "$2" && find "$2" | sort >names && {
		"$1" install --root "$2"; echo "code $?"
		readlink "$2/bin/sh"; ls "$2/bin"
		"$1" install --root "$2" --uninstall
		find "$2" | sort | diff names - && echo same; }' - "$WARDBOX" "$R" "$size"
	[[ $output == *"No space left"*"code 1"*/bin/busybox*same ]] ||
		{ echo "$output" && false; }
}

@test "a root without /etc gets one, and loses it again" {
	root_busybox "$R"
	rmdir "$R/etc"
	age "$R"
	picture "$R" >before
	put
	[ "$status" -eq 0 ]
	[ -f "$R/etc/wardbox/policy" ]
	put --uninstall
	picture "$R" | diff before -
}

@test "another place for the binary, and the running root with --yes" {
	root_busybox "$R"
	mkdir -p "$R/opt"
	cp "$WARDBOX" "$R/tmp/wardbox"
	age "$R"
	picture "$R" >before
	put --bindir /opt
	[ "$status" -eq 0 ]
	[ "$(readlink "$R/bin/sh")" = /opt/wardbox ]
	put --uninstall
	picture "$R" | diff before -
	put --bindir /nowhere
	[ "$status" -eq 1 ]
	[[ $output == *"no place for /nowhere"* ]]
	picture "$R" | diff before -
	need chroot "$R" /bin/busybox true
	inside() {
		run chroot "$R" /tmp/wardbox install --binary /tmp/wardbox "$@"
	}
	inside
	[ "$status" -eq 1 ]
	[[ $output == *"--yes"* ]]
	inside --yes
	[ "$status" -eq 0 ]
	[ "$(state_of /bin/sh)" = guarded ]
	inside --uninstall
	[ "$status" -eq 1 ]
	inside --uninstall --yes
	[ "$status" -eq 0 ]
	[ "$(readlink "$R/bin/sh")" = /bin/busybox ]
}
