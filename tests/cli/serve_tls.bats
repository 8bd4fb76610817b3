#!/usr/bin/env bats
# serve_tls: the server and its own client by TLS

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

sealed() { # a server with TLS on $PORT, and a key that runs in the file "key"
	certificate server "$@"
	PORT=$(free_port)
	up --tls "127.0.0.1:$PORT" --cert "$PWD/server.pem" --key "$PWD/server.key"
	serve keys add ci run >key
	export PORT
}

far() {
	in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file key --cert server.pem "$@"
}

hung_up() { # the server has read its files again, or said why not
	local want=$1 i
	kill -HUP "$(in_policy "$POLICY" env PYTHONPATH="$TOP/tests/lib" \
		PYTHONDONTWRITEBYTECODE=1 python3 -c 'from ws import *; print(server())')"
	for ((i = 0; i < 1000; i++)); do
		[ "$(shown)" != "$want" ] || return 0
	done
	false
}

shown() { # the name of the certificate that is shown
	openssl s_client -connect "127.0.0.1:$PORT" </dev/null 2>/dev/null |
		openssl x509 -noout -subject -nameopt multiline |
		sed -n 's/ *commonName *= //p'
}

@test "exec --server https: streams, code, each kind of keys, list and attach" {
	local kind
	for kind in ec rsa large; do
		case $kind in
		ec) sealed ;;
		rsa) sealed -newkey rsa:2048 ;;
		large) sealed -newkey ec -pkeyopt ec_paramgen_curve:secp384r1 ;;
		esac
		run far s -- sh -c 'cat; echo err >&2; exit 7' <<<in
		[ "$status" -eq 7 ]
		[ "$output" = "in
err" ]
		head -c 3000000 /dev/zero | far s -- cat | cmp -n 3000000 - /dev/zero
		run far s -- touch forbidden
		[ "$status" -eq 126 ]
		[[ $output == *"rule forbidden"* ]]
		id=$(far --detach s -- sh -c 'read a; echo got $a')
		run serve attach "$id" --server "https://localhost:$PORT/" \
			--token-file key --cert server.pem <<<it
		[ "$output" = "got it" ]
		run serve list --server "https://127.0.0.1:$PORT" \
			--token-file key --cert server.pem
		[[ $output == "$id ended s "* ]]
		serve keys revoke ci
		serve stop
		wait "$SERVER"
		rm "$BATS_TEST_TMPDIR/up"
	done
	SERVER=
}

@test "exec --server https: another's certificate, a wrong key, what is missing" {
	sealed
	certificate other
	run in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file key --cert other.pem s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"does not have the pinned certificate's key"* ]]
	certificate rsa -newkey rsa:2048
	run in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file key --cert rsa.pem s -- true
	[ "$status" -eq 125 ]
	run in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file key s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"--cert, the server's certificate, is needed"* ]]
	run in_policy "$POLICY" "$WARDBOX" exec --server "http://127.0.0.1:$PORT" \
		--token-file key --cert server.pem s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"no https://HOST"* ]]
	run ex --cert server.pem s -- echo local
	[ "$output" = local ]
	run in_policy "$POLICY" "$WARDBOX" exec --cert server.pem s -- true
	[ "$status" -eq 125 ]
	echo wrong >wrong
	run in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file wrong --cert server.pem s -- true
	[ "$status" -eq 125 ]
	[[ $output == *"the server says: no key"* ]]
	# The owner's token is for the socket alone.
	run in_policy "$POLICY" "$WARDBOX" exec --server "https://127.0.0.1:$PORT" \
		--token-file "$BATS_TEST_TMPDIR/ns/run/0/serve/token" \
		--cert server.pem s -- true
	[ "$status" -eq 125 ]
	run far s -- echo allowed
	[ "$output" = allowed ]
}

@test "curl and openssl: REST, TLS 1.2 and its suites alone, ALPN, no renegotiation" {
	sealed
	local url=https://localhost:$PORT
	get() { curl -sS --cacert server.pem -H "X-API-Key: $(cat key)" "$@"; }
	[ "$(get "$url/health")" = ok ]
	get -X POST -d '{"text": "echo hi", "pty": false}' \
		"$url/api/v1/sessions/s/commands" | jq -e '.id == "c1"'
	[ "$(get -o /dev/null -w '%{http_code}' -H 'Origin: http://localhost' \
		"$url/api/v1/commands")" = 403 ]
	[ "$(get -o /dev/null -w '%{http_code}' -H "Origin: $url" \
		"$url/api/v1/commands")" = 200 ]
	tls() { openssl s_client -connect "127.0.0.1:$PORT" "$@" </dev/null 2>&1; }
	tls | grep -q 'Cipher is ECDHE-ECDSA-AES128-GCM-SHA256'
	tls -cipher ECDHE+CHACHA20 | grep -q 'Cipher is ECDHE-ECDSA-CHACHA20-POLY1305'
	tls -alpn http/1.1 | grep -q 'ALPN protocol: http/1.1'
	not tls -alpn spdy/1
	not tls -tls1_3
	not tls -tls1_1 -cipher ALL:@SECLEVEL=0
	not tls -cipher AES128-SHA:@SECLEVEL=0
	not tls -cipher ECDHE-ECDSA-AES128-SHA256
	run openssl s_client -connect "127.0.0.1:$PORT" <<<R
	[[ $output == *RENEGOTIATING*"no renegotiation"* ]]
	# No plain words on this port, no TLS on the socket.
	run curl -sS "http://127.0.0.1:$PORT/health"
	[ "$status" -ne 0 ]
	[ "$(get "$url/health")" = ok ]
}

