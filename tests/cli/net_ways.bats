#!/usr/bin/env bats
# net_ways: who else asks for hosts by name, and how it goes without a namespace

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "drop names hosts, too, and says what it refused" {
	world '
	d() { w drop --preset=workspace "$@"; }
	d --net=www.world.test:80,line.world.test:9999 -- curl -sS -m 5 http://www.world.test/ | grep hello
	not d --net=www.world.test:80 -- curl -sS -m 5 http://other.test/ 2>err
	cat err
	grep -q "refused: other.test: the policy names no such host" err
	not d --net=www.world.test -- curl -sS -m 5 http://www.world.test/
	not d --net="no good" -- true 2>err
	grep -q "is no network: none, local" err
	chmod 777 .
	setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" drop --preset=workspace \
		--net=www.world.test:80 -- curl -sS -m 5 http://www.world.test/ | grep hello'
}

@test "registries are those of the machine's own settings" {
	world '
	mkdir -p /etc/apt "$HOME/.config/pip"
	echo "registry=http://registry.world.test:80/" >/etc/npmrc
	echo "deb [signed-by=/x] https://user:pw@apt.world.test:8443/debian stable main" >/etc/apt/sources.list
	echo "# deb http://not.world.test/" >>/etc/apt/sources.list
	printf "[global]\nindex-url = https://pip.world.test/simple\n" >"$HOME/.config/pip/pip.conf"
	w policy registries | tee out
	grep -q "^net host registry.world.test:80/http  # npm: /etc/npmrc" out
	grep -q "^net host apt.world.test:8443/tcp  # apt: " out
	grep -q "^net host pip.world.test:443/tls  # pip: " out
	not grep -q not.world.test out
	w policy registries --json | python3 -c "
import json, sys
assert any(r[\"host\"] == \"registry.world.test\" for r in json.load(sys.stdin))"
	printf "use FULL-AUTO\nexcept id=net @net **\nnet registries\n" >/etc/wardbox/policy
	g "curl -sS -m 5 http://registry.world.test/" | grep hello
	not g "curl -sS -m 5 http://www.world.test/"
	# By the rule of one program alone.
	printf "use FULL-AUTO\nallow id=x net=registries ./fetch **\n" >/etc/wardbox/policy
	printf "#!/bin/sh\nexec wget -qO- -T 5 http://registry.world.test/\n" >fetch
	sed -i 1a"except id=net @net **" /etc/wardbox/policy
	chmod +x fetch
	g ./fetch | grep hello
	not g "curl -sS -m 5 http://registry.world.test/"'
}

@test "without namespaces a proxy on one port is all there is" {
	need "$HELPERS/docker" true
	need "$WARDBOX" drop --preset=workspace --net=tcp:443 -- true
	POLICY="$ALLOW
relax mount
relax ipc"
	world '
	cp $CERT cert.pem
	d() { "$HELPERS/docker" "$WARDBOX" sh -c "$1"; }
	d "curl -sS -m 5 http://www.world.test/" | grep -x "hello from www.world.test"
	d "curl -sS -m 5 --cacert cert.pem https://www.world.test/" | grep -x "hello from www.world.test"
	d "curl -sS -m 5 -p http://www.world.test/" | grep -x "hello from www.world.test"
	d "curl -sS -m 5 -x socks5h://\${http_proxy#http://} http://www.world.test/" | grep -x "hello from www.world.test"
	d "wget -qO- -T 5 http://www.world.test/" | grep -x "hello from www.world.test"
	head -c 300000 /dev/zero >body
	d "curl -sS -m 5 --data-binary @body http://www.world.test/" | grep -x 300000
	not d "curl -sS -f -m 5 http://other.test/" 2>err
	cat err
	grep -q "net host other.test" err
	not d "curl -sS -f -m 5 -p http://www.world.test:22/"
	not d "curl -sS -m 5 --noproxy \* http://203.0.113.10/"
	not d "curl -sS -m 5 -k --connect-to other.test:443:www.world.test:443 https://other.test/"
	not d "curl -sS -m 5 -H \"Host: other.test\" http://www.world.test/"
	not grep -E "http.* other.test" $SEEN
	# Neither another address on that very port, nor any other way.
	cat >ways.py <<-"EOF"
		import errno, os, socket
		port = int(os.environ["http_proxy"].rsplit(":", 1)[1])
		for family, kind, to in (
		        (socket.AF_INET, socket.SOCK_STREAM, ("203.0.113.10", port)),
		        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 80)),
		        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.2", port)),
		        (socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", port)),
		        (socket.AF_INET, socket.SOCK_DGRAM, ("203.0.113.53", 53))):
		    try:
		        socket.socket(family, kind).connect(to)
		        print("reached", to)
		    except OSError as e:
		        print("refused")
		try:
		    socket.socket().sendto(b"x", 0x20000000, ("203.0.113.10", port))
		    print("reached by fast open")
		except OSError:
		    print("refused")
		s = socket.create_connection(("127.0.0.1", port))
		print("front")
	EOF
	d "python3 ways.py" | sort | uniq -c | tee out
	grep -q "6 refused" out
	grep -q "1 front" out
	not grep -q reached out
	# No other user is served.
	cat >serve.py <<-"EOF"
		import os
		with open("url", "w") as out:
		    out.write(os.environ["http_proxy"])
		open("hold").read()
	EOF
	mkfifo hold url
	d "python3 serve.py" &
	read -r url <url || :
	curl -sS -m 5 -x "$url" http://www.world.test/ | grep hello
	not setpriv --reuid 1000 --regid 1000 --clear-groups \
		curl -sS -m 5 -x "$url" http://www.world.test/
	echo >hold
	wait
	w audit dump -o json >log.json
	grep -q "net.connect.*www.world.test" log.json
	grep -q "net.tier.*no network namespace" log.json
	echo "net tier=1" >>/etc/wardbox/policy
	"$HELPERS/docker" "$WARDBOX" sh -c "echo runs; ls" 2>err || code=$?
	cat err
	test "$code" = 125
	grep -q "need a network namespace" err'
}

@test "suggest proposes the hosts that were refused" {
	world '
	g "curl -sS -m 5 http://other.test/" || :
	w policy suggest | tee out
	grep -qx "net host other.test" out
	w policy history | grep "other.test"'
}

@test "packages come from the machine's own registry" {
	command -v npm >/dev/null || skip "no npm"
	local registry
	registry=$(npm config get registry 2>/dev/null)
	curl -sf -m 5 -o /dev/null "$registry" || skip "the registry cannot be reached"
	echo '{"name":"x","version":"1.0.0"}' >package.json
	run in_policy $'use FULL-AUTO\nallow id=npm net=registries npm {install|i} **\nnet registries' \
		"$WARDBOX" sh -c 'npm install --no-audit --no-fund left-pad'
	echo "$output"
	[ "$status" -eq 0 ]
	[ -f node_modules/left-pad/index.js ]
}

@test "a proxy of the caller's network is the way out" {
	# Its name servers know nothing of the world.
	POLICY="$ALLOW
net host far.example:80 far.world.test
net proxy=caller"
	world '
	cp $CERT cert.pem
	export https_proxy=http://me:secret@10.9.8.7:3128/
	g "curl -sS -m 5 http://far.example/" | grep -x "hello from far.example"
	g "curl -sS -m 5 --cacert cert.pem https://far.world.test/" | grep -x "hello from far.world.test"
	grep -q "proxy CONNECT far.example:80 HTTP/1.1" $SEEN
	not grep -q "dns far" $SEEN
	not g "curl -sS -m 5 http://other.test/"
	not grep -q "proxy.*other" $SEEN
	# Not its password is the command'\''s.
	g env >environment
	not grep -i secret environment
	export https_proxy=http://me:wrong@10.9.8.7:3128/ WARDBOX_SESSION_ID=other
	not g "curl -sS -m 5 http://far.example/"'
}
