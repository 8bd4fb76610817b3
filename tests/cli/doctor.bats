#!/usr/bin/env bats
# doctor: what it says is what happens.

load ../lib/wardbox

@test "a row for each protection, and a code that sums them up" {
	code=0
	"$WARDBOX" doctor >"$BATS_TEST_TMPDIR/out" || code=$?
	grep -q 'landlock' "$BATS_TEST_TMPDIR/out"
	grep -q 'seccomp notify' "$BATS_TEST_TMPDIR/out"
	if grep -q '^MISSING' "$BATS_TEST_TMPDIR/out"; then
		[ $code = 1 ]
	else
		[ $code = 0 ]
	fi
}

@test "--json is JSON, with the same rows" {
	"$WARDBOX" doctor --json >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	python3 -c '
import json, os, sys
d = json.load(open(sys.argv[1]))
names = [f["name"] for f in d["findings"]]
assert "landlock" in names and "pid namespace" in names, names
assert d["kernel"] == os.uname().release and d["uid"] == os.geteuid()
assert all(f["works"] or f["fix"] for f in d["findings"])
' "$BATS_TEST_TMPDIR/out"
}

@test "a project that is somebody else's is told of, as its commands would find it" {
	need unshare -m true
	local row='.findings[] | select(.name == "this directory") | .works'
	project
	[ "$("$WARDBOX" doctor --json | jq "$row")" = true ]
	in_policy 'use FULL-AUTO' "$WARDBOX" sh -c 'echo x >made'
	chown 1000:1000 .
	[ "$("$WARDBOX" doctor --json | jq "$row")" = false ]
	run "$WARDBOX" doctor
	[[ $output == *"this directory"*"uid 1000's"*"run as its owner"* ]]
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c 'echo x >more'
	[[ $output == *"Permission denied"* ]]
	chmod 777 .
	[ "$("$WARDBOX" doctor --json | jq "$row")" = true ]
	in_policy 'use FULL-AUTO' "$WARDBOX" sh -c 'echo x >more'
	mkdir fixed
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c 'mount -t tmpfs -o ro none fixed && cd fixed && exec "$1" doctor' - "$WARDBOX"
	[[ $output == *"this directory"*"Read-only file system: mount it rw"* ]]
}

@test "--rights tries each right of Landlock" {
	"$WARDBOX" doctor --rights >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	grep -q 'execute.*landlock right' "$BATS_TEST_TMPDIR/out"
	grep -q 'bind-tcp.*landlock right' "$BATS_TEST_TMPDIR/out"
	"$WARDBOX" doctor -r -j | python3 -c '
import json, sys
f = {r["name"]: r["works"] for r in json.load(sys.stdin)["findings"]}
abi = 1 if f["execute"] else 0
assert not f["execute"] or (f["read-file"] and f["write-file"] and f["make-sym"]), f'
}

@test "inside of a sandbox it says so, and that namespaces are gone" {
	out=$("$WARDBOX" drop --rox=/ -- "$WARDBOX" doctor) || true
	[[ $out == *"inside of a guarded tree"* ]]
	[[ $out == *"issing"*"pid namespace"* ]]
	out=$("$WARDBOX" drop --rox=/ -- "$WARDBOX" doctor --json) || true
	[[ $out == *'"inside":true'* ]]
}

@test "within a container's filter: what is refused is missing" {
	out=$("$HELPERS/docker" "$WARDBOX" doctor) || true
	[[ $out == *"missing"*"mount namespace"* ]]
	[[ $out == *"works    seccomp filter"* ]]
}

@test "a mistake is 2" {
	for bad in operand --no-such; do
		code=0
		"$WARDBOX" doctor $bad 2>/dev/null || code=$?
		[ $code = 2 ]
	done
}

@test "nothing is left behind" {
	mkdir "$BATS_TEST_TMPDIR/tmp"
	# other runs on this machine have /tmp in use as well
	need unshare -m true
	unshare -m sh -c 'mount --bind "$1" /tmp && "$2" doctor -r >/dev/null; ls /tmp' \
		sh "$BATS_TEST_TMPDIR/tmp" "$WARDBOX" >"$BATS_TEST_TMPDIR/left"
	[ ! -s "$BATS_TEST_TMPDIR/left" ]
	"$WARDBOX" doctor >/dev/null &
	pid=$!
	wait $pid || true
	! find /sys/fs/cgroup -maxdepth 6 -name "wardbox-$pid-*" 2>/dev/null | grep -q .
}

