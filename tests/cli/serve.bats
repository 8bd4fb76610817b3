#!/usr/bin/env bats
# serve: commands of sessions over a socket, HTTP and WebSocket

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

setup() {
	need unshare -m true
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	exec </dev/null
}

teardown() {
	[ -z "${SERVER-}" ] || { serve stop || :; wait "$SERVER" || :; }
}

serve() {
	in_policy "$POLICY" "$WARDBOX" serve "$@"
}

ex() {
	in_policy "$POLICY" "$WARDBOX" exec --server local "$@"
}

up() { # starts a server; it listens on return
	local line
	mkfifo "$BATS_TEST_TMPDIR/up"
	in_policy "$POLICY" "$WARDBOX" serve "$@" >"$BATS_TEST_TMPDIR/up" 3>&- &
	SERVER=$!
	read -r line <"$BATS_TEST_TMPDIR/up"
	[[ $line == "listening on "*/serve/socket ]]
}

client() { # what a Python program does with tests/lib/ws.py
	{
		echo 'from ws import *'
		cat
	} >"$BATS_TEST_TMPDIR/client.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout 60 python3 "$BATS_TEST_TMPDIR/client.py"
}

@test "exec --server: streams, code, signal, directory, JSON" {
	up
	mkdir sub
	ex s -- sh -c 'pwd; echo err >&2; cat; exit 7' >out 2>err <<<in || code=$?
	[ "$code" -eq 7 ]
	[ "$(cat out)" = "$PROJECT
in" ]
	[ "$(cat err)" = err ]
	run ex --cwd sub --argv0 other s -- sh -c 'pwd; echo "$0"'
	[ "$output" = "$PROJECT/sub
other" ]
	run ex s -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	run ex --timeout 1 s -- sleep 100
	[ "$status" -eq 124 ]
	run --separate-stderr ex --json s -- sh -c 'echo out; exit 3'
	[ "$status" -eq 3 ]
	jq -e '.stdout == "out\n" and .exit_code == 3 and .ran and
		.session_id == "s"' <<<"$output"
	head -c 3000000 /dev/zero | ex s -- cat | cmp -n 3000000 - /dev/zero
}

@test "exec --server: what is denied is denied, and says why" {
	up
	run ex s -- touch forbidden
	[ "$status" -eq 126 ]
	[[ $output == *"denied: touch forbidden"*"rule forbidden"* ]]
	[ ! -e forbidden ]
	run ex s -- touch allowed
	[ -e allowed ]
	run -127 ex s -- no-such-program
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *'"argv":["touch","forbidden"]'*'"decision":"deny"'* ]]
	run ex --detach --token-file /nowhere s -- true
	[ "$status" -eq 125 ]
	run in_policy "$POLICY" "$WARDBOX" exec --detach s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"--detach is for a --server"* ]]
}

@test "a terminal: detached from by its keys, and attached to again" {
	up
	cat >ask.py <<'EOF'
import os, pty, sys
box, *words = sys.argv[1:]
def talk(argv, *steps):
    pid, fd = pty.fork()
    if not pid:
        os.execv(box, ["wardbox", *argv])
    said = b""
    try:
        for wait, keys in steps:
            while wait not in said:
                said += os.read(fd, 4096)
            os.write(fd, keys)
            said = b""
        while True:
            said += os.read(fd, 4096)
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
line = "tty; echo re''ady; read a; echo got $a; read b; echo then $b; exit 4"
code, said = talk(["exec", "--server", "local", "--pty", "s", "--", "sh", "-c",
                   line], (b"ready", b"one\n"), (b"got one", b"\x1dd"))
assert code == 0 and said.strip().startswith(b"c"), (code, said)
name = said.split()[-1].decode()
code, said = talk(["serve", "attach", name], (b"got one", b"two\n"))
assert code == 4 and b"then two" in said, (code, said)
EOF
	in_policy "$POLICY" timeout 60 python3 ask.py "$WARDBOX"
}

