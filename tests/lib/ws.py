# SPDX-License-Identifier: MIT
"""HTTP and WebSocket by hand, for tests that say what no library would."""
import base64
import json
import os
import socket
import struct

HOME = f"/run/wardbox/{os.getuid()}/serve"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def token(name="token"):
    with open(f"{HOME}/{name}", encoding="ascii") as f:
        return f.read()


def connect(port=None):
    if port:
        return socket.create_connection(("127.0.0.1", port))
    s = socket.socket(socket.AF_UNIX)
    s.connect(f"{HOME}/socket")
    return s


def server():
    """The pid of whoever listens."""
    s = connect()
    return struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET,
                                            socket.SO_PEERCRED, 12))[0]


def until(s, end, had=b""):
    while end not in had:
        more = s.recv(65536)
        if not more:
            return had, b""
        had += more
    head, rest = had.split(end, 1)
    return head + end, rest


def ask(method, path, body=b"", key=None, port=None, more="", s=None):
    """Status, head, body."""
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    s = s or connect(port)
    key = token() if key is None else key
    auth = f"Authorization: Bearer {key}\r\n" if key else ""
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{auth}{more}"
              f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    head, rest = until(s, b"\r\n\r\n")
    text = head.decode()
    length = [int(l.split(":")[1]) for l in text.split("\r\n")
              if l.lower().startswith("content-length:")]
    while length and len(rest) < length[0]:
        rest += s.recv(65536)
    return int(text.split()[1]), text, rest


def frame(opcode, data=b"", fin=1, mask=b"\1\2\3\4", rsv=0):
    n = len(data)
    bit = 0x80 if mask else 0
    head = bytes([fin << 7 | rsv << 4 | opcode])
    if n < 126:
        head += bytes([bit | n])
    elif n < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", n)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", n)
    if mask:
        data = bytes(b ^ mask[i & 3] for i, b in enumerate(data))
    return head + (mask or b"") + data


class Socket:
    path = None

    def __init__(self, session="s", key=None, port=None, more="", **start):
        self.s = connect(port)
        key = token() if key is None else key
        auth = f"Authorization: Bearer {key}\r\n" if key else ""
        self.s.sendall(
            f"GET {self.path or f'/api/v1/sessions/{session}/pty'} HTTP/1.1\r\n"
            f"Host: localhost\r\n{auth}{more}"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.head, self.had = until(self.s, b"\r\n\r\n")
        self.status = int(self.head.split()[1])
        if start:
            self.say(**start)

    def raw(self, data):
        self.s.sendall(data)

    def say(self, **message):
        self.raw(frame(TEXT, json.dumps(message).encode()))

    def type(self, data):
        self.raw(frame(BINARY, data))

    def need(self, n):
        while len(self.had) < n:
            more = self.s.recv(65536)
            if not more:
                return False
            self.had += more
        return True

    def get(self):
        """Opcode and data of the next frame; None at the end."""
        if not self.need(2):
            return None
        n, at = self.had[1] & 127, 2
        if n >= 126:
            size = 2 if n == 126 else 8
            assert self.need(2 + size)
            n, at = int.from_bytes(self.had[2:2 + size], "big"), 2 + size
        assert self.need(at + n)
        opcode, data = self.had[0] & 15, self.had[at:at + n]
        self.had = self.had[at + n:]
        return opcode, data

    def all(self):
        """Output, messages, close code: all until the end."""
        out, said, code = b"", [], None
        while True:
            got = self.get()
            if got is None:
                return out, said, code
            if got[0] == BINARY:
                out += got[1]
            elif got[0] == TEXT:
                said.append(json.loads(got[1]))
            elif got[0] == CLOSE:
                code = int.from_bytes(got[1][:2], "big") if got[1] else 1005

    def until(self, text):
        out = b""
        while text not in out:
            got = self.get()
            assert got, out
            if got[0] == BINARY:
                out += got[1]
        return out
