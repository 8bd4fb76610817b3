#!/usr/bin/env python3
"""world.py - hosts to speak to, in a network namespace of the test's own

usage: world.py DIR COMMAND...

Addresses of the world on this namespace's loopback, a name server, and servers
for http, https, plain lines and git. Runs COMMAND when all of them listen, ends
with its code. DIR/seen gets a line for each connection, request and question.

  NAME.world.test    203.0.113.10     private.test  10.9.8.7
  big.world.test     serves N bytes   meta.test     169.254.169.254
  flip.test          first the world, then private
  evil.test          hostile answers
  inner-alias.test   an alias of an alias of private.test
  /cgi/REPOSITORY    git's own server, /ws a WebSocket that says all again
"""
import base64
import hashlib
import http.server
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading

HERE = "203.0.113.10"
OTHER = "203.0.113.20"
SERVER = "203.0.113.53"
PRIVATE = "10.9.8.7"
META = "169.254.169.254"
V6 = "2a0e:7777::10"
# Names that have this one address.
SIX = {"six.world.test": V6, "mapped.test": "::ffff:10.9.8.7", "six-loop.test": "::1",
       "translated.test": "64:ff9b::a9fe:a9fe", "unique.test": "fd00::7"}
top = sys.argv[1]
flips = [0]
lock = threading.Lock()


def seen(*words):
    with lock, open(os.path.join(top, "seen"), "a") as out:
        print(*words, file=out)


def addresses(name):
    if name.endswith("world.test") or name == "hosts.test":
        return [HERE]
    if name == "other.test":
        return [OTHER]
    if name == "private.test":
        return [PRIVATE]
    if name == "meta.test":
        return [META]
    if name == "loop.test":
        return ["127.0.0.1"]
    if name == "dead.test":
        return ["203.0.113.99", HERE]
    if name == "flip.test":
        flips[0] += 1
        return [HERE if flips[0] == 1 else PRIVATE]
    return []


def put(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        msg, sock = self.request
        at, labels = 12, []
        while msg[at]:
            labels.append(msg[at + 1:at + 1 + msg[at]].decode("latin-1"))
            at += 1 + msg[at]
        at += 1
        kind = struct.unpack(">H", msg[at:at + 2])[0]
        name = ".".join(labels).lower()
        seen("dns", name, kind)
        answers = b""
        count = 0
        if name == "evil.test":
            # A name that points at itself, a wrong id, too many answers.
            sock.sendto(msg[:2] + b"\x81\x80\0\1\xff\xff\0\0\0\0" +
                        msg[12:at + 4] + b"\xc0\x0c" * 40, self.client_address)
            sock.sendto(b"\0\0" + msg[2:], self.client_address)
            sock.sendto(b"", self.client_address)
            return
        if name == "liar.test":
            # For another name, of another type, behind an end of its own, cut.
            wrong = put("www.world.test")
            for body in (wrong + struct.pack(">HHIH", 1, 1, 9, 4) + socket.inet_aton(HERE),
                         b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 9, 400) + b"\1" * 4,
                         b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 9, 2) + b"\xc0\x0c",
                         b"\xc0\xff" * 20):
                sock.sendto(msg[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + msg[12:at + 4] + body,
                            self.client_address)
            return
        if name == "alias.test":
            target = put("www.world.test")
            answers += b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 9, len(target)) + target
            count += 1
            if kind == 1:
                answers += target + struct.pack(">HHIH", 1, 1, 9, 4) + socket.inet_aton(HERE)
                count += 1
        elif name == "inner-alias.test":
            # A chain of aliases, the last of them in a private network.
            for one, to in ((b"\xc0\x0c", "one.world.test"), (put("one.world.test"), "private.test")):
                answers += one + struct.pack(">HHIH", 5, 1, 9, len(put(to))) + put(to)
            count += 2
            if kind == 1:
                answers += put("private.test") + struct.pack(">HHIH", 1, 1, 9, 4) + socket.inet_aton(PRIVATE)
                count += 1
        elif kind == 28 and name in SIX:
            answers += b"\xc0\x0c" + struct.pack(">HHIH", 28, 1, 9, 16) + \
                socket.inet_pton(socket.AF_INET6, SIX[name])
            count += 1
        elif kind == 1 and name not in SIX:
            for a in addresses(name):
                answers += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(a)
                count += 1
        sock.sendto(msg[:2] + b"\x81\x80\0\1" + struct.pack(">HHH", count, 0, 0) +
                    msg[12:at + 4] + answers, self.client_address)


