#!/usr/bin/env bats
# net_names: hosts by name, for programs that know of no proxy

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "programs reach the hosts that the policy names, and no others" {
	world '
	cp $CERT cert.pem
	g "curl -sS -m 5 http://www.world.test/a" | grep -x "hello from www.world.test"
	g "curl -sS -m 5 --cacert cert.pem https://www.world.test/b" | grep -x "hello from www.world.test"
	g "curl -sS -m 5 --noproxy \* http://a.deep.world.test/c" | grep -x "hello from a.deep.world.test"
	g "wget -qO- -T 5 http://www.world.test/d" | grep -x "hello from www.world.test"
	g "curl -sS -m 5 http://alias.test/" | grep -x "hello from alias.test"
	g "curl -sS -m 5 http://six.world.test/" | grep -x "hello from six.world.test"
	g "curl -sS -m 9 http://dead.test/" | grep -x "hello from dead.test"
	# A kept-alive connection, a body with and without a length.
	g "curl -sS -m 5 http://www.world.test/1 http://www.world.test/2" | uniq -c | grep "2 hello"
	head -c 300000 /dev/zero >body
	g "curl -sS -m 5 --data-binary @body http://www.world.test/" | grep -x 300000
	g "curl -sS -m 5 -H \"Transfer-Encoding: chunked\" --data-binary @body http://www.world.test/" | grep -x 300000
	test "$(g "curl -sS -m 5 http://www.world.test/big/3000000" | wc -c)" = 3000000
	# Others, by whatever way.
	not g "curl -sS -m 5 http://other.test/"
	not g "curl -sS -m 5 http://world.test/"
	not g "curl -sS -m 5 http://deep.world.test/"
	not g "curl -sS -m 5 http://203.0.113.10/"
	not g "curl -sS -m 5 http://www.world.test:443/"
	not g "curl -sS -m 5 http://www.world.test:22/"
	not g "curl -sS -m 5 --resolve x:80:203.0.113.20 http://x/"
	not g "curl -sS -m 5 --connect-to ::203.0.113.20: http://www.world.test/"
	not grep -q "203.0.113.20" $SEEN
	# Nothing was asked outside for what may not be spoken to.
	not grep -E "dns (other|world|deep)" $SEEN'
}

@test "what is said first must name the host" {
	world '
	cp $CERT cert.pem
	not g "curl -sS -m 5 -H \"Host: other.test\" http://www.world.test/"
	not g "curl -sS -m 5 --cacert cert.pem --connect-to other.test:443:www.world.test:443 https://other.test/"
	not g "curl -sS -m 5 -k --connect-to 1.2.3.4:443:www.world.test:443 https://1.2.3.4/"
	not g "curl -sS -m 5 http://git.world.test:443/"
	not g "curl -sS -m 5 http://meta.test/"
	not g "curl -sS -m 5 http://private.test/"
	not g "curl -sS -m 5 http://loop.test/"
	not g "curl -sS -m 2 http://evil.test/"
	not g "curl -sSL -m 5 http://www.world.test/meta"
	g "curl -sS -m 5 http://flip.test/one" | grep hello
	not grep -E "http (10|169|127)" $SEEN
	not grep -E "http.* (other.test|git.world)" $SEEN
	# A second request for another host on the same connection.
	cat >second.py <<-"EOF"
		import socket
		s = socket.create_connection(("www.world.test", 80), 5)
		s.sendall(b"GET /first HTTP/1.1\r\nHost: www.world.test\r\n\r\n")
		print(s.recv(9999).split(b"\r\n")[0])
		try:
		    s.sendall(b"GET /second HTTP/1.1\r\nHost: other.test\r\n\r\n")
		    print(s.recv(9999))
		except OSError as e:
		    print(type(e).__name__)
	EOF
	g "python3 second.py" | tee out
	grep -q "200 OK" out
	grep -q "/first" $SEEN
	not grep -q "/second" $SEEN
	# What two servers read differently is nobody'\''s request.
	cat >odd.py <<-"EOF"
		import socket
		HOST = b"Host: www.world.test\r\n"
		for text in (b"GET / HTTP/1.1\n" + HOST + b"\r\n",
		        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		        b"GET / HTTP/1.1\r\n" + HOST + b"Host: other.test\r\n\r\n",
		        b"GET http://other.test/ HTTP/1.1\r\n" + HOST + b"\r\n",
		        b"GET / HTTP/1.1\r\nHost : other.test\r\n" + HOST + b"\r\n",
		        b"GET / HTTP/1.1\r\nX: y\r\n Host: other.test\r\n" + HOST + b"\r\n",
		        b"CONNECT other.test:80 HTTP/1.1\r\n" + HOST + b"\r\n",
		        b"\x16\x03\x01\x00\x05hello", b"SSH-2.0-x\r\n"):
		    s = socket.create_connection(("www.world.test", 80), 5)
		    s.settimeout(5)
		    try:
		        s.sendall(text)
		        print("answer", s.recv(100))
		    except ConnectionError:
		        print("broken off")
		    s.close()
	EOF
	g "python3 odd.py" >out
	cat out
	test "$(grep -c "broken off" out)" = 10'
}

