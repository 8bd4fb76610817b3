#!/usr/bin/env bats
# net_odd: names in odd spellings, addresses, and connections that last

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "a name is the same however it is spelt" {
	POLICY='use FULL-AUTO
except id=net @net **
net host WWW.World.Test.:80 WWW.World.Test. xn--bcher-kva.world.test:80 under_score.world.test:80'
	world '
	cp $CERT cert.pem
	for name in www.world.test WWW.WORLD.TEST www.world.test. xn--bcher-kva.world.test \
		XN--BCHER-KVA.world.test under_score.world.test; do
		g "curl -sS -m 5 http://$name/$name" | grep hello
	done
	g "curl -sS -m 5 --cacert cert.pem https://WWW.World.test/" | grep hello
	g "python3 -c \"import urllib.request as u; print(u.urlopen(\\\"http://Www.World.Test./\\\", timeout=9).read())\"" | grep hello
	not g "curl -sS -m 5 http://b.world.test/"
	not g "curl -sS -m 5 -H \"Host: under-score.world.test\" http://under_score.world.test/"
	not grep "under-score" $SEEN'
}

@test "no name leads to a network of this machine's" {
	POLICY='use FULL-AUTO
except id=net @net **
net host inner-alias.test:80 mapped.test:80 six-loop.test:80 translated.test:80 unique.test:80
net host loop.test:80 loop.test:9999 private.test:80 meta.test:80 six.world.test:80 alias.test:80'
	world '
	for name in inner-alias.test mapped.test six-loop.test translated.test unique.test loop.test \
		private.test meta.test; do
		not g "curl -sS -m 5 http://$name/" 2>err
		grep -q "$name:80: it leads to a private address" err
	done
	not grep -E "^http (10|127|169|::1)" $SEEN
	for name in six.world.test alias.test; do
		g "curl -sS -m 5 http://$name/" | grep -x "hello from $name"
	done'
}

@test "an address that a line names is spoken to, of either family" {
	POLICY='use FULL-AUTO
except id=net @net **
net host [2A0E:7777:0::10]:80 [2a0e:7777::10]:443 203.0.113.20:80 203.0.113.20 10.9.8.7:443'
	world '
	g "curl -sS -m 5 http://[2a0e:7777::10]/" | grep -F "hello from [2a0e:7777::10]"
	g "curl -sS -m 5 http://[2a0e:7777:0:0::10]:80/" | grep hello
	g "curl -sS -m 5 http://203.0.113.20/" | grep "hello from 203.0.113.20"
	# To an address no hello gives a name.
	for host in "[2a0e:7777::10]" 203.0.113.20 10.9.8.7; do
		g "curl -sS -k -m 5 https://$host/" | grep hello
	done
	not g "curl -sS -k -m 5 --connect-to www.world.test:443:203.0.113.20:443 https://www.world.test/" 2>err
	grep -q "names another host" err
	not g "curl -sS -m 5 -H Host:[2a0e:7777::11] http://[2a0e:7777::10]/"
	not g "curl -sS -m 5 http://10.9.8.7/"
	not g "curl -sS -m 5 http://[2a0e:7777::11]/"
	not g "curl -sS -m 5 http://203.0.113.10/"'
}

@test "a connection that is silent for long is kept alive outside" {
	cat >hold.py <<-'EOF'
		import os, socket, sys
		s = socket.create_connection(("line.world.test", 9999), 5)
		f = s.makefile("rwb", buffering=0)
		assert f.readline() == b"ready\n"
		os.close(os.open("held", os.O_CREAT))
		open("go").read()
		f.write(b"still\n")
		print(f.readline())
	EOF
	# What the kernel says of each socket of a process to port 9999: its timer, and
	# whether small pieces wait.
	cat >look.py <<-'EOF'
		import ctypes, os, socket, sys
		libc = ctypes.CDLL(None, use_errno=True)
		pid = int(sys.argv[1])
		pidfd = os.pidfd_open(pid)
		for fd in os.listdir("/proc/%d/fd" % pid):
		    got = libc.syscall(438, pidfd, int(fd), 0)
		    if got < 0 or not os.readlink("/proc/self/fd/%d" % got).startswith("socket:"):
		        continue
		    s = socket.socket(fileno=got)
		    if s.family not in (socket.AF_INET, socket.AF_INET6) or s.type != socket.SOCK_STREAM:
		        continue
		    try:
		        inside = s.getpeername()[1] != 9999
		    except OSError:
		        continue
		    print("inside" if inside else "outside",
		          s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
		          inside or s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
		          inside or s.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 120)
	EOF
	POLICY=$ALLOW
	world '
	mkfifo go
	g "python3 hold.py" >out &
	until [ -e held ]; do kill -0 $!; done
	python3 look.py "$(pgrep --ns $$ --nslist net -x wardbox-net)" | sort | tee looked
	echo >go
	wait $!
	grep -q still out || grep -q STILL out
	test "$(cat looked)" = "inside 1 True True
outside 1 1 True"'
}

@test "all below a name have one budget" {
	POLICY='use FULL-AUTO
except id=net @net **
net host up=64k *.deep.world.test:80
net host up=64k a.world.test:80 b.world.test:80'
	world '
	head -c 40000 /dev/zero >body
	send() { echo "curl -sS -m 9 --data-binary @body $*"; }
	# Hosts that a line spells have one each.
	g "$(send http://a.world.test/ http://b.world.test/)" | uniq -c | grep "2 40000"
	g "$(send http://a.deep.world.test/)" | grep -x 40000
	not g "$(send http://a.deep.world.test/ http://b.deep.world.test/)" 2>err
	cat err
	grep -q "b.deep.world.test:80: more bytes than up= allows" err
	not grep -q "a.deep" err
	not grep -q "post b.deep.world.test 40000" $SEEN'
}

@test "who takes all connections has them alone" {
	POLICY="$ALLOW
limit FULL-AUTO files=4000"
	cat >flood.py <<-'EOF'
		import resource, socket
		hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
		resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
		held, ended = [], 0
		for i in range(2500):
		    s = socket.create_connection(("line.world.test", 9999), 9)
		    s.settimeout(20)
		    held.append(s)
		for s in held:
		    try:
		        ended += s.recv(1) != b"r"
		    except ConnectionError:
		        ended += 1
		print("ended", ended)
	EOF
	world '
	ulimit -n 8192
	export WARDBOX_SESSION_ID=one
	g "curl -sS -m 5 http://www.world.test/" | grep hello
	keeper=$(pgrep --ns $$ --nslist net -x wardbox-net)
	g "python3 flood.py" 2>/dev/null | tee out
	test "$(sed -n "s/ended //p" out)" -gt 400
	test "$(pgrep --ns $$ --nslist net -x wardbox-net)" = "$keeper"
	g "curl -sS -m 5 http://www.world.test/" | grep hello
	test "$(awk "/^VmRSS/ { print \$2 }" /proc/$keeper/status)" -lt 16384'
}
