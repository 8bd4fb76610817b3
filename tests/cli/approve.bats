#!/usr/bin/env bats
# approve: questions answered from another terminal

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
include default
use FULL-AUTO
ask id=careful touch ** : "the test is careful"'

setup() {
	need unshare -m true
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	exec </dev/null
}

teardown() {
	[ -z "${SERVER-}" ] || { in_policy "$POLICY" "$WARDBOX" serve stop || :; }
}

approve() {
	in_policy "$POLICY" "$WARDBOX" approve "$@"
}

# Starts COMMAND... by exec --approver; its question's id is $Q on return.
ask() { # TIME COMMAND...
	local time=$1 line
	shift
	rm -f "$BATS_TEST_TMPDIR/asked"
	mkfifo "$BATS_TEST_TMPDIR/asked"
	in_policy "$POLICY" "$WARDBOX" exec --approver "$time" s -- "$@" \
		2>"$BATS_TEST_TMPDIR/asked" 3>&- &
	ASKER=$!
	exec 7<"$BATS_TEST_TMPDIR/asked"
	read -r line <&7
	[[ $line == *"this waits for a person: wardbox approve show "* ]]
	Q=${line##* }
}

answered() { # what the asker says at last is $said, its code $code
	said=$(cat <&7)
	exec 7<&-
	code=0
	wait "$ASKER" || code=$?
}

@test "yes runs it, no does not, and each is recorded as what it is" {
	run approve
	[ "$status" -eq 1 ]
	[[ $output == *"no question waits"* ]]
	ask 60s touch made
	run approve list
	[ "$output" = "$Q
    touch made" ]
	run approve show "$Q"
	[[ $output == *"rule: careful"* ]]
	[[ $output == *"why it asks: the test is careful"* ]]
	[[ $output == *"in: $PROJECT"* && $output == *"session: s"* ]]
	run --separate-stderr approve list --json
	jq -e ".[0].line == \"touch made\" and .[0].id == \"$Q\"" <<<"$output"
	approve yes "$Q"
	answered
	[ "$code" -eq 0 ]
	[ -e made ]
	ask 60s touch other
	approve no "$Q"
	answered
	[ "$code" -eq 126 ]
	[[ $said == *"not confirmed: touch other: a person said no"* ]]
	[ ! -e other ]
	run approve yes "$Q"
	[ "$status" -eq 1 ]
	[[ $output == *"no question $Q waits"* ]]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *'"argv":["touch","made"]'*'"decision":"confirm"'* ]]
	[[ $output == *'"argv":["touch","other"]'*"a person said no"* ]]
}

@test "a no, a timeout and nobody are three things: message, hint, JSON, record" {
	for how in no timeout nobody; do
		rm -f said
		mkfifo said
		in_policy "$POLICY" "$WARDBOX" exec --json --approver 2s s -- touch made \
			>"facts.$how" 2>said 3>&- &
		ASKER=$!
		exec 7<said
		read -r line <&7
		[ "$how" != no ] || approve no "${line##* }"
		[ "$how" != timeout ] || approve show "${line##* }"
		cat <&7
		exec 7<&-
		code=0
		wait "$ASKER" || code=$?
		[ "$code" -eq 126 ]
	done
	jq -e '.error | (.message | test("a person said no")) and
		(.hint | test("approve") | not)' facts.no
	jq -e '.error | (.message | test("nobody answered in time")) and
		(.hint | test("wardbox approve"))' facts.timeout
	jq -e '.error.message | test("nobody looked at the question")' facts.nobody
	[ ! -e made ]
	run in_policy "$POLICY" "$WARDBOX" audit dump -t event,start -o json
	[ "$(jq -r 'select(.event == "ask").detail.answer' <<<"$output" | paste -sd' ')" = "no timeout nobody" ]
	[ "$(jq -r 'select(.type == "start" and .decision == "deny").reason' <<<"$output" | cut -d: -f1 | paste -sd,)" = \
		"a person said no,nobody answered in time,nobody looked at the question" ]
}

