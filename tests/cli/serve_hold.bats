#!/usr/bin/env bats
# serve_hold: who is let in at a server, and what it holds against

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

@test "nobody is let in without a key, and each key has one role" {
	port=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
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
from concurrent.futures import ThreadPoolExecutor
wrong = "", "wrong", "wbk-" + "0" * 40, token("token")[:-1]
with ThreadPoolExecutor(8) as at_once:
    assert set(at_once.map(lambda k: ask(*start, key=k)[0], wrong)) == {401}
    assert set(at_once.map(lambda k: Socket(key=k).status, wrong)) == {401}
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
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
slow = connect()
slow.sendall(b"GET / HT")
before = memory()
silent = [connect() for _ in range(10000)]
assert ask("GET", "/health", key="")[0] == 200
out, said, code = Socket(text="echo on").all()
assert b"on" in out
grown = memory() - before
assert grown < 20000, grown
# Who is nobody sends no body: it is refused at the head, and not kept.
before = memory()
pushy = []
for _ in range(60):
    s = connect()
    s.sendall(b"POST /api/v1/sessions/s/commands HTTP/1.1\r\nHost: x\r\n"
              b"X-API-Key: wrong\r\nContent-Length: 1048576\r\n\r\n")
    s.setblocking(False)
    try:
        for _ in range(16):
            s.send(b"x" * 65536)
    except BlockingIOError:
        pass
    s.setblocking(True)
    pushy.append(s)
for s in pushy:
    assert until(s, b"\r\n\r\n")[0].split()[1] in (b"401", b"429")
assert memory() - before < 20000
# What is too much is refused by its code.
assert ask("GET", "/health", more="X: " + "x" * 9000 + "\r\n", key="")[0] == 431
assert ask("POST", "/api/v1/stop", more="Content-Length: 67108864\r\n",
           key="")[0] in (400, 413)
EOF
}

@test "two readings of a request are none: what is smuggled is refused" {
	up
	client <<'EOF'
before = len(json.loads(ask("GET", "/api/v1/commands")[2])["commands"])
inner = (b"POST /api/v1/sessions/s/commands HTTP/1.1\r\nHost: localhost\r\n"
         b"Authorization: Bearer " + token().encode() + b"\r\nContent-Length: 38\r\n\r\n"
         b'{"text":"touch smuggled","pty":false}  ')
def status(head, body=inner, key=token()):
    """Of a request with these lines; then nothing of what is behind it is done."""
    s = connect()
    auth = f"Authorization: Bearer {key}\r\n".encode()
    try:
        s.sendall(head.replace(b"AUTH\r\n", auth) + body)
    except BrokenPipeError:
        pass
    try:
        all = b""
        while more := s.recv(65536):
            all += more
    except ConnectionResetError:
        pass
    assert all.count(b"HTTP/1.1 ") == 1, (head, all)
    return int(all.split()[1])
get = b"GET /health HTTP/1.1\r\nHost: localhost\r\nAUTH\r\n"
post = b"POST /api/v1/commands/c1/input HTTP/1.1\r\nHost: localhost\r\nAUTH\r\n"
cases = {
    post + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": (400, 501),
    post + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n": (400, 501),
    post + b"Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\n": (400, 501),
    post + b"Transfer-Encoding : chunked\r\n\r\n": (400, 501),
    post + b"Transfer-Encoding: identity\r\n\r\n": (400, 501),
    post + b"Content-Length: 0\r\nContent-Length: 300\r\n\r\n": (400,),
    post + b"Content-Length: 0, 300\r\n\r\n": (400,),
    post + b"Content-Length: +4\r\n\r\n": (400,),
    post + b"Content-Length: -1\r\n\r\n": (400,),
    post + b"Content-Length: 0x4\r\n\r\n": (400,),
    post + b"Content-Length: 4 4\r\n\r\n": (400,),
    post + b"Content-Length:\r\n\r\n": (400,),
    post + b"Content-Length: 18446744073709551616\r\n\r\n": (400, 413),
    post + b"Content-Length: 67108864\r\n\r\n": (413,),
    get + b"X: a\r\n folded: b\r\n\r\n": (400,),
    get + b"X: a\nContent-Length: 9\r\n\r\n": (400,),
    get + b"X: a\rContent-Length: 9\r\n\r\n": (400,),
    get + b"X: a\0b\r\n\r\n": (400,),
    get + b"no colon\r\n\r\n": (400,),
    get + b": no name\r\n\r\n": (400,),
    get + b"X\tY: b\r\n\r\n": (400,),
    get + b"Host: other\r\n\r\n": (400,),
    b"GET /health HTTP/1.1\r\nAUTH\r\n\r\n": (400,),
    b"GET /health HTTP/1.1\nHost: localhost\n\n": (400,),
    b" GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n": (400,),
    b"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n": (400,),
    b"GET /health  HTTP/1.1\r\nHost: localhost\r\n\r\n": (400,),
    b"GET /health HTTP/1.1 x\r\nHost: localhost\r\n\r\n": (400, 505),
    b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n": (400, 505),
    b"GET /health HTTP/0.9\r\nHost: localhost\r\n\r\n": (400, 505),
    b"GET /health\r\n\r\n": (400, 505),
    b"GET /he\xffalth HTTP/1.1\r\nHost: localhost\r\n\r\n": (400, 401, 404),
    b"GET health HTTP/1.1\r\nHost: localhost\r\n\r\n": (400, 401, 404),
    b"G\0T /health HTTP/1.1\r\nHost: localhost\r\n\r\n": (400, 401, 405),
    get + b"X: " + b"y" * 9000 + b"\r\n\r\n": (431,),
    get + b"X: y\r\n" * 200 + b"\r\n": (400, 431),
    b"GET /" + b"z" * 600 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n": (400, 414, 431),
}
for head, wanted in cases.items():
    got = status(head)
    assert got in wanted, (head[:300], got)
# What is well formed and no text ends at its own question.
start = "/api/v1/sessions/s/commands"
for body in (b'{"text":"\xff"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"a","text":"b"}',
             b'{"text":"a\\u0000b"}', b"[" * 100000, b'{"text":', b"", b"\0", b'"text"'):
    assert ask("POST", start, body)[0] == 400, body[:50]
for path in (b"%ff", b"..", b"%2e%2e", b"a" * 200, b"a/b", b"%00", b"-x", b"\xc3\xa9"):
    assert ask("POST", f"/api/v1/sessions/{path.decode('latin-1')}/commands",
               {"text": "touch smuggled", "pty": False})[0] in (400, 404), path
assert not os.path.exists("smuggled")
assert len(json.loads(ask("GET", "/api/v1/commands")[2])["commands"]) == before
assert ask("GET", "/health", key="")[0] == 200
EOF
}