@test "other protocols go to the ports that are named for them" {
	world '
	cat >line.py <<-"EOF"
		import socket, sys
		s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
		f = s.makefile("rwb", buffering=0)
		print(f.readline())
		f.write(b"abc\n")
		print(f.readline())
		s.shutdown(socket.SHUT_WR)
		print(f.read())
	EOF
	g "python3 line.py line.world.test 9999" | tee out
	grep -q ready out
	grep -q ABC out
	test "$(wc -l <out)" = 3
	not g "python3 line.py line.world.test 22"
	not g "python3 line.py www.world.test 9999"
	# No packet leaves but to what was named: neither UDP nor QUIC, no tunnel.
	cat >leak.py <<-"EOF"
		import socket, struct
		def dns(name, kind, tcp=False, to="203.0.113.53"):
		    q = b"\1\2\1\0\0\1\0\0\0\0\0\0" + b"".join(
		        bytes([len(p)]) + p for p in name.split(b".")) + b"\0" + struct.pack(">HH", kind, 1)
		    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
		    s.settimeout(5)
		    s.connect((to, 53))
		    s.send(struct.pack(">H", len(q)) + q if tcp else q)
		    a = s.recv(2000)
		    a = a[2:] if tcp else a
		    return a[3] & 15, struct.unpack(">H", a[6:8])[0]
		print("A", dns(b"www.world.test", 1))
		print("A tcp", dns(b"www.world.test", 1, True))
		print("AAAA", dns(b"WWW.World.Test", 28))
		print("HTTPS", dns(b"www.world.test", 65))
		print("TXT", dns(b"www.world.test", 16))
		print("tunnel", dns(b"secret." * 30 + b"other.test", 16))
		print("tunnel tcp", dns(b"x" * 63 + b".other.test", 16, True))
		print("other", dns(b"other.test", 1))
		print("255", dns(b".".join([b"a" * 62] * 4), 1))
		for port in (443, 53, 9999):
		    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    try:
		        s.sendto(b"secret", ("203.0.113.10", port))
		        print("sent")
		    except OSError as e:
		        print("refused", port)
	EOF
	g "python3 leak.py" | tee out
	cat >want <<-"EOF"
		A (0, 1)
		A tcp (0, 1)
		AAAA (0, 1)
		HTTPS (0, 0)
		TXT (0, 0)
		tunnel (3, 0)
		tunnel tcp (3, 0)
		other (3, 0)
		255 (3, 0)
		refused 443
		refused 53
		refused 9999
	EOF
	cmp want out
	not grep -E "secret|xxxx" $SEEN'
}

