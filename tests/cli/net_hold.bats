#!/usr/bin/env bats
# net_hold: ways round the names, odd clients and servers, and what all of it costs

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

HOLD="$ALLOW
net host line.world.test:9998 line.world.test:9997 liar.test:80"

@test "resolvers of every kind get their answers" {
	cat >ask.c <<-'EOF'
		#include <netdb.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct addrinfo *a, want = {.ai_socktype = SOCK_STREAM,
				.ai_family = argc > 2 && argv[2][0] == '6' ? AF_INET6 : AF_UNSPEC};
			int count = 0;
			if (argc < 2 || getaddrinfo(argv[1], "80", &want, &a))
				return 3;
			for (; a; a = a->ai_next) {
				char text[200] = "";
				int s = socket(a->ai_family, SOCK_STREAM, 0);
				if (connect(s, a->ai_addr, a->ai_addrlen))
					return 4;
				dprintf(s, "GET / HTTP/1.1\r\nHost: www.world.test\r\nConnection: close\r\n\r\n");
				while (read(s, text, sizeof text - 1) > 0)
					count += strstr(text, "hello from") != NULL;
				close(s);
			}
			printf("%d\n", count);
			return 0;
		}
	EOF
	${CC:-cc} -o ask ask.c
	if command -v musl-gcc >/dev/null; then musl-gcc -static -o ask-musl ask.c; fi
	cat >raw.py <<-'EOF'
		import socket, struct
		def query(kind, name=b"www.world.test"):
		    return b"\1\2\1\0\0\1\0\0\0\0\0\0" + b"".join(
		        bytes([len(p)]) + p for p in name.split(b".")) + b"\0" + struct.pack(">HH", kind, 1)
		def said(a):
		    return a[3] & 15, struct.unpack(">H", a[6:8])[0]
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(5)
		# AAAA first, both before an answer, without a connection.
		s.sendto(query(28), ("203.0.113.53", 53))
		s.sendto(query(1), ("203.0.113.53", 53))
		for _ in range(2):
		    a, who = s.recvfrom(2000)
		    print("unconnected", *said(a), who[0])
		# The question in pieces, two on one connection.
		t = socket.create_connection(("203.0.113.53", 53), 5)
		for kind in (1, 28):
		    q = query(kind)
		    for piece in (struct.pack(">H", len(q)), q[:5], q[5:]):
		        t.sendall(piece)
		    n = struct.unpack(">H", t.recv(2))[0]
		    print("tcp", *said(t.recv(n)))
		# What is no question gets no answer, and does no harm.
		for junk in (b"", b"x", b"\0" * 12, b"\xff" * 600, query(1)[:-3], query(1) * 3):
		    s.sendto(junk, ("203.0.113.53", 53))
		for length in (0, 1, 65535):
		    t = socket.create_connection(("203.0.113.53", 53), 5)
		    t.sendall(struct.pack(">H", length) + b"x" * min(length, 3000))
		    t.close()
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(5)
		s.sendto(query(1), ("203.0.113.53", 53))
		print("after", *said(s.recv(2000)))
	EOF
	POLICY=$HOLD
	world '
	g "python3 raw.py" | tee out
	test "$(sort out | uniq -c | tr -s " ")" = " 1 after 0 1
 2 tcp 0 1
 2 unconnected 0 1 203.0.113.53"
	echo "search deep.test world.test" >>/etc/resolv.conf
	for ask in ./ask ./ask-musl; do
		[ -e $ask ] || continue
		test "$(g "$ask www.world.test")" -ge 1
		test "$(g "$ask www.world.test 6")" = 1
		test "$(g "$ask www.world.test.")" -ge 1
		# By the search domains of the machine.
		test "$(g "$ask www")" -ge 1
		not g "$ask git"
	done
	# Where the machine has no IPv6.
	echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
	WARDBOX_SESSION_ID=four g "./ask www.world.test" | grep -x "[12]"'
}

@test "names of the machine's own file are spoken to where it says" {
	POLICY="$ALLOW
net host one.hosts.test:80 two.hosts.test:80 inner.hosts.test:80 one.hosts.test two.hosts.test"
	world '
	cp $CERT cert.pem
	cat >>/etc/hosts <<-EOF
		203.0.113.10 one.hosts.test two.hosts.test third.hosts.test
		10.9.8.7 inner.hosts.test
	EOF
	g "curl -sS -m 5 http://one.hosts.test/" | grep -x "hello from one.hosts.test"
	# Two names of one address: which is meant is what the client says.
	g "curl -sS -m 5 http://two.hosts.test/" | grep -x "hello from two.hosts.test"
	g "curl -sS -m 5 -k https://two.hosts.test/" | grep -x "hello from two.hosts.test"
	# The file is the admin'\''s word for a private address.
	g "curl -sS -m 5 http://inner.hosts.test/" | grep -x "hello from inner.hosts.test"
	not g "curl -sS -m 5 http://third.hosts.test/"
	not g "curl -sS -m 5 -H \"Host: third.hosts.test\" http://one.hosts.test/"
	not grep -E "dns .*hosts.test" $SEEN
	not grep -E "http .* third" $SEEN'
}

