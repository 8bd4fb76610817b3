#!/usr/bin/env bats
# net_bounds: how many names there may be, and which of them are everybody's

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "each host that a line spells is there, whatever else was asked for" {
	POLICY="use FULL-AUTO
except id=net @net **
net host *.deep.world.test:80 $(printf 'h%d.world.test:80 ' $(seq 240))"
	cat >ask.py <<-'EOF'
		import socket, sys
		def ask(name):
		    try:
		        at = {a[4][0] for a in socket.getaddrinfo(name, 80, proto=socket.IPPROTO_TCP)}
		        s = socket.create_connection((name, 80), 5)
		        s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % name.encode())
		        return b"hello from %s" % name.encode() in s.makefile("rb").read() and len(at)
		    except OSError:
		        return 0
		below = 0
		while ask("n%d.deep.world.test" % below):
		    below += 1
		found = [ask("h%d.world.test" % i) for i in range(1, 241)]
		print("below", below, "spelt", sum(map(bool, found)), "both", found.count(2))
	EOF
	world '
	g "python3 ask.py" 2>err | tee out
	cat err
	grep -qx "below 80 spelt 240 both 240" out
	# Told by name, and not as a name that nobody may speak to.
	grep -q "denied: n80.deep.world.test: too many names at once" err'
}

@test "more hosts than there is room for are no policy" {
	local n
	for n in "256 host" "100 deny"; do
		echo "net ${n#* } $(printf 'h%d.test ' $(seq "${n% *}"))" >many.policy
		"$WARDBOX" policy check many.policy
		echo "net ${n#* } one.more.test" >>many.policy
		run "$WARDBOX" policy check many.policy
		echo "$n: $status ${output: -200}"
		[ "$status" -ne 0 ]
		[[ $output == *"one.more.test"*"too many hosts"* ]]
	done
}

@test "a star is every name of the world, and no address" {
	POLICY='use FULL-AUTO
except id=net @net **
net host *:80 inner.hosts.test:80
net deny other.test'
	world '
	cat >>/etc/hosts <<-EOF
		10.9.8.7 inner.hosts.test listed.hosts.test
		203.0.113.10 outer.hosts.test
	EOF
	g "curl -sS -m 5 http://www.world.test/" | grep -x "hello from www.world.test"
	g "curl -sS -m 5 http://git.world.test/" | grep -x "hello from git.world.test"
	g "curl -sS -m 5 http://outer.hosts.test/" | grep -x "hello from outer.hosts.test"
	# The file is the admin'\''s word for what a line names.
	g "curl -sS -m 5 http://inner.hosts.test/" | grep -x "hello from inner.hosts.test"
	not g "curl -sS -m 5 http://listed.hosts.test/" 2>err
	cat err
	for host in private.test meta.test loop.test other.test www.world.test:443; do
		not g "curl -sS -m 5 http://$host/"
	done
	not g "curl -sS -m 5 http://203.0.113.20/"
	not g "getent hosts 203.0.113.20"
	not g "python3 -c \"import socket; socket.create_connection((\\\"169.254.169.254\\\", 80), 5)\""
	not grep -E "http (169|127|203.0.113.20)|listed" $SEEN
	# Of a lower layer it takes all away, addresses, too.
	mkdir .wardbox
	echo "net deny *" >.wardbox/policy
	not g "curl -sS -m 5 http://www.world.test/"'
}

@test "where descriptors are rare there are fewer names at once" {
	world '
	for n in 64 256; do
		(
			ulimit -n $n
			export WARDBOX_SESSION_ID=n$n
			g "curl -sS -m 5 http://www.world.test/ http://a.deep.world.test/"
		) >out
		test "$(grep -c hello out)" = 2
	done'
}
