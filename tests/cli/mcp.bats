#!/usr/bin/env bats
# mcp: commands for an agent's harness

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

client() { # what a Python program does with mcp.Client
	{
		echo 'from mcp import *'
		cat
	} >"$BATS_TEST_TMPDIR/client.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout 60 python3 "$BATS_TEST_TMPDIR/client.py"
}

@test "run: output, code, directory, input, in both eras" {
	mkdir sub
	client <<'EOF'
for modern in False, True:
    c = Client(modern)
    f = c.facts("run", text="echo out; echo err >&2; exit 3")
    assert (f["state"], f["exit_code"]) == ("ended", 3), f
    assert (f["stdout"], f["stderr"]) == ("out\n", "err\n"), f
    r = c.call("run", text="echo hello")
    assert not r["isError"] and r["content"][0]["text"].startswith("hello\n")
    assert ("resultType" in r) == modern
    assert c.facts("run", text="pwd", cwd="sub")["stdout"].endswith("/sub\n")
    assert c.facts("run", text="cat", input="in\u00e9")["stdout"] == "in\u00e9"
    # Without input there is none to wait for.
    assert c.facts("run", text="cat; echo over")["stdout"] == "over\n"
    assert c.facts("run", text="printf 'a\\377b'")["stdout"] == "a\ufffdb"
    f = c.facts("run", text="kill -9 $$")
    assert f["signal"] == "KILL", f
    assert c.close() == 0
EOF
}

@test "what is denied is an error with its rule, and recorded" {
	client <<'EOF'
c = Client()
r = c.call("run", text="touch forbidden")
f = r["structuredContent"]
assert r["isError"] and f["state"] == "denied" and f["exit_code"] == 126, r
assert "forbids" in f["reason"] and f["rule"] == "forbidden", f
assert f["reason"] in r["content"][0]["text"]
w = c.facts("why", id=f["id"])
assert w["decision"] == "deny" and w["command"] == "touch forbidden", w
assert w["correlation_id"] and w["profile"] == "FULL-AUTO", w
# Another one beside it is not.
w = c.facts("why", id=c.facts("run", text="touch allowed")["id"])
assert w["decision"] == "allow", w
f = c.facts("run", text="true", cwd="/nowhere")
assert f["state"] == "failed" and "/nowhere" in f["reason"], f
assert c.close() == 0
EOF
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *"touch forbidden"* ]]
	[ ! -e forbidden ]
}

@test "a question is a denial: nobody sits at the terminal" {
	POLICY='policy 1 system
include default
use FULL-AUTO
ask id=touch touch **'
	client <<'EOF'
c = Client()
for pty in False, True:
    f = c.facts("run", text="touch made", pty=pty)
    assert f["state"] == "denied", f
EOF
	[ ! -e made ]
}

@test "in the background: write, read from a cursor, close, signal" {
	client <<'EOF'
c = Client()
f = c.facts("run", background=True,
            text="while read a; do echo got $a; done; echo end; exit 5")
i = f["id"]
assert f["state"] == "running"
c.call("write", id=i, text="one\n")
f = c.facts("read", id=i, wait=30)
assert f["stdout"] == "got one\n" and f["stdout_cursor"] == 8, f
c.call("write", id=i, text="two\n", close=True)
said = ""
while f["state"] == "running":
    f = c.facts("read", id=i, wait=30)
    said += f["stdout"]
assert said == "got two\nend\n" and f["exit_code"] == 5, (said, f)
# Another reader has all of it.
f = c.facts("read", id=i, stdout_cursor=4)
assert f["stdout"] == "one\ngot two\nend\n", f
assert c.call("write", id=i, text="x")["isError"]
# A command that is signalled ends so.
i = c.facts("run", background=True, text="trap 'exit 7' INT; echo up;"
            "while :; do sleep 0.05; done")["id"]
assert c.facts("read", id=i, wait=30)["stdout"] == "up\n"
assert c.facts("signal", id=i, signal="INT") == {"id": i}
f = c.facts("read", id=i, wait=30)
while f["state"] == "running":
    f = c.facts("read", id=i, wait=30)
assert f["exit_code"] == 7, f
assert c.call("signal", id=i)["isError"]
assert c.call("signal", id=i, signal="NONE")["isError"]
states = [x["state"] for x in c.facts("list")["commands"]]
assert states == ["ended", "ended"], states
assert c.call("read", id="c99")["isError"]
assert c.close() == 0
EOF
}

