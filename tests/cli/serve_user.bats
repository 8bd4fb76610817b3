#!/usr/bin/env bats
# serve_user: clients that leave midway, read slowly or lost their key, and servers
# that have rivals and full disks

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

@test "a key that is revoked ends what it began, by every way in, and nothing else" {
	port=$(free_port)
	up --port "$port"
	RUN=$(serve keys add ci run)
	VIEW=$(serve keys add look view)
	OTHER=$(serve keys add other run)
	RUN=$RUN VIEW=$VIEW OTHER=$OTHER PORT=$port client <<'EOF'
import subprocess
port, run, view, other = (os.environ[n] for n in ("PORT", "RUN", "VIEW", "OTHER"))
port = int(port)
def state(i):
    return json.loads(ask("GET", f"/api/v1/commands/{i}")[2])["state"]
def opened(method, path, key, body=b"", more=""):
    s = connect(port)
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n{more}"
              f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    head, had = until(s, b"\r\n\r\n")
    assert head.split()[1] in (b"200", b"101"), head
    return s, had
def call(text):
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "run", "arguments": {"text": text}}}).encode()
def newest(text):
    while True:
        for c in json.loads(ask("GET", "/api/v1/commands")[2])["commands"]:
            if c["command"] == text:
                return c["id"]
def begun(key, mark):
    """What a key begins; the commands that end with it."""
    w = Socket(key=key, port=port, text=f"echo up; exec sleep 1000.{mark}1")
    w.until(b"up")
    s, had = opened("GET", "/api/v1/sessions/s/mcp", key,
                    more="Connection: Upgrade\r\nUpgrade: mcp\r\n")
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    had = until(s, b"\n", had)[1]
    s.sendall(call(f"sleep 1000.{mark}2") + b"\n")
    post, _ = opened("POST", "/api/v1/sessions/s/mcp", key, call(f"sleep 1000.{mark}3"))
    codex = Socket.__new__(Socket)
    codex.path = "/api/v1/sessions/s/codex"
    codex.__init__(key=key, port=port)
    assert codex.status == 101
    return (w, codex), (s, post), [newest(t) for t in (
        f"echo up; exec sleep 1000.{mark}1", f"sleep 1000.{mark}2", f"sleep 1000.{mark}3")]
def follows(key, i):
    events, _ = opened("GET", f"/api/v1/commands/{i}/events", key)
    cast, _ = opened("GET", f"/api/v1/commands/{i}/stream", key)
    path = json.loads(ask("POST", f"/api/v1/commands/{i}/ticket", key=key, port=port)[2])["path"]
    player = Socket.__new__(Socket)
    player.path = path
    player.__init__(key="", port=port, more="Sec-WebSocket-Protocol: v1.alis\r\n")
    assert player.status == 101
    late = json.loads(ask("POST", f"/api/v1/commands/{i}/ticket", key=key, port=port)[2])["path"]
    return events, cast, player, late
def ended(s):
    s.settimeout(30)
    while s.recv(65536):
        pass
def rest(s):
    all = b""
    while more := s.recv(65536):
        all += more
    return all
mine, theirs = begun(run, 1), begun(other, 2)
watch, bystander = follows(view, theirs[2][0]), follows(other, theirs[2][0])
for name in "ci", "look":
    subprocess.run([os.environ["WARDBOX"], "serve", "keys", "revoke", name], check=True)
for w in *mine[0], watch[2]:
    assert w.all()[2] == 1008
for s in *mine[1], *watch[:2]:
    ended(s)
for i in mine[2]:
    while state(i) == "running":
        pass
assert ask("GET", watch[3], key="", port=port)[0] in (401, 403)
assert [state(i) for i in theirs[2]] == ["running"] * 3
# The other key's are answered still, and end as they should.
w, codex = theirs[0]
w.say(type="signal", name="TERM")
assert w.all()[2] == 1000
assert b"event: done" in rest(bystander[0]) and b'"x"' in rest(bystander[1])
assert bystander[2].all()[2] == 1000
codex.raw(frame(TEXT, b'{"id":1,"method":"initialize","params":{}}'))
assert b'"id":1' in codex.get()[1]
mcp, post = theirs[1]
mcp.sendall(b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n')
until(mcp, b'"id":9')
assert ask("POST", f"/api/v1/commands/{theirs[2][2]}/signal", {"name": "TERM"})[0] == 204
assert b'"id":7' in rest(post)
EOF
}

