#!/usr/bin/env bats
# serve_cases: WebSocket by Autobahn's list, by clients that others wrote, and the
# same policy by every way in

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"
ask id=careful touch careful : "the test is careful"'

@test "WebSocket: the cases of Autobahn's list, and nobody else is harmed" {
	up
	LONG=200 client <<'EOF'
import subprocess, sys
other = Socket(text="read a; echo still $a")
def peak():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmHWM")).split()[1])
before = peak()
code = subprocess.run([sys.executable, os.environ["PYTHONPATH"] + "/ws_cases.py"]).returncode
assert peak() - before < 64000, (before, peak())
other.type(b"there\r")
assert b"still there" in other.all()[0]
assert code == 0
EOF
}

@test "python3-websockets types at a terminal" {
	PYTHON=$(python_with websockets)
	need [ "$PYTHON" ]
	up
	client <<'EOF'
import asyncio
import websockets
async def main():
    async with websockets.unix_connect(
            f"{HOME}/socket", "ws://localhost/api/v1/sessions/s/pty",
            extra_headers={"Authorization": f"Bearer {token()}"}) as w:
        await w.send(json.dumps({"type": "start", "command": "sh", "rows": 33, "cols": 99,
                                 "args": ["-c", "stty size; read a; echo got $a; exit 6"]}))
        out, said, typed = b"", [], False
        await w.ping()
        async for m in w:
            if isinstance(m, bytes):
                out += m
                if b"33 99" in out and not typed:
                    typed = True
                    await w.send(b"typed\r")
            else:
                said.append(json.loads(m))
        assert b"got typed" in out and said[-1]["exit_code"] == 6, (out, said)
        assert w.close_code == 1000
asyncio.run(main())
EOF
}

@test "python3-autobahn types at a terminal" {
	PYTHON=$(python_with autobahn.asyncio.websocket)
	need [ "$PYTHON" ]
	port=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	up --port "$port"
	key=$(serve keys add bahn run)
	KEY=$key PORT=$port client <<'EOF'
import asyncio
from autobahn.asyncio.websocket import (WebSocketClientFactory,
                                        WebSocketClientProtocol)
port = int(os.environ["PORT"])
out, said, codes = b"", [], []
class Terminal(WebSocketClientProtocol):
    def onOpen(self):
        self.sendMessage(json.dumps({"type": "start", "command": "sh", "args": [
            "-c", "read a; echo got $a; exit 6"]}).encode())
        # A message in two frames, and a ping between them.
        self.beginMessage(isBinary=True)
        self.sendMessageFrame(b"ty")
        self.sendPing(b"hi")
        self.sendMessageFrame(b"ped\r")
        self.endMessage()
    def onMessage(self, payload, isBinary):
        global out
        if isBinary:
            out += payload
        else:
            said.append(json.loads(payload))
    def onClose(self, wasClean, code, reason):
        codes.append((wasClean, code))
        loop.stop()
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
factory = WebSocketClientFactory(
    f"ws://127.0.0.1:{port}/api/v1/sessions/s/pty",
    headers={"Authorization": f"Bearer {os.environ['KEY']}"})
factory.protocol = Terminal
loop.run_until_complete(loop.create_connection(factory, "127.0.0.1", port))
loop.run_forever()
assert b"got typed" in out and said[-1]["exit_code"] == 6, (out, said)
assert codes == [(True, 1000)], codes
EOF
}

@test "the same policy on every front, and its records" {
	up
	LONG=200 client <<'EOF'
import subprocess, sys
sys.exit(subprocess.run([sys.executable, os.environ["PYTHONPATH"] + "/fronts.py"]).returncode)
EOF
	in_policy "$POLICY" "$WARDBOX" audit dump -t start -o json >log.json
	# Plain denials and questions have a record of their own by each front.
	[ "$(jq -c 'select(.rule == "forbidden" and .decision == "deny")' log.json | wc -l)" -ge 13 ]
	[ "$(jq -c 'select(.rule == "careful" and .decision == "deny")' log.json | wc -l)" -ge 13 ]
	not grep -q wbk- log.json
}