@test "clients of many kinds need to know nothing" {
	POLICY="$ALLOW
except id=git-net git **
allow id=mine git **
net host git.world.test:80"
	git init -q --bare "$WORLD/git/x.git"
	git -c init.defaultBranch=main init -q "$BATS_TEST_TMPDIR/src"
	git -C "$BATS_TEST_TMPDIR/src" -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
	git -C "$BATS_TEST_TMPDIR/src" push -q "$WORLD/git/x.git" HEAD:main
	git -C "$WORLD/git/x.git" symbolic-ref HEAD refs/heads/main
	git -C "$WORLD/git/x.git" update-server-info
	cat >raw.c <<-'EOF'
		#include <netdb.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct addrinfo *a, want = {.ai_socktype = SOCK_STREAM};
			char text[999];
			int s, err = getaddrinfo(argv[1], "80", &want, &a);
			ssize_t n;
			if (err || argc < 2)
				return 3;
			s = socket(a->ai_family, SOCK_STREAM, 0);
			if (connect(s, a->ai_addr, a->ai_addrlen))
				return 4;
			dprintf(s, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[1]);
			while ((n = read(s, text, sizeof text)) > 0)
				if (write(1, text, n) < 0)
					return 5;
			return 0;
		}
	EOF
	${CC:-cc} -o raw raw.c
	if command -v musl-gcc >/dev/null; then musl-gcc -static -o raw-musl raw.c; fi
	world '
	cp $CERT cert.pem
	g "git clone -q http://git.world.test/git/x.git copy && git -C copy log --format=%s" | grep -x first
	not g "git clone -q http://other.test/git/x.git copy2"
	g "python3 -c \"import urllib.request as u; print(u.urlopen(\\\"http://www.world.test/u\\\", timeout=9).read())\"" | grep hello
	for raw in ./raw ./raw-musl; do
		[ -e $raw ] || continue
		g "$raw www.world.test" | grep hello
		not g "$raw other.test"
		not g "$raw 203.0.113.10"
	done
	if command -v node >/dev/null; then
		cat >f.mjs <<-"EOF"
			const r = await fetch(process.argv[2]);
			console.log(await r.text());
		EOF
		g "node f.mjs http://www.world.test/" | grep hello
		not g "node f.mjs http://other.test/"
		g "NODE_EXTRA_CA_CERTS=cert.pem node f.mjs https://www.world.test/" | grep hello
	fi'
}

@test "what was refused is told with the line that would allow it, and recorded" {
	world '
	cp $CERT cert.pem
	g "curl -sS -m 5 http://other.test/" 2>err || :
	cat err
	grep -q "denied: other.test: .*rule net" err
	grep -q "net host other.test in /etc/wardbox/policy" err
	g "curl -sS -m 5 -H \"Host: other.test\" http://www.world.test/" 2>err || :
	grep -q "www.world.test:80: another host is asked for" err
	g "curl -sS -m 5 http://www.world.test/recorded" >/dev/null
	w audit dump -o json >log.json
	python3 - <<-"EOF"
		import json
		rows = [json.loads(l) for l in open("log.json")]
		text = json.dumps(rows)
		assert "net.deny" in text and "other.test" in text, text
		found = [r for r in rows if "net.connect" in json.dumps(r)]
		assert found, text
		one = json.dumps(found[-1])
		for part in ("www.world.test", "203.0.113.10", "program", "closed"):
		    assert part in one, (part, one)
	EOF
	# Picked out, and counted.
	w audit dump --event="net.*" >events
	cat events
	test "$(grep -c "net\.connect.*www.world.test" events)" -ge 1
	test "$(grep -c "net\.deny.*\"other.test\"" events)" = 1
	not grep -E "exit|allow|session.open" events
	w audit stats | tee stats
	grep -A3 "hosts spoken to" stats | grep -E "1  www.world.test:80"
	grep -A3 "hosts refused" stats | grep -E "1  other.test"
	w audit stats --json | python3 -c "