class Pages(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        seen("http", self.server.server_address[0], self.headers.get("Host"), self.path)
        if self.path == "/meta":
            self.send_response(302)
            self.send_header("Location", "http://169.254.169.254/secret")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/big/"):
            n = int(self.path[5:])
            self.send_response(200)
            self.send_header("Content-Length", str(n))
            self.end_headers()
            block = b"x" * 65536
            while n > 0:
                n -= self.wfile.write(block[:n])
            return
        if self.path.startswith("/git/") or self.path.startswith("/npm/"):
            super().do_GET()
            return
        if self.path.startswith("/cgi/"):
            self.git(b"")
            return
        if self.headers.get("Upgrade") == "websocket":
            self.websocket()
            return
        body = b"hello from %s\n" % (self.headers.get("Host") or "").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def git(self, body):
        path, _, query = self.path[4:].partition("?")
        out = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env={
            **os.environ, "GIT_PROJECT_ROOT": os.path.join(top, "git"),
            "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "REMOTE_USER": "x",
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or ""}).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().splitlines()]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def websocket(self):
        """Short frames alone; "/no" does not agree."""
        if self.path == "/no":
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept",
                         base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while len(head := self.rfile.read(2)) == 2:
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
            seen("ws", data)
            self.wfile.write(bytes([head[0], len(data)]) + data)
            if head[0] & 15 == 8:
                return

    def do_POST(self):
        if self.headers.get("Transfer-Encoding"):
            sent = b""
            while True:
                size = int(self.rfile.readline(), 16)
                sent += self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    break
        else:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/cgi/"):
            self.git(sent)
            return
        n = len(sent)
        seen("post", self.headers.get("Host"), n)
        body = b"%d\n" % n
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        seen("line", self.server.server_address[0])
        self.wfile.write(b"ready\n")
        for line in self.rfile:
            self.wfile.write(line.upper())


class Half(socketserver.StreamRequestHandler):
    """Says all that it has to say, and listens on."""

    def handle(self):
        self.wfile.write(b"bye\n")
        self.connection.shutdown(socket.SHUT_WR)
        seen("half", len(self.rfile.read()))


class Reset(socketserver.StreamRequestHandler):
    """Breaks off, or sees that the other does."""

    def handle(self):
        try:
            if self.rfile.readline() == b"break\n":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                seen("waits", self.rfile.read())
        except OSError as e:
            seen("reset", type(e).__name__)


class Web(http.server.ThreadingHTTPServer):
    request_queue_size = 512

    def __init__(self, at):
        self.address_family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        super().__init__(at, Pages)

    def handle_error(self, *_):
        pass


class Tcp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512


class Udp(socketserver.ThreadingUDPServer):
    daemon_threads = True


class Proxy(socketserver.StreamRequestHandler):
    """A company's proxy: the one way out, for who knows the password."""

    def handle(self):
        words = self.rfile.readline().decode().split()
        head = []
        while (line := self.rfile.readline().strip()):
            head.append(line.decode())
        seen("proxy", *words, *head)
        if "Proxy-Authorization: Basic bWU6c2VjcmV0" not in head:
            self.wfile.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            return
        there = socket.create_connection((HERE, int(words[1].rsplit(":", 1)[1])))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nVia: proxy\r\n\r\n")

        def copy(a, b):
            while (data := a.recv(65536)):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        threading.Thread(target=copy, args=(self.connection, there), daemon=True).start()
        copy(there, self.connection)


def start(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    back = os.getcwd()
    os.chdir(top)
    for a in (HERE, OTHER, SERVER, PRIVATE, META):
        subprocess.run(["ip", "addr", "add", a + "/32", "dev", "lo"], check=True)
    subprocess.run(["ip", "addr", "add", V6 + "/128", "dev", "lo", "nodad"], check=False,
                   stderr=subprocess.DEVNULL)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if not os.path.exists("key.pem"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=world.test",
                        "-addext", "subjectAltName=DNS:*.world.test,DNS:other.test"],
                       check=True, capture_output=True)
    context.load_cert_chain("cert.pem", "key.pem")
    start(Udp((SERVER, 53), Names))
    for a in (HERE, OTHER, PRIVATE, META, "127.0.0.1", V6):
        try:
            start(Web((a, 80)))
            web = Web((a, 443))
        except OSError:
            continue
        web.socket = context.wrap_socket(web.socket, server_side=True,
                                         do_handshake_on_connect=False)
        start(web)
    for port in (9999, 22):
        start(Tcp((HERE, port), Lines))
    start(Tcp((HERE, 9998), Half))
    start(Tcp((HERE, 9997), Reset))
    start(Tcp((PRIVATE, 3128), Proxy))
    with open("/etc/resolv.conf", "w") as out:
        print("nameserver", SERVER, file=out)
    sys.exit(subprocess.run(sys.argv[2:], cwd=back).returncode)


main()