@test "no answer, and nobody there, are two things" {
	ask 1s touch made
	answered
	[ "$code" -eq 126 ]
	[[ $said == *"nobody looked at the question"* ]]
	ask 3s touch made
	approve show "$Q"
	answered
	[ "$code" -eq 126 ]
	[[ $said == *"nobody answered in time"* ]]
	[ ! -e made ]
	run in_policy "$POLICY" "$WARDBOX" audit dump --json
	[[ $output == *"nobody looked at the question"*"nobody answered in time"* ]]
}

@test "always is for the same again in that session" {
	ask 60s touch made
	approve always "$Q"
	answered
	[ "$code" -eq 0 ]
	rm made
	run in_policy "$POLICY" "$WARDBOX" exec --approver 60s s -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
	ask 60s touch other
	approve no "$Q"
	answered
	[ "$code" -eq 126 ]
}

@test "an asker that is killed leaves no question" {
	ask 60s touch made
	run approve
	[[ $output == "$Q"* ]]
	pid=$(approve show --json "$Q" | jq .pid)
	kill -9 "$pid"
	answered
	run approve
	[ "$status" -eq 1 ]
	[ -z "$(ls "$BATS_TEST_TMPDIR/ns/run/0/questions")" ]
	run approve yes "$Q"
	[ "$status" -eq 1 ]
	for wrong in ../x .. '' zz "$Q.ask"; do
		run approve yes "$wrong"
		[ "$status" -eq 1 ]
	done
	run approve yes
	[ "$status" -eq 2 ]
}

@test "watch shows each question as it comes" {
	mkfifo seen
	approve watch >seen 3>&- &
	watcher=$!
	exec 8<seen
	ask 60s touch made
	read -r line <&8
	[ "$line" = "$Q" ]
	approve no "$Q"
	answered
	exec 8<&-
	# The next question finds nobody who reads, which ends it.
	ask 60s touch made
	approve no "$Q"
	answered
	wait "$watcher" || :
}

@test "a command with the same uid answers nothing" {
	cat >try.py <<'EOF'
import os, subprocess, sys
box, question = sys.argv[1:]
home = f"/run/wardbox/{os.getuid()}/questions"
for word in "yes", "always":
    if not subprocess.run([box, "approve", word, question],
                          stderr=subprocess.DEVNULL).returncode:
        print("answered by approve")
    if not subprocess.run(["wardbox", "approve", word, question], shell=False,
                          executable=box,
                          stderr=subprocess.DEVNULL).returncode:
        print("answered by another name")
for path in f"{home}/{question}.answer", f"{home}/{question}.seen":
    try:
        with open(path, "w") as f:
            f.write("yes\n")
        print("wrote", path)
    except OSError:
        pass
try:
    print("listed", os.listdir(home))
except OSError:
    pass
for pid in os.listdir("/proc"):
    if not pid.isdigit() or int(pid) == os.getpid():
        continue
    try:
        if b"--approver" in open(f"/proc/{pid}/cmdline", "rb").read():
            open(f"/proc/{pid}/mem", "r+b")
            print("holds the asker", pid)
    except OSError:
        pass
print("done")
EOF
	ask 60s touch made
	cp "$WARDBOX" wardbox
	run in_policy "$POLICY" "$WARDBOX" exec s -- python3 try.py ./wardbox "$Q"
	echo "$output"
	[ "$output" = done ]
	[ ! -e made ]
	run in_policy "$POLICY" "$WARDBOX" exec s -- ./wardbox approve yes "$Q"
	[ "$status" -eq 1 ]
	[[ $output == *"a guarded command answers no question"* ]]
	# Beside it, the person's own answer counts.
	approve yes "$Q"
	answered
	[ "$code" -eq 0 ]
	[ -e made ]
}

