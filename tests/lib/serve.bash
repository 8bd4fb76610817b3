# serve.bash - a server for tests, and its clients: load ../lib/serve, behind wardbox
# shellcheck shell=bash

setup() {
	need unshare -m true
	project
	need in_policy "$POLICY" "$WARDBOX" exec probe -- true
	exec </dev/null
}

teardown() {
	[ -z "${SERVER-}" ] || { serve stop || :; wait "$SERVER" || :; }
}

serve() {
	in_policy "$POLICY" "$WARDBOX" serve "$@"
}

ex() {
	in_policy "$POLICY" "$WARDBOX" exec --server local "$@"
}

up() { # starts a server; it listens on return
	local line
	mkfifo "$BATS_TEST_TMPDIR/up"
	in_policy "$POLICY" "$WARDBOX" serve "$@" >"$BATS_TEST_TMPDIR/up" 3>&- &
	SERVER=$!
	read -r line <"$BATS_TEST_TMPDIR/up"
	[[ $line == "listening on "*/serve/socket ]]
}

python_with() { # MODULE : the interpreter that has it; Debian's packages are of its own
	local python
	for python in python3 /usr/bin/python3; do
		! "$python" -c "import $1" 2>/dev/null || {
			echo "$python"
			return
		}
	done
}

client() { # what a Python program does with tests/lib/ws.py
	{
		echo 'from ws import *'
		cat
	} >"$BATS_TEST_TMPDIR/client.py"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/lib WARDBOX=$WARDBOX \
		in_policy "$POLICY" timeout "${LONG:-60}" "${PYTHON:-python3}" "$BATS_TEST_TMPDIR/client.py"
}

free_port() {
	python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

certificate() { # NAME [OPTION OF openssl...]: NAME.pem and NAME.key
	local name=$1
	shift
	[ $# -gt 0 ] || set -- -newkey ec -pkeyopt ec_paramgen_curve:prime256v1
	openssl req -x509 -nodes -days 2 -subj "/CN=$name" \
		-addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' "$@" \
		-keyout "$name.key" -out "$name.pem" 2>/dev/null
	chmod 600 "$name.key"
}
