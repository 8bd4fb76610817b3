#!/usr/bin/env bats
# net_session: one network for a session, and what each of its commands may do there

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

KEPT='policy 1 system
include default
use FULL-AUTO
profile FULL-AUTO background=keep
except id=net @net **'

# A server that is there until its session ends, and says when it listens.
server() { # PORT
	cat >server.py <<-EOF
		import http.server, os, socket, sys, urllib.request
		class Page(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        if self.path.startswith("/fetch/"):
		            try:
		                body = urllib.request.urlopen("http://" + self.path[7:], timeout=9).read()
		            except OSError as e:
		                body = b"refused\n"
		        else:
		            body = b"from inside\n"
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *_):
		        pass
		s = http.server.ThreadingHTTPServer(("127.0.0.1", $1), Page)
		os.close(os.open("ready", os.O_CREAT))
		s.serve_forever()
	EOF
	cat >serve <<-'EOF'
		#!/bin/sh
		python3 server.py >/dev/null 2>&1 &
		until [ -e ready ]; do :; done
	EOF
	chmod +x serve
}

@test "one loopback for a session, and its own names for each command" {
	POLICY=$KEPT'
allow id=x net=registries ./serve **
allow id=y net=registries ./fetch **'
	server 8125
	printf '#!/bin/sh\nexec curl -sS -m 9 "$@"\n' >fetch
	chmod +x fetch
	world '
	echo "registry=http://registry.world.test:80/" >/etc/npmrc
	g ./serve
	# What was started with the registries is there for who has none of them.
	g "curl -sS -m 9 http://localhost:8125/" | grep -x "from inside"
	# It has them still, and the other has none, although both are there at once.
	g "curl -sS -m 9 http://localhost:8125/fetch/registry.world.test/" | grep hello
	not g "curl -sS -m 9 http://registry.world.test/" 2>err
	cat err
	grep -q "registry.world.test.*no such host for this command" err
	# Who has them as well is served beside it.
	g "./fetch http://registry.world.test/" | grep hello
	g "./fetch http://localhost:8125/" | grep -x "from inside"
	# Each that asks at once is told apart.
	for i in 1 2 3 4; do
		g "./fetch http://registry.world.test/" >good.$i &
		not g "curl -sS -m 9 http://registry.world.test/" >bad.$i 2>&1 &
	done
	wait
	for i in 1 2 3 4; do
		grep -q hello good.$i
		not grep -q hello bad.$i
	done
	w session end --all
	rm ready
	# The other way round: the server has no names, and the client has.
	sed -i "/id=x/d" /etc/wardbox/policy
	g ./serve
	g "./fetch http://registry.world.test/ http://localhost:8125/" | tee out
	grep -q hello out
	grep -q inside out
	g "curl -sS -m 9 http://localhost:8125/fetch/registry.world.test/" | grep -x refused
	w session end --all'
}

@test "a budget is that of a host and a command" {
	POLICY=$KEPT'
net host up=64k www.world.test:80 a.deep.world.test:80
net host line.world.test:9999 b.deep.world.test:80
allow id=z net=local up=36k ./tight **'
	server 8125
	printf '#!/bin/sh\nexec curl -sS -m 9 "$@"\n' >tight
	chmod +x tight
	world '
	head -c 40000 /dev/zero >body
	send() { echo "curl -sS -m 9 --data-binary @body $*"; }
	for way in alone beside; do
		# Each command has its own, and each host.
		for i in 1 2 3; do
			g "$(send http://www.world.test/)" | grep -x 40000
		done
		g "$(send http://www.world.test/ http://a.deep.world.test/)" |
			uniq -c | grep "2 40000"
		g "$(send http://b.deep.world.test/) -H Expect:" | grep -x 40000
		not g "$(send http://www.world.test/ http://www.world.test/)" 2>err
		cat err
		grep -q "www.world.test:80: more bytes than up= allows" err
		# Over many connections.
		not g "for i in 1 2; do $(send http://www.world.test/) || exit 1; done" 2>err
		# Of a program: that rule and the tightest.
		head -c 30000 body >part
		g "./tight --data-binary @part http://www.world.test/" | grep -x 30000
		not g "./tight --data-binary @body http://b.deep.world.test/"
		not g "./tight --data-binary @part http://www.world.test/ http://www.world.test/"
		# Once more while another command is there to whom it could belong.
		[ -e ready ] || g ./serve
	done
	w session end --all'
}

