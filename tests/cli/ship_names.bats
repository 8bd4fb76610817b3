#!/usr/bin/env bats
# ship_names: hosts that wardbox itself connects to, by their names

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

# In the world: a log, and a receiver at an address; then `to NAME` ships it there.
RECEIVER='
trap "kill \$(jobs -p)" EXIT
w audit init >/dev/null 2>&1 || :
w exec s -- true || :
receive() { # ADDRESS
	mkdir -p far
	rm -f far/* mark
	mkfifo far/port
	AT=$1 python3 $TOP/tests/lib/receiver.py syslog far good &
	read -r PORT <far/port
}
to() { # NAME
	rm -f far/got mark
	timeout 60 "$WARDBOX" audit ship --checkpoint mark --to "syslog://$1:$PORT" && grep -q "true" far/got
}
'

shipping() {
	export TOP
	world "$RECEIVER$1"
}

@test "names of hosts, of a name server, along an alias, and below a domain" {
	shipping '
	receive 203.0.113.10
	to www.world.test
	to WWW.World.Test.
	to alias.test
	to 203.0.113.10
	# The first of its addresses is nobody.
	to dead.test
	not to nobody.test 2>said
	grep "no name server knows an address" said
	not to other.test
	not to "evil.test" 2>said
	# Short names, below each domain in turn; a dot behind the name says that it is whole.
	{ echo "search nowhere.test world.test"; cat /etc/resolv.conf; } >conf
	cat conf >/etc/resolv.conf
	to www
	grep -q "dns www.nowhere.test 1" $SEEN
	not to www.
	to www.world.test
	not grep -q "www.world.test.nowhere" $SEEN
	echo "options ndots:3" >>/etc/resolv.conf
	to a.b.nobody
	grep -q "dns a.b.nobody.nowhere.test 28" $SEEN
	# The machine'"'"'s own file comes first; what it names is not asked for.
	echo "203.0.113.10 filed FILED.world.test" >>/etc/hosts
	to filed.world.test
	not grep -q "dns filed.world.test" $SEEN'
}

@test "a name server that is silent, one that is not there, IPv6, and no server at all" {
	shipping '
	receive 2a0e:7777::10
	to six.world.test
	to "[2a0e:7777::10]"
	python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((\"127.0.0.9\", 53))
time.sleep(1000)" &
	{ echo "nameserver 127.0.0.9"; echo "nameserver 127.0.0.8"; cat /etc/resolv.conf; } >conf
	cat conf >/etc/resolv.conf
	to six.world.test
	echo "nameserver 127.0.0.8" >/etc/resolv.conf
	not to six.world.test 2>said
	grep "no name server knows an address" said'
}