@test "there is no way round the names" {
	cat >ways.py <<-'EOF'
		import errno, os, socket, struct, sys
		def attempt(what, act):
		    try:
		        act()
		        print("REACHED", what)
		    except OSError as e:
		        print("refused", what, errno.errorcode.get(e.errno, e))
		def tcp(host, port, family=socket.AF_INET):
		    s = socket.socket(family)
		    s.settimeout(5)
		    s.connect((host, port))
		    return s
		# Before anybody asked for a name: no address of the pool listens.
		for i in (0, 1, 256, 257, 258):
		    for port in (80, 443, 9999):
		        attempt("pool", lambda: tcp("198.18.%d.%d" % (i >> 8, i & 255), port))
		at = socket.getaddrinfo("www.world.test", 80, socket.AF_INET)[0][4][0]
		for port in (1, 22, 53, 8080, 9999):
		    attempt("port of a name", lambda: tcp(at, port))
		for to in ("203.0.113.10", "203.0.113.20", "203.0.113.53", "10.9.8.7", "169.254.169.254",
		        "255.255.255.255", "224.0.0.1", "8.8.8.8"):
		    for port in (53, 80, 443, 3128):
		        # That address is the responder's, which answers questions alone.
		        if (to, port) != ("203.0.113.53", 53):
		            attempt("address", lambda: tcp(to, port))
		    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
		    if to != "203.0.113.53":
		        attempt("udp", lambda: u.sendto(b"secret", (to, 443)))
		for to in ("2a0e:7777::10", "::ffff:203.0.113.20", "64:ff9b::203.0.113.20", "fe80::1%lo", "ff02::1%lo"):
		    attempt("v6", lambda: tcp(to, 80, socket.AF_INET6))
		attempt("fast open", lambda: socket.socket().sendto(b"GET / HTTP/1.0\r\n\r\n", 0x20000000, ("203.0.113.20", 80)))
		for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (17, 3, 3), (17, 2, 3), (10, 3, 58),
		        (2, 5, 132), (2, 1, 262)):
		    attempt("socket %d %d %d" % (family, kind, protocol), lambda: socket.socket(family, kind, protocol).connect(("203.0.113.20", 80)))
		attempt("vsock", lambda: socket.socket(40, 1).connect((2, 80)))
		def netlink(kind, body):
		    s = socket.socket(16, 3, 0)
		    s.send(struct.pack("IHHII", 16 + len(body), kind, 0x405, 1, 0) + body)
		    err = -struct.unpack("i", s.recv(999)[16:20])[0]
		    if err:
		        raise OSError(err, "")
		attempt("a link of lo", lambda: netlink(16, struct.pack("BBHiII", 0, 0, 0, 1, 0, 1)))
		attempt("a route", lambda: netlink(24, struct.pack("BBBBBBBBI", 2, 8, 0, 0, 255, 4, 254, 2, 0) +
		    struct.pack("HH4s", 8, 1, bytes([203, 0, 0, 0])) + struct.pack("HHI", 8, 4, 1)))
		def steer(level, name, value):
		    s = socket.socket()
		    s.setsockopt(level, name, value)
		    s.settimeout(5)
		    s.connect(("203.0.113.20", 80))
		attempt("bind to device", lambda: steer(socket.SOL_SOCKET, 25, b"eth0\0"))
		attempt("transparent", lambda: steer(socket.SOL_IP, 19, struct.pack("i", 1)))
		attempt("mark", lambda: steer(socket.SOL_SOCKET, 36, struct.pack("i", 1)))
		attempt("source route", lambda: steer(socket.SOL_IP, socket.IP_OPTIONS, bytes([131, 7, 4, 203, 0, 113, 20, 0])))
		import ctypes
		libc = ctypes.CDLL(None, use_errno=True)
		def call(n, *args):
		    if libc.syscall(n, *args) < 0:
		        raise OSError(ctypes.get_errno(), "")
		for pid in (1, os.getppid()):
		    attempt("another's namespace", lambda: call(308, os.open("/proc/%d/ns/net" % pid, 0), 0x40000000))
		attempt("new namespaces", lambda: call(272, 0x50000000))
		attempt("io_uring", lambda: call(425, 4, ctypes.create_string_buffer(120)))
		attempt("the keeper", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1]))
	EOF
	POLICY=$HOLD
	world '
	g ls >/dev/null
	g "python3 ways.py $(echo /run/wardbox/0/net-*)" >out 2>&1 || :
	cat out
	not grep -E "REACHED|Traceback" out
	test "$(grep -c ^refused out)" -ge 80
	chmod 777 .
	u() { setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" sh -c "$1"; }
	u ls >/dev/null
	u "python3 ways.py $(echo /run/wardbox/1000/net-*)" >out 2>&1 || :
	not grep -E "REACHED|Traceback" out
	test "$(grep -c ^refused out)" -ge 80
	# Names by another way than the one that is looked at.
	not g "curl -sS -m 5 --doh-url https://203.0.113.53/dns-query http://www.world.test/"
	not g "curl -sS -m 5 --doh-url https://other.test/dns-query http://www.world.test/"
	not g "curl -sS -m 5 --http3 https://www.world.test/" 2>/dev/null
	not grep -E "203.0.113.20|secret|dns other" $SEEN
	# What is allowed goes on beside it.
	g "curl -sS -m 5 http://www.world.test/" | grep hello'
}

