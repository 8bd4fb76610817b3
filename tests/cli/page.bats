#!/usr/bin/env bats
# serve: its page, by a browser

bats_require_minimum_version 1.5.0
load ../lib/wardbox
load ../lib/serve
load ../lib/full

POLICY='policy 1 system
include default
use FULL-AUTO
profile FULL-AUTO undo=on
ask id=careful touch asked* : "the test is careful"
deny id=forbidden touch forbidden : "the test forbids it"'

setup_file() {
	full_box
}

# A server with a port and three keys.
up_with_page() {
	full_need
	PORT=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	TERM=xterm-256color up --port "$PORT" --approver 120s
	VIEW=$(serve keys add looks view) RUN=$(serve keys add runs run)
	BOSS=$(serve keys add decides approve)
	export PORT VIEW RUN BOSS
}

# What a Python program does with a browser; shots go to $PAGE_SHOTS, if any.
person() {
	command -v chromium chromium-browser google-chrome >/dev/null || skip "no chromium"
	{
		echo 'from browser import *'
		echo 'HERE = "http://127.0.0.1:" + os.environ["PORT"] + "/"'
		echo 'b = Browser()'
		cat
	} >"$BATS_TEST_TMPDIR/person.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib TMPDIR=$BATS_TEST_TMPDIR \
		in_policy "$POLICY" timeout 120 python3 "$BATS_TEST_TMPDIR/person.py"
}

@test "a person's whole way: a key, a session, typing, resizing, approving, replaying" {
	up_with_page
	person <<'EOF'
rows = "document.querySelector('.xterm-rows').textContent"
def shots(name):
    if not os.environ.get("PAGE_SHOTS"):
        return
    for width in 420, 1280:
        for scheme in "light", "dark":
            b.look(width, scheme=scheme)
            b.js("new Promise(r => setTimeout(r, 300))")
            b.shot(f"{os.environ['PAGE_SHOTS']}/{name}-{width}-{scheme}.png")
    b.look(1280)
b.look(1280)
b.go(HERE)
# A key that is none is told so; one that is good is kept in this tab alone.
b.until("$('keys').open")
b.type("wrong\r")
b.until("$('keys-say').textContent === 'No such key.'")
shots("keys")
b.js("$('keys-text').value = ''")
b.type(os.environ["RUN"] + "\r")
b.until("!$('keys').open && !$('start').hidden")
assert os.environ["RUN"] not in b.js("location.href + document.cookie")
# A command of a session on a terminal, by the keyboard.
b.js("$('start-session').focus()")
b.type("work\t")
b.type("bash --norc\r")
b.until("document.querySelector('.xterm-rows')")
b.until("document.activeElement.classList.contains('xterm-helper-textarea')")
b.type("PS1='> '; echo it is $((40 + 2))\r")
b.until(rows + ".includes('it is 42')")
wide = b.js("opened && document.querySelector('.xterm-rows').children.length")
b.type("stty size\r")
b.until("/\\d+ \\d+/.test(" + rows + ")")
shots("live")
before = b.js(rows + ".match(/(\\d+) (\\d+)/)[2]")
b.look(420)
b.until(f"{rows}.length && document.querySelector('.xterm-screen').clientWidth < 420")
b.type("clear; echo now; stty size\r")
after = b.until("(m => m && m[2])(" + rows + ".match(/now *(\\d+) (\\d+)/))")
assert 20 <= int(after) < int(before), (before, after)
b.look(1280)
# The way out of the terminal; then the list.
b.key("Escape", 27, modifiers=8)
b.until("document.activeElement.id === 'detail-close'")
b.type("\r")
b.until("$('detail').hidden && document.activeElement.classList.contains('row')")
# What is denied says so.
b.js("$('start-pty').checked = false; $('start-text').focus()")
b.type("touch forbidden\r")
b.until("$('detail-facts').textContent.includes('forbids it')")
assert b.js("$('detail-facts').textContent.includes('forbidden')")
shots("denied")
# What is asked waits; a key that runs has no say, an approver's has.
b.js("closeDetail(); $('start-text').focus()")
b.type("touch asked-for\r")
b.until("$('question-count').textContent === '1'")
b.js("$('tab-questions').click()")
b.until("document.querySelector('#question-cards pre').textContent === 'touch asked-for'")
assert not b.js("document.querySelector('#question-cards button')")
b.js("$('keys-open').click()")
b.type(os.environ["BOSS"] + "\r")
b.until("document.querySelectorAll('#question-cards button').length === 3")
shots("question")
assert not os.path.exists("asked-for")
b.js("document.querySelector('#question-cards button').click()")
b.until("$('question-count').textContent === ''")
b.js("$('tab-live').click()")
b.until("commands.some(c => c.command === 'touch asked-for' && c.exit_code === 0 && c.journal)")
assert os.path.exists("asked-for")
b.js("[...live.values()].find(r => r.about.command === 'touch asked-for').click()")
b.until("[...document.querySelectorAll('#detail-acts button')].some(e => "
        "e.textContent === 'Changed files' && (e.click(), 1))")
b.until("$('detail-more').textContent.includes('asked-for')")
shots("changed")
# One session's commands alone.
b.js("fetchWith(keyFor('run').key, 'POST', '/api/v1/sessions/other/commands', {text: 'true'})")
b.until("$('live-sessions').children.length === 3")
b.js("$('live-sessions').children[1].click()")
b.until("$('live-rows').children.length === 1")
b.js("$('live-sessions').children[0].click()")
b.until("$('live-rows').children.length === 4")
# The end of the terminal's command, and its replay out of the log.
b.js("[...live.values()].find(r => r.about.command === 'bash --norc').click()")
b.until("document.activeElement.classList.contains('xterm-helper-textarea')")
b.type("exit 3\r")
b.until("commands.some(c => c.exit_code === 3)")
b.js("$('tab-log').click()")
b.until("document.documentElement.dataset.ready >= 3")
b.js("$('f-command').value = 'bash'; $('search').requestSubmit()")
b.until("found.length === 1 && found[0].line.includes('bash --norc') && found[0].exit === 3")
b.js("document.querySelector('#log-rows button').click()")
b.until("document.querySelector('.replay') && " + rows + ".includes('exit')")
b.js("(r => { r.value = 0; r.dispatchEvent(new Event('input')) })"
     "(document.querySelector('.replay input[type=range]'))")
b.until("!" + rows + ".includes('it is 42')")
b.js("document.querySelector('.replay select').value = 16")
b.js("document.querySelector('.replay button').click()")
b.until(rows + ".includes('exit') && document.querySelector('.replay button').textContent === 'Play'")
shots("replay")
b.js("closeDetail(); $('f-command').value = ''; $('search').requestSubmit()")
b.until("found.length >= 3")
assert b.js("$('totals').textContent.includes('1 deny')"), b.js("$('totals').textContent")
shots("log")
b.until("$('proof').textContent.startsWith('log intact')")
# Nothing was fetched from elsewhere, and nothing was against the page's rules.
assert all(u.startswith((HERE, "data:")) for u in b.asked()), b.asked()
assert [c for c in b.complaints() if "401" not in c] == [], b.complaints()
b.close()
EOF
}

