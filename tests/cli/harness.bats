#!/usr/bin/env bats
# harness: what an agent's harness wraps around a command, by the form that it has

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
include agent
deny id=forbidden touch forbidden : "the test forbids it"'

setup() {
	need unshare -m true
	need command -v bash
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	links bash
	export HOME=$BATS_TEST_TMPDIR/home TMPDIR=$PROJECT/.claude/tmp
	mkdir -p "$HOME" "$TMPDIR"
	exec </dev/null
}

# CLAUDE_CODE_SHELL_PREFIX: the words before its first " -" are one program, the rest
# are options, and all that the harness would run is one argument behind them: its own
# start-up, the command in eval, and where the command went.
prefixed() { # PREFIX COMMAND
	PREFIX=$1 COMMAND=$2 python3 - >"$BATS_TEST_TMPDIR/line" <<'EOF'
import os
import shlex
prefix, command = os.environ["PREFIX"], os.environ["COMMAND"]
def quote(text): # what has a single quote is put into double ones
    if "'" not in text:
        return shlex.quote(text)
    for c in "\\", '"', "$", "`", "!":
        text = text.replace(c, "\\" + c)
    return f'"{text}"'
# The first program of a pipe has no input, and else all of it, unless it says what.
piped = command.replace(" | ", " < /dev/null | ", 1)
given = piped != command or "<<" in command
evals = quote(piped) + ("" if given else " \\< /dev/null")
line = " && ".join((
    f"source {os.environ['HOME']}/.claude/snapshot.sh 2>/dev/null || true",
    "{ shopt -u extglob || setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true",
    f"eval {evals}",
    f"pwd -P >| {os.environ['TMPDIR']}/claude-1-cwd"))
at = prefix.find(" -", prefix.rfind("/") + 1)
words = [prefix, ""] if at < 0 else [prefix[:at], prefix[at + 1:]]
print(shlex.quote(words[0]), words[1], quote(line))
EOF
	in_policy "$POLICY" bash -c "$(cat "$BATS_TEST_TMPDIR/line")"
}

@test "CLAUDE_CODE_SHELL_PREFIX: commands, quotes, codes, where they went" {
	local way="$LINKS/bash -c"
	mkdir sub
	run prefixed "$way" 'echo one; echo "two $((1 + 1))"'
	[ "$status" -eq 0 ]
	[ "$output" = "one
two 2" ]
	run prefixed "$way" "echo 'it is' \"\$HOME\" | tr a-z A-Z"
	[ "$output" = "IT IS ${HOME^^}" ]
	run prefixed "$way" 'cat <<E
a "b" $((2 * 3))
E'
	[ "$output" = 'a "b" 6' ]
	run prefixed "$way" 'exit 7'
	[ "$status" -eq 7 ]
	prefixed "$way" 'cd sub && touch made'
	[ -e sub/made ]
	[ "$(cat "$TMPDIR/claude-1-cwd")" = "$PROJECT/sub" ]
	# It has no input to wait for.
	run prefixed "$way" 'cat; echo over'
	[ "$output" = over ]
}

@test "CLAUDE_CODE_SHELL_PREFIX: what is denied says why, and is recorded" {
	run prefixed "$LINKS/bash -c" 'echo before; touch forbidden; echo code $?'
	[[ $output == *"denied: touch forbidden: the test forbids it"* ]]
	[ ! -e forbidden ]
	run prefixed "$LINKS/bash -c" 'cat /etc/shadow'
	[ "$status" -ne 0 ]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *forbidden* ]]
	# Two words are no program: the harness would look for a file of that name.
	run -127 prefixed "wardbox sh -c" 'touch ran'
	[ ! -e ran ]
}
