#!/usr/bin/env bats
# serve_grpc: HTTP/2 that no client of gRPC would speak, and what each end is called

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve
load ../lib/full

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"
ask id=careful touch careful : "the test is careful"'

setup_file() {
	full_box
}

hostile() { # as client, with tests/lib/h2.py, beside a call that is to live
	{
		cat <<'PY'
from h2 import *
from ws import ask, server
import json
import os
import socket
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
def commands(state):
    return sum(c["state"] == state for c in
               json.loads(ask("GET", "/api/v1/commands")[2])["commands"])
bystander = H2()
alive = bystander.call(start("echo up; read a; echo still $a"))
bystander.until(alive, b"up")
before = memory()
PY
		cat
		cat <<'PY'
assert memory() - before < 20000, memory() - before
bystander.send(frame(DATA, 0, alive, message(part(2, part(1, b"here\n")))))
bystander.until(alive, b"still here")
assert bystander.end_of(alive) == 0
PY
	} | client
}

@test "each wrong call ends with its code, and the connection lives" {
	full_need
	need python3 -c 'import hpack'
	port=$(free_port)
	up --port "$port"
	RUN=$(serve keys add ci run) PORT=$port hostile <<'EOF'
h = H2()
def end(*a, **k):
    return h.end_of(h.call(*a, **k))
assert end(start("exit 0"), end=True) == 0
assert end(start("exit 0"), end=True, kind="application/grpc+proto") == 0
assert end(message(b""), end=True) == 3
assert end(message(b"\xff\xff\xff"), end=True) == 3
assert end(message(part(1, b"\x0a\x05ab")), end=True) == 3
assert end(message(part(1, part(1, b"s") + part(9, b"\xff"))), end=True) == 3
assert end(message(part(1, part(1, b"s") + part(9, b"a\0b"))), end=True) == 3
assert end(message(part(1, part(1, b"s") + part(6, b"\x0a\x01A") + part(9, b"a"))),
           end=True) == 3
assert end(start("true")[:-3], end=True) == 3
assert end(b"", end=True) == 3
assert end(message(b"x", compressed=1), end=True) == 12
assert end(b"\0" + (64 << 20).to_bytes(4, "big") + b"x" * 1000) == 8
assert end(path="/wardbox.v1.Terminal/No") == 12
assert end(path="/") == 12
assert end(kind="text/html") == "415"
assert end(kind="application/grpcx") == "415"
assert end(kind=None) == "415"
assert end(method="GET") == "405"
assert end(grpc_timeout="1") == 3
assert end(grpc_timeout="123456789S") == 3
assert end(start("sleep 1000"), grpc_timeout="100m") == 4
assert end(start("exit 0"), end=True, grpc_timeout="99999999H") == 0
# Who is nobody, whoever else may; what is said twice.
assert end(start("true"), key="") == 16
assert end(start("true"), key="wrong") == 16
assert end(start("true"), key=token("approver")) == 7
assert end(start("true"), x_api_key=token()) == 3
assert end(bytes(5), end=True, path="/grpc.health.v1.Health/Check", key="") == 0
assert end(bytes(5), end=True, path="/grpc.health.v1.Health/Watch", key="") == 16
# Fields that are too many.
assert end(head=fields() + b"".join(literal(f"x{n}", "y") for n in range(100))) == 8
assert end(start("exit 0"), end=True) == 0
# A port: keys alone, and only for a host and an origin that are ours.
h, run = H2(port=int(os.environ["PORT"])), os.environ["RUN"]
assert end(start("true"), end=True, key=run) == 0
assert end(start("true"), key=token()) == 16
assert end(start("true"), key=run, authority="evil.example") == 7
assert end(start("true"), key=run, origin="http://evil.example") == 7
assert end(start("true"), end=True, key=run, authority="127.0.0.1:1") == 0
EOF
}

