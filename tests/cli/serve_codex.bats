#!/usr/bin/env bats
# serve --codex: codex's executor, its processes and its files

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"
deny id=cut rm -rf -- */kept : "the test forbids it"'

client() { # what a Python program does with codex.Client
	{
		echo 'from codex import *'
		cat
	} >"$BATS_TEST_TMPDIR/client.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout 60 python3 "$BATS_TEST_TMPDIR/client.py"
}

@test "processes: output, code, directory, variables" {
	mkdir sub
	client <<'EOF'
c = Client()
info = c.about["environmentInfo"]
assert os.access(info["shell"]["path"], os.X_OK), info
assert info["cwd"] == uri("."), info
assert c.result("environment/info") == info
assert c.result("environment/status") == {"status": "ready"}
code, said = c.run("echo out; echo err >&2; exit 3")
assert (code, said) == (3, {"stdout": b"out\n", "stderr": b"err\n"}), said
assert c.run("pwd", cwd="sub")[1]["stdout"].endswith(b"/sub\n")
code, said = c.run("echo $ONE-$TWO-$THREE", env={"ONE": "1", "TWO": "2=\u00e9"},
                   envPolicy={"inherit": "all", "set": {"THREE": "x"}})
assert said["stdout"] == "1-2=\u00e9-x\n".encode(), said
got = c.start("named", "true")
assert got["result"]["sandboxType"] == "linuxSeccomp", got
assert c.start("named", "true")["error"]["code"] == -32600
c.end("named")
assert c.run("kill -9 $$")[0] == 137
# Without input there is none to wait for.
assert c.run("cat; echo over")[1]["stdout"] == b"over\n"
assert c.close() == 0
EOF
}

@test "processes: input, a terminal, signals, reading again" {
	client <<'EOF'
c = Client()
def letters(data):
    return base64.b64encode(data).decode()
def write(name, data):
    return c.result("process/write", processId=name, writeId="1",
                    chunk=letters(data))["status"]
c.start("in", "cat", pipeStdin=True)
assert write("in", b"one\n") == "accepted"
assert c.note("in", "process/output")["seq"] == 1
assert write("nobody", b"x") == "unknownProcess"
r = c.result("process/read", processId="in", afterSeq=None, maxBytes=None, waitMs=0)
assert [text_of(x["chunk"]) for x in r["chunks"]] == [b"one\n"], r
assert (r["nextSeq"], r["exited"], r["closed"], r["exitCode"]) == (
    2, False, False, None), r
# A read waits for what is new.
wait = c.post("process/read", processId="in", afterSeq=1, waitMs=60000)
put = c.post("process/write", processId="in", writeId="2", chunk=letters(b"two\n"))
seen = {}
while len(seen) < 2:
    got = c.next()
    if "id" in got:
        seen[got["id"]] = got["result"]
    else:
        c.notes.append(got)
assert seen[put] == {"status": "accepted"}
assert [(x["seq"], text_of(x["chunk"])) for x in seen[wait]["chunks"]] == [
    (2, b"two\n")], seen
r = c.result("process/read", processId="in", afterSeq=2, waitMs=50)
assert r["chunks"] == [] and r["nextSeq"] == 3, r
r = c.result("process/read", processId="in", maxBytes=3)
assert len(r["chunks"]) == 1 and r["nextSeq"] == 2, r
assert c.result("process/terminate", processId="in") == {"running": True}
assert c.end("in")[0] == 143
assert c.result("process/terminate", processId="in") == {"running": False}
assert write("in", b"x") == "stdinClosed"
r = c.result("process/read", processId="in", afterSeq=0)
assert r["exited"] and r["closed"] and r["exitCode"] == 143, r
assert c.code("process/read", processId="none") == -32600
assert c.result("process/terminate", processId="none") == {"running": False}
# A terminal has one stream, and echoes.
c.start("tty", "/bin/sh", "-c", "tty; read a; echo got $a", tty=True)
write("tty", b"x\n")
code, said = c.end("tty")
assert code == 0 and list(said) == ["pty"], said
assert b"/dev/pts/" in said["pty"] and b"got x\r\n" in said["pty"], said
c.start("int", "/bin/sh", "-c",
        "trap 'exit 7' INT; echo up; while :; do sleep 0.05; done")
c.note("int", "process/output")
assert c.result("process/signal", processId="int", signal="interrupt") == {}
assert c.end("int")[0] == 7
assert c.code("process/signal", processId="int", signal="kill") == -32602
# Much of it, in order, and all of it.
code, said = c.run("seq 300000")
assert said["stdout"] == "".join(f"{n}\n" for n in range(1, 300001)).encode()
assert c.close() == 0
EOF
}

