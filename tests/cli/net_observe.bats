#!/usr/bin/env bats
# net_observe: OBSERVE writes down whom its commands speak to, and every name

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

@test "OBSERVE with net=local writes each host down, and suggest proposes it" {
	POLICY='include default
use OBSERVE
profile OBSERVE net=local as=FULL-AUTO
except id=net @net **
net host www.world.test:80 line.world.test:9999'
	world '
	cp $CERT cert.pem
	g "curl -sS -m 5 http://www.world.test/" | grep -x "hello from www.world.test"
	g "curl -sS -m 5 http://other.test/" | grep -x "hello from other.test"
	g "curl -sS -m 5 --cacert cert.pem https://git.world.test/" | grep -x "hello from git.world.test"
	# Nothing that is said is looked at, and no address is kept from it.
	g "curl -sS -m 5 -H Host:strange.test http://other.test/" | grep -x "hello from strange.test"
	g "curl -sS -m 5 http://private.test/" | grep -x "hello from private.test"
	# Ports of the policy are there for other names, too.
	g "python3 -c \"import socket; print(socket.create_connection((\\\"git.world.test\\\", 9999), 5).recv(5))\"" | grep ready
	w audit dump -o json >log
	python3 - <<-"EOF"
		import json
		rows = [json.loads(l) for l in open("log")]
		seen = {(r["detail"]["name"], r["detail"]["port"]): r["detail"]["rule"]
		        for r in rows if r.get("event") == "net.connect"}
		assert seen == {("www.world.test", "80"): "net", ("other.test", "80"): "would-deny:net",
		                ("git.world.test", "443"): "would-deny:net", ("private.test", "80"): "would-deny:net",
		                ("git.world.test", "9999"): "would-deny:net"}, seen
		assert not [r for r in rows if r.get("event") == "net.deny"]
	EOF
	w policy suggest | tee out
	for host in other.test:80 git.world.test git.world.test:9999 private.test:80; do
		grep -qx "net host $host" out
	done
	not grep -q "net host www" out
	# The proposal is the policy that lets the same through.
	grep "^net host" out >>/etc/wardbox/policy
	WARDBOX_PROFILE=FULL-AUTO g "curl -sS -m 5 http://other.test/" | grep -x "hello from other.test"
	# What OBSERVE leaves alone otherwise: the files, and set-user-ID programs.
	g "grep -x \"NoNewPrivs:.0\" /proc/self/status"
	g "touch /etc/observed && rm /etc/observed"
	chmod 777 .
	setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" sh -c \
		"curl -sS -m 5 http://other.test/" | grep -x "hello from other.test"'
}

@test "OBSERVE as it is has the machine's network" {
	POLICY='include default
use OBSERVE'
	world '
	g "curl -sS -m 5 http://203.0.113.20/" | grep hello
	test "$(g "readlink /proc/self/ns/net")" = "$(readlink /proc/self/ns/net)"
	w audit dump >log
	not grep -q net.connect log'
}

@test "where OBSERVE can write nobody down it says so, and runs all the same" {
	need "$HELPERS/docker" true
	POLICY='include default
use OBSERVE
profile OBSERVE net=local'
	world '
	"$HELPERS/docker" "$WARDBOX" sh -c "curl -sS -m 5 http://203.0.113.20/" | grep hello
	w audit dump -o json >log
	grep "net.tier" log | grep -q "\"tier\":\"none\""
	not grep -q net.connect log'
}
