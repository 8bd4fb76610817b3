#!/usr/bin/env bats
# codex_client: the real codex of npm, with wardbox serve --codex as its executor and
# a model that reads its calls from a file
#
# codex is a download of 400 MB: with PEERS=all it is installed, from the npm registry
# that the machine has, into a directory that lives as long as this file's tests. Else
# the one in PATH is taken, or $CODEX; where there is none the tests are skipped by
# that name. wardbox-serve(1) says with which version they were last run.

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve

POLICY='policy 1 system
include agent
deny id=forbidden touch forbidden : "the test forbids it"
profile FULL-AUTO undo=on'

setup_file() {
	CODEX=${CODEX:-$(command -v codex)} || :
	if [ -z "$CODEX" ] && [ "${PEERS-}" = all ]; then
		timeout 600 npm install --ignore-scripts --no-audit --no-fund \
			--prefix "$BATS_FILE_TMPDIR/npm" \
			--cache "$BATS_FILE_TMPDIR/cache" @openai/codex >&2 || :
		CODEX=$BATS_FILE_TMPDIR/npm/node_modules/.bin/codex
	fi
	export CODEX
}

setup() {
	need unshare -m true
	need "$CODEX" --version
	project
	git init -q
	export CODEX_HOME=$BATS_TEST_TMPDIR/home HOME=$BATS_TEST_TMPDIR/user
	mkdir -p "$CODEX_HOME" "$HOME" .git
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	exec </dev/null
}

teardown() {
	[ -z "${MODEL-}" ] || { kill "$MODEL" && wait "$MODEL" || :; }
	[ -z "${SERVER-}" ] || { serve stop || :; wait "$SERVER" || :; }
}

# What the model calls, one JSON object a line; an environment, as TOML.
ask() { # ENVIRONMENT [OPTION...], CALLS on stdin
	local port at=$BATS_TEST_TMPDIR
	printf 'default = "box"\ninclude_local = false\n[[environments]]\nid = "box"\n%s\n' \
		"$1" >"$CODEX_HOME/environments.toml"
	shift
	jq -s . >"$at/calls"
	mkfifo "$at/port"
	python3 "$TOP/tests/lib/codex-model.py" "$at/calls" "$at/said" "$at/port" 3>&- &
	MODEL=$!
	read -r port <"$at/port"
	cat >"$CODEX_HOME/config.toml" <<EOF
model = "gpt-5.5"
model_provider = "file"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.file]
name = "file"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
EOF
	in_policy "$POLICY" timeout 120 "$CODEX" exec --skip-git-repo-check "$@" \
		go >"$at/out" 2>&1 || { cat "$at/out"; return 1; }
	cat "$at/said"
}

said() { sed -n "${1}p" "$BATS_TEST_TMPDIR/said"; }

call() { # NAME ARGUMENTS
	jq -n --arg n "$1" --arg a "$2" '{type: "function_call", name: $n, arguments: $a}'
}
patch() { # TEXT
	jq -n --arg t "$1" '{type: "custom_tool_call", name: "apply_patch", input: $t}'
}

stdio() {
	printf 'program = "%s"\nargs = ["serve", "--codex"]' "$WARDBOX"
}

calls() {
	call exec_command '{"cmd": "echo hello; pwd; echo x >/etc/made; echo code $?"}'
	call exec_command '{"cmd": "touch forbidden"}'
	call exec_command '{"cmd": "read a; echo got $a; stty size", "tty": true,
		"yield_time_ms": 250}'
	call write_stdin '{"session_id": @SESSION, "chars": "typed\n",
		"yield_time_ms": 5000}'
	patch '*** Begin Patch
*** Delete File: old.txt
*** End Patch'
	patch '*** Begin Patch
*** Add File: sub/new.txt
+one
+two
*** End Patch'
	patch '*** Begin Patch
*** Update File: sub/new.txt
@@
-one
+uno
 two
*** End Patch'
	call view_image '{"path": "img.png"}'
}

picture() { # and what codex looks for at its start
	echo old >old.txt
	mkdir -p .codex/skills/one
	printf -- '---\nname: one\ndescription: a skill\n---\ntext\n' >.codex/skills/one/SKILL.md
	base64 -d >img.png <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
}

check() {
	[[ $(said 1) == *hello*"$PROJECT"*"code 1"* ]]
	[[ $(said 2) == *"code 126"*"denied: touch forbidden: the test forbids it"* ]]
	[[ $(said 4) == *"got typed"*"24 80"* ]]
	[[ $(said 5) == *Success* && $(said 6) == *Success* && $(said 7) == *Success* ]]
	[ ! -e old.txt ]
	[[ $(said 8) == *"data:image/png;base64,iVBOR"* ]]
	[ "$(cat sub/new.txt)" = "uno
two" ]
	[ ! -e forbidden ]
	in_policy "$POLICY" "$WARDBOX" audit dump --json >"$BATS_TEST_TMPDIR/log"
	grep '"argv":\["cp","--","/dev/stdin","'"$PROJECT"'/sub/new.txt"\]' \
		"$BATS_TEST_TMPDIR/log"
	run in_policy "$POLICY" "$WARDBOX" audit verify
	[[ $output == *intact* ]]
}

@test "on stdio: commands, a terminal, patches, pictures; denials with their reason" {
	picture
	ask "$(stdio)" -s workspace-write < <(calls)
	check
	in_policy "$POLICY" "$WARDBOX" undo
	[ "$(cat sub/new.txt)" = "one
two" ]
}

@test "over a WebSocket, by a key" {
	port=$((20000 + RANDOM % 10000))
	up --port "$port"
	key=$(serve keys add codex run)
	picture
	ask "url = \"ws://127.0.0.1:$port/api/v1/sessions/s/codex\"
auth_bearer_token = \"$key\"" -s danger-full-access < <(calls)
	check
}

@test "codex's own wish for a read-only sandbox is kept" {
	{
		call exec_command '{"cmd": "touch made; echo code $?"}'
		call exec_command '{"cmd": "cat file"}'
	} >"$BATS_TEST_TMPDIR/c"
	echo content >file
	ask "$(stdio)" -s read-only <"$BATS_TEST_TMPDIR/c"
	[[ $(said 1) == *"code 1"* && $(said 2) == *content* ]]
	[ ! -e made ]
}
