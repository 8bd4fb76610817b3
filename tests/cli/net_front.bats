#!/usr/bin/env bats
# net_front: without a network namespace, what there is beside the one port

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "without namespaces there is no way round the proxy" {
	need "$HELPERS/docker" true
	need "$WARDBOX" drop --preset=workspace --net=tcp:443 -- true
	cat >ways.py <<-'EOF'
		import ctypes, errno, os, socket, struct, sys, threading
		port = int(os.environ["http_proxy"].rsplit(":", 1)[1])
		libc = ctypes.CDLL(None, use_errno=True)
		def attempt(what, act):
		    try:
		        act()
		        print("REACHED", what)
		    except OSError as e:
		        print("refused", what, errno.errorcode.get(e.errno, e))
		def call(n, *args):
		    got = libc.syscall(n, *args)
		    if got < 0:
		        raise OSError(ctypes.get_errno(), "")
		    return got
		def tcp(host, to, family=socket.AF_INET):
		    s = socket.socket(family)
		    s.settimeout(5)
		    s.connect((host, to))
		# The front serves, and what is asked of it there is judged.
		s = socket.create_connection(("127.0.0.1", port), 5)
		s.sendall(b"GET http://www.world.test/ HTTP/1.1\r\nHost: www.world.test\r\nConnection: close\r\n\r\n")
		assert b"hello" in s.makefile("rb").read()
		for to in ("203.0.113.10", "203.0.113.20", "203.0.113.53", "10.9.8.7", "169.254.169.254", "127.0.0.1",
		        "127.0.0.2", "255.255.255.255", "224.0.0.1", "0.0.0.0"):
		    for number in (22, 53, 80, 443, 3128, 9999):
		        attempt("address", lambda: tcp(to, number))
		    if to != "127.0.0.1" and to != "0.0.0.0":
		        attempt("that port of another", lambda: tcp(to, port))
		    for number in (53, 443, port):
		        attempt("udp", lambda: socket.socket(2, 2).sendto(b"secret", (to, number)))
		for to in ("2a0e:7777::10", "::1", "::ffff:203.0.113.20", "::ffff:127.0.0.1", "64:ff9b::203.0.113.20"):
		    for number in (80, port):
		        attempt("v6", lambda: tcp(to, number, socket.AF_INET6))
		for flags in (0x20000000, 0x20004000):
		    for to in (("203.0.113.20", 80), ("127.0.0.1", 80), ("203.0.113.20", port), ("127.0.0.1", port)):
		        attempt("fast open", lambda: socket.socket().sendto(b"GET / HTTP/1.0\r\n\r\n", flags, to))
		        attempt("fast open", lambda: socket.socket().sendmsg([b"GET / HTTP/1.0\r\n\r\n"], [], flags, to))
		def delayed():
		    s = socket.socket()
		    s.setsockopt(socket.IPPROTO_TCP, 30, 1) # TCP_FASTOPEN_CONNECT
		    s.connect(("203.0.113.20", 80))
		    s.send(b"GET /secret HTTP/1.0\r\n\r\n")
		attempt("fast open when it is written", delayed)
		for family, kind, protocol, to in ((2, 3, 1, ("203.0.113.20", 0)), (2, 3, 255, ("203.0.113.20", 0)),
		        (17, 3, 3, None), (10, 3, 58, ("::1", 0)), (2, 5, 132, ("203.0.113.20", 80)),
		        (2, 1, 132, ("203.0.113.20", 80)), (2, 1, 262, ("203.0.113.20", 80)), (2, 1, 262, ("127.0.0.1", port)),
		        (2, 6, 33, ("203.0.113.20", 80)), (2, 2, 136, ("203.0.113.20", 80)), (40, 1, 0, (2, 80)),
		        (38, 5, 0, None), (30, 1, 0, None), (44, 3, 0, None)):
		    def other():
		        s = socket.socket(family, kind, protocol)
		        if to:
		            s.connect(to)
		    attempt("socket %d %d %d" % (family, kind, protocol), other)
		attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\0outside"))
		attempt("abstract, sent to", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"secret", "\0outside.d"))
		attempt("io_uring", lambda: call(425, 4, ctypes.create_string_buffer(120)))
		attempt("another's namespace", lambda: call(308, os.open("/proc/1/ns/net", 0), 0x40000000))
		attempt("new namespaces", lambda: call(272, 0x50000000))
		attempt("another's descriptor", lambda: call(438, call(434, os.getppid(), 0), 0, 0))
		attempt("another's memory", lambda: os.open("/proc/%d/mem" % os.getppid(), os.O_RDWR))
		# An address that changes while it is looked at: no port but that one is reached.
		at = ctypes.create_string_buffer(16)
		good = struct.pack(">H2s4s8x", port, b"", bytes([127, 0, 0, 1]))
		bad = struct.pack(">H2s4s8x", 80, b"", bytes([203, 0, 113, 20]))
		good, bad = (struct.pack("=H", 2) + struct.pack(">H4s8x", p, a) for p, a in (
		    (port, bytes([127, 0, 0, 1])), (80, bytes([203, 0, 113, 20]))))
		running = [True]
		def swap():
		    while running[0]:
		        ctypes.memmove(at, bad, 16)
		        ctypes.memmove(at, good, 16)
		thread = threading.Thread(target=swap, daemon=True)
		thread.start()
		reached = 0
		for _ in range(500):
		    s = socket.socket()
		    try:
		        if libc.connect(s.fileno(), at, 16) == 0 and s.getpeername()[1] != port:
		            reached += 1
		    except OSError:
		        pass # cut off already: what it spoke to is in the list of what was seen
		    s.close()
		running[0] = False
		thread.join()
		print("REACHED by a race" if reached else "refused by a race")
		# What it reads is a request for another host.
		for text in (b"CONNECT other.test:80 HTTP/1.1\r\nHost: other.test:80\r\n\r\n",
		        b"CONNECT 203.0.113.20:80 HTTP/1.1\r\nHost: 203.0.113.20:80\r\n\r\n",
		        b"CONNECT [::ffff:10.9.8.7]:80 HTTP/1.1\r\nHost: x\r\n\r\n",
		        b"CONNECT private.test:80 HTTP/1.1\r\nHost: private.test:80\r\n\r\nGET /secret HTTP/1.1\r\nHost: private.test\r\n\r\n",
		        b"CONNECT www.world.test:22 HTTP/1.1\r\nHost: www.world.test:22\r\n\r\n",
		        b"GET http://meta.test/secret HTTP/1.1\r\nHost: meta.test\r\n\r\n",
		        b"GET http://other.test/ HTTP/1.1\r\nHost: www.world.test\r\n\r\n",
		        b"GET / HTTP/1.1\r\nHost: www.world.test\r\n\r\n",
		        b"\5\1\0\5\1\0\3\nother.test\0\x50", b"\5\1\0\5\1\0\1\xcb\0\x71\x14\0\x50",
		        b"\5\1\0\5\3\0\3\x0ewww.world.test\0\x50", b"\5\1\2", b"\4\1\0\x50\xcb\0\x71\x14\0", b"\x16\x03\x01\0\5hello",
		        b"A" * 20000):
		    s = socket.create_connection(("127.0.0.1", port), 5)
		    s.settimeout(5)
		    said = b""
		    try:
		        s.sendall(text)
		        while (part := s.recv(999)):
		            said += part
		    except OSError:
		        pass
		    good = b"hello" in said or said.startswith(b"\5\0\5\0")
		    print("REACHED" if good else "refused", text[:40], said[:30])
		# It serves on.
		s = socket.create_connection(("127.0.0.1", port), 5)
		s.sendall(b"GET http://www.world.test/ HTTP/1.1\r\nHost: www.world.test\r\nConnection: close\r\n\r\n")
		assert b"hello" in s.makefile("rb").read()
		print("serves")
	EOF
	POLICY="$ALLOW
relax mount
relax ipc"
	world '
	python3 -c "
import os, socket
for name, kind in ((\"\0outside\", 1), (\"\0outside.d\", 2)):
    s = socket.socket(1, kind); s.bind(name); s.set_inheritable(True)
    kind == 1 and s.listen()
    os.dup(s.fileno()) and s.detach()
os.close(os.open(\"bound\", os.O_CREAT))
open(\"hold\").read()" &
	mkfifo hold
	until [ -e bound ]; do kill -0 $!; done
	d() { "$HELPERS/docker" "$@"; }
	d "$WARDBOX" sh -c "python3 ways.py" >out 2>err || :
	echo >hold
	tail -n 3 err
	grep -v ^refused out
	not grep -q REACHED out
	test "$(grep -c ^refused out)" -ge 120
	grep -qx serves out
	grep -E "secret|203.0.113.20|^http (10|169|127)" $SEEN >bad || :
	cat bad
	test ! -s bad'
}
