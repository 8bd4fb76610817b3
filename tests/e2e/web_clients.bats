#!/usr/bin/env bats
# web_clients: asciinema's player and a client of Kubernetes at wardbox serve
#
# The packages come from the npm registry that the machine has, into a directory that
# lives as long as this file's tests: asciinema-player 3.x and
# @kubernetes/client-node. Where npm or the registry cannot be reached the tests are
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
		--cache "$BATS_FILE_TMPDIR/cache" asciinema-player@3 \
		@kubernetes/client-node@1 >install.log 2>&1 || {
		tail -3 install.log
		touch unreachable
	}
}

up_with_port() {
	NPM=$BATS_FILE_TMPDIR/npm
	need node --version
	[ ! -e "$NPM/unreachable" ] || skip "not here: the npm registry"
	PORT=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	TERM=xterm-256color up --port "$PORT"
	RUN=$(serve keys add runs run)
	export PORT RUN NPM HOME=$BATS_TEST_TMPDIR TMPDIR=$BATS_TEST_TMPDIR
}

@test "asciinema's player shows a running command, by ALiS and by asciicast" {
	up_with_port
	need command -v chromium
	client <<'EOF'
from browser import Browser
bundle = os.environ["NPM"] + "/node_modules/asciinema-player/dist/bundle/"
port, run = os.environ["PORT"], os.environ["RUN"]
def rest(method, path, body=b""):
    return json.loads(ask(method, "/api/v1/" + path, body, key=run, port=int(port))[2] or b"null")
page = ("<!doctype html><meta charset=utf-8><link rel=stylesheet href='%sasciinema-player.css'>"
        "<script src='%sasciinema-player.min.js'></script>%s<div id=p></div>")
# Only one of the forms that it knows is offered, so that each is tried.
only = ("<script>const W = WebSocket; window.WebSocket = class extends W {"
        "constructor(u) { super(u, ['%s']) } }</script>")
b = Browser()
b.look(1280)
for form in "", "v1.alis", "v3.asciicast", "v2.asciicast":
    i = rest("POST", "sessions/s/commands",
             {"text": "echo one; read a; printf 'two %s\\n' $a; read b; exit 5",
              "rows": 12, "cols": 70})["id"]
    with open("player.html", "w") as f:
        f.write(page % (bundle, bundle, form and only % form))
    b.go("file://" + os.getcwd() + "/player.html")
    url = f"ws://127.0.0.1:{port}" + rest("POST", f"commands/{i}/ticket")["path"]
    b.js("window.said = []; window.p = AsciinemaPlayer.create({driver: 'websocket', url: "
         + json.dumps(url) + "}, document.getElementById('p'), "
         "{autoPlay: true, logger: Object.fromEntries(['debug', 'info', 'log', 'warn', 'error']"
         ".map(k => [k, (...a) => said.push([k, ...a].join(' '))]))}); "
         "p.addEventListener('playing', () => said.push('playing')); p.addEventListener('ended', () => said.push('ended')); 1")
    try:
        b.until("said.includes('playing')")
        b.until("document.querySelector('.ap-term').innerText.includes('one')")
        rest("POST", f"commands/{i}/input", b"three\r")
        b.until("document.querySelector('.ap-term').innerText.includes('two three')")
        if form != "v2.asciicast":
            rest("POST", f"commands/{i}/resize", {"rows": 14, "cols": 72})
        rest("POST", f"commands/{i}/input", b"\r")
        b.until("said.includes('ended')")
    except AssertionError:
        print(form, b.js("said"), b.js("document.querySelector('.ap-term').outerHTML.slice(0, 2000)"))
        raise
    assert b.js(f"said.some(s => s.includes('activating {form or 'v1.alis'}'))"), b.js("said")
b.close()
EOF
}

@test "Kubernetes' own client runs a command in a session" {
	up_with_port
	cat >"$NPM/pod.mjs" <<'EOF'
import { Exec, KubeConfig } from "@kubernetes/client-node";
import { PassThrough } from "node:stream";

const kc = new KubeConfig();
kc.loadFromOptions({
	clusters: [{ name: "c", server: `http://127.0.0.1:${process.env.PORT}`,
		skipTLSVerify: true }],
	users: [{ name: "u", token: process.env.RUN }],
	contexts: [{ name: "x", cluster: "c", user: "u" }], currentContext: "x",
});
async function run(command, input, tty) {
	const out = new PassThrough(), err = new PassThrough(), to = new PassThrough();
	const said = { out: "", err: "" };
	out.on("data", d => (said.out += d));
	err.on("data", d => (said.err += d));
	if (input !== null)
		to.end(input);
	said.status = await new Promise((done, fail) => new Exec(kc).exec("any", "work", "c",
		command, out, err, input === null ? null : to, tty, done).catch(fail));
	return said;
}
function check(got, want) {
	for (const key in want)
		if (JSON.stringify(got[key]) !== JSON.stringify(want[key]))
			throw new Error(`${key}: ${JSON.stringify(got)}`);
}
let got = await run(["sh", "-c", "cat; echo err >&2; exit 7"], "a & b\n", false);
check(got, { out: "a & b\n", err: "err\n" });
check(got.status, { status: "Failure", reason: "NonZeroExitCode" });
check(got.status.details.causes[0], { reason: "ExitCode", message: "7" });
got = await run(["sh", "-c", "test -t 1 && echo tty"], null, true);
check(got, { out: "tty\r\n" });
check(got.status, { status: "Success" });
got = await run(["touch", "forbidden"], null, false);
check(got.status, { status: "Failure" });
if (!got.status.message.includes("forbids"))
	throw new Error(JSON.stringify(got));
console.log("ok");
process.exit(0);
EOF
	run in_policy "$POLICY" timeout 60 node "$NPM/pod.mjs"
	echo "$output"
	[[ $output == *ok ]]
	[ ! -e forbidden ]
}
