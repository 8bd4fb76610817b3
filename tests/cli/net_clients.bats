#!/usr/bin/env bats
# net_clients: programs that know of no proxy, as people use them

load ../lib/wardbox
load ../lib/world
bats_require_minimum_version 1.5.0

CLIENTS="$ALLOW
except id=git-net git **
allow id=mine git **
net host line.world.test:2222 git.world.test:80"

# A repository with one commit, at $WORLD/git/x.git.
repository() {
	git init -q --bare "$WORLD/git/x.git"
	git -C "$WORLD/git/x.git" config http.receivepack true
	git -c init.defaultBranch=main init -q "$BATS_TEST_TMPDIR/src"
	git -C "$BATS_TEST_TMPDIR/src" -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
	git -C "$BATS_TEST_TMPDIR/src" push -q "$WORLD/git/x.git" HEAD:main
	git -C "$WORLD/git/x.git" symbolic-ref HEAD refs/heads/main
}

@test "git over https, there and back" {
	repository
	# Whose certificates git takes is the caller's to say, and no line's.
	POLICY="$CLIENTS
env keep GIT_SSL_CAINFO"
	world '
	cp $CERT cert.pem
	export GIT_SSL_CAINFO=$PWD/cert.pem
	g "git clone -q https://git.world.test/cgi/x.git copy"
	g "git -C copy log --format=%s" | grep -x first
	cd copy
	cp $CERT cert.pem
	export GIT_SSL_CAINFO=$PWD/cert.pem
	g "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m second"
	g "git push -q origin main"
	git -C "$WORLD/git/x.git" log --format=%s main | grep -x second
	cd ..
	export GIT_SSL_CAINFO=$PWD/cert.pem
	not g "git -c http.sslCAInfo=$PWD/cert.pem clone -q https://git.world.test/cgi/x.git no"
	# Another name of the same server, and one that it knows no certificate for.
	not g "git clone -q https://other.test/cgi/x.git no"
	unset GIT_SSL_CAINFO
	not g "git clone -q https://git.world.test/cgi/x.git no"
	not grep -E "http .* other.test" $SEEN'
}

@test "git over ssh, and ssh" {
	command -v dropbear >/dev/null || skip "no dropbear"
	command -v ssh >/dev/null || skip "no ssh"
	repository
	POLICY="$CLIENTS
allow id=ssh ssh **
env keep GIT_SSH_COMMAND"
	world '
	mkdir -m 700 -p "$WORLD/root/.ssh"
	ssh-keygen -q -t ed25519 -N "" -f key
	cp key.pub "$WORLD/root/.ssh/authorized_keys"
	dropbearkey -t ed25519 -f "$WORLD/hostkey" >/dev/null 2>&1
	mount --bind "$WORLD/root" /root
	dropbear -F -r "$WORLD/hostkey" -p 203.0.113.10:2222 -P "$WORLD/pid" 2>/dev/null &
	trap "kill $!" EXIT
	until (: </dev/tcp/203.0.113.10/2222) 2>/dev/null; do :; done
	options="-i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=$PWD/known"
	g "ssh $options -p 2222 root@line.world.test echo from the other side" | grep "other side"
	not g "ssh $options -p 22 root@line.world.test echo no"
	not g "ssh $options -p 2222 root@git.world.test echo no"
	export GIT_SSH_COMMAND="ssh $options"
	g "git clone -q ssh://root@line.world.test:2222$WORLD/git/x.git copy && git -C copy log --format=%s" | grep -x first'
}

@test "python's requests, node's ws, go and java" {
	local have=
	python3 -c 'import requests' 2>/dev/null && have+=" requests"
	if command -v npm >/dev/null && timeout 60 npm install --silent --no-audit --no-fund ws >/dev/null 2>&1; then
		have+=" ws"
	fi
	command -v java >/dev/null && have+=" java"
	cat >get.go <<-'EOF'
		package main
		import ("fmt"; "io"; "net/http"; "os")
		func main() {
			r, err := http.Get(os.Args[1])
			if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
			io.Copy(os.Stdout, r.Body)
		}
	EOF
	# Static: with a resolver of its own.
	if command -v go >/dev/null && CGO_ENABLED=0 GO111MODULE=off GOCACHE=$PWD/.go go build get.go; then
		have+=" go"
	fi
	echo "have:$have"
	[ -n "$have" ] || skip "none of requests, ws, go and java"
	cat >ws.js <<-'EOF'
		const WebSocket = require("ws");
		const ws = new WebSocket(process.argv[2], {ca: require("fs").readFileSync("cert.pem")});
		ws.on("open", () => ws.send("hello"));
		ws.on("message", (data) => { console.log("again " + data); ws.close(); });
		ws.on("error", (e) => { console.log("error " + e.message); process.exit(1); });
	EOF
	cat >Get.java <<-'EOF'
		import java.net.*; import java.net.http.*;
		class Get {
			public static void main(String[] a) throws Exception {
				System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(),
					HttpResponse.BodyHandlers.ofString()).body());
			}
		}
	EOF
	POLICY="$ALLOW
limit FULL-AUTO mem=4G"
	world '
	cp $CERT cert.pem
	for one in '"$have"'; do
		echo "$one"
		case $one in
		requests)
			g "REQUESTS_CA_BUNDLE=cert.pem python3 -c \"import requests; print(requests.get(\\\"https://www.world.test/\\\").text)\"" | grep hello
			not g "python3 -c \"import requests; requests.get(\\\"http://other.test/\\\")\"" 2>/dev/null ;;
		ws)
			g "node ws.js wss://www.world.test/ws" | grep -x "again hello"
			g "node ws.js ws://www.world.test/ws" | grep -x "again hello"
			not g "node ws.js ws://other.test/ws" ;;
		go)
			g "./get http://www.world.test/" | grep hello
			g "SSL_CERT_FILE=cert.pem ./get https://www.world.test/" | grep hello
			not g "./get http://other.test/" 2>/dev/null
			not g "./get http://203.0.113.20/" 2>/dev/null ;;
		java)
			g "java Get.java http://www.world.test/" | grep hello
			not g "java Get.java http://other.test/" 2>/dev/null ;;
		esac
	done
	# Who only says that it goes on with another protocol does not.
	cat >switch.py <<-"EOF"
		import socket
		s = socket.create_connection(("www.world.test", 80), 5)
		s.sendall(b"GET /no HTTP/1.1\r\nHost: www.world.test\r\nUpgrade: websocket\r\n\r\n")
		print(s.recv(9999).split(b"\r\n")[0])
		try:
		    s.sendall(b"GET /behind HTTP/1.1\r\nHost: other.test\r\n\r\n")
		    print(s.recv(9999))
		except OSError as e:
		    print(type(e).__name__)
	EOF
	g "python3 switch.py" 2>/dev/null | tee out
	grep -q "200 OK" out
	not grep /behind $SEEN'
}