@test "what is denied says why on its stderr, and is recorded" {
	client <<'EOF'
c = Client()
code, said = c.run("touch forbidden")
assert code == 126 and b"the test forbids it (rule forbidden" in said["stderr"], said
assert not os.path.exists("forbidden")
c.start("d", "touch", "forbidden")
n = c.note("d", "process/exited")
assert n["sandboxDenied"] and n["exitCode"] == 126, n
r = c.result("process/read", processId="d")
assert r["sandboxDenied"] and b"forbids" in text_of(r["chunks"][0]["chunk"]), r
assert c.run("touch allowed")[0] == 0 and os.path.exists("allowed")
assert c.run("true", cwd="/nowhere")[0] == 125
c.start("none", "no-such-program")
assert c.end("none")[0] == 127
# Files, too, are the policy's: by the plain words that stand for the request.
os.mkdir("kept")
e = c.ask("fs/remove", path=uri("kept"), recursive=True, sandbox=None)["error"]
assert e["code"] == -32600 and "forbids" in e["message"], e
assert os.path.isdir("kept")
assert c.result("fs/remove", path=uri("allowed"), sandbox=None) == {}
assert not os.path.exists("allowed")
EOF
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *'"argv":["touch","forbidden"]'* ]]
	[[ $output == *'"argv":["rm","-rf","--","'*'/kept"]'* ]]
	run in_policy "$POLICY" "$WARDBOX" audit verify
	[[ $output == *intact* ]]
}

@test "a question waits for approve, and the process says so" {
	POLICY='policy 1 system
include default
use FULL-AUTO
ask id=touch touch **
profile FULL-AUTO ask=approver'
	client <<'EOF'
c = Client("--approver", "60s")
c.start("q", "touch", "made")
said = text_of(c.note("q", "process/output")["chunk"]).decode()
assert "wardbox approve show " in said, said
name = said.split("approve show ")[1].split("'")[0]
assert not os.path.exists("made")
assert subprocess.run([os.environ["WARDBOX"], "approve", "yes", name]).returncode == 0
assert c.end("q")[0] == 0 and os.path.exists("made")
# Without it nobody is asked.
c = Client()
assert c.run("touch other")[0] == 126 and not os.path.exists("other")
EOF
}