@test "detached from: listed, attached to from its beginning, looked at" {
	up
	id=$(ex --detach s -- sh -c 'echo one; read a; echo $a; exit 5')
	[[ $id == c* ]]
	run serve list
	[[ $output == "$id running s echo one; read a; echo \$a; exit 5" ]]
	serve attach --view "$id" >seen &
	looks=$!
	run serve attach "$id" <<<two
	[ "$output" = "one
two" ]
	[ "$status" -eq 5 ]
	wait $looks && false || [ $? -eq 5 ]
	[ "$(cat seen)" = "one
two" ]
	run --separate-stderr serve list --json
	jq -e '.commands[0].state == "ended" and .commands[0].exit_code == 5' \
		<<<"$output"
	run serve attach c99
	[ "$status" -ne 0 ]
	[[ $output == *"no such command"* ]]
}

@test "WebSocket: start, keys, resize, signal, exit, close 1000" {
	up
	client <<'EOF'
w = Socket(command="sh", args=["-c", "stty size; read a; stty size; echo $a;"
                               "trap 'exit 9' INT; echo up; read b"],
           rows=40, cols=100)
assert w.status == 101 and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in w.head
out = w.until(b"40 100")
w.say(type="resize", rows=50, cols=120)
w.type(b"ke"); w.type(b"y\r")
w.until(b"up")
w.say(type="signal", name="INT")
out, said, code = w.all()
assert said[-1]["type"] == "exit" and said[-1]["exit_code"] == 9, said
assert "duration_ms" in said[-1] and code == 1000
# Denied: an exit with its reason.
out, said, code = Socket(command="touch", args=["forbidden"]).all()
assert said[-1]["exit_code"] == 126 and "forbids" in said[-1]["reason"], said
# On pipes, by channels.
out, said, code = Socket(text="echo a; echo b >&2", pty=False, channels=True).all()
assert sorted([out[:3], out[3:]]) == [b"\1a\n", b"\2b\n"], out
# What is no message is refused by name.
for wrong in {}, {"type": "no"}, {"type": "resize"}, {"command": 5}:
    w = Socket(); w.raw(frame(TEXT, json.dumps(wrong).encode()))
    out, said, code = w.all()
    assert said[0]["type"] == "error" and code == 1008, (wrong, said, code)
EOF
}

@test "WebSocket: broken frames end with their code, and harm nobody" {
	up
	client <<'EOF'
other = Socket(text="read a; echo still $a")
def code(*frames):
    w = Socket()
    for f in frames:
        w.raw(f)
    return w.all()[2]
assert code(frame(TEXT, b"{}", mask=None)) == 1002
assert code(frame(TEXT, b"{}", rsv=4)) == 1002
assert code(frame(3)) == 1002
assert code(frame(11)) == 1002
assert code(frame(0, b"x")) == 1002
assert code(frame(TEXT, b"{", 0), frame(TEXT, b"}")) == 1002
assert code(frame(PING, b"x" * 126)) == 1002
assert code(frame(PING, b"", 0)) == 1002
assert code(frame(TEXT, b"\xff")) == 1007
assert code(frame(CLOSE, b"\x03\xec")) == 1002
assert code(frame(CLOSE, b"\x03\xe8")) == 1000
assert code(frame(TEXT, b"x" * 60000, 0), frame(0, b"x" * 60000)) == 1009
assert code(b"\x82\xff" + (64 << 20).to_bytes(8, "big") + b"1234") == 1009
# Fragments with a ping between them are one message, the pong says its bytes.
w = Socket()
w.raw(frame(TEXT, b'{"text":', 0) + frame(PING, b"hi") + frame(0, b'"echo on"}'))
assert w.get() == (PONG, b"hi")
assert b"on" in w.all()[0]
other.type(b"there\r")
assert b"still there" in other.all()[0]
EOF
}

@test "WebSocket: the end of the connection ends the command, unless kept" {
	up
	client <<'EOF'
def state(i):
    return json.loads(ask("GET", f"/api/v1/commands/{i}")[2])["state"]
for keep in False, True:
    w = Socket(text="echo up; exec sleep 1000", keep=keep)
    i = json.loads(w.get()[1])["command_id"]
    w.until(b"up")
    w.s.close()
    if keep:
        assert state(i) == "running"
        assert ask("POST", f"/api/v1/commands/{i}/signal", {"name": "TERM"})[0] == 204
    while state(i) == "running":
        pass
EOF
}

@test "REST: start, input, output from an offset, events, signal, forget" {
	up
	client <<'EOF'
st, _, b = ask("POST", "/api/v1/sessions/s/commands",
               {"text": "read a; echo got $a; echo err >&2; exit 6", "pty": False})
i = json.loads(b)["id"]
assert st == 201
s = connect()
s.sendall(f"GET /api/v1/commands/{i}/events HTTP/1.1\r\nHost: x\r\n"
          f"X-API-Key: {token()}\r\n\r\n".encode())
assert ask("POST", f"/api/v1/commands/{i}/input?close=1", b"in\n")[0] == 204
said = b""
while True:
    more = s.recv(65536)
    if not more:
        break
    said += more
assert b"text/event-stream" in said and b"event: stdout" in said, said
assert b'"data":"got in\\n"' in said and b"event: done" in said, said
st, head, b = ask("GET", f"/api/v1/commands/{i}/output?offset=4&limit=2")
assert b == b"in" and "Wardbox-Offset: 6" in head, head
assert ask("GET", f"/api/v1/commands/{i}/output?stream=2")[2] == b"err\n"
f = json.loads(ask("GET", f"/api/v1/commands/{i}")[2])
assert f["exit_code"] == 6 and f["session"] == "s", f
assert ask("POST", f"/api/v1/commands/{i}/input", b"x")[0] == 409
assert ask("POST", f"/api/v1/commands/{i}/signal", {"name": "INT"})[0] == 409
assert ask("POST", f"/api/v1/commands/{i}/resize", {"rows": 1, "cols": 2})[0] == 409
assert ask("DELETE", f"/api/v1/commands/{i}")[0] == 204
assert ask("GET", f"/api/v1/commands/{i}")[0] == 404
for what in ("GET", "/"), ("GET", "/api/v1/no"), ("GET", "/api/v1/sessions/../x"):
    assert ask(*what)[0] == 404, what
assert ask("POST", "/api/v1/sessions/s/commands", {"text": 5})[0] == 400
assert ask("GET", "/api/v1/sessions/s/pty")[0] == 426
assert ask("PUT", "/api/v1/sessions/s/pty")[0] == 405
# Several questions on one connection.
s = connect()
for _ in range(3):
    assert ask("GET", "/api/v1/commands", s=s)[0] == 200
EOF
}

@test "nobody is let in without a key, and each key has one role" {
	port=$((20000 + RANDOM % 20000))
	up --port $port
	run_key=$(serve keys add ci run)
	view_key=$(serve keys add look view)
	serve keys add boss approve
	[ "$(serve keys)" = "ci run
look view
boss approve" ]
	run serve keys --json
	jq -e '.[1].role == "view" and (tostring | test("wbk") | not)' <<<"$output"
	not grep -q -r "$run_key" "$BATS_TEST_TMPDIR/ns/run/0/serve"
	run serve keys add ci run
	[ "$status" -eq 1 ]
	run serve keys add both run,approve
	[ "$status" -eq 2 ]
	RUN=$run_key VIEW=$view_key PORT=$port client <<'EOF'
import time
port, run, view = int(os.environ["PORT"]), os.environ["RUN"], os.environ["VIEW"]
start = ("POST", "/api/v1/sessions/s/commands", {"text": "true", "pty": False})
assert ask("GET", "/health", key="")[0] == 200
for key in "", "wrong", "wbk-" + "0" * 40, token("token")[:-1]:
    assert ask(*start, key=key)[0] == 401, key
    assert Socket(key=key).status == 401
# The approver's token views, and runs nothing; nor does a stolen view key.
i = json.loads(ask(*start)[2])["id"]
for key in token("approver"), view:
    assert ask("GET", "/api/v1/commands", key=key)[0] == 200
    for what in (start, ("POST", f"/api/v1/commands/{i}/input", b"x"),
                 ("POST", f"/api/v1/commands/{i}/signal", {"name": "INT"}),
                 ("DELETE", f"/api/v1/commands/{i}"), ("POST", "/api/v1/stop")):
        assert ask(*what, key=key)[0] == 403, what
    out, said, code = Socket(key=key, text="echo x").all()
    assert code == 1008 and said[0]["code"] == 403 and not out, said
w = Socket(text="read a; echo $a")
i = json.loads(w.get()[1])["command_id"]
v = Socket(key=view, type="attach", id=i)
v.type(b"typed\r")
assert v.all()[2] == 1008
w.type(b"mine\r")
assert b"mine" in w.all()[0]
# On the port: keys alone, and only for a host and an origin that are ours.
assert ask(*start, key=run, port=port)[0] == 201
assert ask(*start, key=token(), port=port)[0] == 401
assert ask("POST", "/api/v1/stop", key=run, port=port)[0] == 403
def status(head):
    s = connect(port)
    s.sendall(f"GET /api/v1/commands HTTP/1.1\r\n{head}X-API-Key: {run}\r\n\r\n"
              .encode())
    return int(until(s, b"\r\n\r\n")[0].split()[1])
assert status("Host: localhost\r\n") == 200
assert status(f"Host: 127.0.0.1:{port}\r\n") == 200
assert status("Host: evil.example\r\n") == 403
assert status("Host: localhost.evil.example\r\n") == 403
assert status("Host: localhost\r\nOrigin: http://evil.example\r\n") == 403
assert status("Host: localhost\r\nOrigin: null\r\n") == 403
assert status("Host: localhost\r\nOrigin: http://localhost\r\n") == 200
EOF
	serve keys revoke ci
	RUN=$run_key client <<'EOF'
assert ask("GET", "/api/v1/commands", key=os.environ["RUN"])[0] == 401
EOF
	run serve keys revoke ci
	[ "$status" -eq 1 ]
}

@test "a command of the server reaches neither its socket nor its tokens" {
	up
	cat >try.py <<'EOF'
import os, socket
home = f"/run/wardbox/{os.getuid()}/serve"
for name in "token", "approver", "keys", "socket":
    try:
        open(f"{home}/{name}").read()
        print("read", name)
    except OSError:
        pass
try:
    socket.socket(socket.AF_UNIX).connect(home + "/socket")
    print("connected")
except OSError:
    pass
try:
    os.listdir(home)
    print("listed")
except OSError:
    pass
parent = os.getppid()
while parent > 1:
    try:
        os.kill(parent, 0)
        open(f"/proc/{parent}/environ").read()
        open(f"/proc/{parent}/mem", "rb")
        print("sees", parent, open(f"/proc/{parent}/comm").read())
        parent = int(open(f"/proc/{parent}/stat").read().split()[3])
    except (OSError, ValueError):
        break
print("done")
EOF
	run ex s -- python3 try.py
	[ "$output" = done ]
	cp "$WARDBOX" wardbox
	run ex s -- ./wardbox serve list
	[ "$status" -eq 1 ]
	run ex s -- ./wardbox serve
	[ "$status" -eq 1 ]
	[[ $output == *"a guarded command serves nobody"* ]]
	run ex s -- echo allowed
	[ "$output" = allowed ]
}

@test "10,000 who say nothing, and a slow one, keep nobody out" {
	up
	client <<'EOF'
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (10100, max(10100,
                   resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
def memory():
    for p in os.listdir("/proc"):
        try:
            if open(f"/proc/{p}/cmdline").read().split("\0")[1:2] == ["serve"] \
                    and "wardbox" in open(f"/proc/{p}/cmdline").read():
                return int(next(l for l in open(f"/proc/{p}/status")
                                if l.startswith("VmRSS")).split()[1])
        except (OSError, StopIteration):
            pass
slow = connect()
slow.sendall(b"GET / HT")
before = memory()
silent = [connect() for _ in range(10000)]
assert ask("GET", "/health", key="")[0] == 200
out, said, code = Socket(text="echo on").all()
assert b"on" in out
grown = memory() - before
assert grown < 20000, grown
# What is too much is refused by its code.
assert ask("GET", "/health", more="X: " + "x" * 9000 + "\r\n", key="")[0] == 431
assert ask("POST", "/api/v1/stop", more="Content-Length: 67108864\r\n",
           key="")[0] in (400, 413)
EOF
}

@test "a hundred sessions at once, each with its own output and input" {
	up
	client <<'EOF'
all = [Socket(session=f"s{n}", text=f"seq 1000; read a; echo end {n} $a")
       for n in range(100)]
for w in all:
    w.until(b"1000")
for n, w in enumerate(all):
    w.type(b"typed %d\r" % n)
for n, w in enumerate(all):
    out, said, code = w.all()
    assert b"end %d typed %d" % (n, n) in out and code == 1000, (n, out)
EOF
}

@test "one server a user; stopped, it has ended and recorded what ran" {
	up
	run serve
	[ "$status" -eq 1 ]
	[[ $output == *"a server answers on"* ]]
	mkfifo runs
	id=$(ex --detach s -- sh -c 'echo >runs; exec sleep 1000')
	[ -n "$id" ]
	read -r _ <runs
	serve stop
	wait "$SERVER"
	SERVER=
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/0/serve/token" ]
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/0/serve/socket" ]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *'exec sleep 1000'*'"type":"end"'*'"signal":15'* ]]
	run serve list
	[ "$status" -eq 1 ]
	run serve start now
	[ "$status" -eq 2 ]
}

@test "a socket that a supervisor hands over" {
	cat >give.py <<'EOF'
import os, socket, subprocess, sys
path = sys.argv[2]
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen()
os.dup2(s.fileno(), 3)
def ready():
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
pid = os.fork()
if not pid:
    os.set_inheritable(3, True)
    ready()
    os.execv(sys.argv[1], ["wardbox", "serve"])
from ws import *
import time
while not os.path.exists(f"{HOME}/token"):
    time.sleep(0.01)
out = subprocess.run([sys.argv[1], "exec", "--server", path, "--token-file",
                      f"{HOME}/token", "s", "--", "echo", "given"],
                     stdout=subprocess.PIPE, check=True).stdout
assert out == b"given\n", out
subprocess.run([sys.argv[1], "serve", "stop", "--server", path, "--token-file",
                f"{HOME}/token"], check=True)
assert os.waitpid(pid, 0)[1] == 0
EOF
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib in_policy "$POLICY" \
		timeout 60 python3 give.py "$WARDBOX" "$BATS_TEST_TMPDIR/given"
}

@test "who is not named does not get in, whatever token" {
	[ "$(id -u)" -eq 0 ] || skip "not here: another uid"
	up --uid 1234
	chmod 666 "$BATS_TEST_TMPDIR/ns/run/0/serve/socket"
	chmod 711 "$BATS_TEST_TMPDIR/ns/run/0" "$BATS_TEST_TMPDIR/ns/run/0/serve"
	cat >try.py <<'EOF'
from ws import *
import sys
key = token()
os.setresuid(*[int(sys.argv[1])] * 3)
try:
    print(ask("GET", "/api/v1/commands", key=key)[0])
except (OSError, IndexError):
    print("out")
EOF
	export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib
	run in_policy "$POLICY" python3 try.py 1234
	out=$output
	run in_policy "$POLICY" python3 try.py 1235
	# The directory is to be private again for who stops the server.
	chmod 700 "$BATS_TEST_TMPDIR/ns/run/0" "$BATS_TEST_TMPDIR/ns/run/0/serve"
	[ "$out" = 200 ]
	[ "$output" = out ]
}