@test "what was around this process before is told, with its evidence" {
	"$WARDBOX" doctor --json >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	jq -e '.confinement | type == "array" and all(.[]; .kind and .evidence)' \
		"$BATS_TEST_TMPDIR/out"
	setpriv --no-new-privs "$WARDBOX" doctor >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	grep -q '^no-new-privs' "$BATS_TEST_TMPDIR/out"
}

@test "to whoever ignores the end of children it tells the same" {
	need env --ignore-signal=CHLD true
	cd "$BATS_TEST_TMPDIR"
	"$WARDBOX" doctor --json | jq '.findings | map({name, works})' >plain
	env --ignore-signal=CHLD "$WARDBOX" doctor --json |
		jq '.findings | map({name, works})' >ignored
	jq -e 'length > 5' plain
	cmp plain ignored
}

@test "what a guarded command needs and is refused is named with its call, and ends 1" {
	need unshare -m true
	local call
	project
	in_policy 'use FULL-AUTO' "$WARDBOX" sh -c '/bin/echo hi'
	in_policy 'use FULL-AUTO' "$WARDBOX" doctor
	for call in capset prlimit64 process_vm_readv rt_sigprocmask signalfd4 \
		flock close_range landlock_create_ruleset landlock_add_rule \
		landlock_restrict_self; do
		run in_policy 'use FULL-AUTO' "$HELPERS/refuse" "$call" 1 \
			"$WARDBOX" sh -c '/bin/echo hi'
		[ "$status" -ne 0 ]
		# No name is advised that is none.
		[[ $output != *"relax NAME"* ]]
		run in_policy 'use FULL-AUTO' "$HELPERS/refuse" "$call" 1 \
			"$WARDBOX" doctor
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *MISSING*"$call: Operation not permitted"* ]]
	done
	for call in openat2 getrandom; do
		run in_policy 'use FULL-AUTO' "$HELPERS/refuse" "$call" 1 \
			"$WARDBOX" sh -c '/bin/echo hi'
		[ "$status" -ne 0 ]
		run in_policy 'use FULL-AUTO' "$HELPERS/refuse" "$call" 1 \
			"$WARDBOX" doctor
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *"MISSING  all together"* ]]
	done
}

@test "what the kernel lacks says so, and the line of policy that goes without it does" {
	need unshare -m true
	local where='use FULL-AUTO' call=landlock_create_ruleset
	project
	run in_policy "$where" "$HELPERS/refuse" $call 38 "$WARDBOX" doctor
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output != *"not representable"* ]]
	[[ $output == *"a line 'relax landlock' in /etc/wardbox/policy goes without"* ]]
	# For signals there is another way, which no line relaxes.
	[[ $output == *"missing  scope: signals"*"before, the watch sends each signal"* ]]
	[[ $output != *"relax scope"* ]]
	where+=$'\nrelax landlock'
	run in_policy "$where" "$HELPERS/refuse" $call 38 "$WARDBOX" doctor
	echo "$output"
	[ "$status" -eq 0 ]
	run in_policy "$where" "$HELPERS/refuse" $call 38 "$WARDBOX" sh -c '/bin/echo hi'
	[ "$status" -eq 0 ]
}

@test "inside of another guard's watch that is the reason, and the line goes without it" {
	need unshare -m true
	local policy='use FULL-AUTO'
	project
	run in_policy "$policy" "$HELPERS/refuse" listener 0 "$WARDBOX" sh -c '/bin/echo hi'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"watch: another guard watches"*"relax watch"* ]]
	run in_policy "$policy" "$HELPERS/refuse" listener 0 "$WARDBOX" doctor
	[ "$status" -eq 1 ]
	[[ $output == *"seccomp: "*"another guard"* ]]
	# The number of processes is kept by the watch.
	policy+=$'\n'"relax watch limits"
	run in_policy "$policy" "$HELPERS/refuse" listener 0 "$WARDBOX" sh -c '/bin/echo hi'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *hi* ]]
	run in_policy "$policy" "$WARDBOX" audit dump -o json
	[[ $output == *'"relax"'*'"watch"'* ]]
}