@test "what net says is checked" {
	local line
	for line in 'net host up=much www.world.test|expected a size, up=1M' \
		'allow net=local up=2G ./x|expected a size below 1G' \
		'net host up=1M|expected a host behind it' \
		'net registries up=x|expected a size, up=1M' \
		'net registries now|expected: net host' \
		'net listen|expected a port behind it' 'net listen 0|expected a port' \
		'net listen 8080 http|expected a port' \
		'net proxy=https://x|expected net proxy=caller' \
		'net proxy=|expected net proxy=caller'; do
		printf '%s\n' "${line%|*}" >one.policy
		run "$WARDBOX" policy check one.policy
		echo "$line: $status $output"
		[ "$status" -ne 0 ]
		[[ $output == *"${line#*|}"* ]]
	done
	for line in 'net host up=1M a.example b.example:80' 'net registries up=10M' \
		'net listen 8080 3000' 'net proxy=caller' 'net proxy=http://a:b@proxy:3128/'; do
		printf '%s\n' "$line" >one.policy
		"$WARDBOX" policy check one.policy
	done
}

@test "a port of this machine's loopback leads to the session's server" {
	POLICY=$KEPT'
net listen 8125'
	server 8125
	world '
	not curl -sS -m 9 http://127.0.0.1:8125/
	g ./serve
	curl -sS -m 9 http://127.0.0.1:8125/ | grep -x "from inside"
	curl -sS -m 9 http://127.0.0.1:8125/a http://127.0.0.1:8125/b | uniq -c | grep "2 from"
	# More than there are sockets for.
	for i in $(seq 80); do
		curl -sS -m 20 http://127.0.0.1:8125/$i >>many &
	done
	wait
	test "$(wc -l <many)" = 80
	# Neither another port, nor from outside of the loopback, nor the way out.
	not curl -sS -m 9 http://127.0.0.1:8126/
	not curl -sS -m 9 http://203.0.113.10:8125/
	not g "curl -sS -m 9 http://203.0.113.10/"
	# Another session cannot have the port, and is told so.
	WARDBOX_SESSION_ID=two g ls 2>err >/dev/null
	cat err
	grep -q "127.0.0.1:8125: another has that port" err
	# A server that ends is nobody'\''s any more.
	w session end --all
	not curl -sS -m 9 http://127.0.0.1:8125/
	w audit dump -o json | grep -q "net.enter.*8125"'
}

@test "what one command may do, no other of its session takes" {
	POLICY=$KEPT'
net host line.world.test:9999
allow id=x net=registries ./serve **'
	server 8125
	cat >take.py <<-'EOF'
		import os, socket, threading
		REQUEST = b"GET /stolen HTTP/1.1\r\nHost: registry.world.test\r\nConnection: close\r\n\r\n"
		def ask(at, port, hold=True):
		    s = socket.socket()
		    s.settimeout(9)
		    try:
		        s.connect((at, port))
		        s.sendall(REQUEST)
		        if hold:
		            return b"hello" in s.makefile("rb").read()
		        s.shutdown(socket.SHUT_WR)
		    except OSError:
		        pass
		    finally:
		        s.close()
		    return False
		# Each address that the keeper could have given to another's name.
		pool = ["198.18.1.%d" % i for i in range(8)]
		print("asked", sum(ask(at, 80) for at in pool), flush=True)
		# Whose socket it was cannot be seen any more.
		for at in pool:
		    for _ in range(20):
		        ask(at, 80, False)
		# Many at once, of many processes.
		got = []
		threads = [threading.Thread(target=lambda: got.append(ask("198.18.1.0", 80))) for _ in range(50)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		print("at once", sum(got), flush=True)
		# A process that has left its parent.
		if os.fork() == 0:
		    if os.fork() == 0:
		        print("orphan", ask("198.18.1.0", 80), flush=True)
		    os._exit(0)
		os.wait()
		# An address of the pool, which the keeper did not take yet, is no way to be it.
		for i in range(1, 8):
		    s = socket.socket()
		    try:
		        s.bind(("198.18.1.%d" % i, 9999))
		        s.listen()
		        s.detach()
		    except OSError:
		        pass
		# The other family's is the keeper's.
		print("the host", socket.create_connection(("line.world.test", 9999), 5).recv(6))
	EOF
	world '
	echo "registry=http://registry.world.test:80/" >/etc/npmrc
	g ./serve
	g "curl -sS -m 9 http://localhost:8125/fetch/registry.world.test/" | grep hello
	g "python3 take.py" 2>err | tee out
	cat err
	test "$(sort out)" = "asked 0
at once 0
orphan False
the host b'\''ready\n'\''"
	grep -q "line.world.test: a program of the session has its port" err
	not grep -q stolen $SEEN
	# Both are served as before.
	g "curl -sS -m 9 http://localhost:8125/fetch/registry.world.test/" | grep hello
	g "python3 -c \"import socket; print(socket.create_connection((\\\"line.world.test\\\", 9999), 5).recv(6))\"" | grep ready
	w session end --all'
}
