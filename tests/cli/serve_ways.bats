#!/usr/bin/env bats
# serve: a running command for asciinema's player, and by Kubernetes' channels

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

@test "asciicast 2 and 3 by HTTP, and by WebSocket with ALiS: text, sizes, the end" {
	up
	client <<'EOF'
def start(**more):
    return json.loads(ask("POST", "/api/v1/sessions/s/commands", more)[2])["id"]
def lines(i, query=""):
    s = connect()
    s.sendall(f"GET /api/v1/commands/{i}/stream{query} HTTP/1.1\r\nHost: localhost\r\n"
              f"Authorization: Bearer {token()}\r\n\r\n".encode())
    head, rest = until(s, b"\r\n\r\n")
    assert b" 200 " in head and b"application/x-asciicast" in head, head
    while True:
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            yield json.loads(line)
        more = s.recv(65536)
        if not more:
            return
        rest += more
text = "read a; exit 3"
i = start(text=text, rows=30, cols=90)
a, b = lines(i), lines(i, "?version=2")
first, second = next(a), next(b)
assert first["version"] == 3 and first["term"] == {"cols": 90, "rows": 30}, first
assert second["version"] == 2 and (second["width"], second["height"]) == (90, 30), second
assert first["command"] == text
ask("POST", f"/api/v1/commands/{i}/resize", {"rows": 31, "cols": 91})
assert next(a)[1:] == next(b)[1:] == ["r", "91x31"]
ask("POST", f"/api/v1/commands/{i}/input", b"\r")
for of in a, b:
    said = list(of)
    assert said[-1][1:] == ["x", "3"] and all(e[0] >= 0 for e in said), said
# A character that comes in two pieces is one; a byte that never is one is not lost.
i = start(text="printf '\\342\\202'; read a; printf '\\254 one'; read b; printf '\\342'", pty=False)
a = lines(i)
assert next(a)["version"] == 3
for _ in range(2):
    ask("POST", f"/api/v1/commands/{i}/input", b"\n")
assert "".join(e[2] for e in a if e[1] == "o") == "€ one\ufffd"
# Pipes have no terminal that would return the line: lines end as its would.
assert "a\r\nb\r\n" in "".join(e[2] for e in lines(start(text="echo a; echo b", pty=False))
                               if type(e) is list and e[1] == "o")
for wrong in "?version=1", "?version=4", "?version=x":
    assert ask("GET", f"/api/v1/commands/{i}/stream{wrong}")[0] == 400

def number(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return n, at
def numbers(data, at, count):
    out = []
    for _ in range(count):
        n, at = number(data, at)
        out.append(n)
    return out, data[at:]
class Player(Socket):
    def __init__(self, i, protocols, **more):
        self.path = f"/api/v1/commands/{i}/stream"
        super().__init__(more=f"Sec-WebSocket-Protocol: {protocols}\r\n", **more)
    def answers(self, name):
        return self.status == 101 and f"Protocol: {name}\r\n" in self.head.decode()
i = start(text="echo up; read a; echo got $a; exit 4", rows=10, cols=200)
w = Player(i, "v1.alis, v2.asciicast, v3.asciicast, raw")
assert w.answers("v1.alis"), w.head
assert w.get() == (BINARY, b"ALiS\1")
kind, data = w.get()
assert kind == BINARY and data[0] == 1
(last, time, cols, rows), rest = numbers(data, 1, 4)
assert (last, cols, rows) == (0, 200, 10) and time > 0 and rest == b"\0\0", data
ask("POST", f"/api/v1/commands/{i}/resize", {"rows": 11, "cols": 201})
ask("POST", f"/api/v1/commands/{i}/input", b"it\r")
out, sizes, ends, had = b"", [], [], 0
while (got := w.get()):
    if got[0] == CLOSE:
        break
    kind = got[1][:1]
    (event, gap), rest = numbers(got[1], 1, 2)
    assert event == had + 1
    had = event
    if kind == b"o":
        (n,), text = numbers(rest, 0, 1)
        assert n == len(text)
        out += text
    else:
        (sizes if kind == b"r" else ends).append(numbers(rest, 0, len(rest))[0] if 0 else rest)
assert b"up\r\n" in out and b"got it\r\n" in out and sizes == [b"\xc9\1\x0b"] and ends == [b"\4"]
assert int.from_bytes(got[1][:2], "big") == 1000
# The form that is asked for; one that is not known is refused; nothing may be typed.
i = start(text="read a")
assert Player(i, "v2.asciicast").answers("v2.asciicast")
assert Player(i, "v3.asciicast, raw").answers("v3.asciicast")
assert Player(i, "raw").status == 400
for what in frame(BINARY, b"x"), frame(TEXT, b"{}"):
    w = Player(i, "v1.alis")
    w.raw(what)
    assert w.all()[2] in (1003, 1008)
assert json.loads(ask("GET", f"/api/v1/commands/{i}")[2])["state"] == "running"
EOF
}

@test "a ticket opens one command's stream, once, for a page of any origin; nothing else" {
	up
	client <<'EOF'
def start(text):
    return json.loads(ask("POST", "/api/v1/sessions/s/commands", {"text": text})[2])["id"]
i, j = start("read a"), start("read a")
def ticket(of=i, key=None):
    return json.loads(ask("POST", f"/api/v1/commands/{of}/ticket", key=key)[2])["path"]
path = ticket()
assert path.startswith(f"/api/v1/commands/{i}/stream?ticket=wbk-"), path
class Player(Socket):
    def __init__(self, path):
        self.path = path
        super().__init__(key="", more="Origin: https://player.example\r\n"
                         "Sec-WebSocket-Protocol: v1.alis\r\n")
assert Player(path).status == 101
assert Player(path).status == 403
# For another command, another path, or with a letter changed it is none, and is used up.
for wrong in (path_of := ticket()).replace(i + "/", j + "/"), path_of:
    assert Player(wrong).status == 403, wrong
t = ticket().split("?")[1]
for other in f"/api/v1/commands?{t}", f"/api/v1/commands/{i}?{t}", f"/api/v1/commands/{i}/output?{t}":
    assert ask("GET", other, key="")[0] == 401, other
t = ticket()
assert ask("GET", t[:-1] + ("0" if t[-1] != "0" else "1"), key="")[0] == 401
assert ask("POST", t.replace("/stream", "/input"), b"x", key="")[0] == 401
assert ask("POST", f"/api/v1/commands/{i}/ticket", key="")[0] == 401
assert ask("GET", f"/api/v1/commands/{i}/ticket")[0] in (404, 405)
# The oldest of too many goes.
first = ticket()
for _ in range(64):
    last = ticket()
assert Player(first).status == 403 and Player(last).status == 101
EOF
}

@test "Kubernetes' channels: streams, size, end of stdin, status" {
	up
	client <<'EOF'
from urllib.parse import urlencode
class Pod(Socket):
    def __init__(self, *command, protocol="v5.channel.k8s.io", pod="s", key=None, at=None, **more):
        query = urlencode([("command", c) for c in command] +
                          [(k, "true" if v else "false") for k, v in more.items()])
        self.path = (at or f"/api/v1/namespaces/any/pods/{pod}/exec") + "?" + query
        super().__init__(key=key, more=f"Sec-WebSocket-Protocol: {protocol}\r\n")
    def channels(self):
        out = {}
        while (got := self.get()):
            if got[0] == CLOSE:
                self.code = int.from_bytes(got[1][:2], "big")
                return out
            assert got[0] == BINARY
            out[got[1][0]] = out.get(got[1][0], b"") + got[1][1:]
p = Pod("sh", "-c", "cat; echo err >&2; exit 7", stdin=True, stdout=True, stderr=True)
assert p.status == 101 and "Protocol: v5.channel.k8s.io\r\n" in p.head.decode(), p.head
p.raw(frame(BINARY, b"\0in & out\n"))
p.raw(frame(BINARY, b"\xff\0"))
out = p.channels()
status = json.loads(out.pop(3))
assert out == {1: b"in & out\n", 2: b"err\n"} and p.code == 1000, out
assert status["status"] == "Failure" and status["reason"] == "NonZeroExitCode", status
assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}], status
p = Pod("sh", "-c", "stty size; read a; stty size", stdin=True, stdout=True, tty=True,
        protocol="v4.channel.k8s.io, v5.channel.k8s.io")
