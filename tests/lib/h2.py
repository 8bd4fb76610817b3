# SPDX-License-Identifier: MIT
"""HTTP/2 by hand, for tests that say what no library would."""
import struct

import hpack
from ws import connect, token

MAGIC = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW,
 CONTINUATION) = range(10)
END_STREAM, END_HEADERS = 1, 4
CALM = 11


def frame(kind, flags=0, stream=0, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + data


def number(n, bits, first=0):
    most = (1 << bits) - 1
    if n < most:
        return bytes([first | n])
    out, n = bytes([first | most]), n - most
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def literal(name, value, first=0):
    """A field as it stands, first=0x40: to be remembered."""
    name, value = (x if isinstance(x, bytes) else x.encode() for x in (name, value))
    return bytes([first]) + number(len(name), 7) + name + number(len(value), 7) + value


def fields(path="/wardbox.v1.Terminal/Run", key=None, method="POST",
           authority="localhost", kind="application/grpc", **more):
    key = token() if key is None else key
    all_of = {":method": method, ":scheme": "http", ":path": path,
              ":authority": authority, "te": "trailers"}
    if kind:
        all_of["content-type"] = kind
    if key:
        all_of["authorization"] = "Bearer " + key
    all_of.update({k.replace("_", "-"): v for k, v in more.items()})
    return b"".join(literal(k, v) for k, v in all_of.items())


def message(data, compressed=0):
    return bytes([compressed]) + struct.pack(">I", len(data)) + data


def part(n, data):
    """A field of Protocol Buffers."""
    if isinstance(data, int):
        return number(n << 3, 7) + varint(data)
    return bytes([n << 3 | 2]) + varint(len(data)) + data


def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def parts(data):
    """The fields of a message: number and value, as part() took them."""
    def read(at):
        n = shift = 0
        while True:
            n |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return n, at
    at = 0
    while at < len(data):
        head, at = read(at)
        n, at = read(at)
        if head & 7 == 2:
            n, at = data[at:at + n], at + n
        yield head >> 3, n


def start(text, pipes=1):
    return message(part(1, part(1, b"s") + part(9, text.encode()) +
                        bytes([11 << 3, pipes])))


class H2:
    def __init__(self, port=None, magic=MAGIC + frame(SETTINGS), sock=None):
        self.s = sock or connect(port)
        self.s.sendall(magic)
        self.had, self.stream, self.code = b"", -1, None
        self.decoder, self.heads, self.bodies, self.ended, self.resets = \
            hpack.Decoder(), {}, {}, set(), {}
        self.gone = False

    def send(self, *frames):
        try:
            self.s.sendall(b"".join(frames))
        except OSError:
            self.gone = True

    def call(self, body=b"", end=False, head=None, **more):
        self.stream += 2
        self.send(frame(HEADERS, END_HEADERS, self.stream, head or fields(**more)))
        if body or end:
            self.send(frame(DATA, END_STREAM if end else 0, self.stream, body))
        return self.stream

    def take(self):
        """The next frame; None at the end."""
        while len(self.had) < 9 or len(self.had) < 9 + int.from_bytes(self.had[:3], "big"):
            try:
                more = self.s.recv(65536)
            except OSError:
                more = b""
            if not more:
                self.gone = True
                return None
            self.had += more
        n = int.from_bytes(self.had[:3], "big")
        kind, flags = self.had[3:5]
        stream = int.from_bytes(self.had[5:9], "big")
        data, self.had = self.had[9:9 + n], self.had[9 + n:]
        if kind == HEADERS:
            self.heads.setdefault(stream, {}).update(self.decoder.decode(data))
        elif kind == DATA:
            self.bodies[stream] = self.bodies.get(stream, b"") + data
        elif kind == RST:
            self.resets[stream] = int.from_bytes(data, "big")
        elif kind == GOAWAY:
            self.code = int.from_bytes(data[4:8], "big")
        elif kind == SETTINGS and not flags:
            self.send(frame(SETTINGS, 1))
        elif kind == PING and not flags:
            self.send(frame(PING, 1, 0, data))
        if kind in (HEADERS, DATA) and flags & END_STREAM or kind == RST:
            self.ended.add(stream)
        return kind

    def end_of(self, stream):
        """grpc-status, or the status of HTTP, or the code that reset it."""
        while stream not in self.ended and self.take() is not None:
            pass
        head = self.heads.get(stream, {})
        status = head.get("grpc-status")
        if status is not None:
            return int(status)
        if head.get(":status") not in (None, "200"):
            return head[":status"]
        return f"reset {self.resets[stream]}" if stream in self.resets else None

    def over(self):
        """The code that the connection ended with."""
        while self.take() is not None:
            pass
        return self.code

    def messages(self, stream):
        """What a call was answered, head by head."""
        body, at = self.bodies.get(stream, b""), 0
        while at < len(body):
            n = int.from_bytes(body[at + 1:at + 5], "big")
            yield body[at + 5:at + 5 + n]
            at += 5 + n

    def until(self, stream, text):
        while text not in self.bodies.get(stream, b""):
            assert self.take() is not None, self.bodies