@test "a terminal, and its size" {
	client <<'EOF'
c = Client()
f = c.facts("run", pty=True, background=True, text="read a; stty size; tty")
assert not c.call("write", id=f["id"], rows=33, cols=99)["isError"]
c.call("write", id=f["id"], text="\n")
said = ""
while f["state"] == "running":
    f = c.facts("read", id=f["id"], wait=30)
    said += f["stdout"]
assert "33 99" in said and "/dev/pts/" in said, said
i = c.facts("run", text="cat", background=True)["id"]
assert c.call("write", id=i, rows=3)["isError"]
EOF
}

@test "long output: beginning, end, and the rest by its cursor" {
	client <<'EOF'
c = Client()
f = c.facts("run", text="seq 100000")
whole = "".join(f"{n}\n" for n in range(1, 100001))
assert f["stdout_omitted"] == len(whole) - 32768, f["stdout_omitted"]
assert f["stdout"].startswith(whole[:16384]) and f["stdout"].endswith(
    whole[-16384:])
got, at = whole[:f["stdout_cursor"]], f["stdout_cursor"]
while True:
    r = c.facts("read", id=f["id"], stdout_cursor=at, max=100000)
    head = whole[at:r["stdout_cursor"]]
    assert r["stdout"].startswith(head)
    if at == r["stdout_cursor"]:
        break
    got, at = got + head, r["stdout_cursor"]
assert got == whole
# A character is never cut in two.
f = c.facts("run", text="printf '\\303\\251%.0s' $(seq 300)", max=101)
assert "\ufffd" not in f["stdout"][:50], f["stdout"]
EOF
}

@test "time is up, cancelled, and progress on the way" {
	client <<'EOF'
c = Client()
r = c.call("run", text="sleep 100", timeout=0.2)
f = r["structuredContent"]
assert r["isError"] and f["timed_out"] and f["exit_code"] == 124, r
# Cancelled: it ends, and nothing is answered.
n = c.post("tools/call", name="run", arguments={"text": "sleep 100"},
           _meta={"progressToken": "p"})
while not c.notes:
    c.post("ping")
    c.get()
assert c.notes[0]["params"]["progressToken"] == "p", c.notes
c.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": n}})
i = c.facts("list")["commands"][0]["id"]
f = c.facts("read", id=i, wait=30)
while f["state"] == "running":
    f = c.facts("read", id=i, wait=30)
assert f["signal"] == "TERM", f
c.p.stdin.close()
assert str(n) not in [str(json.loads(l).get("id")) for l in c.p.stdout]
assert c.p.wait() == 0
EOF
}

