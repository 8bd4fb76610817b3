# SPDX-License-Identifier: MIT
"""python3-grpcio at wardbox serve: grpc_client.py DIR-OF-STUBS TARGET [CERTIFICATE]

TARGET is grpc's: unix:PATH, HOST:PORT; with a certificate it is spoken to by TLS.
KEY, VIEW and APPROVE are keys. Says "ok" and the version at the end.
"""
import os
import sys
import threading

sys.path.insert(0, sys.argv[1])
import grpc
import wardbox_pb2 as pb
import wardbox_pb2_grpc as rpc

target, pem = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
if pem:
    with open(pem, "rb") as f:
        channel = grpc.secure_channel(
            target, grpc.ssl_channel_credentials(f.read()))
else:
    channel = grpc.insecure_channel(target)
run = rpc.TerminalStub(channel).Run
KEY, VIEW, APPROVE = (os.environ[n] for n in ("KEY", "VIEW", "APPROVE"))


def key(text):
    return (("authorization", "Bearer " + text),)


def start(**what):
    return pb.Input(start=pb.Start(session_id="s", **what))


def typed(data):
    return pb.Input(stdin=pb.Data(data=data))


def all_of(call):
    """Output, stderr, the last message."""
    out = err = b""
    last = None
    for m in call:
        out += m.output.data
        err += m.stderr.data
        last = m
    return out, err, last


def code(call):
    try:
        all_of(call)
    except grpc.RpcError as e:
        return e.code().name
    return "OK"


class Talk:
    """A call whose input comes bit by bit."""

    def __init__(self, *first, as_key=None, **more):
        self.said, self.more, self.over = list(first), threading.Event(), False
        self.had = b""
        self.more.set()
        self.call = run(self.feed(), metadata=key(as_key or KEY), **more)

    def feed(self):
        while True:
            self.more.wait()
            self.more.clear()
            while self.said:
                yield self.said.pop(0)
            if self.over:
                return

    def say(self, *what):
        self.said += what
        self.more.set()

    def end(self):
        self.over = True
        self.more.set()

    def until(self, text):
        while text not in self.had:
            self.had += next(self.call).output.data
        self.had = self.had.split(text, 1)[1]


# A terminal: keys, its size, a signal, the exit.
t = Talk(start(command="sh", args=["-c", "stty size; read a; stty size; echo $a;"
                                   "trap 'exit 9' INT; echo up; read b"],
               rows=40, cols=100))
first = next(t.call)
assert first.started.session_id == "s" and first.started.pty, first
t.until(b"40 100")
t.say(pb.Input(resize=pb.Resize(rows=50, cols=120)), typed(b"ke"), typed(b"y\r"))
t.until(b"50 120")
t.until(b"up")
t.say(pb.Input(signal=pb.Signal(name="INT")))
out, _, last = all_of(t.call)
assert last.exit.exit_code == 9 and last.exit.state == "ended", last
t.end()

# Pipes: both streams apart, the end of its input by the half-close.
out, err, last = all_of(run(iter([start(text="cat; echo e >&2; exit 7", pipes=True),
                                  typed(b"in\n")]), metadata=key(KEY)))
assert (out, err, last.exit.exit_code) == (b"in\n", b"e\n", 7), (out, err, last)
big = os.urandom(3000000)
parts = [typed(big[i:i + 100000]) for i in range(0, len(big), 100000)]
out, _, last = all_of(run(iter([start(command="cat", pipes=True)] + parts),
                          metadata=key(KEY)))
assert out == big and last.exit.exit_code == 0

# Denied: an exit with its reason.
_, _, last = all_of(run(iter([start(command="touch", args=["forbidden"])]),
                        metadata=key(KEY)))
assert last.exit.exit_code == 126 and last.exit.state == "denied", last
assert "forbids" in last.exit.reason and last.exit.rule == "forbidden", last

# What is no message of ours, each by its code.
for wrong, want in (
        ([], "INVALID_ARGUMENT"),
        ([pb.Input()], "INVALID_ARGUMENT"),
        ([start()], "INVALID_ARGUMENT"),
        ([start(text="a", command="b")], "INVALID_ARGUMENT"),
        ([start(text="a\0b")], "INVALID_ARGUMENT"),
        ([start(text="true", rows=5000)], "INVALID_ARGUMENT"),
        ([pb.Input(start=pb.Start(session_id="../x", text="true"))], "NOT_FOUND"),
        ([pb.Input(attach=pb.Attach(session_id="s", command_id="c999"))],
         "NOT_FOUND"),
        ([typed(b"x")], "FAILED_PRECONDITION"),
        ([pb.Input(resize=pb.Resize(rows=1, cols=1))], "FAILED_PRECONDITION"),
        ([start(text="sleep 1000"), start(text="true")], "FAILED_PRECONDITION"),
        ([start(text="sleep 1000"), pb.Input(signal=pb.Signal(name="NO"))],
         "INVALID_ARGUMENT"),
        ([start(text="sleep 1000"), typed(b"x" * 600000)], "RESOURCE_EXHAUSTED")):
    got = code(run(iter(wrong), metadata=key(KEY)))
    assert got == want, (str(wrong)[:80], got, want)