@test "mcp: the call comes back at once, and read says what came of it" {
	cat >client.py <<'EOF'
from mcp import *
def approve(*words):
    return subprocess.run([os.environ["WARDBOX"], "approve", *words]).returncode
def end(f):
    while f["state"] in ("asking", "running"):
        f = c.facts("read", id=f["id"], wait=30)
    return f
c = Client(command=[os.environ["WARDBOX"], "mcp", "--approver", "60s"])
r = c.call("run", text="touch made && echo made")
f = r["structuredContent"]
assert f["state"] == "asking" and not r["isError"], r
assert f["question"] in r["content"][0]["text"]
# All else goes on meanwhile.
assert c.facts("run", text="echo on")["stdout"] == "on\n"
assert [x["state"] for x in c.facts("list")["commands"]] == ["ended", "asking"]
assert approve("yes", f["question"]) == 0
f = end(f)
assert f["exit_code"] == 0 and os.path.exists("made"), f
f = c.facts("run", text="touch other")
assert approve("no", f["question"]) == 0
f = end(f)
assert f["state"] == "denied" and "a person said no" in f["reason"], f
assert not os.path.exists("other")
# One that is cancelled asks no more.
f = c.facts("run", text="touch other")
c.call("signal", id=f["id"])
f = end(f)
assert approve("yes", f.get("question", "00")) == 1 and not os.path.exists("other")
# Without the option a question is a denial.
c = Client()
assert c.facts("run", text="touch other")["state"] == "denied"
EOF
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout 60 python3 client.py
}

@test "a key that may not answer a question does not make it seen" {
	mkfifo up
	in_policy "$POLICY" "$WARDBOX" serve --approver 3s >up 3>&- &
	SERVER=$!
	read -r _ <up
	cat >client.py <<'EOF'
from ws import *
def reason(key):
    w = Socket(command="touch", args=["made"])
    w.get()
    while not json.loads(ask("GET", "/api/v1/questions", key=key)[2])["questions"]:
        pass
    return w.all()[1][-1]["reason"]
assert "nobody looked" in reason(os.environ["VIEW"])
assert "nobody looked" in reason(token())
assert "nobody answered in time" in reason(token("approver"))
assert not os.path.exists("made")
EOF
	VIEW=$(in_policy "$POLICY" "$WARDBOX" serve keys add look view) \
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib \
		in_policy "$POLICY" timeout 60 python3 client.py
}

@test "serve: questions are shown to any key, and answered by an approver's" {
	mkfifo up
	in_policy "$POLICY" "$WARDBOX" serve --approver 60s >up 3>&- &
	SERVER=$!
	read -r _ <up
	cat >client.py <<'EOF'
from ws import *
w = Socket(command="touch", args=["made"])
i = json.loads(w.get()[1])["command_id"]
def question():
    while True:
        f = json.loads(ask("GET", f"/api/v1/commands/{i}")[2])
        if f["state"] != "running":
            return f["question"]
q = question()
seen = json.loads(ask("GET", "/api/v1/questions")[2])["questions"]
assert [s["id"] for s in seen] == [q] and seen[0]["line"] == "touch made", seen
yes = {"answer": "yes"}
# Who runs does not approve.
assert ask("POST", f"/api/v1/questions/{q}", yes)[0] == 403
assert ask("POST", f"/api/v1/questions/{q}", yes, key="wrong")[0] == 401
boss = token("approver")
assert ask("POST", f"/api/v1/questions/{q}", {"answer": "so"}, key=boss)[0] == 400
assert ask("POST", "/api/v1/questions/00", yes, key=boss)[0] == 404
assert ask("POST", "/api/v1/questions/..%2f", yes, key=boss)[0] == 404
assert not os.path.exists("made")
assert ask("POST", f"/api/v1/questions/{q}", yes, key=boss)[0] == 204
out, said, code = w.all()
assert said[-1]["exit_code"] == 0 and os.path.exists("made"), said
EOF
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib \
		in_policy "$POLICY" timeout 60 python3 client.py
}
