#!/usr/bin/env bats
# serve: commands of sessions over a socket, HTTP and WebSocket

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

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
	run ex --timeout 0.3s s -- sleep 100
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
	run ex --approver 1s s -- true
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
for what in ("GET", "/other"), ("GET", "/api/v1/no"), ("GET", "/api/v1/sessions/../x"):
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

@test "what a command changed is told by exec --json and by REST, and can be taken back" {
	POLICY+=$'\nprofile FULL-AUTO undo=on'
	up
	echo old >a
	run --separate-stderr ex --json s -- sh -c 'echo new >a; echo x >made'
	[ "$(jq -r '.changed[] | .what + " " + .path' <<<"$output" | sort)" = "changed $PROJECT/a
made $PROJECT/made" ]
	client <<'EOF'
import hashlib
def ended(i):
    s = connect()
    ask("GET", f"/api/v1/commands/{i}/events", s=s)
    while s.recv(65536):
        pass
st, _, b = ask("POST", "/api/v1/sessions/s/commands", {"text": "rm a made; mkdir d"})
i = json.loads(b)["id"]
ended(i)
f = json.loads(ask("GET", f"/api/v1/commands/{i}/changed")[2])
assert {(c["what"], os.path.basename(c["path"])) for c in f["changes"]} == {
    ("removed", "a"), ("removed", "made"), ("made", "d")}, f
old = hashlib.sha256(b"new\n").hexdigest()
assert old in [c.get("old") for c in f["changes"]], f
assert "-new" in ask("GET", f"/api/v1/commands/{i}/diff")[2].decode()
st, _, b = ask("POST", "/api/v1/sessions/s/commands", {"text": "true"})
i = json.loads(b)["id"]
ended(i)
assert ask("GET", f"/api/v1/commands/{i}/changed")[0] != 200
EOF
	in_policy "$POLICY" "$WARDBOX" undo
	[ "$(cat a made)" = $'new\nx' ]
	in_policy "$POLICY" "$WARDBOX" undo
	[ "$(cat a)" = old ]
	[ ! -e made ]
}

@test "one server a user; stopped, it has ended and recorded what ran" {
	up
	run serve
	[ "$status" -eq 1 ]
	[[ $output == *"another server of this user runs"* ]]
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

@test "mcp --server: its commands are the server's, and outlive it" {
	up
	client <<'EOF'
import mcp
def one():
    return mcp.Client(command=[os.environ["WARDBOX"], "mcp", "--server", "local"])
a, b = one(), one()
f = a.facts("run", text="echo out; exit 3")
assert (f["stdout"], f["exit_code"]) == ("out\n", 3), f
i = a.facts("run", text="read x; echo got $x; sleep 1000", background=True)["id"]
assert [x["id"] for x in b.facts("list")["commands"]] == [i, f["id"]]
assert not b.call("write", id=i, text="it\n")["isError"]
assert a.facts("read", id=i, wait=30)["stdout"] == "got it\n"
f = b.facts("run", text="touch forbidden")
assert f["state"] == "denied", f
big = "x" * 300000
assert b.facts("run", text="wc -c", input=big)["stdout"].strip() == "300000"
assert a.close() == 0
assert b.facts("read", id=i)["state"] == "running"
b.call("signal", id=i)
while b.facts("read", id=i, wait=30)["state"] == "running":
    pass
assert b.close() == 0
# Neither without a key that runs, nor without the upgrade.
for key, status in (token("approver"), 403), ("wrong", 401):
    assert ask("GET", "/api/v1/sessions/s/mcp", key=key,
               more="Connection: Upgrade\r\nUpgrade: mcp\r\n")[0] == status
assert ask("GET", "/api/v1/sessions/s/mcp")[0] == 405
EOF
	# All that a program writes at once is answered before the end.
	run in_policy "$POLICY" "$WARDBOX" mcp --server local <<'EOF'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"text":"echo piped"}}}
EOF
	[ "$status" -eq 0 ]
	[[ $output == *'"id":1,'*'"id":2,'*piped* ]]
	run in_policy "$POLICY" "$WARDBOX" mcp --server local --approver 1s
	[ "$status" -eq 2 ]
	run in_policy "$POLICY" "$WARDBOX" mcp --server /nowhere/socket \
		--token-file /nowhere/token
	[ "$status" -eq 1 ]
}
