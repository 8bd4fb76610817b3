#!/bin/sh
# serve_bytes.sh - bytes of a server's command by each front, and what an idle session costs
. tests/bench/lib.sh

project
for tool in python3 openssl curl; do
	command -v "$tool" >/dev/null || {
		skip "the server" "no $tool"
		exit 0
	}
done
guarded true 2>/dev/null || {
	skip "the server" "needs root and overlayfs, for a policy of its own"
	exit 0
}
openssl req -x509 -nodes -days 2 -subj /CN=server -addext subjectAltName=IP:127.0.0.1 \
	-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
	-keyout server.key -out server.pem 2>/dev/null
chmod 600 server.key

# 100 MB to nobody, the fastest of three, in MB/s.
cat >ways.sh <<'END'
rate() { # NAME COMMAND...
	name=$1 least=
	shift
	for _ in 1 2 3; do
		a=$(date +%s%N)
		[ "$("$@" | wc -c)" -ge 100000000 ] || { echo "failed $name"; return; }
		b=$(date +%s%N)
		[ -n "$least" ] && [ "$least" -le $((b - a)) ] || least=$((b - a))
	done
	echo "$name $((100000000000 / least)) MB/s"
}
grpc() { # URL: a call whose first message is the file "start"
	curl -sS --http2-prior-knowledge --cacert server.pem -H "x-api-key: $KEY" \
		-H 'content-type: application/grpc' -H 'te: trailers' \
		--data-binary @start "$@/wardbox.v1.Terminal/Run"
}
port=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkfifo up
./wardbox serve --tls "127.0.0.1:$port" --cert server.pem --key server.key >up &
read -r _ <up
KEY=$(./wardbox serve keys add ci run) && echo "$KEY" >key
export KEY
many='head -c 100000000 /dev/zero'
rate serve_pipe sh -c "$many | cat"
rate serve_bytes ./wardbox exec --server local s -- $many
rate serve_bytes_tls ./wardbox exec --server "https://127.0.0.1:$port" \
	--cert server.pem --token-file key s -- $many
if grep -q 'grpc\.health' wardbox; then
	printf '\0\0\0\0\044\012\042\012\001s\112\033%s\130\001' "$many" >start
	rate serve_bytes_grpc grpc --unix-socket /run/wardbox/0/serve/socket http://localhost
	rate serve_bytes_grpc_tls grpc --no-alpn "https://127.0.0.1:$port"
fi
PYTHONPATH=$TESTS_LIB python3 idle.py "$port"
./wardbox serve stop
END
# What 200 terminals that say nothing add to the server's own memory.
cat >idle.py <<'END'
import os, ssl, sys, ws
from ws import *
def memory():
    return int(next(l for l in open(f"/proc/{server()}/status")
                    if l.startswith("RssAnon")).split()[1])
def idle(name, make):
    before = memory()
    all_of = [make() for _ in range(200)]
    for w in all_of:
        w.until(b"up")
    print(name, (memory() - before) // 200, "KB", flush=True)
    for w in all_of:
        w.s.close()
idle("serve_idle", lambda: Socket(text="echo up; exec sleep 1000"))
sealed = ssl.create_default_context(cafile="server.pem")
unsealed = ws.connect
def far():
    ws.connect = lambda port: sealed.wrap_socket(unsealed(int(sys.argv[1])),
                                                 server_hostname="127.0.0.1")
    w = Socket(text="echo up; exec sleep 1000", key=os.environ["KEY"])
    ws.connect = unsealed
    return w
idle("serve_idle_tls", far)
END
TESTS_LIB=$OLDPWD/tests/lib guarded sh ways.sh 2>"$work/errors" | tee -a "$rows"
sed 's/^/failed serve: /' "$work/errors" | head -n 3
