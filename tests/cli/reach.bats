#!/usr/bin/env bats
# reach: a command's own tree answers no question and gets in at no server

bats_require_minimum_version 1.5.0
load ../lib/wardbox

RULES='include default
use FULL-AUTO
ask id=careful touch ** : "the test is careful"'

setup() {
	need unshare -m true
	project
	exec </dev/null
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR" "$PROJECT"
	cp "$WARDBOX" "$TOP/tests/lib/reach.py" .
	PORT=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

# A person's evening: a server, a question that waits, an approver's terminal, fifty
# programs; then the one that tries.
cat_scene() {
	cat <<'EOF'
set -e
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || :' EXIT
box=$1 port=$2
"$box" serve --port "$port" --approver 60s >served 2>/dev/null & server=$!
until [ -s served ]; do sleep 0.02; done
mkfifo asked terminal
"$box" exec --approver 120s s -- touch made 2>asked & asker=$!
read -r line <asked
question=${line##* }
python3 -c '
import fcntl, os, pty, struct, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], ["wardbox", "approve", "watch"])
number, = struct.unpack("I", fcntl.ioctl(fd, 0x80045430, bytes(4)))
with open("terminal", "w") as f:
    print(f"/dev/pts/{number}", pid, file=f)
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass' "$box" >/dev/null 2>&1 & keeper=$!
read -r pts watcher <terminal
many=
for _ in {1..50}; do
	"$box" exec s -- sh -c 'while :; do read -t 1 x || exit; done' <&- >/dev/null 2>&1 & many+=" $!"
done
echo "== inside"
"$box" exec s -- python3 reach.py ./wardbox "$question" "$port" "$pts" \
	"$server" "$asker" "$watcher" || echo "code $?"
echo "== after"
[ ! -e made ] && echo "nothing was answered"
"$box" serve list >/dev/null && echo "the server is well"
"$box" approve yes "$question"
wait "$asker" && [ -e made ] && echo "the person's own answer counts"
"$box" exec --server local s -- echo "and so does the person's server"
"$box" serve stop
EOF
}

tries() { # POLICY PREFIX... : all that it says is what it should
	local policy=$1 out
	shift
	cat_scene >scene
	rm -f made asked terminal served stolen
	out=$(in_policy "$policy" "$@" timeout -k 5 100 bash ./scene "$WARDBOX" "$PORT" 2>said 3>&-) || {
		cat said
		echo "$out"
		return 1
	}
	echo "$out"
	[ "$out" = "== inside
done
== after
nothing was answered
the server is well
the person's own answer counts
and so does the person's server" ]
}

@test "with a view of mounts, as root" {
	tries "$RULES"
}

@test "with a view of mounts, as another user" {
	need setpriv --reuid 1000 --regid 1000 --clear-groups unshare -Ur true
	install -d -m 700 -o 1000 -g 1000 "$BATS_TEST_TMPDIR/ns/log/wardbox/1000"
	chown -R 1000:1000 "$PROJECT"
	tries "$RULES" setpriv --reuid 1000 --regid 1000 --clear-groups
}

@test "without one, as root" {
	need "$HELPERS/docker" true
	tries "$RULES
relax mount" "$HELPERS/docker"
}

@test "without one, as another user" {
	need "$HELPERS/docker" true
	install -d -m 700 -o 1000 -g 1000 "$BATS_TEST_TMPDIR/ns/log/wardbox/1000"
	chown -R 1000:1000 "$PROJECT"
	tries "$RULES
relax mount" "$HELPERS/docker" setpriv --reuid 1000 --regid 1000 --clear-groups
}
