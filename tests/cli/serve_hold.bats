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
