#!/usr/bin/env bats
# exec: a command in a session

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
include default
use FULL-AUTO'

setup() {
	need unshare -m true
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	exec </dev/null
}

ex() {
	in_policy "$POLICY" "$WARDBOX" exec "$@"
}

session() {
	in_policy "$POLICY" "$WARDBOX" session "$@"
}

@test "runs in the session's directory, with its streams and code" {
	ex s -- sh -c 'pwd; echo err >&2; cat; exit 7' >out 2>err <<<"in" ||
		code=$?
	[ "$code" -eq 7 ]
	[ "$(cat out)" = "$PROJECT
in" ]
	[ "$(cat err)" = err ]
	mkdir -p sub/deep
	session create here --cwd sub
	run ex here -- pwd
	[ "$output" = "$PROJECT/sub" ]
	run ex --cwd deep here -- pwd
	[ "$output" = "$PROJECT/sub/deep" ]
	run ex -C "$PROJECT" here -- pwd
	[ "$output" = "$PROJECT" ]
	run ex --cwd nowhere here -- pwd
	[ "$status" -eq 125 ]
	[[ $output == *nowhere* ]]
	: >sub/file
	run ex --cwd file here -- pwd
	[ "$status" -eq 125 ]
	[[ $output == *"--cwd: file: Not a directory"* ]]
	rm sub/file
	rmdir sub/deep sub
	run ex here -- pwd
	[ "$status" -eq 0 ]
	[[ $output == *"is gone; going on in $PROJECT"* ]]
}

@test "gets the environment that the session keeps, cleaned" {
	OWN=1 session env s TERM=dumb LANG=C KEPT="two
lines" LD_PRELOAD=/nowhere.so BASH_ENV=/nowhere
	OWN=2 NEW=3 run ex s -- env
	[[ $output == *"LANG=C"* ]]
	[[ $output == *"KEPT=two
lines"* ]]
	[[ $output == *"OWN=1"* ]]
	[[ $output != *LD_PRELOAD* && $output != *BASH_ENV* ]]
	[[ $output != *NEW=3* ]]
}

@test "the contract's result as JSON" {
	run ex --json s -- sh -c 'printf "out\n"; printf "e\\377r" >&2; exit 3'
	[ "$status" -eq 3 ]
	jq -e '.command == "sh" and .args[0] == "-c" and
		.exit_code == 3 and .stdout == "out\n" and
		.stderr == "e\ufffdr" and .ran and .signal == 0 and
		(.duration_ms | type) == "number" and
		(.resource_usage.cpu_ms | type) == "number" and
		.resource_usage.memory_peak_bytes > 100000 and
		(.policy_rule_matched | length) > 0 and
		.decision == "allow" and .session_id == "s" and
		(.timestamp | test("^[0-9]{4}-[0-9-]+T[0-9:.]+Z$")) and
		(.correlation_id | test("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))
	' <<<"$output"
	[ "$(jq -r .working_dir <<<"$output")" = "$PROJECT" ]
	# The log knows it by the same id.
	id=$(jq -r .correlation_id <<<"$output")
	in_policy "$POLICY" "$WARDBOX" audit dump -o contract >log ||
		skip "no audit here"
	jq -e --arg id "$id" 'select(.correlation_id == $id) | .exit_code == 3' \
		<log
	id=$(ex --json s -- su -c true | jq -r .correlation_id)
	in_policy "$POLICY" "$WARDBOX" audit dump -o contract --decision deny >log
	[ "$(jq -r .correlation_id log)" = "$id" ]
	run ex --json s -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	jq -e '.signal == 9 and .exit_code == 137' <<<"$output"
}

@test "what failed before anything was decided is JSON, too" {
	run ex --json -C nowhere s -- true
	[ "$status" -eq 125 ]
	jq -e '.exit_code == 125 and (.ran | not) and .decision == null and
		.profile == null and (.error.message | test("nowhere")) and
		(.timestamp | startswith("1970") | not) and
		(.correlation_id | test("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))' \
		<<<"$output"
	ex --json s -- true | jq -e '.decision == "allow" and .profile == "FULL-AUTO"'
	for how in "--input nowhere s -- true" "--input . s -- true" "--pty s -- true" \
		"s true" "s -x true" "s --" ". -- true"; do
		echo "$how"
		# shellcheck disable=SC2086 # words
		run --separate-stderr ex --json $how
		[ "$status" -eq 125 ]
		[ -z "$stderr" ]
		jq -e '.exit_code == 125 and (.ran | not) and (.args | type) == "array" and
			(.error.message | length) > 5 and
			(.timestamp | startswith("1970") | not)' <<<"$output"
	done
	run ex --input . s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"--input: .: Is a directory"* ]]
}

@test "whoever said no on a terminal is not sent to one" {
	need command -v script
	run ex s -- git push </dev/null
	[ "$status" -eq 126 ]
	run in_policy "$POLICY" script -qec "$WARDBOX exec s -- git push" /dev/null <<<n
	[[ $output == *"not confirmed: git push (rule git-net)"* ]]
	[[ $output == *"  'allow git push **' in /etc/wardbox/policy needs no yes"* ]]
	[[ $output != *"run it on a terminal"* ]]
}

@test "--cwd: a file is no directory" {
	touch file
	run ex --cwd file s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"--cwd: file: Not a directory"* ]]
	run ex --cwd . s -- true
	[ "$status" -eq 0 ]
}

@test "JSON output ends at the policy's limit, and says so" {
	POLICY="$POLICY
limit FULL-AUTO out=4k"
	run ex --json s -- sh -c 'yes | head -c 100000'
	jq -e '(.stdout | length) == 4096 and .stdout_truncated and
		.stdout_bytes == 100000 and (.stderr_truncated | not)' \
		<<<"$output"
}

@test "what is denied does not run, what stands beside it does" {
	touch here
	run ex s -- sh -c 'curl -o here http://there.example/'
	[ "$status" -eq 126 ]
	[[ $output == *denied* ]]
	run ex s -- rm here
	[ "$status" -eq 0 ]
	[ ! -e here ]
	run ex --json s -- sh -c "sudo true"
	[ "$status" -eq 126 ]
	jq -e '(.ran | not) and .decision == "deny" and .exit_code == 126 and
		(.error.message | test("denied"))' <<<"$output"
}

@test "not found is 127, not executable 126" {
	run -127 ex s -- no-such-program
	[ "$status" -eq 127 ]
	[[ $output == *"no such program in PATH"* ]]
	run -127 ex s -- ./no-such-file
	[ "$status" -eq 127 ]
	echo text >file
	run ex s -- ./file
	[ "$status" -eq 126 ]
	run ex s -- .
	[ "$status" -ne 0 ]
	run -127 ex --json s -- no-such-program
	[ "$status" -eq 127 ]
	jq -e '.exit_code == 127 and (.ran | not)' <<<"$output"
}

@test "a program that is not there is in the log" {
	run -127 ex s -- no-such-program with words
	run -127 ex s -- ./nothing
	in_policy "$POLICY" "$WARDBOX" audit dump -t start,end -o json >log
	cat log
	jq -se '[.[] | select(.rule == "absent")] as $start |
		[.[] | select(.exit == 127) | .exec] as $ends |
		[$start[].argv] == [["no-such-program", "with", "words"],
			["./nothing"]] and $ends == [$start[].seq]' <log
}

@test "only the first -- is exec's own" {
	# shellcheck disable=SC2016
	run ex s -- sh -c 'echo "$@"' x -- y --json
	[ "$output" = "-- y --json" ]
	run ex -- echo -- a
	[ "$output" = "-- a" ]
	run -127 ex -- s -- echo
	[ "$status" -eq 127 ]
	run ex s echo hi
	[ "$status" -eq 125 ]
	[[ $output == *"'--' is missing"* ]]
	run ex s --json -- echo
	[ "$status" -eq 125 ]
	[[ $output == *"before the"* ]]
	run ex s --
	[ "$status" -eq 125 ]
	run ex
	[ "$status" -eq 125 ]
	run ex ../s -- echo
	[ "$status" -eq 125 ]
	[[ $output == *"no session id"* ]]
	run ex --nonsense s -- echo
	[ "$status" -eq 125 ]
	run ex --json --pty s -- echo
	[ "$status" -eq 125 ]
}

@test "a session is made when there is none, and hyphens are fine" {
	run ex session-0-a_B -- true
	[ "$status" -eq 0 ]
	run session show session-0-a_B --json
	[ "$(jq -r .workspace <<<"$output")" = "$PROJECT" ]
	[ "$(jq .commands <<<"$output")" = 1 ]
	ex session-0-a_B -- sh -c 'exit 9' || true
	run session show session-0-a_B --json
	[ "$(jq .commands <<<"$output")" = 2 ]
	[ "$(jq .last_exit_code <<<"$output")" = 9 ]
	# Without a name it is the one of the project, from anywhere in it.
	ex -- true
	mkdir sub
	id=$(session show --json | jq -r .id)
	cd sub
	[ "$(session show --json | jq -r .id)" = "$id" ]
	WARDBOX_SESSION_ID=env run ex -- true
	run session show env
	[ "$status" -eq 0 ]
	WARDBOX_SESSION_ID=env run ex arg -- echo hi
	[ "$output" = hi ]
}

@test "a command that stops itself is not out of time's reach" {
	local how
	cp "$HELPERS/attack" .
	for how in --timeout=0.4 "--pty --timeout=0.4"; do
		# shellcheck disable=SC2086,SC2016 # words; of the inner shell
		run timeout -s KILL 20 bash -c "$(declare -f in_policy ex)
			$(declare -p POLICY WARDBOX BATS_TEST_TMPDIR)
			ex $how s -- sh -c '(sleep 1; touch late) & kill -STOP \$\$'"
		echo "$output"
		[ "$status" -eq 124 ]
		# nor when it has left no signal, of so many, to be woken by
		# shellcheck disable=SC2086,SC2016 # words; of the inner shell
		run timeout -s KILL 20 bash -c "ulimit -i 500; $(declare -f in_policy ex)
			$(declare -p POLICY WARDBOX BATS_TEST_TMPDIR)
			ex $how s -- ./attack stop-late late"
		echo "$output"
		[ "$status" -eq 124 ]
	done
	# What goes on would make "late" within this second.
	sleep 1
	! [ -e late ]
}

@test "a time limit ends the whole tree with 124" {
	run ex --timeout 0.3s s -- sh -c 'sleep 30 & sleep 30; touch late'
	[ "$status" -eq 124 ]
	run ex --json --timeout 0.3s s -- sleep 30
	[ "$status" -eq 124 ]
	jq -e '.timed_out and .exit_code == 124' <<<"$output"
	[ ! -e late ]
}

@test "ends by the command's signal" {
	code=0
	in_policy "$POLICY" sh -c '"$1" exec s -- sh -c "kill -TERM \$\$"
		echo $? >code' - "$WARDBOX" || true
	[ "$(cat code)" = 143 ]
}

@test "the name it is called by, and bytes in and out" {
	# shellcheck disable=SC2016
	run ex --argv0 -other s -- sh -c 'echo "$0"'
	[ "$output" = -other ]
	head -c 3000000 /dev/urandom >bytes
	ex --input bytes s -- cat >same
	cmp bytes same
	ex s -- cat <bytes | cmp bytes -
	run ex --input nowhere s -- cat
	[ "$status" -eq 125 ]
	[[ $output == *nowhere* ]]
	run ex --input . s -- cat
	[ "$status" -eq 125 ]
}

@test "what is judged is the program, whatever it is called" {
	mkdir -p .git
	local called
	for called in tee true cat ''; do
		run ex --argv0 "$called" s -- tee .git/config
		[ "$status" -eq 126 ]
		[[ $output == *protected* ]]
	done
	[ ! -e .git/config ]
	ex --argv0 true s -- tee beside <<<text
	# shellcheck disable=SC2016
	run ex --argv0 '' s -- sh -c 'echo "[$0]"'
	[ "$output" = '[]' ]
	run ex --argv0 cat s -- busybox beside
	[ "$output" = text ]
}

@test "a shell is judged by what it will read, as through the shim" {
	local answer
	mkdir -p sub .git
	echo 'echo "script $1 in ${PWD##*/}"' >sub/s
	echo 'echo no >../.git/config' >sub/no
	run ex --cwd sub s -- sh s one
	[ "$status:$output" = "0:script one in sub" ]
	run ex --cwd sub s -- sh no
	[ "$status" -eq 126 ]
	[[ $output == *".git/config"* ]]
	run ex s -- bash <<<'echo $((6 * 7)); cd sub; pwd'
	[ "$status:$output" = "0:42
$PROJECT/sub" ]
	run ex s -- sh <<<'echo yes; echo no >.git/config'
	[ "$status" -eq 126 ]
	[[ $output != yes* ]]
	# What comes late cannot be known: each program is judged when it starts.
	answer=$({ sleep 0.3; echo 'echo late; tee .git/config </dev/null; tee ok </dev/null'; } |
		ex s -- sh 2>&1) || true
	[[ $answer == late*denied* || $answer == late*"Permission denied"* ]] ||
		{ echo "$answer"; false; }
	[ -e ok ]
	[ ! -e .git/config ]
	run ex --pty s -- sh <<<'test -t 0 && echo "terminal $((1 + 1))"; exit 3'
	[ "$status" -eq 3 ]
	[[ $output == *"terminal 2"* ]]
	# What the policy says of the shell itself holds, whatever it would read.
	local plain=$POLICY
	POLICY=$plain$'\ndeny bash **'
	run ex s -- bash -c 'echo no'
	[ "$status" -eq 126 ]
	run ex s -- bash <<<'echo no'
	[ "$status" -eq 126 ]
	run ex s -- dash <<<'echo yes'
	[ "$status:$output" = 0:yes ]
	POLICY=$plain$'\nask dash **'
	run ex s -- dash <<<'echo no'
	[ "$status" -eq 126 ]
	POLICY=$plain
	# A program of the project that is called so is none of the system's shells.
	cp "$(type -P true)" sub/sh
	run ex --json s -- "$PROJECT/sub/sh"
	[[ $output != *'"policy_rule_matched":"neutral"'* ]]
	run ex s -- /usr/bin/../../"$PROJECT"/sub/sh no
	[[ $output != *".git/config"* ]]
}

@test "the directory is the session's where part of the project is kept from it" {
	mkdir -p .wardbox "sub dir/deep"
	ln -s "sub dir" link
	session create here --cwd "sub dir"
	run ex here -- pwd -P
	[ "$status:$output" = "0:$PROJECT/sub dir" ]
	run ex --cwd deep here -- pwd -P
	[ "$status:$output" = "0:$PROJECT/sub dir/deep" ]
	run ex -C "$PROJECT/link" here -- pwd -P
	[ "$status:$output" = "0:$PROJECT/sub dir" ]
	run ex here -- touch ../.wardbox/new
	[ "$status" -ne 0 ]
	ex here -- touch ../new
	[ ! -e .wardbox/new ]
	[ -e new ]
}

@test "commands of a session do not wait for each other" {
	mkfifo fifo
	# Were they one after the other, neither would end.
	ex s -- sh -c 'cat fifo >got' &
	run timeout 20 bash -c "$(declare -f in_policy)
		BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR
		in_policy '$POLICY' '$WARDBOX' exec s -- sh -c 'echo met >fifo'"
	[ "$status" -eq 0 ]
	wait
	[ "$(cat got)" = met ]
}

@test "how far a command went in its input costs no more than the log keeps" {
	truncate -s 1T hole
	# shellcheck disable=SC2016 # expanded by the inner shell
	run timeout 30 bash -c "$(declare -f in_policy ex)
		$(declare -p POLICY WARDBOX BATS_TEST_TMPDIR)
		ex --json s -- tail -c 1 <hole"
	[ "$status" -eq 0 ]
	jq -e '.exit_code == 0' <<<"$output"
}

@test "--pty gives a terminal where there is none" {
	run ex --pty s -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo yes'
	[ "$status" -eq 0 ]
	[[ $output == yes* ]]
	run ex --pty s -- sh -c 'exit 5'
	[ "$status" -eq 5 ]
	run ex --pty s -- sh -c 'curl http://there.example/'
	[ "$status" -eq 126 ]
	run ex --pty --timeout 0.3s s -- sleep 30
	[ "$status" -eq 124 ]
	# few open files are enough, whichever of the two limits it is
	for how in -n -Sn; do
		run in_policy "$POLICY" bash -c "ulimit $how 40; exec \"\$@\"" bash \
			"$WARDBOX" exec --pty s -- sh -c 'sleep 0.1; echo out; exit 5'
		[ "$status" -eq 5 ]
		[[ $output == out* ]]
	done
}

@test "a broken state stops it, and nothing runs" {
	ex s -- true
	echo junk >"$(find "$BATS_TEST_TMPDIR/ns/run" -name s.state)"
	run ex s -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *s.state*"session end s'"* ]]
	[ ! -e ran ]
	session end s
	run ex s -- touch ran
	[ -e ran ]
}

@test "a command reaches neither the state nor the log" {
	need test -x /usr/bin/python3
	cat >reach.py <<'END'
import os, sys
for path in sys.argv[1:]:
    for mode in "r", "a":
        try:
            os.listdir(path) if mode == "r" and os.path.isdir(path) else \
                open(path + "/new" if os.path.isdir(path) else path, mode)
            print("reached", mode, path)
        except OSError:
            pass
print("tried")
END
	set -- /run/wardbox /run/wardbox/0 /run/wardbox/0/sessions \
		/run/wardbox/0/sessions/s.state /var/log/wardbox/0 \
		/etc/wardbox/policy
	ex s -- true
	cp reach.py "$BATS_TEST_TMPDIR/ns/run/reach.py"
	run ex s -- /usr/bin/python3 reach.py "$@"
	echo "$output"
	# Names on the way to what is granted may be seen there.
	[[ $(grep -vx -e 'reached r /run/wardbox' -e 'reached r /run/wardbox/0' <<<"$output") != *reached* ]]
	printf 'import sys; sys.argv[1:] = %s\n' \
		"['$1', '$2', '$3', '$4', '$5', '$6']" | cat - reach.py >both.py
	run ex s -- /usr/bin/python3 both.py
	[ "$status" -eq 0 ]
	[ "$(grep -vx -e 'reached r /run/wardbox' -e 'reached r /run/wardbox/0' <<<"$output")" = tried ]
}

@test "kept in the project, the state is still not the command's to write" {
	need test -x /usr/bin/python3
	cat >write.py <<'END'
import os
for root, dirs, files in os.walk(".wardbox"):
    # What the command itself may use as /tmp, and for caches.
    dirs[:] = [d for d in dirs if d not in ("tmp", "cache")]
    for name in [root + "/new"] + [root + "/" + f for f in files]:
        try:
            open(name, "a")
            print("written", name)
        except OSError:
            pass
try:
    os.rename(".wardbox", "gone")
    print("renamed")
except OSError:
    print("tried")
END
	in_project() {
		# shellcheck disable=SC2016
		in_policy "$POLICY" sh -c 'umount /run/wardbox
			mount -t tmpfs none /run && touch /run/wardbox
			here=$PWD
			mount --rbind /tmp /tmp && mount --bind "$here" "$here" &&
			mount -o remount,bind,ro /tmp && cd "$here" && exec "$@"' - "$WARDBOX" exec "$@"
	}
	in_project s -- true
	[ -f ".wardbox/$(id -u)/sessions/s.state" ]
	run in_project s -- /usr/bin/python3 write.py
	[ "$status:$output" = 0:tried ] || { echo "$status: $output" && false; }
}

@test "a report on a descriptor, which the command does not get" {
	ex --report=9 s -- sh -c 'echo out; (: >&9) 2>/dev/null &&
		echo nine; exit 3' >out 9>report || code=$?
	[ "$code" -eq 3 ]
	[ "$(cat out)" = out ]
	jq -e '.exit_code == 3 and .ran and .decision == "allow" and
		.session_id == "s" and (has("stdout") or has("args") | not)' report
	POLICY+=$'\ndeny id=forbidden touch **'
	run ex --report=9 s -- touch forbidden 9>report
	[ "$status" -eq 126 ]
	[ -z "$output" ]
	jq -e '(.ran | not) and .decision == "deny" and
		.policy_rule_matched == "forbidden" and
		(.error.message | test("touch forbidden"))' report
	run ex --report=9 nowhere! -- true 9>report
	[ "$status" -eq 125 ]
	jq -e '.exit_code == 125 and (.error.message | test("nowhere!"))' report
	run ex --report=2 s -- true
	[ "$status" -eq 125 ]
	run ex --report=77 s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"descriptor 77"* ]]
}

@test "unattended: a question at a terminal is a denial" {
	POLICY+=$'\nask id=touch touch **'
	cat >ask.py <<'EOF'
import os, pty, sys
def run(*more):
    pid, fd = pty.fork()
    if not pid:
        os.execv(sys.argv[1], ["wardbox", "exec", *more, "s", "--", "touch", "made"])
    said = b""
    try:
        while b"Run it?" not in said:
            said += os.read(fd, 4096)
        os.write(fd, b"n\n")
        while os.read(fd, 4096):
            pass
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), b"Run it?" in said
assert run() == (126, True)
assert run("--unattended") == (126, False)
EOF
	in_policy "$POLICY" timeout 30 python3 ask.py "$WARDBOX"
	[ ! -e made ]
}
