#!/usr/bin/env bats
# Roots with next to nothing in them, and the shim inside a container's limits

bats_require_minimum_version 1.5.0

load ../lib/wardbox
load ../lib/roots

teardown() {
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# ---- a root of wardbox and one static program ------------------------------

# /bin/app does nothing, or executes another file; /bin/nc is the same under a
# name that the policy denies. R is entered with a /proc and a /dev of its own.
distroless() {
	R=$BATS_TEST_TMPDIR/root
	mkdir -p "$R/bin" "$R/etc/wardbox" "$R/proc" "$R/dev" "$R/tmp" \
		"$R/var/log" "$R/run" "$R/project/.git"
	cp "$WARDBOX" "$R/bin/wardbox"
	cp "$HELPERS/bare" "$R/bin/app"
	cp "$HELPERS/bare" "$R/bin/nc"
	echo 'use FULL-AUTO' >"$R/etc/wardbox/policy"
	chmod -R go-w "$R"
	need inside /bin/app
}

inside() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	R=$R unshare -m sh -c '
		mount --rbind /dev "$R/dev" && mount -t proc proc "$R/proc" &&
		cd "$R/project" && exec chroot "$R" "$@"' sh "$@"
}

@test "one static program is all that drop needs" {
	distroless
	run inside /bin/wardbox drop --rox=/bin -- /bin/app exec /bin/nc
	[ "$status" -eq 0 ]
	# Its own file alone: the one beside it cannot be started.
	run -127 inside /bin/wardbox drop --rox=/bin/app -- /bin/app exec /bin/nc
	run inside /bin/wardbox drop --rox=/bin/app -- /bin/app
	[ "$status" -eq 0 ]
	run inside /bin/wardbox doctor --json
	jq -e '.findings | length > 5' <<<"$output"
}

@test "exec decides and records without any shell; the shim says that there is none" {
	distroless
	run inside /bin/wardbox exec -- app
	[ "$status" -eq 0 ]
	run inside /bin/wardbox exec -- nc
	[ "$status" -eq 126 ]
	[[ "$output" == *"rule net"* ]]
	ln -s wardbox "$R/bin/sh"
	run -127 inside /bin/sh -c app
	[[ "$output" == *"no real sh"* ]]
	run inside /bin/wardbox audit -t start -o json
	[ "$(jq -r .decision <<<"$output" | tr '\n' ' ')" = "allow deny " ]
	run inside /bin/wardbox audit verify --links
	[ "$status" -eq 4 ]
	[[ "$output" == *intact* ]]
}

@test "without /proc, as early in a boot: what needs it is named, the rest works" {
	distroless
	cp "$(command -v busybox)" "$R/bin/busybox"
	ln -s wardbox "$R/bin/sh"
	ln -s busybox "$R/bin/sh.real"
	early() { # LINE
		chroot "$R" /bin/busybox env -i PATH=/bin /bin/busybox sh -c "cd /project && $1"
	}
	need early true
	run early '/bin/sh -c "echo ran"'
	[ "$status" -eq 125 ]
	[[ $output == *"watch: no /proc to look into"*"mount /proc"*"relax watch"* ]]
	echo 'relax watch' >>"$R/etc/wardbox/policy"
	run early '/bin/sh -c "busybox ls"'
	[ "$status" -eq 125 ]
	[[ $output == *"limits: "*"relax limits"* ]]
	run early 'wardbox envrun -- true'
	[ "$status" -eq 125 ]
	[[ $output == *"/proc is not mounted"* ]]
	echo 'relax limits' >>"$R/etc/wardbox/policy"
	run early '/bin/sh -c "echo ran >file && busybox cat file"'
	[ "$status:$output" = 0:ran ]
	run early 'wardbox exec -- nc'
	[ "$status" -eq 126 ]
	# A link of the project's opens nothing.
	mkdir "$R/other"
	ln -s ../other "$R/project/link"
	run early "wardbox exec -- busybox touch link/made"
	[ "$status" -ne 0 ]
	[ ! -e "$R/other/made" ]
	run early 'wardbox drop --rox=/bin --rw=. -- busybox touch here && wardbox policy test ls'
	[ "$status" -eq 0 ]
	[ -e "$R/project/here" ]
}

# ---- inside a filter like a container's default ------------------------------