@test "100 MB to a reader who sleeps: nothing is lost, and nothing is heaped up" {
	up
	LONG=200 client <<'EOF'
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
before = memory()
text = "head -c 100000000 /dev/zero; printf end"
slow = [Socket(text=text, pty=False) for _ in range(3)]
ids = [json.loads(w.get()[1])["command_id"] for w in slow]
look = connect()
look.sendall(f"GET /api/v1/commands/{ids[0]}/events HTTP/1.1\r\nHost: x\r\n"
             f"X-API-Key: {token()}\r\n\r\n".encode())
while any(json.loads(ask("GET", f"/api/v1/commands/{i}")[2])["stdout_bytes"] < 4000000
          for i in ids):
    pass
assert b"on" in Socket(text="echo on").all()[0]
assert memory() - before < 40000, memory() - before
for w in slow:
    n, last, said = 0, b"", {}
    while (got := w.get())[0] != CLOSE:
        if got[0] == BINARY:
            n, last = n + len(got[1]), got[1]
        elif got[0] == TEXT:
            said = json.loads(got[1])
    assert n == 100000003 and last.endswith(b"end") and got[1][:2] == b"\x03\xe8", n
    assert said["exit_code"] == 0 and said["stdout_lost"] == 0, said
# Who only looks keeps nobody waiting, and is told what it missed.
all = b""
while more := look.recv(1 << 20):
    all = all[-100000:] + more
assert json.loads(all.split(b"event: done\ndata: ")[1])["stdout_lost"] > 0
assert memory() - before < 40000, memory() - before
EOF
}

@test "answers that nobody reads stop the questions, and none of them is lost" {
	up
	client <<'EOF'
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
w = Socket(text="head -c 1000000 /dev/zero", pty=False)
i = json.loads(w.get()[1])["command_id"]
w.all()
before = memory()
s = connect()
one = (f"GET /api/v1/commands/{i}/output HTTP/1.1\r\nHost: x\r\n"
       f"X-API-Key: {token()}\r\n\r\n").encode()
s.sendall(one * 60)
assert b"on" in Socket(text="echo on").all()[0]
assert memory() - before < 8000, memory() - before
had = b""
for _ in range(60):
    head, had = until(s, b"\r\n\r\n", had)
    assert b" 200 " in head and b"Content-Length: 1000000\r\n" in head, head
    while len(had) < 1000000:
        had += s.recv(1 << 20)
    had = had[1000000:]
assert not had
EOF
}

@test "clients that vanish midway leave nothing behind" {
	up
	client <<'EOF'
import select
def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
def count():
    return len(os.listdir(f"/proc/{pid}/fd"))
pid = server()
assert ask("GET", "/health", key="")[0] == 200
before = count()
auth = f"Host: x\r\nX-API-Key: {token()}\r\n"
kept = Socket(text="read a; echo still $a", keep=True)
name = json.loads(kept.get()[1])["command_id"]
reset(kept.s)
for _ in range(20):
    for bytes in (b"", b"GET /api/v1/comm", f"GET /api/v1/commands HTTP/1.1\r\n{auth}\r\n".encode(),
                  f"POST /api/v1/sessions/s/commands HTTP/1.1\r\n{auth}Content-Length: 99\r\n\r\n{{"
                  .encode(), f"GET /api/v1/commands/{name}/events HTTP/1.1\r\n{auth}\r\n".encode(),
                  f"GET /api/v1/log HTTP/1.1\r\n{auth}\r\n".encode(),
                  f"POST /api/v1/sessions/s/mcp HTTP/1.1\r\n{auth}Content-Length: 109\r\n\r\n".encode() +
                  b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
                  b'{"name":"run","arguments":{"text":"sleep 1000"}}}'):
        s = connect()
        s.sendall(bytes)
        reset(s)
    w = Socket(text="exec sleep 1000")
    w.raw(b"\x82\xfe\x10\x00half a fra")
    reset(w.s)
def running():
    return [c["id"] for c in json.loads(ask("GET", "/api/v1/commands")[2])["commands"]
            if c["state"] == "running"]
while running() != [name]:
    pass
# A kept command has descriptors of its own.
while count() > before + 8:
    pass
w = Socket(type="attach", id=name)
w.type(b"there\r")
assert b"still there" in w.all()[0]
EOF
}

@test "half a close: a WebSocket's last word is answered; an end without one ends it" {
	up
	client <<'EOF'
def state(i):
    return json.loads(ask("GET", f"/api/v1/commands/{i}")[2])["state"]
w = Socket(text="exec sleep 1000")
i = json.loads(w.get()[1])["command_id"]
w.raw(frame(CLOSE, b"\x03\xe8bye"))
w.s.shutdown(socket.SHUT_WR)
assert w.all()[2] == 1000
while state(i) == "running":
    pass
for keep in False, True:
    w = Socket(text="echo up; read a; exec sleep 1000", keep=keep)
    i = json.loads(w.get()[1])["command_id"]
    w.until(b"up")
    w.s.shutdown(socket.SHUT_WR)
    while w.s.recv(65536):
        pass
    while not keep and state(i) == "running":
        pass
    assert state(i) == ("running" if keep else "ended")
# Nor is anything heard behind the last word.
w = Socket()
w.raw(frame(CLOSE, b"\x03\xe8") + frame(TEXT, b'{"text":"touch behind"}'))
assert w.all()[2] == 1000 and not os.path.exists("behind")
EOF
}