got = b""
while b"24 80" not in got:
    got += p.get()[1]
# A size that comes in two frames.
p.raw(frame(BINARY, b"\4{\"Width\": 120, ", fin=0) + frame(0, b"\"Height\": 50}"))
p.raw(frame(BINARY, b"\0x\r"))
out = p.channels()
assert b"50 120" in out[1] and json.loads(out[3])["status"] == "Success", out
# Without stdin there is none; by the session's own path; denied with the reason.
p = Pod("cat", stdout=True)
assert json.loads(p.channels()[3])["status"] == "Success"
p = Pod("touch", "forbidden", at="/api/v1/sessions/s/pty", stdout=True)
status = json.loads(p.channels()[3])
assert "forbids" in status["message"] and not os.path.exists("forbidden"), status
assert status["details"]["causes"][0]["message"] == "126", status
assert Pod("true", protocol="v3.channel.k8s.io").status == 400
assert Pod(stdin=True).status == 400
assert Pod("true", pod="..").status == 404
assert Pod(*["x"] * 300).status in (400, 431)
for what, code in ((frame(TEXT, b"\0x"), 1003), (frame(BINARY, b"\1x"), 1008),
                   (frame(BINARY, b"\x7fx"), 1008)):
    p = Pod("cat", stdin=True)
    p.raw(what)
    p.channels()
    assert p.code == code, (what, p.code)
for size in b"{}", b"{\"Width\":0,\"Height\":9}", b"x" * 5000, b"":
    p = Pod("cat", stdin=True, tty=True)
    p.raw(frame(BINARY, b"\4" + size) + frame(BINARY, b"\0\4"))
    assert json.loads(p.channels()[3])["status"] == "Success", size
# It ends with its connection.
p = Pod("sh", "-c", "echo $$; exec sleep 1000", stdout=True)
while len(p.get()[1]) < 2:
    pass
p.s.close()
while any(c["state"] == "running" for c in json.loads(ask("GET", "/api/v1/commands")[2])["commands"]):
    pass
EOF
	id=$(serve keys add looks view)
	ID=$id client <<'EOF'
w = Socket.__new__(Socket)
s = connect()
s.sendall(f"GET /api/v1/namespaces/a/pods/s/exec?command=true HTTP/1.1\r\nHost: localhost\r\n"
          f"Authorization: Bearer {os.environ['ID']}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n".encode())
assert b" 403 " in until(s, b"\r\n")[0]
EOF
}