# Runs the shim under the filter, as root with a container's capabilities and as
# uid 1000; POLICY is the system's. The secret is anybody's, but for the sandbox.
each_container() { # BODY
	local who
	need in_policy '' true
	# Where uid 1000 can go, too.
	PLACE=$(mktemp -d /tmp/container-test-XXXXXX)
	BATS_TEST_TMPDIR=$PLACE
	cp "$WARDBOX" "$HELPERS/docker" "$PLACE"
	chmod 755 "$PLACE"
	for who in root user; do
		AS=(setpriv --inh-caps=-all --bounding-set
			"-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+net_bind_service,+mknod")
		[ "$who" = root ] || AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
		PROJECT=$PLACE/$who
		mkdir -p "$PROJECT/.git"
		[ "$who" = root ] || chown -R 1000:1000 "$PROJECT"
		echo secret >"$PLACE/secret"
		chmod 644 "$PLACE/secret"
		cd "$PROJECT" || return
		echo "# as $who"
		"$1"
	done
}

container() { # COMMAND...
	in_policy "$POLICY" "${AS[@]}" env HOME="$PROJECT/own" \
		"$PLACE/docker" "$PLACE/wardbox" "$@"
}

@test "in a container: what it cannot give is named, and nothing runs" {
	body() {
		POLICY='use FULL-AUTO'
		# Read-only inside of writable: that takes a mount namespace.
		mkdir -p .wardbox
		run container sh -c 'touch made && echo ran'
		echo "$status: $output"
		[ "$status" -eq 125 ]
		[[ "$output" == *namespace* ]]
		[ ! -e made ]
		rmdir .wardbox
	}
	each_container body
}

@test "in a container: with the namespaces relaxed by name, all else holds" {
	need python3 -c ''
	body() {
		POLICY=$'use FULL-AUTO\nrelax pid mount ipc netns'
		run container sh -c 'echo ran >made && cat made'
		echo "$status: $output"
		[ "$status" -eq 0 ]
		[ "$output" = ran ]
		# the policy
		run container sh -c "cat ../secret"
		[ "$status" -ne 0 ]
		run container sh -c 'poweroff'
		[ "$status" -eq 126 ]
		# the kernel, where no policy looks
		echo 'import sys; print(open(sys.stdin.readline().strip()).read())' >try.py
		run container sh -c 'echo made | python3 try.py'
		[ "$status" -eq 0 ]
		run container sh -c 'echo ../secret | python3 try.py'
		[ "$status" -ne 0 ]
		[[ "$output" == *"Permission denied"* ]]
		# each program is decided
		echo 'import os; os.execvp("nc", ["nc"])' >nc.py
		run container sh -c 'python3 nc.py'
		[ "$status" -ne 0 ]
		# the record
		run container audit -t start -o json
		jq -se 'any(.[]; .decision == "deny" and .rule == "power")' <<<"$output"
		run container audit -t event -o json
		jq -se 'any(.[]; .event == "relax" and .detail.missing == "netns")' <<<"$output"
		run container audit verify --links
		[ "$status" -eq 4 ]
		[[ "$output" == *intact* ]]
	}
	each_container body
}

@test "in a container, nothing relaxed: programs run, without any network" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p p/.git
	cd p
	run in_policy 'use FULL-AUTO' "$HELPERS/docker" "$WARDBOX" sh -c \
		'ls -d . && python3 -c "print(6 * 7)"'
	echo "$output"
	[ "$output" = $'.\n42' ]
	cat >net.py <<-'P'
		import socket
		try:
		    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
		    print("network")
		except OSError:
		    print("none")
		socket.socketpair()
	P
	run in_policy 'use FULL-AUTO' "$HELPERS/docker" "$WARDBOX" sh -c 'python3 net.py'
	echo "$output"
	[ "$output" = none ]
}

@test "in a container, the second try has all that the first one had" {
	local i
	cd "$BATS_TEST_TMPDIR"
	mkdir -p p/.git
	cd p
	need in_policy '' python3 -c ''
	echo from a file >in
	# The first try, for an own network, fails; with much open it takes long
	# to be gone.
	cat >many.py <<-'P'
		import os, resource, sys
		most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
		resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
		for fd in range(1000, min(most, 60000)):
		    os.dup2(0, fd)
		os.execv(sys.argv[1], sys.argv[1:])
	P
	cat >try <<-'S'
		printf 'from a pipe\n' | python3 many.py \
			"$1" "$2" sh -c 'cat; cat <&5' 5<in
	S
	for i in 1 2 3; do
		run in_policy 'use FULL-AUTO' sh try "$HELPERS/docker" "$WARDBOX"
		echo "$i: $output"
		[ "$output" = $'from a pipe\nfrom a file' ]
	done
}