import json, sys
s = json.load(sys.stdin)
assert {\"text\": \"www.world.test:80\", \"count\": 1} in s[\"hosts\"], s
assert \"other.test\" in [h[\"text\"] for h in s[\"hosts_refused\"]], s"
	# Each of many, whoever closes first.
	cat >some.py <<-"EOF"
		import socket
		for i in range(300):
		    s = socket.create_connection(("www.world.test", 80), 9)
		    s.sendall(b"GET /%d HTTP/1.1\r\nHost: www.world.test\r\n\r\n" % i)
		    s.recv(1 if i % 2 else 1000)
	EOF
	g "python3 some.py"
	w audit dump -o json | python3 -c "
import json, sys
rows = [json.loads(l) for l in sys.stdin]
ends = [r[\"detail\"] for r in rows if r.get(\"event\") == \"net.connect\"]
n = sum(e.get(\"count\", 1) for e in ends)
assert n == 301, n
assert any(e[\"program\"] == \"python3\" for e in ends), ends[:3]"
	# A flood fills no log.
	cat >flood.py <<-"EOF"
		import socket
		for i in range(3000):
		    try:
		        socket.getaddrinfo("other.test", 80)
		    except OSError:
		        pass
	EOF
	before=$(w audit dump | wc -l)
	g "python3 flood.py" 2>/dev/null
	after=$(w audit dump | wc -l)
	test $((after - before)) -lt 40'
}

@test "where the policy names no host a refused name is told, too" {
	POLICY='include agent'
	world '
	not g "curl -sS -m 5 http://other.test/" 2>err
	cat err
	grep -q "denied: other.test: .*rule net" err
	grep -q "net host other.test in /etc/wardbox/policy" err
	w audit dump -o json | grep net.deny | grep -q other.test
	not grep -q "dns other" $SEEN
	# What a program asks of its own machine is told to nobody.
	g "getent hosts $(uname -n) 192.0.2.7; true" 2>err
	test ! -s err
	# But for words that are no address.
	not g "getent hosts hidden.word.in-addr.arpa" 2>err
	grep -q "denied: hidden.word.in-addr.arpa" err
	g "python3 -m http.server 8765 >/dev/null 2>&1 &
	   for i in 1 2 3 4 5 6 7 8 9; do
		curl -sf --retry 20 --retry-connrefused --retry-delay 1 localhost:8765/ && break
	   done" | grep -q "Directory listing"
	w session end --all'
}

@test "an ordinary user needs no more" {
	chmod 777 "$PROJECT"
	world '
	chmod 777 .
	setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" sh -c \
		"curl -sS -m 5 http://www.world.test/; curl -sS -m 5 http://203.0.113.10/; echo \$?" >out 2>&1
	cat out
	grep -x "hello from www.world.test" out
	grep -qx 7 out'
}

@test "deny beats host, a lower layer adds to it, and up= is a budget" {
	POLICY="$ALLOW
net deny git.world.test *.deep.world.test"
	world '
	not g "curl -sS -m 5 http://a.deep.world.test/"
	g "curl -sS -m 5 http://www.world.test/" >/dev/null
	mkdir .wardbox
	echo "net deny www.world.test" >.wardbox/policy
	not g "curl -sS -m 5 http://www.world.test/"
	echo "net host other.test" >.wardbox/policy
	g : 2>err || :
	cat err
	grep -q "only the system policy may say this" err'
	POLICY="$ALLOW
net host up=64k www.world.test:80"
	rm -rf .wardbox
	world '
	head -c 30000 /dev/zero >small
	head -c 100000 /dev/zero >large
	g "curl -sS -m 5 --data-binary @small http://www.world.test/" | grep -x 30000
	not g "curl -sS -m 5 --data-binary @large http://www.world.test/" 2>err
	cat err
	grep -q "more bytes than up= allows" err
	not grep -q "post www.world.test 100000" $SEEN'
}

@test "a thousand connections at once, and those that say nothing" {
	POLICY="$ALLOW
limit FULL-AUTO files=4000"
	world '
	cat >many.py <<-"EOF"
		import resource, socket
		n = 1000
		soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
		resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
		silent = [socket.create_connection(("www.world.test", 443), 9) for _ in range(200)]
		for s in silent[:50]:
		    s.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
		open_ = [socket.create_connection(("www.world.test", 80), 9) for _ in range(n)]
		for i, s in enumerate(open_):
		    s.sendall(b"GET /%d HTTP/1.1\r\nHost: www.world.test\r\nConnection: close\r\n\r\n" % i)
		good = 0
		for s in open_:
		    s.settimeout(30)
		    text = b""
		    while True:
		        part = s.recv(4096)
		        if not part:
		            break
		        text += part
		    good += text.startswith(b"HTTP/1.1 200")
		print(good)
	EOF
	ulimit -n 8192
	g "python3 many.py" | grep -x 1000
	# Afterwards there is room for more.
	g "curl -sS -m 5 http://www.world.test/" >/dev/null'
}
