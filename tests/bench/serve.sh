#!/bin/sh
# serve.sh - a key typed at a server's WebSocket, until its echo is there
. tests/bench/lib.sh

keys=$((${RUNS:-50} * 40))
tests=$PWD/tests
project
command -v python3 >/dev/null || {
	skip "keys over a WebSocket" "no python3"
	exit 0
}
guarded true 2>/dev/null || {
	skip "keys over a WebSocket" "needs root and overlayfs, for a policy of its own"
	exit 0
}

cat >keys.py <<'EOF'
import os, pty, select, socket, statistics, subprocess, sys, time, tty
sys.path.insert(0, os.environ["TESTS"] + "/lib")
from ws import *
count = int(os.environ["KEYS"])
def told(name, send, receive):
    times = []
    for i in range(count):
        a = time.perf_counter()
        send(b"x")
        while b"x" not in receive():
            pass
        times.append((time.perf_counter() - a) * 1e6)
    times.sort()
    print("%s %.0f us %.0f" % (name, statistics.median(times), times[len(times) * 9 // 10]))
def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
port = free_port()
server = subprocess.Popen(["./wardbox", "serve", "--port", str(port)], stdout=subprocess.PIPE)
server.stdout.readline()
key = subprocess.run(["./wardbox", "serve", "keys", "add", "bench", "run"],
                     stdout=subprocess.PIPE, text=True).stdout.strip()
def at_server(name, text, **more):
    w = Socket(session="bench", **more, text=text, pty=True)
    if more:
        w.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    w.until(b"ready")
    def receive():
        got = w.get()
        return got[1] if got[0] == BINARY else b""
    told(name, w.type, receive)
    w.s.close()
# The terminal's own echo; and that of a program, as of a shell that edits its line.
at_server("serve_key_socket", "echo ready; exec sleep 1000")
at_server("serve_key_port", "echo ready; exec sleep 1000", port=port, key=key)
raw = "stty raw -echo; echo ready; exec cat"
at_server("serve_key_program", raw, port=port, key=key)
# The same program at a terminal of this process, with nothing between.
pid, fd = pty.fork()
if not pid:
    os.execvp("sh", ["sh", "-c", raw])
while b"ready" not in os.read(fd, 4096):
    pass
told("serve_key_bare", lambda b: os.write(fd, b), lambda: os.read(fd, 4096))
os.close(fd)
subprocess.run(["./wardbox", "serve", "stop"])
# ttyd: a message of '0' is input, one of '0' back output; the first one is JSON.
ttyd = next((d + "/ttyd" for d in os.environ["PATH"].split(":") if os.access(d + "/ttyd", os.X_OK)), None)
if ttyd:
    port = free_port()
    peer = subprocess.Popen([ttyd, "-W", "-i", "127.0.0.1", "-p", str(port), "sh", "-c", raw],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while b"Listening" not in peer.stderr.readline():
        pass
    Socket.path = "/ws"
    w = Socket(port=port, key="", more="Sec-WebSocket-Protocol: tty\r\n")
    w.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    w.raw(frame(BINARY, b'{"columns":80,"rows":24}'))
    while b"ready" not in w.get()[1]:
        pass
    told("serve_key_ttyd", lambda b: w.type(b"0" + b), lambda: w.get()[1])
    peer.kill()
EOF
TESTS=$tests KEYS=$keys guarded python3 -B keys.py \
	>"$work/turns" 2>"$work/errors" || row "failed serve $(tail -n 1 "$work/errors")"
tee -a "$rows" <"$work/turns"
command -v ttyd >/dev/null || skip "ttyd" "is not installed"