@test "SIGHUP takes a new certificate, and ends nothing; a bad one changes nothing" {
	sealed
	mkfifo runs go
	far s -- sh -c 'echo >runs; read a; echo through $a' <go >said &
	local runs=$!
	exec 5>go
	read -r _ <runs
	certificate next
	cp next.key server.key && cp next.pem server.pem
	hung_up next
	[ "$(shown)" = next ]
	cp /dev/null server.pem
	hung_up next
	[ "$(shown)" = next ]
	echo both >&5
	exec 5>&-
	wait $runs
	[ "$(cat said)" = "through both" ]
	cp next.pem server.pem
	[ "$(far s -- echo new)" = new ]
}

@test "beyond the loopback only with TLS; keys that do not fit are refused by name" {
	certificate server
	certificate other
	run serve --tls 0.0.0.0:1
	[ "$status" -eq 2 ]
	[[ $output == *"--cert and --key"* ]]
	run serve --tls 127.0.0.1:1 --cert server.pem --key other.key
	[ "$status" -eq 1 ]
	[[ $output == *"other.key is not the key of server.pem"* ]]
	run serve --tls 127.0.0.1:1 --cert server.key --key server.key
	[ "$status" -eq 1 ]
	[[ $output == *"no certificate in PEM"* ]]
	run serve --tls 127.0.0.1:1 --cert server.pem --key server.pem
	[ "$status" -eq 1 ]
	chmod 644 server.key
	run serve --tls 127.0.0.1:1 --cert server.pem --key server.key
	[ "$status" -eq 1 ]
	[[ $output == *"others may"*"chmod 600"* ]]
	chmod 600 server.key
	openssl ec -in server.key -aes128 -passout pass:x -out locked.key 2>/dev/null
	run serve --tls 127.0.0.1:1 --cert server.pem --key locked.key
	[ "$status" -eq 1 ]
	certificate small -newkey rsa:1024
	run serve --tls 127.0.0.1:1 --cert small.pem --key small.key
	[ "$status" -eq 1 ]
	[[ $output == *"neither RSA of 2048 to 4096 bits nor P-256, P-384"* ]]
	local bad
	for bad in localhost:1 127.0.0.1 127.0.0.1:0 127.0.0.1:65536 '[::1' '::1:1' :1; do
		run serve --tls "$bad" --cert server.pem --key server.key
		[ "$status" -eq 1 ]
	done
	PORT=$(free_port)
	up --tls "[::]:$PORT" --cert server.pem --key server.key
	serve keys add ci run >key
	run far s -- echo there
	[ "$output" = there ]
}

@test "broken TLS and many that only begin it harm nobody" {
	sealed
	far s -- sh -c 'echo up; read a; echo $a' <<<still >said &
	local other=$!
	client <<'PY'
import ssl, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4000, max(4000,
                   resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
port = int(os.environ["PORT"])
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
def plain():
    return socket.create_connection(("127.0.0.1", port))
def ended(s):
    try:
        while s.recv(65536):
            pass
    except OSError:
        pass
for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 70000,
             b"\x80\x2e\x01\x00\x02", b"\x16\x03\x03\x00\x00" * 9999,
             b"\x17\x03\x03\x00\x10" + b"x" * 16, bytes(100), b"\x15\x03\x03\x00\x02\x02\x28"):
    s = plain()
    try:
        s.sendall(junk)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    ended(s)
# A record that was changed on its way.
c = ssl.create_default_context(cafile="server.pem")
inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
t, s = c.wrap_bio(inside, outside, server_hostname="localhost"), plain()
while True:
    try:
        t.do_handshake()
        break
    except ssl.SSLWantReadError:
        s.sendall(outside.read())
        inside.write(s.recv(65536))
assert t.version() == "TLSv1.2"
s.sendall(outside.read())
t.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
sealed = bytearray(outside.read())
sealed[-1] ^= 1
s.sendall(sealed)
said = s.recv(65536)
assert said[:1] != b"\x17", said
ended(s)
# 3000 that have begun: the oldest make room, and the memory is bounded.
before, begun = memory(), []
for _ in range(3000):
    s = plain()
    s.sendall(b"\x16\x03\x01\x02\x00\x01")
    begun.append(s)
u = c.wrap_socket(plain(), server_hostname="localhost")
u.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
assert b"200 OK" in u.recv(65536)
assert memory() - before < 120000, memory() - before
PY
	wait $other
	[ "$(cat said)" = "up
still" ]
}