@test "a head that comes byte by byte has an end, and nobody waits for it" {
	up
	client <<'EOF'
import select, time
slow = [connect() for _ in range(300)]
text = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"y" * 4000
socks = {s.fileno(): s for s in slow}
gone, at = set(), 0
while len(gone) < len(slow):
    for s in slow:
        if s not in gone:
            try:
                s.send(text[at:at + 1])
            except OSError:
                gone.add(s)
    at += 1
    for s in select.select([s for s in slow if s not in gone], [], [], 0.2)[0]:
        try:
            more = s.recv(4096)
        except ConnectionResetError:
            more = b""
        if not more:
            gone.add(s)
    # All the while others are served.
    if at % 10 == 0:
        assert b"on" in Socket(text="echo on").all()[0]
assert at < 400, at
EOF
}

@test "500 sessions at once, each with its own output and input" {
	up
	LONG=300 client <<'EOF'
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
before = memory()
all = [Socket(session=f"s{n}", text=f"seq 1000; read a; seq 20000; echo end {n} $a",
              pty=n % 2 == 0) for n in range(500)]
for w in all:
    w.until(b"1000")
assert memory() - before < 500 * 150, memory() - before
for n, w in enumerate(all):
    w.type(b"typed %d%s" % (n, b"\r" if n % 2 == 0 else b"\n"))
for n, w in enumerate(all):
    out, said, code = w.all()
    assert b"20000" in out and b"end %d typed %d" % (n, n) in out and code == 1000, (n, out[-200:])
    assert said[-1]["exit_code"] == 0, said
EOF
	# Each has its record, whole.
	run in_policy "$POLICY" "$WARDBOX" audit dump -t end -o json
	[ "$(grep -c '"exit":0' <<<"$output")" -ge 500 ]
	in_policy "$POLICY" "$WARDBOX" audit verify -q >verified || [ $? -eq 4 ]
}

@test "a server that was killed leaves nothing in the next one's way" {
	up
	mkfifo runs
	ex --detach s -- sh -c 'echo $$ >runs; exec sleep 1000'
	read -r _ <runs
	client <<'EOF'
import select, signal
p = server()
watched = [os.pidfd_open(int(c)) for c in
           open(f"/proc/{p}/task/{p}/children").read().split()]
assert len(watched) == 1
os.kill(p, signal.SIGKILL)
for fd in watched:
    assert select.select([fd], [], [], 30)[0]
EOF
	wait "$SERVER" || :
	rm "$BATS_TEST_TMPDIR/up"
	up
	run ex s -- echo again
	[ "$output" = again ]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *'exec sleep 1000'*'"type":"end"'*'"signal":15'* ]]
}

@test "a server that is killed loses no record of what ran" {
	up
	client <<'EOF'
import select, signal
all = [Socket(session=f"s{n}", text=f"echo up {n}; sleep 1000", pty=n % 2 == 0)
       for n in range(40)]
for n, w in enumerate(all):
    w.until(b"up %d" % n)
p = server()
watched = [os.pidfd_open(int(c)) for c in
           open(f"/proc/{p}/task/{p}/children").read().split()]
assert len(watched) == 40
os.kill(p, signal.SIGKILL)
for fd in watched:
    assert select.select([fd], [], [], 30)[0]
EOF
	wait "$SERVER" || :
	SERVER=
	in_policy "$POLICY" "$WARDBOX" audit dump -o json >log.json
	[ "$(jq -c 'select(.type == "start" and (.argv | tostring | test("up [0-9]+; sleep")))' log.json | wc -l)" -eq 40 ]
	[ "$(jq -c 'select(.type == "end" and (.signal == 15 or .signal == 1))' log.json | wc -l)" -eq 40 ]
	for n in 0 1 38 39; do
		grep -q "\"data\":\"up $n" log.json
	done
	in_policy "$POLICY" "$WARDBOX" audit verify || [ $? -eq 4 ]
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
