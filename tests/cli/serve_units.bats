#!/usr/bin/env bats
# serve_units: started by a supervisor, restarted, and what outlives that

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO'

teardown() {
	in_policy "$POLICY" "$WARDBOX" session end --all >/dev/null 2>&1 || :
	[ -z "${ACTIVATOR-}" ] || kill "$ACTIVATOR" 2>/dev/null || :
	[ -z "${SERVER-}" ] || { serve stop || :; wait "$SERVER" || :; }
}

kept() { # the pid of what the session keeps
	in_policy "$POLICY" "$WARDBOX" session list --json |
		jq -r '.. | .background? // empty | .[].pid'
}

gone() { # PID
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

@test "systemd's units are well formed, and name the options that there are" {
	need systemd-analyze --version
	local units=$BATS_TEST_TMPDIR/units
	mkdir "$units"
	for unit in "$TOP"/packaging/systemd/*.s*; do
		sed "s|^ExecStart=wardbox|ExecStart=$WARDBOX|" "$unit" >"$units/${unit##*/}"
	done
	run systemd-analyze verify --man=no "$units/wardbox-serve.service" \
		"$units/wardbox-serve.socket" "$units/wardbox-ship@0.service"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	for word in $(grep -h -o -e '--[a-z-]*' "$TOP"/packaging/systemd/*serve.service \
		"$TOP"/packaging/openrc/wardbox-serve); do
		"$WARDBOX" serve --help | grep -q -e "$word"  || [ "$word" = --directory ] ||
			[ "$word" = --mode ] || [ "$word" = --owner ]
	done
	for word in $(grep -h -o -e ' --[a-z-]*' "$TOP/packaging/systemd/wardbox-ship@.service"); do
		"$WARDBOX" audit --help | grep -q -e "$word"
	done
}

@test "OpenRC's scripts say what is to be started" {
	for script in "$TOP"/packaging/openrc/*; do
		sh -n "$script"
		sh -c 'RC_SVCNAME=x wardbox_to=syslog://h
			. "$1"
			checkpath() { :; }
			start_pre && printf "%s %s\n" "$command" "$command_args"' sh "$script" |
			tr -s '\n\t ' ' ' >said
		case $script in
		*serve) [ "$(cat said)" = "wardbox serve --keep " ] ;;
		*ship) [ "$(cat said)" = "wardbox audit ship --follow --dir /var/log/wardbox/0 --checkpoint /var/lib/wardbox-ship/0 --to syslog://h " ] ;;
		esac
	done
	run sh -c 'RC_SVCNAME=x; eerror() { echo "$@"; }
		. "$1"
		start_pre' sh "$TOP/packaging/openrc/wardbox-ship"
	[ "$status" -ne 0 ]
	[[ $output == *"wardbox_to names the receiver"* ]]
}

@test "a server that the first connection starts, and again after its end" {
	mkfifo said
	in_policy "$POLICY" python3 "$TOP/tests/lib/activate.py" \
		"/run/wardbox/$(id -u)/serve/socket" 2 "$WARDBOX" serve >said 3>&- &
	ACTIVATOR=$!
	exec 8<said
	read -r line <&8
	[ "$line" = ready ]
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/$(id -u)/serve/token" ]
	run ex s -- sh -c 'echo first; env | grep LISTEN'
	[ "$output" = first ]
	run ex s -- echo again
	[ "$output" = again ]
	run serve
	[ "$status" -eq 1 ]
	serve stop
	read -r line <&8
	[ "$line" = "ended 0" ]
	# The socket is the supervisor's, the tokens were the server's.
	[ -e "$BATS_TEST_TMPDIR/ns/run/$(id -u)/serve/socket" ]
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/$(id -u)/serve/token" ]
	run ex s -- echo second
	[ "$output" = second ]
	serve stop
	read -r line <&8
	[ "$line" = "ended 0" ]
	wait "$ACTIVATOR"
	ACTIVATOR=
}

@test "what is handed over to another process, or is no listening socket, is not taken" {
	cat >give.py <<'EOF'
import os, socket, subprocess, sys
box = sys.argv[1]
def serve(sock, count="1", mine=True):
    pid = os.fork()
    if not pid:
        if sock:
            os.dup2(sock.fileno(), 3)
        os.environ.update(LISTEN_PID=str(os.getpid() if mine else os.getpid() + 1),
                          LISTEN_FDS=count)
        os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.execv(box, ["wardbox", "serve", *sys.argv[2:]])
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), open("said").read()
quiet = socket.socket(socket.AF_UNIX)
code, said = serve(quiet)
assert code == 1 and "listens for no connections" in said, (code, said)
letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
code, said = serve(letters)
assert code == 1 and "listens for no connections" in said, (code, said)
world = socket.socket()
world.bind(("0.0.0.0", 0))
world.listen()
code, said = serve(world)
assert code == 1 and "more than a unix socket or 127.0.0.1" in said, (code, said)
for count in "0", "-1", "5", "1x", "99999999999", "":
    code, said = serve(quiet, count)
    assert code == 2 and "LISTEN_FDS=" in said, (count, code, said)
code, said = serve(open("/dev/null"))
assert code == 1, (code, said)
EOF
	in_policy "$POLICY" timeout 60 python3 give.py "$WARDBOX"
	# Of another pid's it takes nothing, and listens by itself.
	LISTEN_PID=1 LISTEN_FDS=1 up
	run ex s -- echo by-itself
	[ "$output" = by-itself ]
}

@test "--keep: what a session keeps running outlives the server, stopped or killed" {
	up --keep
	ex s -- sh -c 'sleep 1000 &'
	pid=$(kept)
	[ -n "$pid" ]
	serve stop
	wait "$SERVER"
	SERVER=
	not gone "$pid"
	rm "$BATS_TEST_TMPDIR/up"
	up --keep
	run in_policy "$POLICY" "$WARDBOX" session list
	[[ $output == *"pid $pid"* ]]
	run ex s -- echo on
	[ "$output" = on ]
	client <<'EOF'
import signal
os.kill(server(), signal.SIGKILL)
EOF
	wait "$SERVER" || :
	SERVER=
	not gone "$pid"
	in_policy "$POLICY" "$WARDBOX" session end s
	while ! gone "$pid"; do sleep 0.05; done
	run in_policy "$POLICY" "$WARDBOX" audit dump -t event -o json
	[[ $output == *background.begin*background.end* ]]
}

@test "without --keep it ends with the server" {
	up
	ex s -- sh -c 'sleep 1000 &'
	pid=$(kept)
	[ -n "$pid" ]
	serve stop
	wait "$SERVER"
	SERVER=
	while ! gone "$pid"; do sleep 0.05; done
}

@test "exec --keep: it ends with the session, and not with who called" {
	in_policy "$POLICY" setsid -w "$WARDBOX" exec --keep s -- sh -c 'sleep 1000 &'
	pid=$(kept)
	[ -n "$pid" ]
	not gone "$pid"
	in_policy "$POLICY" "$WARDBOX" session end s
	while ! gone "$pid"; do sleep 0.05; done
}