@test "files: read, write, list, walk, copy, remove" {
	client <<'EOF'
c = Client()
def f(method, path, **more):
    return c.result("fs/" + method, path=uri(path), sandbox=None, **more)
def letters(data):
    return base64.b64encode(data).decode()
odd = "a \u00e9%#?"
assert f("writeFile", odd, dataBase64=letters(b"\0bytes\xff")) == {}
assert open(odd, "rb").read() == b"\0bytes\xff"
assert text_of(f("readFile", odd)["dataBase64"]) == b"\0bytes\xff"
m = f("getMetadata", odd)
assert (m["isFile"], m["isDirectory"], m["isSymlink"], m["size"]) == (
    True, False, False, 7), m
assert abs(m["modifiedAtMs"] - os.stat(odd).st_mtime * 1000) < 2
assert f("createDirectory", "d/e/f", recursive=True) == {}
assert f("createDirectory", "d/e/f", recursive=True) == {}
assert c.code("fs/createDirectory", path=uri("d"), recursive=False) == -32600
assert c.code("fs/createDirectory", path=uri("x/y"), recursive=False) == -32004
f("writeFile", "d/e/one", dataBase64=letters(b"1"))
os.chmod("d/e/one", 0o750)
os.symlink("one", "d/e/link")
os.symlink("nothing", "d/e/broken")
assert sorted((e["fileName"], e["isDirectory"], e["isFile"])
              for e in f("readDirectory", "d/e")["entries"]) == [
    ("f", True, False), ("link", False, True), ("one", False, True)]
m = f("getMetadata", "d/e/link")
assert m["isSymlink"] and m["isFile"], m
m = f("getMetadata", "d/e/link", followSymlinks=False)
assert m["isSymlink"] and not m["isFile"], m
assert f("canonicalize", "d/../d/e/link") == {"path": uri("d/e/one")}
def walk(**bounds):
    return f("walk", "d", options=dict(dict(
        maxDepth=8, maxDirectories=100, maxEntries=100,
        followDirectorySymlinks=False), **bounds))
r = walk()
assert [(e["path"], e["kind"]) for e in r["entries"]] == [
    (uri("d/e"), "directory"), (uri("d/e/f"), "directory"),
    (uri("d/e/one"), "file")], r
assert [e["path"] for e in r["errors"]] == [uri("d/e/broken")] and not r["truncated"]
r = walk(maxEntries=1)
assert r["truncated"] and len(r["entries"]) == 1, r
assert len(walk(maxDepth=0)["entries"]) == 1
assert c.code("fs/walk", path=uri("d"), options={"maxDepth": 999}) == -32600
os.symlink("..", "d/e/up")
assert len(walk(followDirectorySymlinks=True)["entries"]) == 4
os.unlink("d/e/up")
def copy(a, b, recursive=False):
    return c.ask("fs/copy", sourcePath=uri(a), destinationPath=uri(b),
                 recursive=recursive, sandbox=None)
assert copy("d", "d2")["error"]["code"] == -32600
assert copy("d", "d/e/in", True)["error"]["code"] == -32600
assert "result" in copy("d", "d2", True)
assert os.stat("d2/e/one").st_mode & 0o777 == 0o750
assert os.readlink("d2/e/link") == "one"
assert "result" in copy("d/e/one", "d2/two") and open("d2/two").read() == "1"
assert copy("d/e/one", "d/e/one")["error"]["code"] == -32600
assert open("d/e/one").read() == "1"
assert c.code("fs/remove", path=uri("d2"), recursive=False, force=True) == -32603
assert f("remove", "d2", recursive=True, force=True) == {}
assert not os.path.exists("d2") and os.path.exists("d/e/one")
assert f("remove", "d2", recursive=True, force=True) == {}
assert c.code("fs/remove", path=uri("d2"), force=False) == -32004
assert c.code("fs/readFile", path=uri("none")) == -32004
assert c.code("fs/readFile", path=uri("d")) == -32600
# In blocks.
open("long", "wb").write(bytes(range(256)) * 9000)
assert c.result("fs/open", handleId="h", path=uri("long"), sandbox=None) == {
    "handleId": "h"}
assert c.code("fs/open", handleId="h", path=uri("long")) == -32600
got = b""
while True:
    r = c.result("fs/readBlock", handleId="h", offset=len(got), len=1 << 20)
    got += text_of(r["chunk"])
    if r["eof"]:
        break
assert got == open("long", "rb").read()
assert c.code("fs/readBlock", handleId="h", offset=0, len=0) == -32600
os.rename("long", "old")
open("long", "w").write("another")
e = c.ask("fs/readBlock", handleId="h", offset=0, len=10)["error"]
assert "replaced" in e["message"], e
assert c.result("fs/close", handleId="h") == {}
assert c.code("fs/readBlock", handleId="h", offset=0, len=1) == -32004
assert c.code("fs/open", handleId="n", path=uri("none")) == -32004
assert c.code("fs/readBlock", handleId="n", offset=0, len=1) == -32004
# A large one, both ways.
data = os.urandom(5 << 20)
f("writeFile", "big", dataBase64=letters(data))
assert text_of(f("readFile", "big")["dataBase64"]) == data
# No request is a command that a list shows.
assert c.close() == 0
EOF
}

