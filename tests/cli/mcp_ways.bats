#!/usr/bin/env bats
# mcp_ways: MCP over HTTP, and questions that a person answers on a page

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"
ask id=touch touch asked*
profile FULL-AUTO ask=approver'

client() { # what a Python program does with mcp.Client and ws
	{
		cat <<'EOF'
import re
import ws
from mcp import *
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}}
EOF
		cat
	} >"$BATS_TEST_TMPDIR/client.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout 60 python3 "$BATS_TEST_TMPDIR/client.py"
}

@test "a question has a page, for a client that opens one" {
	client <<'EOF'
c = Client(True, command=[os.environ["WARDBOX"], "mcp", "--approver", "60s"])
def run(text, **more):
    return c.ask("tools/call", name="run", arguments={"text": text}, _meta=META,
                 **more)["result"]
def page(url, answer=None, path=None, **more):
    port, at = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/approve/\S+)", url).groups()
    method, body = ("GET", b"") if answer is None else ("POST", f"answer={answer}".encode())
    return ws.ask(method, path or at, body, key="", port=int(port), **more)
def ask(text):
    r = run(text)
    assert r["resultType"] == "input_required", r
    e = r["inputRequests"]["approval"]
    assert e["method"] == "elicitation/create" and e["params"]["mode"] == "url", e
    assert text in e["params"]["message"], e
    return r["requestState"], e["params"]["url"]
state, url = ask("touch 'asked<b>'")
status, head, body = page(url)
assert status == 200 and b"asked&#60;b&#62;" in body and b"<b>" not in body, body
assert "default-src 'none'" in head and "no-store" in head, head
# To look at it answers nothing; neither is a word.
assert page(url)[0] == 200 and page(url, "maybe")[0] == 400
assert page(url[:-1] + "x")[0] == 404 and not os.path.exists("asked<b>")
# A page from elsewhere, or by another name, is not served; nothing else is there.
assert page(url, "yes", more="Origin: http://elsewhere.example\r\n")[0] == 403
assert page(url, path="/api/v1/commands")[0] == 401
assert page(url, path="/approve/")[0] == 404
assert page(url, "yes")[0] == 200
again = dict(requestState=state, inputResponses={"approval": {"action": "accept"}})
r = run("touch 'asked<b>'", **again)
assert r["structuredContent"]["state"] == "ended" and os.path.exists("asked<b>"), r
# The address was good for that one answer.
assert page(url)[0] == 404 and page(url, "yes")[0] == 404
# No is no.
state, url = ask("touch asked-no")
assert page(url, "no")[0] == 200
r = run("touch asked-no", requestState=state, inputResponses={})
assert r["isError"] and not os.path.exists("asked-no"), r
# Who does not want to open it says no by that.
state, url = ask("touch asked-declined")
r = run("touch asked-declined", requestState=state,
        inputResponses={"approval": {"action": "decline"}})
assert r["isError"] and not os.path.exists("asked-declined"), r
# An answer from elsewhere does as well; the state of another call does not.
state, url = ask("touch asked-there")
assert "another call" in run("touch asked-other", requestState=state)["content"][0]["text"]
assert "another call" in run("touch asked-there", requestState="c99")["content"][0]["text"]
n = c.post("tools/call", name="run", arguments={"text": "touch asked-there"}, _meta=META,
           requestState=state)
lines = subprocess.run([os.environ["WARDBOX"], "approve", "list"], check=True,
                       capture_output=True).stdout.decode().split("\n")