@test "what a command left behind reaches nobody" {
	cat >late.py <<-'EOF'
		import os, signal, socket, sys, time
		if os.fork():
		    while not os.path.exists("pid"):
		        pass
		    sys.exit()
		os.setsid()
		with open("pid.new", "w") as out:
		    print(os.getpid(), file=out)
		os.rename("pid.new", "pid")
		for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
		    signal.signal(s, signal.SIG_IGN)
		while os.path.exists("hold"):
		    time.sleep(0.01)
		s = socket.create_connection(("www.world.test", 80), 5)
		s.sendall(b"GET /outlived HTTP/1.1\r\nHost: www.world.test\r\n\r\n")
		open("reached", "w")
	EOF
	POLICY=$HOLD
	world '
	touch hold
	g "python3 late.py"
	# It ended with its command: nothing waits for what is taken away now.
	not test -e "/proc/$(cat pid)"
	rm hold
	g "curl -sS -m 5 http://www.world.test/after" >/dev/null
	test ! -e reached
	grep -q /after $SEEN
	not grep -q /outlived $SEEN'
}

@test "odd ends, slow hellos and hostile answers" {
	cat >odd.py <<-'EOF'
		import socket, struct, threading
		# Who says one byte and no more is broken off in the end.
		slow = socket.create_connection(("www.world.test", 443), 5)
		slow.send(b"\x16")
		slow.settimeout(30)
		def ends():
		    try:
		        print("slow", slow.recv(10))
		    except OSError as e:
		        print("slow broken off")
		waits = threading.Thread(target=ends)
		waits.start()
		# The server has said all, and hears the rest.
		s = socket.create_connection(("line.world.test", 9998), 5)
		print("half", s.makefile("rb").read())
		s.sendall(b"x" * 100000)
		s.shutdown(socket.SHUT_WR)
		print("half", s.recv(10))
		# The client breaks off.
		s = socket.create_connection(("line.world.test", 9997), 5)
		s.sendall(b"go on\n")
		s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		s.close()
		# The server does.
		s = socket.create_connection(("line.world.test", 9997), 5)
		s.sendall(b"break\n")
		try:
		    print("server", s.recv(10))
		except OSError:
		    print("server broke off")
		# A server that is not there, and one whose name has no good answer.
		for name in ("liar.test", "evil.test"):
		    s = socket.create_connection((name, 80), 5)
		    s.settimeout(30)
		    try:
		        s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % name.encode())
		        print(name, s.recv(10))
		    except OSError:
		        print(name, "broken off")
		waits.join()
	EOF
	POLICY=$HOLD
	world '
	g "python3 odd.py" | tee out
	cat >want <<-"EOF"
		half b'\''bye\n'\''
		half b'\'\''
		server broke off
		liar.test broken off
		evil.test broken off
		slow broken off
	EOF
	cmp <(sort want) <(sort out)
	for i in $(seq 1000); do
		grep -q "^reset\|^waits" $SEEN && break
	done
	grep -q "^reset\|^waits" $SEEN
	grep -qx "half 100000" $SEEN
	w audit dump -o json | grep net.connect | grep -q "said nothing in time"'
}