@test "bytes that are no text: exact where bytes are spoken, and JSON where that is" {
	up
	client <<'EOF'
import codex, mcp, subprocess
raw = bytes(range(256)) * 3 + b"\xed\xa0\x80\xf0\x9f\x98\xff\xc0\x80"
with open("raw", "wb") as f:
    f.write(raw)
out, said, code = Socket(text="cat raw", pty=False).all()
assert out == raw and code == 1000
box = [os.environ["WARDBOX"], "exec", "--server", "local"]
assert subprocess.run(box + ["s", "--", "cat", "raw"], stdout=subprocess.PIPE,
                      check=True).stdout == raw
f = json.loads(subprocess.run(box + ["--json", "s", "--", "cat", "raw"],
                              stdout=subprocess.PIPE, check=True).stdout)
text = raw.decode(errors="replace")
assert f["stdout"].startswith(text[:128]) and "\ufffd" in f["stdout"]
i = json.loads(ask("POST", "/api/v1/sessions/s/commands", {"text": "cat raw", "pty": False})[2])["id"]
s = connect()
s.sendall(f"GET /api/v1/commands/{i}/events HTTP/1.1\r\nHost: x\r\n"
          f"X-API-Key: {token()}\r\n\r\n".encode())
all = b""
while more := s.recv(65536):
    all += more
for line in all.split(b"\r\n\r\n")[1].decode().split("\n"):
    if line.startswith("data: "):
        json.loads(line[6:])
assert ask("GET", f"/api/v1/commands/{i}/output")[2] == raw
c = mcp.Client(command=[os.environ["WARDBOX"], "mcp", "--server", "local"])
assert c.facts("run", text="cat raw")["stdout"].startswith(text[:128])
c.close()
c = codex.Client(stderr=subprocess.DEVNULL)
code, said = c.run("cat raw")
assert b"".join(said.values()) == raw, said
c.close()
EOF
}

@test "of servers that begin at once one serves, and the others harm nothing" {
	mkfifo "$BATS_TEST_TMPDIR/up"
	local n servers=() line
	for n in 1 2 3 4 5 6; do
		in_policy "$POLICY" "$WARDBOX" serve >"$BATS_TEST_TMPDIR/said.$n" \
			2>"$BATS_TEST_TMPDIR/why.$n" 3>&- &
		servers+=($!)
	done
	local left=()
	while [ "$(cat "$BATS_TEST_TMPDIR"/said.* | wc -l)" -lt 1 ] ||
		[ "$(cat "$BATS_TEST_TMPDIR"/why.* | wc -l)" -lt 5 ]; do :; done
	[ "$(cat "$BATS_TEST_TMPDIR"/said.* | wc -l)" -eq 1 ]
	[ "$(grep -l "another server of this user runs" "$BATS_TEST_TMPDIR"/why.* | wc -l)" -eq 5 ]
	run ex s -- echo served
	[ "$output" = served ]
	serve stop
	for n in "${servers[@]}"; do wait "$n" || :; done
	[ ! -e "$BATS_TEST_TMPDIR/ns/run/0/serve/socket" ]
}

@test "no room for the log: a command does not run, is told why, and runs with room" {
	mkfifo "$BATS_TEST_TMPDIR/up"
	in_policy "$POLICY" sh -c 'mount -t tmpfs -o size=64k,mode=700 none "$1" &&
		chown "$(id -u)" "$1" && shift && exec "$@"' sh \
		"/var/log/wardbox/$(id -u)" "$WARDBOX" serve >"$BATS_TEST_TMPDIR/up" 3>&- &
	SERVER=$!
	read -r _ <"$BATS_TEST_TMPDIR/up"
	client <<'EOF'
import subprocess
for n in range(3):
    out, said, code = Socket(text=f"echo ran; touch ran{n}").all()
    assert said[-1]["exit_code"] == 125 and "space" in said[-1].get("reason", ""), said
    assert code == 1000 and b"ran" not in out and not os.path.exists(f"ran{n}")
assert ask("GET", "/api/v1/commands")[0] == 200
subprocess.run(["nsenter", "-t", str(server()), "-m", "mount", "-o", "remount,size=8m",
                f"/var/log/wardbox/{os.getuid()}"], check=True)
out, said, code = Socket(text="touch again").all()
assert said[-1]["exit_code"] == 0 and os.path.exists("again"), said
EOF
}
