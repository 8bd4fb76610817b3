#!/usr/bin/env bats
# net: the session's loopback, and who may speak to it

load ../lib/wardbox

setup() {
	project
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME"
}

g() { # LINE: run, guarded
	in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" sh -c "$1"
}
says() { # DECISION LINE: as policy test says
	local want=0
	case $1 in confirm) want=10 ;; deny) want=11 ;; open) want=12 ;; esac
	run in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" policy test "$2"
	echo "$1 '$2': $status $output"
	[ "$status" -eq "$want" ]
}

@test "what speaks to other hosts may speak to the loopback" {
	local line
	for line in 'curl http://localhost:3000/x' 'curl -s localhost:3000' \
		'curl -sS -X POST -d a=1 -H "A: b c" http://127.0.0.1:80/p -o out' \
		'wget -qO- http://127.1.2.3/' 'curl "http://[::1]:8080/a"' \
		'curl https://user:pw@localhost/' 'nc -zv localhost 80' \
		'ssh -p 2222 localhost' 'ssh -o StrictHostKeyChecking=no -p 2222 localhost' \
		'python3 -m http.server 8000' 'curl localhost/a@b'; do
		says allow "$line"
	done
	for line in 'curl http://example.com' 'curl example.com localhost' \
		'curl localhost http://example.com' 'curl' 'curl -s' \
		'curl http://localhost@example.com/' 'curl -x http://example.com localhost' \
		'curl http://localhost:80@example.com/' 'curl -x example.com:80 localhost' \
		'curl --connect-to ::example.com: localhost' 'curl --resolve localhost:80:192.0.2.1 localhost' \
		'curl -K file localhost' 'curl --config=file localhost' 'curl -sK file localhost' \
		'curl --socks5-hostname example.com localhost' 'curl --next http://example.com localhost' \
		'wget -e http_proxy=example.com localhost' 'wget --execute=http_proxy=example.com localhost' \
		'wget -i list localhost' 'wget --input-file=list localhost' \
		'ssh -J example.com localhost' 'ssh -o ProxyCommand=x localhost' 'ssh -oProxyJump=x localhost' \
		'ssh -o "ProxyCommand x" localhost' 'ssh -o hostname=example.com localhost' 'ssh -F file localhost' \
		'ssh -W example.com:22 localhost' 'ssh -D 1080 localhost' 'ssh -L 80:example.com:80 localhost' \
		'nc -X 5 -x example.com:1 localhost 80' 'nc -xexample.com:1 localhost 80' \
		'ncat --proxy example.com:1 localhost 80' 'ncat --sh-exec x localhost 80' \
		'curl http://127.0.0.1.example.com' 'curl http://localhost.example.com/' \
		'curl http://2130706433/' 'curl http://0x7f.1/' \
		'curl file:///etc/hostname' 'curl ftp://example.com/localhost' \
		'curl http://{localhost,example.com}/' 'nc example.com 80' \
		'scp a localhost:' 'wget localhost "http://[::2]/"' \
		'curl "http://[::1]@example.com/"' "curl 'http://example.com\\@localhost/'"; do
		says deny "$line"
	done
}

@test "a place that is a path does not ask" {
	git init -q --bare there.git
	git init -q .
	says allow 'git push ./there.git HEAD:main'
	says allow 'git fetch ./there.git'
	says allow 'git clone ./there.git copy'
	says allow 'git clone there.git copy'
	says allow 'git submodule add ./there.git sub'
	# A remote's name: where its settings lead.
	says confirm 'git push origin main'
	git remote add origin "$PROJECT/there.git"
	says allow 'git push -u origin main'
	says allow 'git fetch --all'
	says allow 'cd .git && git pull'
	git remote add away https://example.com/x.git
	says confirm 'git push origin main'
	git remote remove away
	git config url.https://example.com/.insteadOf "$PROJECT"
	says confirm 'git push origin main'
	says confirm 'git push https://example.com/x main'
	says confirm 'git push example.com:x main'
	says confirm 'git clone example.com:x'
	says confirm 'git -C . push'
	says deny 'git submodule add ext::sh sub'
	# A path outside of the workspace is none.
	says confirm 'git push ../there.git main'
	says confirm 'git clone ./there.git /tmp/x'
	says confirm 'git clone --upload-pack=./x ./there.git y'
	says confirm 'git -c user.name=x fetch ./there.git'
}

