# SPDX-License-Identifier: MIT
"""WebSocket cases by the numbers of Autobahn's list, against a server's terminal:
binary messages go through `cat`, text messages are its JSON. With a word as the
argument only the cases that begin with it run. Each is a connection of its own, and
beside all of them one goes on that must not notice.
"""
import sys

from ws import *

ran = failed = 0


def cat():
    """Echoes what it is sent, in binary messages."""
    w = Socket(command="cat", pty=False)
    assert w.get()[0] == TEXT
    return w


def echo(w, n):
    out = b""
    while len(out) < n:
        got = w.get()
        assert got and got[0] == BINARY, got
        out += got[1]
    return out


def code(*frames, w=None):
    """How the connection ends after these."""
    w = w or cat()
    try:
        for f in frames:
            w.raw(f)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return w.all()[2]


def case(number, expected, got):
    global ran, failed
    if len(sys.argv) > 1 and not number.startswith(sys.argv[1]):
        return
    ran += 1
    try:
        is_ = got()
    except (AssertionError, OSError) as e:
        is_ = repr(e)
    if is_ != expected:
        failed += 1
        print(f"{number}: expected {expected!r}, got {is_!r}")


def chops(data, n):
    return [data[i:i + n] for i in range(0, len(data), n)]


def echoed(data, frames):
    def run():
        w = cat()
        for f in frames:
            w.raw(f)
        return echo(w, len(data)) == data
    return run


def message(size):
    """A text that the server takes without a word, so long."""
    text = b'{"type":"signal","name":"WINCH"}'
    return text + b" " * (size - len(text))


def taken(*frames):
    """Nothing is said to these, and the connection goes on."""
    def run():
        w = cat()
        for f in frames:
            w.raw(f)
        w.raw(frame(BINARY, b"on") + frame(PING, b"end"))
        seen = [w.get(), w.get()]
        return sorted(seen)
    return run


ON = sorted([(BINARY, b"on"), (PONG, b"end")])

# 1 framing
for i, n in enumerate((64, 125, 126, 127, 128, 65535, 65536)):
    case(f"1.1.{i + 1}", ON, taken(frame(TEXT, message(n))))
    data = os.urandom(n)
    case(f"1.2.{i + 1}", True, echoed(data, [frame(BINARY, data)]))
case("1.1.8", ON, taken(*chops(frame(TEXT, message(65536)), 997)))
case("1.2.8", True, echoed(data, chops(frame(BINARY, data), 997)))
case("1.2.0", ON, taken(frame(BINARY, b"")))
# A length that is not in its shortest form.
case("1.3.1", 1002, lambda: code(b"\x82\xfe\x00\x05" + b"\0" * 9))
case("1.3.2", 1002, lambda: code(b"\x82\xff" + (70).to_bytes(8, "big") + b"\0" * 74))
case("1.3.3", 1009, lambda: code(b"\x82\xff\x80" + b"\0" * 7 + b"\0" * 4))
case("1.3.4", 1002, lambda: code(frame(BINARY, b"x", mask=None)))
case("1.3.5", 1002, lambda: code(frame(PING, b"x", mask=None)))


# 2 pings
def pongs(payloads, size=None):
    def run():
        w = cat()
        data = b"".join(frame(PING, p) for p in payloads)
        for part in chops(data, size or len(data)):
            w.raw(part)
        return [w.get() for _ in payloads]
    return run


for i, p in enumerate((b"", b"hello", b"\0\xff\xfe\xfd\0\xff", b"x" * 125)):
    case(f"2.{i + 1}", [(PONG, p)], pongs([p]))
case("2.5", 1002, lambda: code(frame(PING, b"x" * 126)))
case("2.6", [(PONG, b"x" * 125)], pongs([b"x" * 125], 1))
case("2.7", ON, taken(frame(PONG)))
case("2.8", ON, taken(frame(PONG, b"unasked")))
case("2.9", [(PONG, b"asked")],
     lambda: pongs([b"asked"])() if taken(frame(PONG, b"unasked"))() == ON else None)
ten = [b"payload %d" % i for i in range(10)]
case("2.10", [(PONG, p) for p in ten], pongs(ten))
case("2.11", [(PONG, p) for p in ten], pongs(ten, 1))

# 3 reserved bits
for rsv in range(1, 8):
    for i, op in enumerate((TEXT, BINARY, PING, PONG, CLOSE, 0)):
        case(f"3.{rsv}.{i + 1}", 1002, lambda: code(frame(op, b"", rsv=rsv)))