subprocess.run([os.environ["WARDBOX"], "approve", "yes", lines[0].split()[0]], check=True)
assert c.get(n)["result"]["structuredContent"]["state"] == "ended"
assert os.path.exists("asked-there") and not os.path.exists("asked-other")
assert page(url)[0] == 404
assert c.close() == 0
EOF
	# The ticket stands in no record.
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output != *wbk-* && $output != */approve/* ]]
}

@test "a client that opens no page is told of approve at once" {
	client <<'EOF'
for modern in False, True:
    c = Client(modern, command=[os.environ["WARDBOX"], "mcp", "--approver", "60s"])
    r = c.call("run", text=f"touch asked-{modern}")
    assert r.get("resultType", "complete") == "complete", r
    assert r["structuredContent"]["state"] == "asking", r
    assert "wardbox approve show" in r["content"][0]["text"], r
    assert c.close() == 0
EOF
}

@test "the command's own tree reaches no page" {
	POLICY=${POLICY/FULL-AUTO ask/FULL-AUTO net=local ask}
	cat >reach.py <<'EOF'
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("reached")
except OSError:
    print("refused")
EOF
	client <<'EOF'
c = Client(True, command=[os.environ["WARDBOX"], "mcp", "--approver", "60s"])
r = c.ask("tools/call", name="run", arguments={"text": "touch asked"},
          _meta=META)["result"]
port = int(re.search(r":(\d+)/", r["inputRequests"]["approval"]["params"]["url"])[1])
assert ws.connect(port)
assert c.facts("run", text=f"python3 reach.py {port}")["stdout"] == "refused\n"
EOF
}

@test "over HTTP: both eras, progress, cancelled by closing, roles" {
	port=$((20000 + RANDOM % 10000))
	up --port "$port" --approver 60s
	run_key=$(serve keys add ci run)
	view_key=$(serve keys add look view)
	export run_key view_key port
	client <<'EOF'
port, key = int(os.environ["port"]), os.environ["run_key"]
accept = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
last = 0
def message(method, modern, **params):
    global last
    last += 1
    m = {"jsonrpc": "2.0", "id": last, "method": method, "params": params}
    more = accept
    if modern:
        params["_meta"] = {**META, **params.get("_meta", {})}
        more += f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"
        more += f"Mcp-Name: {params['name']}\r\n" if "name" in params else ""
    return m, more
def events(s, head, rest):
    """The messages of a stream, to its end."""
    while True:
        more = s.recv(65536)
        if not more:
            break
        rest += more
    return [json.loads(e[6:]) for e in rest.decode().split("\n\n") if e]
def post(method, modern=True, path="/mcp", key=key, more="", **params):
    m, how = message(method, modern, **params)
    s = ws.connect(port)
    status, head, body = ws.ask("POST", path, m, key=key, port=port, s=s, more=how + more)
    if "text/event-stream" in head:
        got = events(s, head, body)
        assert got[-1]["id"] == m["id"], got
        return status, got[-1], got[:-1]
    return status, json.loads(body) if body else None, []
for modern in False, True:
    if modern:
        r = post("server/discover")[1]["result"]
        assert "2026-07-28" in r["supportedVersions"], r
    else:
        r = post("initialize", False, protocolVersion="2025-06-18", capabilities={},
                 clientInfo={"name": "t", "version": "1"})[1]["result"]
        assert r["protocolVersion"] == "2025-06-18", r
        s = ws.connect(port)
        assert ws.ask("POST", "/mcp", {"jsonrpc": "2.0", "method":
                      "notifications/initialized"}, key=key, s=s)[0] == 202
    assert post("tools/list", modern)[1]["result"]["tools"][0]["name"] == "run"
    f = post("tools/call", modern, name="run",
             arguments={"text": "echo out; exit 3"})[1]["result"]["structuredContent"]
    assert (f["stdout"], f["exit_code"]) == ("out\n", 3), f
    r = post("tools/call", modern, name="run", arguments={"text": "touch forbidden"})
    assert r[1]["result"]["isError"] and not os.path.exists("forbidden"), r
    i = post("tools/call", modern, name="run", arguments={
        "text": "cat", "background": True})[1]["result"]["structuredContent"]["id"]
    post("tools/call", modern, name="write", arguments={"id": i, "text": "in", "close": True})
    f = post("tools/call", modern, name="read", arguments={"id": i, "wait": 30})
    assert f[1]["result"]["structuredContent"]["stdout"] == "in", f
    status, answer, notes = post("tools/call", modern, name="run", arguments={
        "text": "sleep 1.5"}, _meta={"progressToken": "p"})
    assert notes and notes[0]["params"]["progressToken"] == "p", notes
# In the session of its address, too.
f = post("tools/call", path="/api/v1/sessions/other/mcp", name="run",
         arguments={"text": "echo $WARDBOX_SESSION_ID"})[1]["result"]
assert f["structuredContent"]["stdout"] == "other\n", f
# Closed before its answer: it is taken back.
def running():
    return [x for x in json.loads(ws.ask("GET", "/api/v1/commands")[2])["commands"]
            if x["state"] == "running"]
m, how = message("tools/call", True, name="run", arguments={"text": "sleep 1000"})
s = ws.connect(port)
assert "text/event-stream" in ws.ask("POST", "/mcp", m, key=key, s=s, more=how)[1]
assert len(running()) == 1
s.close()
while running():
    pass
# And by another message, in the former era.
m, how = message("tools/call", False, name="run", arguments={"text": "sleep 1000"})
s = ws.connect(port)
head, rest = ws.ask("POST", "/mcp", m, key=key, s=s, more=how)[1:]
assert ws.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/cancelled",
              "params": {"requestId": m["id"]}}, key=key, port=port)[0] == 202
assert events(s, head, rest) == []
while running():
    pass
# What the head says is to be so; what is no message is refused.
m, how = message("tools/list", True)
for wrong in (accept, how.replace("2026-07-28", "2025-06-18"),
              how.replace("tools/list", "tools/call")):
    status, head, body = ws.ask("POST", "/mcp", m, key=key, port=port, more=wrong)
    assert status == 400 and json.loads(body)["error"]["code"] == -32020, body
assert post("no/such")[0] == 404
assert ws.ask("POST", "/mcp", b"{", key=key, port=port)[0] == 400
assert ws.ask("POST", "/mcp", m, key=key, port=port, more=how.replace(
    "2026-07-28", "1900-01-01"))[0] == 400
for method in "GET", "DELETE", "PUT":
    assert ws.ask(method, "/mcp", key=key, port=port)[0] == 405, method
    assert ws.ask(method, "/api/v1/sessions/s/mcp", key=key, port=port)[0] == 405
# A key that does not run, and none; another's page.
for bad, want in (os.environ["view_key"], 403), ("wbk-none", 401), ("", 401):
    for path in "/mcp", "/api/v1/sessions/s/mcp":
        assert ws.ask("POST", path, m, key=bad, port=port, more=how)[0] == want
assert ws.ask("POST", "/mcp", m, key=key, port=port,
              more=how + "Origin: http://elsewhere.example\r\n")[0] == 403
# A question has its page at the server's own port.
r = post("tools/call", name="run", arguments={"text": "touch asked"})[1]["result"]
url = r["inputRequests"]["approval"]["params"]["url"]
assert url.startswith(f"http://127.0.0.1:{port}/approve/"), url
path = url.split(str(port))[1]
assert ws.ask("POST", path, b"answer=yes", key="", port=port)[0] == 200
f = post("tools/call", name="run", arguments={"text": "touch asked"},
         requestState=r["requestState"], inputResponses={})[1]["result"]
assert f["structuredContent"]["state"] == "ended" and os.path.exists("asked"), f
EOF
	run in_policy "$POLICY" "$WARDBOX" audit verify
	[[ $output == *intact* ]]
}
