#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Receivers of logs, as good and as bad as they come.

    receiver.py syslog DIR MODE...
    receiver.py otlp DIR MODE...

With CERT in the environment, a certificate and its key in PEM, it speaks TLS; with
CLIENTS, too, who is to vouch for clients, it takes no other ones. AT is the address
that it listens at.

Writes its port to DIR/port, which is a FIFO or not there yet. Each connection is
handled by the next MODE, the last one by all that follow. What was taken is
appended to DIR/got: of syslog a message a line, of OTLP a record's body a line;
DIR/requests gets the head of each request. DIR/connections gets a line for each.

syslog: good; cut (reads a little, then resets the connection); deaf (reads
nothing until DIR/go is there, then all of it); open (reads all, and does not end
the connection)
otlp: good; chunked (the same, answered in chunks); bare (no length, no body);
partial (three are refused); html; 204; slow (a byte a read); reset; picky (400
for every batch with the text "poison"); NNN; NNN@S (with Retry-After)
"""
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time

kind, home, *modes = sys.argv[1:]
lock = threading.Lock()


def note(name, text):
    with lock, open(f"{home}/{name}", "a", encoding="utf-8") as f:
        f.write(text + "\n")


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def read_all(s):
    data = b""
    while True:
        more = s.recv(65536)
        if not more:
            return data
        data += more


def messages(data):
    while data:
        digits, _, rest = data.partition(b" ")
        n = int(digits)
        assert len(rest) >= n, "a message is cut"
        yield rest[:n].decode()
        data = rest[n:]


def syslog(s, mode):
    if mode == "cut":
        s.recv(100)
        reset(s)
        return
    while mode == "deaf" and not os.path.exists(f"{home}/go"):
        time.sleep(0.02)
    for m in messages(read_all(s)):
        note("got", m)
    if mode == "open":
        threading.Event().wait()
    s.close()


def read_request(s, mode):
    data = b""
    size = 1 if mode == "slow" else 65536
    while b"\r\n\r\n" not in data:
        data += s.recv(size)
    head, _, body = data.partition(b"\r\n\r\n")
    n = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(body) < n:
        body += s.recv(64 if mode == "slow" else 65536)
    assert len(body) == n
    return head.decode(), json.loads(body)


def records(body):
    for resource in body["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]


def answer(s, status, body=b"{}", more=""):
    s.sendall(f"HTTP/1.1 {status} x\r\n{more}Content-Length: {len(body)}\r\n\r\n"
              .encode() + body)


def otlp(s, mode):
    if mode == "reset":
        s.recv(100)
        reset(s)
        return
    head, body = read_request(s, mode)
    note("requests", head.replace("\r\n", "|"))
    texts = [r["body"]["stringValue"] for r in records(body)]
    code, _, after = mode.partition("@")
    if mode == "picky" and any("poison" in t for t in texts):
        answer(s, 400)
    elif mode == "html":
        answer(s, 200, b"<html>Log in first</html>")
    elif code.isdigit() and code != "204":
        answer(s, code, b"no", f"Retry-After: {after}\r\n" if after else "")
    else:
        for r in records(body):
            note("raw", json.dumps(r))
        for t in texts:
            note("got", t)
        if mode == "partial":
            answer(s, 200, b'{"partialSuccess":{"rejectedLogRecords":"3",'
                           b'"errorMessage":"three too many"}}')
        elif mode == "chunked":
            s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n")
        elif mode == "bare":
            s.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        elif mode == "204":
            s.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            answer(s, 200)
    s.close()


def meet(handle, tls, s, mode):
    if tls:
        try:
            s = tls.wrap_socket(s, server_side=True)
        except (ssl.SSLError, OSError) as e:
            note("refused", str(e))
            return
    handle(s, mode)


def main():
    at = os.environ.get("AT", "127.0.0.1")
    listener = socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET)
    # A window so small that a deaf receiver is full at once.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind((at, 0))
    listener.listen(64)
    with open(f"{home}/port", "w", encoding="ascii") as f:
        f.write(f"{listener.getsockname()[1]}\n")
    handle = {"syslog": syslog, "otlp": otlp}[kind]
    tls = None
    if "CERT" in os.environ:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(os.environ["CERT"])
        if "CLIENTS" in os.environ:
            tls.verify_mode = ssl.CERT_REQUIRED
            tls.load_verify_locations(os.environ["CLIENTS"])
    while True:
        s, _ = listener.accept()
        mode = modes.pop(0) if len(modes) > 1 else modes[0]
        note("connections", mode)
        threading.Thread(target=meet, args=(handle, tls, s, mode), daemon=True).start()


main()
