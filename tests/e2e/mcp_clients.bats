#!/usr/bin/env bats
# mcp_clients: the official packages of MCP at wardbox mcp
#
# The packages come from the npm registry that the machine has, into a directory
# that lives as long as this file's tests: @modelcontextprotocol/sdk 1.x, client
# 2.x and inspector 2.x. Where npm or the registry cannot be reached the tests are
# skipped by that name.

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include default
use FULL-AUTO
deny id=forbidden touch forbidden : "the test forbids it"'

setup_file() {
	local dir=$BATS_FILE_TMPDIR/npm
	mkdir -p "$dir" && cd "$dir" || return
	echo '{"private": true}' >package.json
	# Scripts of packages are not run.
	timeout 300 npm install --ignore-scripts --no-audit --no-fund \
		--cache "$BATS_FILE_TMPDIR/cache" \
		@modelcontextprotocol/sdk@1 @modelcontextprotocol/client@2 \
		@modelcontextprotocol/inspector@2 >install.log 2>&1 || {
		tail -3 install.log
		touch unreachable
	}
}

setup() {
	need unshare -m true
	need node --version
	NPM=$BATS_FILE_TMPDIR/npm
	[ ! -e "$NPM/unreachable" ] || skip "not here: the npm registry"
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	export WARDBOX HOME=$BATS_TEST_TMPDIR
	exec </dev/null
}

@test "sdk 1.x; client 2.x with the old protocol, automatic, and pinned" {
	cp "$TOP/tests/lib/mcp-clients.mjs" "$NPM"
	run in_policy "$POLICY" timeout 120 node "$NPM/mcp-clients.mjs"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok sdk 1"*"ok client 2 legacy 2025-11-25"* ]]
	[[ $output == *"ok client 2 auto 2026-07-28"* ]]
	[[ $output == *"ok client 2 pinned 2026-07-28"* ]]
}

@test "the same at a server, over HTTP" {
	port=$((20000 + RANDOM % 10000))
	POLICY+=$'\nask id=touch touch asked\nprofile FULL-AUTO ask=approver'
	up --port "$port" --approver 60s
	cp "$TOP/tests/lib/mcp-clients.mjs" "$NPM"
	KEY=$(serve keys add ci run)
	export KEY URL=http://127.0.0.1:$port/mcp
	run in_policy "$POLICY" timeout 120 node "$NPM/mcp-clients.mjs"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok sdk 1"*"ok client 2 legacy 2025-11-25"* ]]
	[[ $output == *"ok client 2 auto 2026-07-28"* ]]
	[[ $output == *"ok client 2 pinned 2026-07-28"*"ok page"* ]]
	[ -e asked ]
}

@test "inspector 2.x, of either era" {
	local era cli=$NPM/node_modules/@modelcontextprotocol/inspector
	cli=$cli/clients/launcher/build/index.js
	for era in legacy modern; do
		run --separate-stderr in_policy "$POLICY" timeout 120 \
			node "$cli" --cli "$WARDBOX" mcp --protocol-era $era \
			--method tools/list
		[ "$(jq -r '.tools[0].name' <<<"$output")" = run ]
		run --separate-stderr in_policy "$POLICY" timeout 120 \
			node "$cli" --cli "$WARDBOX" mcp --protocol-era $era \
			--method tools/call --tool-name run \
			--tool-arg 'text=echo hi; exit 3'
		jq -e '.structuredContent.stdout == "hi\n" and
			.structuredContent.exit_code == 3' <<<"$output"
	done
}