@test "hostile lines, output and names stay text: live, in questions, in the log" {
	up_with_page
	person <<'EOF'
b.look(1280)
b.go(HERE)
for key in "RUN", "BOSS":
    b.js("openKeys()")
    b.type(os.environ[key] + "\r")
    b.until("!$('keys').open")
evil = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script><a href=javascript:hit>"
# In a command's line and its output; a link, a title, a reply and a turned word.
line = ("echo '" + evil + "'; echo '</script>" + evil + "' >&2; "
        "printf '\\033]8;;javascript:window.hit=1\\033\\\\link\\033]8;;\\033\\\\"
        "\\033]0;" + evil.replace("%", "%%") + "\\007\\033]52;c;aGk=\\007\\033[6n\\342\\200\\256turn'")
post = "fetchWith(keyFor('run').key, 'POST', '/api/v1/sessions/evil/commands', %s)"
for pty in True, False:
    b.js(post % json.dumps({"text": line, "pty": pty, "input": pty}))
b.until("commands.filter(c => c.exit_code === 0).length === 2")
assert b.js("[...document.querySelectorAll('.line')].some(e => e.textContent.includes('<script>'))")
for i in 0, 1:
    b.js(f"document.querySelectorAll('#live-rows button')[{i}].click()")
    b.until("document.querySelector('.xterm-rows').textContent.includes('<script>')")
    b.js("[...document.querySelectorAll('.xterm-rows span')].find(e => "
         "e.textContent.includes('link')).click()")
# What old output asks is not answered by who looks at it later: nothing is typed.
b.js(post % json.dumps({"text": "printf '\\033[6n'; read -r a; echo got:$a: | tr -c 'a-z:' ."}))
b.js("$('live-rows').children[0].firstChild.focus()")
b.until("commands.length === 3")
b.js("(async () => { while (!(await ask('commands/' + commands[0].id)).stdout_bytes); })()")
b.js("document.querySelectorAll('#live-rows button')[0].click()")
b.until("document.activeElement.classList.contains('xterm-helper-textarea')")
b.type("mine\r")
b.until("document.querySelector('.xterm-rows').textContent.includes('got:mine:')")
# A question.
b.js(post % json.dumps({"text": "touch 'asked" + evil.replace("'", "") + "'"}))
b.until("document.querySelectorAll('#question-cards li').length === 1")
assert b.js("document.querySelector('#question-cards pre').textContent.includes('<img')")
b.js("$('tab-questions').click(); document.querySelectorAll('#question-cards button')[1].click()")
b.until("$('question-count').textContent === ''")
# The log, and a search for such a text.
b.js("$('tab-log').click(); $('f-grep').value = '<img src=x'; $('search').requestSubmit()")
b.until("found.length === 2 && found.every(c => c.line.includes('<script>'))")
for i in 0, 1:
    b.js(f"document.querySelectorAll('#log-rows button')[{i}].click()")
    b.until("document.querySelector('.xterm-rows').textContent.includes('<script>')")
assert b.js("[...document.querySelectorAll('.line')].some(e => e.textContent.includes('<script>'))")
for wrong in "<b>&\"'", "--help", "..", "%00", "a" * 3000:
    b.js(f"$('f-command').value = {json.dumps(wrong)}; $('search').requestSubmit()")
    b.until("found.length === 0 || !$('say').hidden")
assert b.js("window.hit") is None
assert b.js("document.querySelectorAll('img, iframe, object, a, main script').length") == 0
# And where somebody had found a way in, the page's rules hold.
b.js("try { document.body.innerHTML += '<i id=in>' } catch (e) { window.kept = e.name }")
assert b.js("window.kept") == "TypeError"
b.js("document.body.append(Object.assign(document.createElement('iframe'), {src: 'data:text/html,hi'}))")
assert any("Security Policy" in c for c in b.complaints()), b.complaints()
assert all(u.startswith((HERE, "data:")) for u in b.asked()), b.asked()
b.close()
EOF
}