@test "files: what the session's command cannot touch, no request can" {
	export OUTSIDE=$BATS_TEST_TMPDIR/outside HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME/.ssh" "$OUTSIDE" .git/hooks
	echo secret >"$HOME/.ssh/id"
	echo secret >"$OUTSIDE/file"
	client <<'EOF'
import glob
c = Client()
b64 = base64.b64encode(b"planted").decode()
out, home = os.environ["OUTSIDE"], os.environ["HOME"]
state = f"/run/wardbox/{os.getuid()}"
c.run("ln -s $OUT link; ln -s $OUT/file linked; mkfifo pipe; mkdir real;"
      "echo in >real/file", env={"OUT": out})
secrets = [out + "/file", home + "/.ssh/id", "/etc/shadow", "link/file", "linked",
           *glob.glob(f"/var/log/wardbox/{os.getuid()}/*"),
           *glob.glob(state + "/sessions/*")]
assert len(secrets) > 7, secrets
def read(path):
    return c.ask("fs/readFile", path=uri(path), sandbox=None)
assert "result" in read("real/file")
for s in secrets:
    assert "error" in read(s), s
    assert "error" in c.ask("fs/open", handleId="h", path=uri(s)), s
    assert c.run(f"cat {s}")[0] != 0, s
assert "error" in c.ask("fs/readDirectory", path=uri(out))
def files(top):
    return {os.path.join(d, n): open(os.path.join(d, n), "rb").read()
            for d, _, names in os.walk(top) for n in names}
before = files(out), files(home)
places = [*secrets, out + "/new", "link/new", home + "/.bashrc",
          "/etc/wardbox/policy", "/usr/bin/planted", ".git/hooks/post-commit",
          f"{state}/planted"]
for s in places:
    for method, more in (("writeFile", {"dataBase64": b64}),
                         ("createDirectory", {"recursive": True}),
                         ("copy", {"sourcePath": uri("real"), "recursive": True,
                                   "destinationPath": uri(s)})):
        e = c.ask("fs/" + method, path=uri(s), sandbox=None, **more)
        # The home and /tmp are the guarded user's own: what is written there
        # stays there.
        assert "error" in e or s.startswith((home, out, "link")), (s, method, e)
    c.ask("fs/copy", sourcePath=uri(s), destinationPath=uri("stolen"), recursive=True)
    assert b"secret" not in b"".join(files("stolen").values()), s
    subprocess.run(["rm", "-rf", "stolen"], check=True)
for s in "/etc/wardbox", ".git/hooks", state:
    assert "error" in c.ask("fs/remove", path=uri(s), force=False), s
assert (files(out), files(home)) == before
assert os.listdir(".git/hooks") == []
# A pipe is not waited for, and a link not followed where that is asked for.
assert c.code("fs/readFile", path=uri("pipe")) == -32600
assert c.code("fs/writeFile", path=uri("pipe"), dataBase64=b64) < 0
os.symlink("real", "dir")
assert "result" in read("dir/file")
for method, more in (("readFile", {}), ("writeFile", {"dataBase64": b64}),
                     ("remove", {"force": True}), ("createDirectory", {})):
    assert c.code("fs/" + method, path=uri("dir/file"), followSymlinks=False,
                  **more) == -32600, method
assert open("real/file").read() == "in\n"
assert "result" in c.ask("fs/writeFile", path=uri("real/file"), dataBase64=b64,
                         followSymlinks=False)
assert open("real/file").read() == "planted"
EOF
}