@test "the same policy by gRPC as by every other front, and its records" {
	full_need
	need python3 -c 'import hpack'
	up
	client <<'EOF'
import subprocess, sys
sys.exit(subprocess.run([sys.executable, os.environ["PYTHONPATH"] + "/fronts.py",
                         "gRPC", "exec --server", "WebSocket"]).returncode)
EOF
	in_policy "$POLICY" "$WARDBOX" audit dump -t start -o json >log.json
	for rule in forbidden careful; do
		[ "$(jq -c "select(.rule == \"$rule\" and .decision == \"deny\")" log.json | wc -l)" -ge 3 ]
	done
	not grep -q wbk- log.json
}

@test "HPACK bomb, giant fields, CONTINUATION without end" {
	full_need
	need python3 -c 'import hpack'
	up
	hostile <<'EOF'
# 4,000 bytes once, and then each byte says them again: 60 MB.
for _ in range(20):
    h = H2()
    h.send(frame(HEADERS, 0, 1, fields() + literal("x", "y" * 3900, 0x40)))
    h.send(frame(CONTINUATION, END_HEADERS, 1, b"\xbe" * 16000))
    assert h.over() == CALM, h.code
h = H2()
h.send(frame(HEADERS, 0, 1, fields()))
for n in range(1000):
    h.send(frame(CONTINUATION, 0, 1, literal(f"x{n}", "y" * 10000)))
assert h.over() in (CALM, 1, None) and h.gone
h = H2()
h.send(frame(HEADERS, 0, 1, fields()), *[frame(CONTINUATION, 0, 1)] * 10000)
assert h.over() in (CALM, 1, None) and h.gone
h = H2()
s = h.call(head=fields() + literal("x", "y" * 16050))
assert h.end_of(s) == 8
EOF
}

@test "floods of resets, settings and pings end the connection alone" {
	full_need
	need python3 -c 'import hpack'
	up
	hostile <<'EOF'
# Rapid reset, of nobody and of somebody who starts commands.
for key, body in ("", b""), (None, start("exec sleep 1000")):
    h = H2()
    head = fields(key=key)
    for n in range(1, 20001, 2):
        h.send(frame(HEADERS, END_HEADERS, n, head),
               frame(DATA, 0, n, body) if body else b"", frame(RST, 0, n, bytes(4)))
        if h.gone:
            break
    h.over()
    assert h.gone
    while commands("running") > 1:
        pass
for flood in (frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)),
              frame(PING, 0, 0, bytes(8)),
              frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100) * 2000)):
    h = H2()
    for _ in range(400):
        h.send(flood * (16384 // len(flood) + 1))
        if h.gone:
            break
    assert h.over() in (CALM, None) and h.gone
EOF
}

@test "thousands who begin HTTP/2 and say no more cost little, and keep nobody out" {
	full_need
	need python3 -c 'import hpack'
	up
	hostile <<'EOF'
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (7100, max(7100,
                   resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
few = [H2() for _ in range(100)]
for h in few:
    assert h.take() == SETTINGS
one = (memory() - before) / 100
silent = []
for _ in range(6000):
    s = connect()
    s.sendall(MAGIC + frame(SETTINGS))
    silent.append(s)
h = H2()
assert h.end_of(h.call(start("exit 0"), end=True)) == 0
assert one < 60 and memory() - before < 2048 * 60, (one, memory() - before)
before = memory()
# The oldest were let go, and the newest are there.
assert few[0].over() is None and few[0].gone
assert silent[0].recv(1000) == b"" or silent[0].recv(1000) == b""
silent[-1].sendall(frame(PING, 0, 0, b"12345678"))
had = b""
while b"12345678" not in had:
    more = silent[-1].recv(1000)
    assert more
    had += more
EOF
}

@test "frames that break the protocol end the connection with its code" {
	full_need
	need python3 -c 'import hpack'
	up
	hostile <<'EOF'
for wrong in (frame(WINDOW, 0, 0, b"\x7f\xff\xff\xff") * 2, frame(DATA, 0, 7, b"x"),
              frame(SETTINGS, 0, 0, b"x"), frame(RST, 0, 0, bytes(4)),
              frame(PING, 0, 0, b"x"), frame(HEADERS, END_HEADERS, 2, fields()),
              frame(PUSH, 4, 1, bytes(4)), frame(WINDOW, 0, 0, bytes(4)),
              b"\xff\xff\xff\0\0\0\0\0\1" + b"x" * 70000,
              frame(HEADERS, END_HEADERS, 1, b"\xff" * 6)):
    h = H2()
    h.send(wrong)
    assert h.over() not in (None, 0), wrong[:20]
# Data beyond the window.
h = H2()
s = h.call(key="wrong")
h.send(*[frame(DATA, 0, s, b"\0\0\7\xff\xff" + b"x" * 16000)] * 100)
assert h.end_of(s) == "reset 3" or h.over() == 3, (h.code, h.resets)
# More streams than there may be: refused one by one.
h = H2()
all_of = [h.call(start("read a")) for _ in range(100)]
assert [h.end_of(s) for s in all_of[64:]] == ["reset 7"] * 36
h.s.close()
while commands("running") > 1:
    pass
# A beginning in two halves, and one that is HTTP/1's.
s = connect()
s.sendall(MAGIC[:20])
assert ask("GET", "/health", key="")[0] == 200
s.sendall(MAGIC[20:] + frame(SETTINGS))
assert s.recv(65536)[3] == SETTINGS
s = connect()
s.sendall(b"PRI * HTTP/2.0\r\nHost: x\r\n\r\n")
assert b" 400 " in s.recv(65536)
EOF
}

@test "wrong keys are told late, and only so many; who takes nothing gets nothing" {
	full_need
	need python3 -c 'import hpack'
	up
	hostile <<'EOF'
h = [H2() for _ in range(3)]
codes = [c.end_of(s) for c, s in [(c, c.call(key="wrong")) for c in h for _ in range(40)]]
assert set(codes) == {16, 8} and codes.count(16) >= 64, codes
# The window stays shut: the command waits.
h = H2(magic=MAGIC + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
s = h.call(start("head -c 100000000 /dev/zero"))
while commands("running") < 2:
    pass
assert memory() - before < 20000
h.send(frame(RST, 0, s, bytes(4)))
while commands("running") > 1:
    pass
EOF
}

@test "a key that was revoked ends its calls" {
	full_need
	need python3 -c 'import hpack'
	up
	serve keys add ci run >key
	mkfifo begun
	client <<'EOF' &
from h2 import *
h = H2()
s = h.call(start("echo up; exec sleep 1000"), key=open("key").read().strip())
h.until(s, b"up")
open("begun", "w").close()
assert h.end_of(s) == 16
EOF
	local waits=$!
	: <begun
	serve keys revoke ci
	wait $waits
}