@test "ten thousand names and many connections cost a bounded keeper" {
	cat >names.py <<-'EOF'
		import socket
		found = 0
		for i in range(10000):
		    try:
		        socket.getaddrinfo("n%d.deep.world.test" % i, 80, socket.AF_INET)
		        found += 1
		    except OSError:
		        pass
		print("found", found)
		s = socket.create_connection(("n1.deep.world.test", 80), 5)
		s.sendall(b"GET / HTTP/1.1\r\nHost: n1.deep.world.test\r\n\r\n")
		print(s.recv(12))
	EOF
	cat >many.py <<-'EOF'
		import socket
		for _ in range(20):
		    a = []
		    for i in range(100):
		        s = socket.create_connection(("line.world.test", 9999), 5)
		        s.send(b"x\n")
		        a.append(s)
		    for s in a:
		        assert s.recv(1) == b"r"
	EOF
	POLICY=$HOLD
	world '
	export WARDBOX_SESSION_ID=one
	g "curl -sS -m 5 http://www.world.test/" >/dev/null
	keeper=$(pgrep --ns $$ --nslist net -x wardbox-net)
	fds() { ls /proc/$keeper/fd | wc -l; }
	memory() { awk "/^VmRSS/ { print \$2 }" /proc/$keeper/status; }
	before=$(fds)
	g "python3 many.py" 2>/dev/null
	g "python3 names.py" 2>err | tee out
	grep -q "HTTP/1.1 200" out
	found=$(sed -n "s/found //p" out)
	test "$found" -gt 20
	test "$found" -lt 1000
	grep -q "too many names" err
	# What is told of ten thousand refusals is no flood.
	test "$(wc -l <err)" -lt 200
	# The keeper is the same, and has let go of all that it opened.
	test "$(pgrep --ns $$ --nslist net -x wardbox-net)" = "$keeper"
	echo "descriptors $before $(fds), memory $(memory) KiB"
	cat /proc/$keeper/status | grep -E "Vm|Rss"
	test $(($(fds) - before)) -lt 140
	test "$(memory)" -lt 8192'
}

@test "no packet leaves that no record has" {
	cat >capture.py <<-'EOF'
		import os, select, socket, struct, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
		s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24) # SO_RCVBUFFORCE
		s.bind(("lo", 0))
		seen = set()
		open("ready", "w").close()
		while not os.path.exists("stop") or select.select([s], [], [], 0)[0]:
		    if not select.select([s], [], [], 0.1)[0]:
		        continue
		    p = s.recv(65536)[14:]
		    if p[0] >> 4 == 4:
		        kind, to, at = p[9], socket.inet_ntoa(p[16:20]), (p[0] & 15) * 4
		    elif p[0] >> 4 == 6:
		        kind, to, at = p[6], socket.inet_ntop(socket.AF_INET6, p[24:40]), 40
		    else:
		        seen.add(("odd", p[:8].hex()))
		        continue
		    if kind == 6 and p[at + 13] & 0x12 == 2:
		        seen.add(("tcp", to, struct.unpack(">H", p[at + 2:at + 4])[0]))
		    elif kind == 17:
		        port = struct.unpack(">H", p[at + 2:at + 4])[0]
		        if port == 53:
		            name, i = [], at + 20
		            while p[i]:
		                name.append(p[i + 1:i + 1 + p[i]].decode("latin-1"))
		                i += 1 + p[i]
		            seen.add(("dns", to, ".".join(name)))
		        elif struct.unpack(">H", p[at:at + 2])[0] != 53:
		            seen.add(("udp", to, port))
		    elif kind != 6:
		        seen.add(("protocol", to, kind))
		for one in sorted(map(str, seen)):
		    print(one)
	EOF
	cat >compare.py <<-'EOF'
		import ast, json
		packets = [ast.literal_eval(l) for l in open("packets")]
		log = [json.loads(l) for l in open("log")]
		rows = [r["detail"] for r in log if r.get("event") == "net.connect"]
		names = {r["name"] for r in rows}
		denied = json.dumps([r for r in log if r.get("event") == "net.deny"])
		to = {(r["address"], int(r["port"])) for r in rows if r.get("address")}
		for p in packets:
		    good = (p[0] == "tcp" and p[1:] in to) or (p[1] == "203.0.113.53" and (
		        p[0] == "dns" and (p[2] in names or p[2] + ":80" in denied)
		        # That nobody waits for the rest of an answer.
		        or p == ("protocol", "203.0.113.53", 1)))
		    assert good, (p, to, names)
		assert ("tcp", "203.0.113.10", 80) in packets and len(packets) >= 4, packets
		print(packets)
	EOF
	POLICY=$HOLD
	world '
	cp $CERT cert.pem
	python3 capture.py >packets &
	capture=$!
	until [ -e ready ]; do kill -0 $capture; done
	g "curl -sS -m 5 http://www.world.test/ http://a.deep.world.test/ -o one -o two"
	g "curl -sS -m 5 --cacert cert.pem https://www.world.test/" >/dev/null
	for line in "curl -sS -m 5 http://other.test/" "curl -sS -m 5 http://203.0.113.20/" \
		"curl -sS -m 5 http://meta.test/" "curl -sS -m 5 -H Host:other.test http://www.world.test/" \
		"curl -sS -m 5 http://private.test/" \
		"python3 -c \"import socket; socket.socket(2, 2).sendto(b'\''x'\'', ('\''203.0.113.20'\'', 443))\""; do
		not g "$line" 2>/dev/null
	done
	touch stop
	wait $capture
	w audit dump -o json >log
	cat packets
	python3 compare.py'
}