@test "a wish of the client's takes away, and never gives" {
	mkdir -p one two sub .codex
	echo kept >.codex/kept
	echo hidden >sub/hidden
	client <<'EOF'
c = Client()
b64 = base64.b64encode(b"x").decode()
def special(kind, access, **more):
    return {"path": {"type": "special", "value": {"kind": kind, **more}},
            "access": access}
def path(p, access):
    return {"path": {"type": "path", "path": uri(p)}, "access": access}
def wish(*entries, network="enabled"):
    return {"permissions": {"type": "managed", "network": network, "file_system": {
        "type": "restricted", "entries": list(entries)}}, "cwd": uri("."),
        "workspaceRoots": [uri(".")]}
root = special("root", "read")
def writes(name, sandbox):
    """Does a command; does a request?"""
    code, said = c.run(f"echo x >{name}", sandbox=sandbox)
    made = os.path.exists(name)
    if made:
        os.unlink(name)
    got = c.ask("fs/writeFile", path=uri(name), dataBase64=b64, sandbox=sandbox)
    assert (code == 0) == made == ("result" in got) == os.path.exists(name), (
        name, code, said, got)
    if made:
        os.unlink(name)
    return made
assert writes("one/new", None)
assert not writes("one/new", wish(root))
assert writes("one/new", wish(root, special("project_roots", "write")))
some = wish(root, path("one", "write"))
assert writes("one/new", some) and not writes("two/new", some)
assert not writes("new", some)
assert not writes("/etc/new", wish(special("root", "write"), path("/etc", "write")))
kept = wish(root, special("project_roots", "write"),
            special("project_roots", "read", subpath=".codex"),
            special("project_roots", "read", subpath=".missing"),
            path("sub", "none"))
assert writes("new", kept) and not writes(".codex/new", kept)
assert c.run("cat .codex/kept", sandbox=kept)[1]["stdout"] == b"kept\n"
assert c.run("cat sub/hidden", sandbox=kept)[0] != 0
assert c.code("fs/readFile", path=uri("sub/hidden"), sandbox=kept) < 0
assert c.code("fs/open", handleId="h", path=uri("sub/hidden"), sandbox=kept) < 0
assert c.run("cat sub/hidden")[1]["stdout"] == b"hidden\n"
for full in ({"permissions": {"type": "disabled"}},
             {"permissions": {"type": "external", "network": "enabled"}},
             {"permissions": {"type": "managed", "network": "enabled",
                              "file_system": {"type": "unrestricted"}}}):
    assert writes("new", full)
    assert not writes("/etc/new", full)
# What cannot be kept is refused, and nothing runs.
for wrong in (wish(), wish(special("minimal", "read")), {"permissions": {}}, {},
              wish(root, {"path": {"type": "glob_pattern", "pattern": "*.env"},
                          "access": "none"}),
              wish(root, network="other")):
    assert "error" in c.start("w", "touch", "ran", sandbox=wrong), wrong
    assert c.code("fs/writeFile", path=uri("ran"), dataBase64=b64,
                  sandbox=wrong) == -32602, wrong
assert "error" in c.start("w", "touch", "ran", enforceManagedNetwork=True)
assert not os.path.exists("ran")
EOF
	# The same by exec's own options.
	w() { in_policy "$POLICY" "$WARDBOX" exec "$@"; }
	run w --read-only s -- touch one/new
	[ "$status" -ne 0 ]
	[ ! -e one/new ]
	w --write one s -- touch one/new
	run w --write one s -- touch two/new
	[ "$status" -ne 0 ]
	[ ! -e two/new ]
	run w --protect one s -- rm one/new
	[ "$status" -ne 0 ]
	[ -e one/new ]
	run w --hide sub s -- cat sub/hidden
	[ "$status" -ne 0 ]
	run w --read-only --write one s -- true
	[ "$status" -eq 125 ]
	run w --read-only --server local s -- true
	[ "$status" -eq 125 ]
	# Where nothing is confined nothing more can be taken away.
	POLICY+=$'\nuse OBSERVE'
	run in_policy "${POLICY/use FULL-AUTO/}" "$WARDBOX" exec --read-only s -- touch made
	[ "$status" -eq 125 ]
	[ ! -e made ]
}

