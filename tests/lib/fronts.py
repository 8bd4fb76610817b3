# SPDX-License-Identifier: MIT
"""The same lines by every way in: each is to end as the policy says, whoever asks.
WARDBOX is the binary; a server runs. Words are the names of some fronts alone; gRPC
is one that has to be named. What differs is printed; no word is good.
"""
import sys

import codex
import mcp
from ws import *

BOX = os.environ["WARDBOX"]


def run(*argv, stdin=b""):
    p = mcp.subprocess.run([BOX, *argv], input=stdin, stdout=mcp.subprocess.PIPE,
                           stderr=mcp.subprocess.STDOUT, timeout=60, check=False)
    return p.returncode, p.stdout.decode(errors="replace")


def lines(line):
    code, said = run("envrun", "--serve-stdin", stdin=line.encode() + b"\n")
    f = json.loads(said.split("\n")[0])
    return f["exit_code"], said


def tool(*options):
    def ask_tool(line):
        client = mcp.Client(command=[BOX, "mcp", *options], stderr=mcp.subprocess.DEVNULL)
        f = client.facts("run", text=line)
        client.close()
        return f.get("exit_code", 126 if f["state"] == "denied" else None), json.dumps(f)
    return ask_tool


def executor(line):
    client = codex.Client(stderr=mcp.subprocess.DEVNULL)
    code, said = client.run(line)
    client.close()
    return code, b"".join(said.values()).decode(errors="replace")


def detached(line):
    _, name = run("exec", "--server", "local", "--detach", "s", "--", "sh", "-c", line)
    return run("serve", "attach", name.strip())


def rest(line):
    st, _, b = ask("POST", "/api/v1/sessions/s/commands", {"text": line, "pty": False})
    assert st == 201, (st, b)
    i = json.loads(b)["id"]
    while True:
        f = json.loads(ask("GET", f"/api/v1/commands/{i}")[2])
        if f["state"] not in ("running", "asking"):
            out = b"".join(ask("GET", f"/api/v1/commands/{i}/output?stream={n}")[2]
                           for n in (1, 2))
            return f["exit_code"], json.dumps(f) + out.decode(errors="replace")


def websocket(pty):
    def socket_line(line):
        out, said, code = Socket(text=line, pty=pty).all()
        assert code == 1000, code
        return said[-1]["exit_code"], json.dumps(said[-1]) + out.decode(errors="replace")
    return socket_line


def grpc(line):
    import h2
    h = h2.H2()
    s = h.call(h2.start(line), end=True)
    assert h.end_of(s) == 0, h.heads
    out, facts = b"", {}
    for m in h.messages(s):
        for kind, data in h2.parts(m):
            if kind == 2:
                facts = dict(h2.parts(data))
            elif kind in (1, 5):
                out += dict(h2.parts(data)).get(1, b"")
    return facts.get(1, 0), (out + facts.get(7, b"")).decode(errors="replace")


FRONTS = {
    "sh -c": lambda line: run("sh", "-c", line),
    "exec": lambda line: run("exec", "s", "--", "sh", "-c", line),
    "exec --pty": lambda line: run("exec", "--pty", "s", "--", "sh", "-c", line),
    "envrun": lambda line: run("envrun", "--", line),
    "envrun --serve-stdin": lines,
    "mcp": tool(),
    "mcp --server": tool("--server", "local"),
    "exec --server": lambda line: run("exec", "--server", "local", "s", "--",
                                      "sh", "-c", line),
    "exec --detach, serve attach": detached,
    "serve --codex": executor,
    "REST": rest,
    "WebSocket": websocket(False),
    "WebSocket, a terminal": websocket(True),
    "gRPC": grpc,
}
NAMES = sys.argv[1:] or [name for name in FRONTS if name != "gRPC"]

with open("nested", "w", encoding="ascii") as f:
    f.write('"$@"\n')
bad = 0
for name in NAMES:
    front = FRONTS[name]
    mark = "made-" + "".join(c for c in name if c.isalnum())
    # The line, the code, words that are said, what may not have happened.
    cases = (
        (f"touch {mark}", 0, "", None),
        ("exit 7", 7, "", None),
        ("touch forbidden", 126, "forbids", "forbidden"),
        ("sh ./nested touch forbidden", 126, "forbids", "forbidden"),
        ("touch careful", 126, "careful", "careful"),
        ("echo x >/etc/wardbox/planted", None, "", "/etc/wardbox/planted"),
        (f"cat {HOME}/token && touch leaked", None, "", "leaked"),
    )
    for line, wanted, words, never in cases:
        try:
            code, said = front(line)
        except (AssertionError, KeyError, ValueError) as e:
            code, said = repr(e), ""
        wrong = [why for why, is_ in (
            ("its code", code == 0 if wanted is None else code != wanted),
            ("what it says", words not in said),
            ("what it did", never and os.path.exists(never)),
            ("a token", "wbk-" in said)) if is_]
        if wrong:
            bad += 1
            print(f"{name}: {line}: {', '.join(wrong)}: {code} {said[:300]}")
    if not os.path.exists(mark):
        bad += 1
        print(f"{name}: did not what is allowed")
print(f"{len(NAMES)} fronts, {bad} wrong")
sys.exit(bad != 0)
