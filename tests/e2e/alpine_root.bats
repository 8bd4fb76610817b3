#!/usr/bin/env bats
# A root in Alpine's style: busybox is everything, the shim its /bin/sh

load ../lib/wardbox
load ../lib/roots

setup() {
	need test -n "$BUSYBOX"
	R=$BATS_TEST_TMPDIR/root
	root_busybox "$R"
	mkdir -p "$R/usr/bin" "$R/root" "$R/home/dev/.git" "$R/srv/.git" "$R/run" "$R/var/log"
	local name
	for name in $("$BUSYBOX" --list); do
		[ -e "$R/bin/$name" ] || ln -s /bin/busybox "$R/bin/$name"
	done
	printf 'root:x:0:0:root:/root:/bin/ash\ndev:x:1000:1000::/home/dev:/bin/ash\n' \
		>"$R/etc/passwd"
	printf 'root:x:0:\ndev:x:1000:\n' >"$R/etc/group"
	printf 'export FROM_PROFILE=yes\n' >"$R/etc/profile"
	mkdir -p "$R/home/dev/p"
	chown -R 1000:1000 "$R/home/dev"
	age "$R"
	picture "$R" >"$BATS_TEST_TMPDIR/before"
	"$WARDBOX" install --root "$R" --profile FULL-AUTO >/dev/null
	need inside / /bin/busybox true
}

# COMMAND... in the root, in directory DIR of it, with next to no environment;
# AS may say as whom.
inside() { # DIR COMMAND...
	# shellcheck disable=SC2016 # expanded by the inner shell
	R=$R D=$1 unshare -mpf sh -c '
		mount --bind "$R" "$R" && mount -t proc proc "$R/proc" &&
		mount --rbind /dev "$R/dev" && mount -t tmpfs tmp "$R/tmp" &&
		chmod 1777 "$R/tmp" &&
		exec env -i PATH=/bin:/usr/bin unshare --root "$R" --wd "$D" "$@"' \
		sh "${AS[@]}" "${@:2}"
}

@test "scripts of every kind run, by either name, and are recorded" {
	cat >"$R/srv/build" <<-'X'
		#!/bin/sh
		set -eu
		mkdir -p out
		for n in 1 2 3; do
			cat >out/$n <<E
		line $n
		E
		done
		sort -r out/* | sed 's/line/got/' | tee all
		find out -type f | wc -l
		(exit 3) || echo "code $?"
	X
	chmod 755 "$R/srv/build"
	run inside /srv ./build
	[ "$output" = $'got 3\ngot 2\ngot 1\n3\ncode 3' ]
	run inside /srv /bin/ash -l -c 'echo "$0 $FROM_PROFILE"'
	[ "$output" = "/bin/ash yes" ] || { echo "$output" && false; }
	run inside /srv wardbox exec s -- ash build
	[ "$output" = $'got 3\ngot 2\ngot 1\n3\ncode 3' ]
	run inside /srv wardbox exec s -- sh <<<'echo "$0"; (sleep 0; sh -c "echo inner")'
	[ "$output" = $'sh\ninner' ] || { echo "$output" && false; }
	# What has no environment at all, as cron starts it.
	run inside /srv env -i /bin/sh -c 'echo "$PWD"; awk "BEGIN { print 6 * 7 }"'
	[ "$output" = $'/srv\n42' ]
	run inside /srv wardbox audit -t start -o json
	jq -se 'any(.[]; .argv == ["/bin/sh", "./build"])
		and any(.[]; .argv[0] == "/bin/ash" or .argv[0] == "ash")' <<<"$output"
	run inside /srv wardbox audit verify --links
	[ "$status" -eq 4 ]
	[[ "$output" == *intact* ]]
}

@test "what is denied stays so behind busybox's other names" {
	local line
	for line in 'wget http://there.example/' 'busybox wget http://there.example/' \
		'nc there.example 1' 'echo nc there.example 1 | sh' \
		'echo "busybox nc there.example 1" >s; ash s'; do
		run inside /srv /bin/sh -c "$line"
		[ "$status" -eq 126 ] || { echo "$line: $status $output" && false; }
	done
	# Beside it what is allowed, and the kernel where no policy looks.
	run inside /srv /bin/sh -c 'echo in >here && cat here'
	[ "$output" = in ]
	run inside /srv /bin/sh -c 'f=/etc/$(echo escape); echo x | tee "$f"'
	[ "$status" -ne 0 ]
	[ ! -e "$R/etc/escape" ]
}

@test "for a user without rights, too; doctor says what holds" {
	local AS=(--setuid 1000 --setgid 1000)
	run inside /home/dev/p /bin/sh -c 'id -u; echo mine >mine; cat mine'
	[ "$status" -eq 0 ] || { echo "$output" && false; }
	[ "$output" = $'1000\nmine' ]
	AS=()
	run inside / wardbox doctor --json
	jq -e '.findings | length > 5' <<<"$output" || { echo "$output" && false; }
}

@test "taken off again, the root is what it was" {
	"$WARDBOX" install --root "$R" --uninstall >/dev/null
	run inside / /bin/sh -c 'echo "$0"'
	[ "$output" = /bin/sh ]
	rm -rf "$R/etc/wardbox" "$R/var/log/wardbox" "$R/run/wardbox"
	diff <(grep -v '^[^ ]* d ' "$BATS_TEST_TMPDIR/before") \
		<(picture "$R" | grep -v '^[^ ]* d ')
}