# 4 opcodes
for i, op in enumerate((3, 4, 5, 6, 7)):
    case(f"4.1.{i + 1}", 1002, lambda: code(frame(op, b"x")))
for i, op in enumerate((11, 12, 13, 14, 15)):
    case(f"4.2.{i + 1}", 1002, lambda: code(frame(op)))

# 5 fragments
case("5.1", 1002, lambda: code(frame(PING, b"a", 0), frame(0, b"b")))
case("5.2", 1002, lambda: code(frame(PONG, b"a", 0), frame(0, b"b")))
half = message(64)
case("5.3", ON, taken(frame(TEXT, half[:9], 0), frame(0, half[9:])))
case("5.4", ON, taken(frame(TEXT, half[:9], 0) + frame(0, half[9:])))
case("5.5", ON, taken(*chops(frame(TEXT, half[:9], 0) + frame(0, half[9:]), 1)))
for i, split in enumerate((64, 1)):
    def between():
        w = cat()
        for part in chops(frame(TEXT, half[:9], 0) + frame(PING, b"mid") +
                          frame(0, half[9:]), split):
            w.raw(part)
        return w.get()
    case(f"5.{6 + 2 * i}", (PONG, b"mid"), between)
case("5.9", 1002, lambda: code(frame(0, b"x"), frame(TEXT, half)))
case("5.10", 1002, lambda: code(frame(0, b"x") + frame(TEXT, half)))
case("5.12", 1002, lambda: code(frame(0, b"x", 0), frame(TEXT, half)))
case("5.15", 1002, lambda: code(frame(TEXT, half[:9], 0), frame(0, half[9:]),
                                frame(0, b"x", 0), frame(TEXT, half)))
case("5.16", 1002, lambda: code(frame(0, b"x", 0), frame(TEXT, b"x"), frame(0, b"x")))
case("5.18", 1002, lambda: code(frame(TEXT, half[:9], 0), frame(TEXT, half[9:])))
case("5.18b", 1002, lambda: code(frame(BINARY, b"a", 0), frame(BINARY, b"b")))


def fragments():
    w = cat()
    w.raw(frame(BINARY, b"1", 0) + frame(0, b"2", 0) + frame(PING, b"one") +
          frame(0, b"", 0) + frame(0, b"3", 0) + frame(PING, b"two") + frame(0, b"4"))
    out, seen = b"", []
    while len(out) < 4 or len(seen) < 2:
        op, data = w.get()
        if op == BINARY:
            out += data
        else:
            seen.append(data)
    return out, seen


case("5.19", (b"1234", [b"one", b"two"]), fragments)


# 6 UTF-8: what is valid is no message of ours (1008); what is not ends with 1007
def utf8(data, *cuts):
    parts, last = [], 0
    for at in (*cuts, len(data)):
        parts.append(data[last:at])
        last = at
    frames = [frame(TEXT if not i else 0, p, i == len(parts) - 1)
              for i, p in enumerate(parts)]
    return lambda: code(*frames)