stub = channel.stream_stream("/wardbox.v1.Terminal/No")
assert code(stub(iter([b""]), metadata=key(KEY))) == "UNIMPLEMENTED"

# The same roles as on the other fronts.
assert code(run(iter([start(text="true")]))) == "UNAUTHENTICATED"
assert code(run(iter([start(text="true")]), metadata=key("wrong"))) == "UNAUTHENTICATED"
assert code(run(iter([start(text="true")]),
                metadata=(("x-api-key", KEY),))) == "OK"
for k in VIEW, APPROVE:
    assert code(run(iter([start(text="true")]), metadata=key(k))) == "PERMISSION_DENIED"
t = Talk(start(text="read a; echo got $a", pipes=True))
name = next(t.call).started.command_id
look = pb.Input(attach=pb.Attach(session_id="s", command_id=name))
assert code(run(iter([look, typed(b"x\n")]), metadata=key(VIEW))) == "PERMISSION_DENIED"
v = Talk(look, as_key=VIEW)
assert next(v.call).started.command_id == name
t.say(typed(b"mine\n"))
assert all_of(t.call)[0] == b"got mine\n"
assert all_of(v.call)[0] == b"got mine\n"
t.end(), v.end()

# Detached from, and attached to again from a cursor.
t = Talk(start(text="echo one; read a; echo $a", pipes=True))
name = next(t.call).started.command_id
t.until(b"one\n")
t.say(pb.Input(detach=pb.Detach()))
assert code(t.call) == "OK"
t.end()
t = Talk(pb.Input(attach=pb.Attach(session_id="s", command_id=name, stdout_cursor=2)),
         typed(b"two\n"))
assert all_of(t.call)[0] == b"e\ntwo\n"
t.end()


def state(name):
    """How a command stands, seen by a look that is broken off."""
    try:
        for m in run(iter([pb.Input(attach=pb.Attach(
                session_id="s", command_id=name, view=True))]),
                metadata=key(VIEW), timeout=0.3):
            if m.exit.state:
                return m.exit.signal or m.exit.state
    except grpc.RpcError as e:
        assert e.code() == grpc.StatusCode.DEADLINE_EXCEEDED, e
    return "running"


# A deadline and a cancel end the command that was the call's; kept, it goes on.
for keep in False, True:
    t = Talk(start(text="echo up; exec sleep 1000", pipes=True, keep=keep), timeout=2)
    name = next(t.call).started.command_id
    t.until(b"up")
    if keep:
        t.call.cancel()
        assert state(name) == "running"
        t = Talk(pb.Input(attach=pb.Attach(session_id="s", command_id=name)),
                 pb.Input(signal=pb.Signal(name="TERM")))
        assert all_of(t.call)[2].exit.signal == "TERM"
    else:
        assert code(t.call) == "DEADLINE_EXCEEDED"
        while state(name) == "running":
            pass
        assert state(name) == "TERM"
    t.end()

# A reader that is slow holds its own command up, and no other call.
slow = run(iter([start(text="head -c 40000000 /dev/zero", pipes=True)]),
           metadata=key(KEY))
name = next(slow).started.command_id
next(slow)
assert code(run(iter([start(text="true")]), metadata=key(KEY))) == "OK"
assert state(name) == "running"
assert sum(len(m.output.data) for m in slow) > 30000000

# Many at once on one connection.
many = [Talk(start(text=f"read a; echo {n} $a", pipes=True)) for n in range(40)]
for n, t in enumerate(many):
    t.say(typed(b"to %d\n" % n))
for n, t in enumerate(many):
    assert all_of(t.call)[0] == b"%d to %d\n" % (n, n)
    t.end()

# Health: anybody may ask, and who views may wait.
check = channel.unary_unary("/grpc.health.v1.Health/Check")
watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
assert check(b"") == b"\x08\x01"
assert check(b"\x0a\x13wardbox.v1.Terminal") == b"\x08\x01"
try:
    check(b"\x0a\x02no")
    assert False
except grpc.RpcError as e:
    assert e.code() == grpc.StatusCode.NOT_FOUND, e
w = watch(b"", metadata=key(VIEW))
assert next(w) == b"\x08\x01"
w.cancel()
try:
    next(watch(b""))
    assert False
except grpc.RpcError as e:
    assert e.code() == grpc.StatusCode.UNAUTHENTICATED, e
print("ok", grpc.__version__)
