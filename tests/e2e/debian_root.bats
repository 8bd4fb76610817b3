#!/usr/bin/env bats
# A copy of this Debian (an overlay), with the shim over dash and bash

load ../lib/wardbox
load ../lib/roots

setup() {
	need test -f /etc/debian_version
	PLACE=$(mktemp -d /tmp/debian-root-XXXXXX)
	mkdir -p "$PLACE/upper" "$PLACE/root"
	cp "$WARDBOX" "$PLACE/wardbox"
}

teardown() {
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# SCRIPT, run by this machine's bash beside the copy, which is $ROOT.
copy() { # SCRIPT
	ROOT=$PLACE/root
	export PLACE ROOT
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -mpf bash -ec '
		mount -t tmpfs room "$PLACE/upper" && mkdir "$PLACE/upper/"{u,w}
		mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/upper/u,workdir=$PLACE/upper/w" "$ROOT"
		mount -t proc proc "$ROOT/proc"
		mount --rbind /dev "$ROOT/dev"
		mount -t tmpfs tmp "$ROOT/tmp" && chmod 1777 "$ROOT/tmp"
		mount -t tmpfs run "$ROOT/run"
		rm -rf "$ROOT/var/log/wardbox" "$ROOT/etc/wardbox"
		mkdir -p "$ROOT/project/.git"
		enter() { unshare --root "$ROOT" --wd /project "$@"; }
		'"$1"
}

shimmed() { # PROFILE SCRIPT
	# shellcheck disable=SC2016 # expanded by copy's shell
	copy '"$PLACE/wardbox" install --root "$ROOT" --yes --profile '"$1"' >/dev/null
		'"$2"
}

# What a Debian does all day with its shells: sh and bash scripts, a package with
# maintainer scripts put on and taken off, commands of other languages.
DAY=$(cat <<'X'
	enter /bin/sh -c 'echo "$0" $((6 * 7))'
	enter /bin/bash -c 'a=(1 2 3); echo "${#a[@]} $0"'
	enter ldd /bin/true | sed 's/(.*//' | sort
	enter which sh bash
	mkdir -p "$ROOT/project/steps" "$ROOT/project/pkg/DEBIAN"
	printf '#!/bin/sh\necho step one\n' >"$ROOT/project/steps/1"
	printf '#!/bin/bash\necho step two ${BASH_VERSINFO[0]}\n' >"$ROOT/project/steps/2"
	chmod 755 "$ROOT/project/steps/"*
	enter run-parts steps
	printf 'Package: wardbox-day\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n' \
		>"$ROOT/project/pkg/DEBIAN/control"
	for s in preinst postinst prerm postrm; do
		printf "#!/bin/sh\nset -e\necho $s \$1\n" >"$ROOT/project/pkg/DEBIAN/$s"
		chmod 755 "$ROOT/project/pkg/DEBIAN/$s"
	done
	enter dpkg-deb --root-owner-group -b pkg day.deb
	enter dpkg -i day.deb 2>&1 | grep -v Reading
	enter dpkg -r wardbox-day 2>&1 | grep -v Reading
	enter perl -e 'print `echo by perl; exit 3`, $? >> 8, "\n"; system("echo by system | cat")'
	enter awk 'BEGIN { system("echo by awk"); "echo piped" | getline l; print l }'
X
)

@test "observed: a day in the life of a Debian is the same" {
	need copy true
	copy "$DAY" >"$PLACE/plain" 2>&1
	grep -q 'postinst configure' "$PLACE/plain"
	# shellcheck disable=SC2016 # expanded by copy's shell
	shimmed OBSERVE "$DAY"'
		enter wardbox audit dump -t start -o json >"$PLACE/log" 2>&1 || true
		enter wardbox audit verify --links >"$PLACE/verify" 2>&1 || true' \
		>"$PLACE/ours" 2>&1 || { cat "$PLACE/ours" && false; }
	diff "$PLACE/plain" "$PLACE/ours"
	grep -q intact "$PLACE/verify"
	# dpkg's maintainer scripts came by the shim.
	jq -se 'any(.[]; .argv[1] // "" | endswith("postinst"))' "$PLACE/log"
}

# What is kept from the command, as the project's policy is, takes a mount
# namespace, and from another one names look otherwise in a changed root.
@test "guarded: sh and bash run what is harmless and refuse the rest" {
	need copy true
	harmless 'true'
	harmless 'mkdir "$ROOT/project/.wardbox"'
}

harmless() { # PREPARE
	# shellcheck disable=SC2016 # expanded by copy's shell
	run shimmed FULL-AUTO "$1"'
		for shell in /bin/sh /bin/dash /bin/bash; do
			enter $shell -c "echo ran >made && cat made"
			enter $shell -c "curl http://there.example/" 2>/dev/null || echo "code $?"
			enter $shell -c "echo curl http://there.example/ >s && sh s" \
				>/dev/null 2>&1 || echo refused
			echo "echo by exec" | enter wardbox exec s -- $shell
			{ sleep 0.2; echo "sh -c \"echo inner\"; curl http://there.example/"; } |
				enter wardbox exec s -- $shell 2>/dev/null || echo late
		done
		enter wardbox audit verify --links >"$PLACE/verify" 2>&1 || true'
	echo "$output"
	one=$'ran\ncode 126\nrefused\nby exec\ninner\nlate'
	[ "$output" = "$one"$'\n'"$one"$'\n'"$one" ]
	grep -q intact "$PLACE/verify"
}