@test "the page by TLS: a key, and a terminal" {
	full_need
	PORT=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=localhost -keyout key.pem -out cert.pem 2>/dev/null
	chmod 600 key.pem
	up --tls "127.0.0.1:$PORT" --cert cert.pem --key key.pem
	RUN=$(serve keys add runs run)
	export PORT RUN
	person <<'EOF'
b.close()
b = Browser("--ignore-certificate-errors")
b.go(HERE.replace("http:", "https:"))
b.until("$('keys').open")
b.type(os.environ["RUN"] + "\r")
b.until("!$('keys').open")
b.js("$('start-session').focus()")
b.type("work\tbash --norc\r")
b.until("document.activeElement.classList.contains('xterm-helper-textarea')")
b.type("echo $((6 * 7))\r")
b.until("document.querySelector('.xterm-rows').textContent.includes('42')")
b.until("$('proof').textContent.startsWith('log intact')")
assert b.complaints() == [], b.complaints()
b.close()
EOF
}

@test "files of the page that nobody takes are not heaped up, and others get them" {
	up_with_page
	LONG=200 client <<'EOF'
port = int(os.environ["PORT"])
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("VmRSS")).split()[1])
page = ask("GET", "/", key="", port=port)[2]
files = [p.split(b'"')[0].decode() for p in page.split(b'src="')[1:]]
size, path = max((len(ask("GET", p if p[0] == "/" else "/" + p, key="", port=port)[2]),
                  p if p[0] == "/" else "/" + p) for p in files)
assert size > 50000, (size, path)
before = memory()
greedy = []
for _ in range(300):
    s = socket.socket()
    # What the kernel holds for it is little.
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", port))
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20)
    greedy.append(s)
assert len(ask("GET", path, key="", port=port)[2]) == size
assert memory() - before < 64 * (size // 1024 + 300) + 16000, (memory() - before, size)
# Who takes all of its answers gets all of them.
s = connect(port)
s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20)
had = b""
for _ in range(20):
    head, had = until(s, b"\r\n\r\n", had)
    while len(had) < size:
        had += s.recv(1 << 20)
    had = had[size:]