word = "Hello-µ@ßöäüàá-UTF-8!!".encode()
case("6.1.1", 1008, utf8(b""))
case("6.1.2", 1008, utf8(b"", 0, 0))
case("6.2.1", 1008, utf8(word))
case("6.2.2", 1008, utf8(word, 5))
case("6.2.3", 1008, utf8(word, *range(1, len(word))))
case("6.2.4", 1008, utf8("κόσμε".encode(), *range(1, 10)))
broken = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited"
case("6.3.1", 1007, utf8(broken))
case("6.3.2", 1007, utf8(broken, *range(1, len(broken))))
for i, cut in enumerate((12, 13, 14)):
    case(f"6.4.{i + 1}", 1007,
         utf8(b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80edited", cut))
valid = ["κόσμε", "\0", "\x80", "\u0800", "\U00010000", "\x7f", "\u07ff", "\uffff",
         "\ud7ff", "\ue000", "\ufffd", "\U0010ffff", "\ufffe", "\U0001fffe",
         "\U000bffff", "\ufeff"]
for i, text in enumerate(valid):
    case(f"6.5.{i + 1}", 1008, utf8(text.encode()))
invalid = [b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xf7\xbf\xbf\xbf",
           b"\xf4\x90\x80\x80", b"\x80", b"\xbf", b"\x80\xbf", bytes(range(0x80, 0xc0)),
           b"\xc0 \xc1 ", b"\xe0 ", b"\xf0 ", b"\xf8 ", b"\xfc ", b"\xc0", b"\xe0\x80",
           b"\xf0\x80\x80", b"\xdf", b"\xef\xbf", b"\xf7\xbf\xbf", b"\xfe", b"\xff",
           b"\xfe\xfe\xff\xff", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf",
           b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xc0\x80",
           b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xed\xad\xbf", b"\xed\xae\x80",
           b"\xed\xaf\xbf", b"\xed\xb0\x80", b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80",
           b"\xce\xba\xe1\xbd", b"\xf0\x9f\x98"]
for i, data in enumerate(invalid):
    case(f"6.6.{i + 1}", 1007, utf8(data))
    case(f"6.7.{i + 1}", 1007, utf8(b'{"type":"' + data + b'"}', 9))


# 7 the end
def ended(*frames):
    """What comes behind a close is not looked at."""
    return lambda: code(*frames)


close = frame(CLOSE, b"\x03\xe8")
case("7.1.1", 1000, ended(frame(BINARY, b"x"), close))
case("7.1.2", 1000, ended(close, close))
case("7.1.3", 1000, ended(close, frame(PING)))
case("7.1.4", 1000, ended(close, frame(TEXT, half)))
case("7.1.5", 1000, ended(frame(BINARY, b"a", 0), close, frame(0, b"b")))
case("7.1.6", 1000, ended(frame(BINARY, b"x" * 262144), close, frame(PING)))
case("7.3.1", 1000, ended(frame(CLOSE)))
case("7.3.2", 1002, ended(frame(CLOSE, b"a")))
case("7.3.3", 1000, ended(close))
case("7.3.4", 1000, ended(frame(CLOSE, b"\x03\xe8because")))
case("7.3.5", 1000, ended(frame(CLOSE, b"\x03\xe8" + b"*" * 123)))
case("7.3.6", 1002, ended(frame(CLOSE, b"\x03\xe8" + b"*" * 124)))
case("7.5.1", 1007, ended(frame(CLOSE, b"\x03\xe8\xce\xba\xe1\xbd\xed\xa0\x80")))
for i, n in enumerate((1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000,
                       3999, 4000, 4999)):
    case(f"7.7.{i + 1}", 1000, ended(frame(CLOSE, n.to_bytes(2, "big"))))
for i, n in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535)):
    case(f"7.9.{i + 1}", 1002, ended(frame(CLOSE, n.to_bytes(2, "big"))))

# 9 limits
big = os.urandom(1 << 20)
case("9.1.1", 1009, lambda: code(frame(TEXT, message(65537))))
case("9.1.2", 1009, lambda: code(frame(TEXT, message(65536), 0), frame(0, b" ")))
case("9.2.1", True, echoed(big, [frame(BINARY, big)]))
case("9.2.2", 1009, lambda: code(frame(BINARY, big + b"x")))
case("9.2.3", 1009, lambda: code(b"\x82\xff" + (64 << 20).to_bytes(8, "big") + b"mask"))


def streamed(total, size):
    """A message without end is no memory: its pieces go on as they come."""
    def run():
        w = cat()
        sent, back = 0, 0
        piece = b"y" * size
        while sent < total:
            last = sent + size >= total
            w.raw(frame(BINARY if not sent else 0, piece, last))
            sent += size
            while back < sent:
                op, data = w.get()
                assert op == BINARY and not data.strip(b"y")
                back += len(data)
        return back
    return run


case("9.4.1", 64 << 20, streamed(64 << 20, 1 << 20))
case("9.4.2", 4 << 20, streamed(4 << 20, 4096))
case("9.7.1", [(PONG, b"%d" % i) for i in range(2000)],
     pongs([b"%d" % i for i in range(2000)]))

# 10 a message in many frames
data = os.urandom(65536)
cut = chops(data, 1300)
case("10.1.1", True, echoed(data, [frame(BINARY if not i else 0, p, i == len(cut) - 1)
                                   for i, p in enumerate(cut)]))

# 12 compression is not agreed to
for i, offer in enumerate(("permessage-deflate", "permessage-deflate;"
                           " client_max_window_bits", "x-webkit-deflate-frame")):
    def offered():
        w = Socket(more=f"Sec-WebSocket-Extensions: {offer}\r\n", text="echo hi")
        return b"xtensions" in w.head, b"hi" in w.all()[0]
    case(f"12.{i + 1}", (False, True), offered)

print(f"{ran} cases, {failed} failed")
sys.exit(failed != 0)