@test "what is no question of the protocol is refused, and the next answered" {
	client <<'EOF'
c = Client()
def code():
    return c.get()["error"]["code"]
c.raw(b"{\n"); assert code() == -32700
c.raw(b"[]\n"); assert code() == -32600
c.raw(b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n'); assert code() == -32600
c.raw(b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n'); assert code() == -32600
c.raw(b'{"jsonrpc":"2.0","id":1,"method":"no/such"}\n'); assert code() == -32601
c.raw(b"x" * (5 << 20) + b"\n"); assert code() == -32600
assert c.ask("tools/call", name="no")["error"]["code"] == -32602
for wrong in {"text": 5}, {"text": "true", "timeout": -1}, {}, {"text": ""}, {
        "text": "true", "more": 1}, {"text": "true", "pty": "yes"}:
    assert c.call("run", **wrong)["isError"], wrong
assert c.facts("run", text="echo on")["stdout"] == "on\n"
# Nothing before `initialize`, and no other version, but it names its own.
c = Client(True)
e = c.ask("tools/list", _meta={
    "io.modelcontextprotocol/protocolVersion": "1900-01-01"})["error"]
assert e["code"] == -32022 and "2026-07-28" in e["data"]["supported"], e
c.modern = False
assert c.ask("tools/list")["error"]["code"] == -32602
EOF
}

@test "a client or server that goes leaves no command, and a whole record" {
	client <<'EOF'
import signal
for way in "close", "TERM", "KILL":
    c = Client()
    i = c.facts("run", text=f"echo $$ {way}; exec sleep 1000",
                background=True)["id"]
    pid = int(c.facts("read", id=i, wait=30)["stdout"].split()[0])
    server = c.p.pid
    front = [int(x) for x in
             open(f"/proc/{server}/task/{server}/children").read().split()]
    watched = [os.pidfd_open(x) for x in front]
    if way == "close":
        assert c.close() == 0
    else:
        c.p.send_signal(getattr(signal, "SIG" + way))
        c.p.wait()
    import select
    for fd in watched:
        assert select.select([fd], [], [], 30)[0], way
EOF
	run in_policy "$POLICY" "$WARDBOX" audit verify
	[[ $output == *intact* ]]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[ "$(grep -c '"type":"start".*exec sleep 1000' <<<"$output")" -eq 3 ]
	[ "$(grep -c '"type":"end".*"signal":15' <<<"$output")" -eq 3 ]
}

@test "what a command changed, and back" {
	POLICY+=$'\nprofile FULL-AUTO undo=on'
	echo before >old
	client <<'EOF'
c = Client()
i = c.facts("run", text="echo new >made; echo more >>old")["id"]
f = c.facts("changed", id=i)
assert f["id"] == i
assert {(x["what"], os.path.basename(x["path"])) for x in
        f["result"]["changes"]} == {("made", "made"), ("changed", "old")}, f
f = c.facts("undo", id=i, dry_run=True)
assert not f["result"]["done"] and os.path.exists("made"), f
assert not c.call("undo", id=i, paths=["made"])["isError"]
assert not os.path.exists("made") and open("old").read() == "before\nmore\n"
# A path is no option, and what others changed since stays.
assert c.call("undo", id=i, paths=["--force"])["isError"]
i = c.facts("run", text="echo x >file")["id"]
open("file", "w").write("mine")
r = c.call("undo", id=i)
assert r["isError"] and "somebody changed it" in r["content"][0]["text"], r
assert open("file").read() == "mine"
i = c.facts("run", text="true")["id"]
assert c.call("changed", id=i)["isError"] and c.call("undo", id=i)["isError"]
i = c.facts("run", text="cat", background=True)["id"]
assert "still runs" in c.call("undo", id=i)["content"][0]["text"]
assert c.call("undo", id=i, paths="made")["isError"]
# None of that is a command of the session.
assert len(c.facts("list")["commands"]) == 4
EOF
}

@test "what a command left running ends with the server, or when it is cancelled" {
	client <<'EOF'
import select
def pid_of(text):
    """The pid out here of the process that has that word in its arguments."""
    for p in os.listdir("/proc"):
        try:
            if open(f"/proc/{p}/cmdline", "rb").read() == text:
                return int(p)
        except OSError:
            pass
def ends(fd):
    return select.select([fd], [], [], 30)[0]
c = Client()
f = c.facts("run", text="sleep 31001 & echo left")
assert f["stdout"] == "left\n" and f["exit_code"] == 0, f
left = os.pidfd_open(pid_of(b"sleep\x0031001\0"))
# One that is cancelled leaves nothing.
n = c.post("tools/call", name="run",
           arguments={"text": "trap : TERM; sleep 31002; sleep 31003"})
while not pid_of(b"sleep\x0031002\0"):
    pass
asleep = os.pidfd_open(pid_of(b"sleep\x0031002\0"))
c.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": n}})
assert ends(asleep)
i = c.facts("list")["commands"][0]["id"]
while c.facts("read", id=i, wait=30)["state"] == "running":
    pass
# What the trap let start is ended beside the answer, not before it.
while pid_of(b"sleep\x0031003\0"):
    pass
assert not select.select([left], [], [], 0)[0]
assert c.close() == 0
assert ends(left)
EOF
}

@test "many at once, none harmed by the other" {
	client <<'EOF'
c = Client()
asked = {c.post("tools/call", name="run", arguments={
    "text": f"echo {n}; exit {n}"}): n for n in range(30)}
for _ in range(30):
    got = c.get()
    n = asked.pop(got["id"])
    f = got["result"]["structuredContent"]
    assert (f["stdout"], f["exit_code"]) == (f"{n}\n", n), f
assert not asked and c.close() == 0
EOF
}

@test "the tools, as clients are told of them" {
	run "$WARDBOX" mcp --tools
	[ "$status" -eq 0 ]
	[ "$(jq -r '[.[].name] | join(" ")' <<<"$output")" = \
		"run read write signal list why changed undo" ]
	run "$WARDBOX" mcp a b
	[ "$status" -eq 2 ]
	run "$WARDBOX" mcp --help
	[ "$status" -eq 0 ]
}