assert not had
EOF
}

@test "the page's files need no key, and carry its rules; all else does" {
	up_with_page
	client <<'EOF'
import gzip, re
port, view, run = int(os.environ["PORT"]), os.environ["VIEW"], os.environ["RUN"]
total = 0
for path in "/", "/page.css", "/page.js", "/xterm.css", "/xterm.js":
    code, head, plain = ask("GET", path, key="", port=port)
    assert code == 200 and plain, path
    for rule in ("default-src 'none'", "script-src 'self';", "frame-ancestors 'none'",
                 "connect-src 'self'", "X-Content-Type-Options: nosniff"):
        assert rule in head, (path, rule)
    assert "unsafe-eval" not in head and "script-src 'self' " not in head
    code, head, packed = ask("GET", path, key="", port=port, more="Accept-Encoding: br, gzip\r\n")
    assert "Content-Encoding: gzip" in head and gzip.decompress(packed) == plain
    total += len(packed)
assert total <= 150 << 10, total
html = ask("GET", "/", key="", port=port)[2].decode()
assert not re.search(r"https?:|<script>|style=|\son[a-z]+=", html)
# Somebody's name for this machine is not served.
s = connect(port)
s.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
assert b" 403 " in until(s, b"\r\n")[0]
for path in "me", "log", "log/verify", "log/1/cast", "questions", "commands":
    assert ask("GET", "/api/v1/" + path, key="", port=port)[0] == 401, path
me = json.loads(ask("GET", "/api/v1/me", key=view, port=port)[2])
assert (me["view"], me["run"], me["approve"]) == (True, False, False)
# A page from elsewhere gets nothing, key or not, by either way.
for more in "Origin: http://evil.example\r\n", f"Origin: http://localhost:{port + 1}\r\n":
    assert ask("GET", "/api/v1/me", key=view, port=port, more=more)[0] == 403
    assert Socket(key=view, port=port, more=more).status == 403
# A WebSocket's key may be one of its protocols; two keys are none.
more = f"Sec-WebSocket-Protocol: wardbox.v1, wardbox.key.{run}\r\n"
w = Socket(key="", port=port, more=more, text="echo $((6 * 7))")
assert w.status == 101 and "Protocol: wardbox.v1\r\n" in w.head.decode()
assert b"42" in w.all()[0]
assert Socket(key=view, port=port, more=more).status == 400
more = "Sec-WebSocket-Protocol: wardbox.v1, wardbox.key.wbk-0\r\n"
assert Socket(key="", port=port, more=more).status == 401
# What is searched for are values, never options.
log = lambda q: ask("GET", "/api/v1/log?" + q, key=view, port=port)
assert json.loads(log("command=echo&lines=1")[2])["commands"][0]["line"].endswith("7))'")
assert json.loads(log("session=none")[2])["commands"] == []
for wrong in "lines=0", "lines=5001", "lines=x", "exit=no", "since=never", "grep=%0", "grep=a%00b":
    assert log(wrong)[0] == 400, (wrong, log(wrong))
assert log("command=--dir%3D%2Fetc&lines=1")[0] == 200
assert json.loads(ask("GET", "/api/v1/log/verify", key=view, port=port)[2])["findings"] == []
for wrong in "log/x/cast", "log/1/other", "log/-1/cast", "log/99999999999999999999999/cast":
    assert ask("GET", "/api/v1/" + wrong, key=view, port=port)[0] == 404, wrong
assert ask("GET", "/api/v1/log/999999/cast", key=view, port=port)[0] == 404
# A terminal's size is told to all who follow it.
a = Socket(key=run, port=port, text="read a", rows=30, cols=90)
name = json.loads(a.get()[1])
assert (name["rows"], name["cols"], name["backlog"]) == (30, 90, 0), name
other = Socket(key=view, port=port)
other.say(type="attach", id=name["command_id"])
assert json.loads(other.get()[1])["cols"] == 90
a.say(type="resize", rows=31, cols=91)
for w in a, other:
    got = w.get()
    while got[0] != TEXT:
        got = w.get()
    assert json.loads(got[1]) == {"type": "resize", "rows": 31, "cols": 91}
a.type(b"\r")
assert a.all()[2] == 1000 and other.all()[2] == 1000
EOF
}