@test "a wish for no network: not even the loopback" {
	POLICY+=$'\nprofile FULL-AUTO net=local'
	cat >try.py <<'EOF'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
socket.create_connection(s.getsockname())
EOF
	need in_policy "$POLICY" "$WARDBOX" exec s -- python3 try.py
	client <<'EOF'
c = Client()
def wish(network):
    return {"permissions": {"type": "external", "network": network}}
assert c.run("python3 try.py", sandbox=wish("enabled"))[0] == 0
assert c.run("python3 try.py", sandbox=wish("restricted"))[0] != 0
EOF
	run in_policy "$POLICY" "$WARDBOX" exec --offline s -- python3 try.py
	[ "$status" -ne 0 ]
}

@test "variables by a descriptor: the command's, and nobody else's" {
	e() {
		in_policy "$POLICY" "$WARDBOX" exec --environment 7 s -- \
			sh -c 'echo "$A-$WARDBOX_PROFILE-$(ls /proc/self/fd | wc -l)"'
	}
	without=$(in_policy "$POLICY" "$WARDBOX" exec s -- sh -c 'ls /proc/self/fd | wc -l')
	printf 'A=x y\0WARDBOX_PROFILE=SAFE\0' >vars
	run e 7<vars
	[ "$status" -eq 0 ]
	[[ $output == "x y-"*"-$without" ]]
	printf 'A=x' >vars
	run e 7<vars
	[ "$status" -eq 125 ]
	printf '=x\0' >vars
	run e 7<vars
	[ "$status" -eq 125 ]
	run in_policy "$POLICY" "$WARDBOX" exec --environment 2 s -- true
	[ "$status" -eq 125 ]
}

@test "what a request changed can be taken back" {
	POLICY+=$'\nprofile FULL-AUTO undo=on'
	echo before >file
	client <<'EOF'
c = Client()
assert c.result("fs/writeFile", path=uri("file"), sandbox=None,
                dataBase64=base64.b64encode(b"after").decode()) == {}
assert open("file").read() == "after"
EOF
	in_policy "$POLICY" "$WARDBOX" undo
	[ "$(cat file)" = before ]
}

@test "what is no message of the protocol is refused, and the next answered" {
	client <<'EOF'
c = Client(start=False)
assert c.code("environment/status") == -32600
assert c.code("process/start", processId="p", argv=["touch", "ran"], cwd=uri("."),
              env={}) == -32600
assert c.code("initialize", clientName="t", resumeSessionId="gone") == -32600
c.begin()
assert c.code("initialize", clientName="t") == -32600
def refused(line):
    c.raw(line + b"\n")
    got = c.next()
    assert got["id"] == -1, got
    return got["error"]["code"]
for line in (b"{", b"[]", b"5", b'{"method":"x/y"}', b'{"id":{},"method":"a"}',
             b'{"a":1,"a":2}', b"[" * 100):
    assert refused(line) == -32600, line
assert c.code("no/such") == -32601 and c.code("http/request", url="x") == -32601
assert c.code("initialized") == -32601
c.raw(b'{"id":99,"result":{}}\n')
good = {"processId": "p", "argv": ["touch", "ran"], "cwd": uri("."), "env": {}}
for wrong in ({"processId": None}, {"processId": 5}, {"processId": "x" * 999},
              {"argv": []}, {"argv": [""]}, {"argv": ["a\0b"]}, {"argv": "true"},
              {"cwd": "/tmp"}, {"cwd": "file://elsewhere/tmp"},
              {"cwd": "file:///%00"}, {"cwd": "file:///%zz"}, {"cwd": "file:///a?b"},
              {"env": {"A=B": "c"}}, {"env": {"": "c"}}, {"env": {"A": 5}},
              {"env": []}, {"tty": "yes"}):
    assert c.code("process/start", **{**good, **wrong}) == -32602, wrong
for wrong in ({"path": "/etc"}, {"path": 5}, {}, {"path": uri("f")},
              {"path": uri("f"), "dataBase64": "!"},
              {"path": uri("f"), "dataBase64": "eA"}):
    assert c.code("fs/writeFile", **wrong) in (-32602, -32600), wrong
assert not os.path.exists("ran") and not os.path.exists("f")
assert c.run("echo on")[1]["stdout"] == b"on\n"
EOF
	run "$WARDBOX" serve --codex start more
	[ "$status" -eq 2 ]
	run "$WARDBOX" serve files more
	[ "$status" -eq 2 ]
}