@test "a server is there for the session's next command, and for nobody else" {
	need unshare -Un true
	export WARDBOX_SESSION_ID=one
	cat >server.py <<-'EOF'
		import http.server, sys
		s = http.server.HTTPServer(("127.0.0.1", 8123),
		    http.server.SimpleHTTPRequestHandler)
		print("Serving", flush=True)
		for _ in range(2):
		    s.handle_request()
	EOF
	echo hello >page
	g 'exec python3 server.py' >log 2>&1 3>&- &
	local server=$!
	until grep -q Serving log; do
		kill -0 "$server"
		read -rt 0.05 <> <(:) || :
	done
	run g 'curl -s http://localhost:8123/page'
	[ "$output" = hello ]
	# Neither this machine nor another session sees it.
	not bash -c ': </dev/tcp/127.0.0.1/8123'
	WARDBOX_SESSION_ID=two run g 'curl -s http://127.0.0.1:8123/page'
	[ "$status" -eq 7 ]
	unset WARDBOX_SESSION_ID
	run g 'curl -s http://127.0.0.1:8123/page'
	[ "$status" -eq 7 ]
	WARDBOX_SESSION_ID=one run g 'curl -s http://127.0.0.1:8123/page'
	[ "$output" = hello ]
	wait "$server"
}

@test "an ordinary user's session has its loopback, too" {
	need as_user unshare -Un true
	chmod 777 "$PROJECT"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR"
	export WARDBOX_SESSION_ID=mine
	echo 'import os; print(os.readlink("/proc/self/ns/net"))' >which.py
	for name in first second; do
		in_policy 'use FULL-AUTO' setpriv --reuid 1000 --regid 1000 \
			--clear-groups "$WARDBOX" sh -c 'python3 which.py' >$name
	done
	cmp first second
	not grep -qx "$(readlink /proc/self/ns/net)" first
}

@test "without a network namespace there is no loopback to speak to" {
	need "$HELPERS/docker" true
	local without=$'use FULL-AUTO\nrelax mount\nrelax ipc'
	run in_policy "$without" "$HELPERS/docker" "$WARDBOX" sh -c \
		'curl -s http://localhost:1/'
	echo "$output"
	[ "$status" -eq 126 ]
	[[ $output == *"rule loopback"*"no loopback"* || \
		$output == *"no network namespace"*"rule loopback"* ]]
	# Of an open line it is told when the program starts.
	# shellcheck disable=SC2016 # expanded by the guarded shell
	run in_policy "$without" "$HELPERS/docker" "$WARDBOX" sh -c \
		'c=$(echo curl); $c -s http://localhost:1/'
	echo "$output"
	[ "$status" -eq 126 ]
	[[ $output == *"rule loopback"* ]]
	run in_policy "$without" "$HELPERS/docker" "$WARDBOX" sh -c 'ls /usr/include'
	[ "$status" -eq 0 ]
	# Beside a program that has the machine's network it is the machine's.
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c \
		'yarn install; curl http://localhost:1/'
	[ "$status" -eq 126 ]
	[[ $output == *"a line of its own"* ]]
}

@test "a server that a command left running is there for the session's next" {
	need unshare -Un true
	# A session that was made by hand keeps its programs.
	POLICY='use FULL-AUTO'
	cat >server.py <<-'EOF'
		import http.server
		s = http.server.HTTPServer(("127.0.0.1", 8124),
		    http.server.SimpleHTTPRequestHandler)
		open("ready", "w").close()
		s.serve_forever()
	EOF
	echo hello >page
	run in_policy "$POLICY" "$WARDBOX" exec kept -- sh -c \
		'python3 server.py >/dev/null 2>&1 & until [ -e ready ]; do :; done'
	echo "$output"
	[ "$status" -eq 0 ]
	run in_policy "$POLICY" "$WARDBOX" exec kept -- curl -s http://localhost:8124/page
	echo "$output"
	[ "$output" = hello ]
	# Another session's loopback is another.
	run in_policy "$POLICY" "$WARDBOX" exec other -- curl -s http://localhost:8124/page
	[ "$status" -eq 7 ]
	in_policy "$POLICY" "$WARDBOX" session end --all
	# So has the session of a shell's lines, where the policy keeps programs.
	rm ready
	POLICY=$'policy 1 system\ninclude default\nuse FULL-AUTO
profile FULL-AUTO background=keep'
	g 'python3 server.py >/dev/null 2>&1 & until [ -e ready ]; do :; done'
	run g 'curl -s http://localhost:8124/page'
	echo "$output"
	[ "$output" = hello ]
	in_policy "$POLICY" "$WARDBOX" session end --all
}
