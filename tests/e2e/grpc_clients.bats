#!/usr/bin/env bats
# grpc_clients: python3-grpcio, @grpc/grpc-js and curl at wardbox serve
#
# The stubs are made from libcore/serve/wardbox.proto. grpc-js comes from the npm
# registry that the machine has, into a directory that lives as long as this file's
# tests. What cannot be had is skipped by its name.

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve
load ../lib/full

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

setup_file() {
	full_box
	local dir=$BATS_FILE_TMPDIR/npm
	mkdir -p "$dir" && cd "$dir" || return
	echo '{"private": true}' >package.json
	# Scripts of packages are not run.
	timeout 300 npm install --ignore-scripts --no-audit --no-fund \
		--cache "$BATS_FILE_TMPDIR/cache" @grpc/grpc-js@1 @grpc/proto-loader \
		>install.log 2>&1 || {
		tail -3 install.log
		touch unreachable
	}
}

# A server by each way, and a key of each role.
begin() {
	full_need
	certificate server
	PORT=$(free_port)
	PLAIN=$(free_port)
	up --port "$PLAIN" --tls "127.0.0.1:$PORT" --cert "$PWD/server.pem" \
		--key "$PWD/server.key"
	KEY=$(serve keys add ci run)
	VIEW=$(serve keys add look view)
	APPROVE=$(serve keys add boss approve)
	SOCKET=unix:/run/wardbox/$(id -u)/serve/socket
	export KEY VIEW APPROVE
}

@test "python3-grpcio: the socket, a plain port, TLS" {
	need python3 -c 'import grpc, grpc_tools'
	begin
	python3 -m grpc_tools.protoc -I "$TOP/libcore/serve" --python_out=. \
		--grpc_python_out=. wardbox.proto
	local client=(timeout 60 python3 "$TOP/tests/lib/grpc_client.py" "$PWD")
	in_policy "$POLICY" "${client[@]}" "$SOCKET"
	in_policy "$POLICY" "${client[@]}" "localhost:$PLAIN"
	in_policy "$POLICY" "${client[@]}" "localhost:$PORT" server.pem
	serve keys revoke ci
	run in_policy "$POLICY" "${client[@]}" "localhost:$PLAIN"
	[[ $output == *"no key, or none that is known"* ]]
}

@test "grpc-js: the socket, a plain port, TLS" {
	need node --version
	NPM=$BATS_FILE_TMPDIR/npm
	[ ! -e "$NPM/unreachable" ] || skip "not here: the npm registry"
	begin
	cp "$TOP/tests/lib/grpc-client.mjs" "$NPM"
	local client=(timeout 60 node "$NPM/grpc-client.mjs"
		"$TOP/libcore/serve/wardbox.proto")
	[ "$(in_policy "$POLICY" "${client[@]}" "$SOCKET")" = ok ]
	[ "$(in_policy "$POLICY" "${client[@]}" "localhost:$PLAIN")" = ok ]
	[ "$(in_policy "$POLICY" "${client[@]}" "localhost:$PORT" server.pem)" = ok ]
}

@test "curl: REST goes on by HTTP/1.1 beside it, HTTP/2 is gRPC's" {
	begin
	local url=https://localhost:$PORT
	get() { curl -sS --cacert server.pem -H "X-API-Key: $KEY" "$@"; }
	[ "$(get --http2 -w ' %{http_version}' "$url/health")" = "ok
 1.1" ]
	[ "$(get --http2-prior-knowledge -o /dev/null -w '%{http_version} %{http_code}' \
		"http://127.0.0.1:$PLAIN/health")" = "2 405" ]
	# A check of health, as its five bytes and none.
	printf '\0\0\0\0\0' >empty
	get --http2-prior-knowledge -H 'content-type: application/grpc' \
		-H 'te: trailers' --data-binary @empty -D head -o body \
		"http://127.0.0.1:$PLAIN/grpc.health.v1.Health/Check"
	[ "$(od -An -tx1 body)" = " 00 00 00 00 02 08 01" ]
	grep -q '^HTTP/2 200' head
	[ "$(get --http2-prior-knowledge -X POST -o /dev/null \
		-w '%{http_code}' "http://127.0.0.1:$PLAIN/x")" = 415 ]
}