@test "a client that goes leaves nothing running, and a whole record" {
	client <<'EOF'
import select
import signal
for way in "close", "TERM", "KILL":
    c = Client("--session", "other")
    c.start("p", "/bin/sh", "-c", f"echo $$ {way}; exec sleep 1000")
    c.note("p", "process/output")
    server = c.p.pid
    front = [int(x) for x in
             open(f"/proc/{server}/task/{server}/children").read().split()]
    watched = [os.pidfd_open(x) for x in front]
    if way == "close":
        assert c.close() == 0
    else:
        c.p.send_signal(getattr(signal, "SIG" + way))
        c.p.wait()
    for fd in watched:
        assert select.select([fd], [], [], 30)[0], way
EOF
	run in_policy "$POLICY" "$WARDBOX" audit verify
	[[ $output == *intact* ]]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[ "$(grep -c '"type":"end".*"signal":15' <<<"$output")" -eq 3 ]
	[ "$(grep -c '"type":"start".*"other"' <<<"$output")" -eq 3 ]
}

@test "over the server's socket and port: by a key that runs, and no other" {
	port=$((20000 + RANDOM % 10000))
	up --port "$port"
	run_key=$(serve keys add ci run)
	view_key=$(serve keys add look view)
	export run_key view_key port
	client <<'EOF'
import ws
port = int(os.environ["port"])
def upgrade(key, port=None):
    s = ws.connect(port)
    s.sendall(("GET /api/v1/sessions/s/codex HTTP/1.1\r\nHost: 127.0.0.1\r\n"
               "Connection: Upgrade\r\nUpgrade: websocket\r\n"
               f"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer {key}\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode())
    head, rest = ws.until(s, b"\r\n\r\n")
    return s, int(head.split()[1]), rest
for key, at, want in ((os.environ["view_key"], port, 403), ("wrong", None, 401),
                      (ws.token("approver"), None, 403), ("", port, 401)):
    assert upgrade(key, at)[1] == want, (key, at)
class Remote(Client):
    def __init__(self, key, port):
        self.s, status, self.had = upgrade(key, port)
        assert status == 101, status
        self.last, self.notes = 0, []
        self.begin()
    def raw(self, line):
        self.s.sendall(ws.frame(ws.TEXT, line.rstrip(b"\n"), mask=b"\0\0\0\0"))
    def more(self, n):
        while len(self.had) < n:
            got = self.s.recv(1 << 20)
            assert got, "the server has gone"
            self.had += got
        head, self.had = self.had[:n], self.had[n:]
        return head
    def line(self):
        first, n = self.more(2)
        assert first == 0x81, first
        if n > 125:
            n = int.from_bytes(self.more(2 if n == 126 else 8), "big")
        return self.more(n) + b"\n"
for key, at in (ws.token(), None), (os.environ["run_key"], port):
    c = Remote(key, at)
    assert c.run("echo out; exit 3") == (3, {"stdout": b"out\n"})
    assert c.run("touch forbidden")[0] == 126
    data = os.urandom(3 << 20)
    c.result("fs/writeFile", path=uri("big"), sandbox=None,
             dataBase64=base64.b64encode(data).decode())
    assert open("big", "rb").read() == data
    got = c.result("fs/readFile", path=uri("big"), sandbox=None)
    assert text_of(got["dataBase64"]) == data
    assert c.run("seq 200000")[1]["stdout"].endswith(b"\n200000\n")
    assert c.code("no/such") == -32601
    # It is a command like all others of the server, and ends with its client.
    c.start("left", "sleep", "1000")
    def listed():
        return [x for x in json.loads(ws.ask("GET", "/api/v1/commands")[2])["commands"]
                if x["command"] == "sleep 1000" and x["state"] == "running"]
    assert len(listed()) == 1
    c.s.close()
    while listed():
        pass
EOF
}
