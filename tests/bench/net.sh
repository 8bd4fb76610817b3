#!/bin/sh
# net.sh - the session's network: what it adds, and a host by name beside itself
. tests/bench/lib.sh

runs=${RUNS:-50}
world=$PWD/tests/lib/world.py
project
for tool in python3 openssl ip; do
	command -v "$tool" >/dev/null || {
		skip "the network by name" "no $tool"
		exit 0
	}
done
guarded unshare -n true 2>/dev/null || {
	skip "the network by name" "needs root and overlayfs, for a policy of its own"
	exit 0
}

# One policy, so that all take turns: each profile has another network.
under() { # POLICY COMMAND...
	mkdir -p "$work/policies"
	printf '%s\n' "$1" >"$work/policies/policy"
	shift
	POLICIES=$work/policies guarded sh -c '
		mount --bind "$POLICIES" /etc/wardbox && unset POLICIES && exec "$@"' sh "$@"
}
under 'include default
use FULL-AUTO
profile DEV unknown=allow net=none
net host www.world.test:80' ./spawn_median -l "$runs" \
	net_none /usr/bin/env WARDBOX_PROFILE=DEV ./sh -c './bare; ./bare' :: \
	net_named /usr/bin/env WARDBOX_SESSION_ID=bench ./sh -c './bare; ./bare' \
	>"$work/turns" 2>"$work/errors" || true
under 'include default
use FULL-AUTO
profile DEV unknown=allow net=none' ./spawn_median -l "$runs" \
	net_none_again /usr/bin/env WARDBOX_PROFILE=DEV ./sh -c './bare; ./bare' :: \
	net_fresh /usr/bin/env A=B ./sh -c './bare; ./bare' :: \
	net_session /usr/bin/env WARDBOX_SESSION_ID=bench ./sh -c './bare; ./bare' \
	>>"$work/turns" 2>>"$work/errors" || true
tee -a "$rows" <"$work/turns"
sed -n 's/^spawn_median: /failed /p' "$work/errors"
more net_session_adds net_session net_none_again
more net_named_adds net_named net_none

cat >one.py <<'EOF'
import socket, statistics, sys, time
host, kind = sys.argv[1:]
at = socket.gethostbyname(host)
def ask(path):
    s = socket.create_connection((at, 80))
    s.sendall(b"GET %s HTTP/1.1\r\nHost: www.world.test\r\nConnection: close\r\n\r\n" % path)
    return s
times = []
for _ in range(300):
    a = time.perf_counter()
    s = ask(b"/")
    s.recv(1)
    times.append(time.perf_counter() - a)
    s.close()
print("net_first_%s %.0f us" % (kind, statistics.median(times) * 1e6))
best, room = 0, bytearray(1 << 20)
for _ in range(3):
    s = ask(b"/big/400000000")
    a, n = time.perf_counter(), 0
    while (k := s.recv_into(room)):
        n += k
    best = max(best, n / (time.perf_counter() - a))
print("net_bytes_%s %.0f MB/s" % (kind, best / 1e6))
EOF
# shellcheck disable=SC2016 # expanded by the inner shell
USE='FULL-AUTO
net host www.world.test:80' guarded unshare -n python3 "$world" "$work" sh -c '
	python3 one.py www.world.test direct
	./sh -c "python3 one.py www.world.test named"' >"$work/turns" 2>"$work/errors" ||
	row "failed net $(tail -n 1 "$work/errors")"
tee -a "$rows" <"$work/turns"

# What the keeper has in memory for many connections that are open.
cat >open.py <<'EOF'
import subprocess, sys
def memory():
    pids = subprocess.run(["pgrep", "--ns", sys.argv[1], "--nslist", "net", "-x", "wardbox-net"],
                          capture_output=True, text=True).stdout.split()
    text = open("/proc/%s/status" % pids[-1]).read()
    return int(text.split("VmRSS:")[1].split()[0])
child = subprocess.Popen(["./sh", "-c", "python3 hold.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
before = memory()
child.stdin.write(b"\n")
child.stdin.flush()
child.stdout.readline()
print("net_memory_1000 %d KiB" % (memory() - before))
child.stdin.close()
child.wait()
EOF
cat >hold.py <<'EOF'
import resource, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
def ask():
    s = socket.create_connection(("www.world.test", 80))
    s.sendall(b"GET / HTTP/1.1\r\nHost: www.world.test\r\n\r\n")
    s.recv(1)
    return s
held = [ask()]
print(flush=True)
sys.stdin.readline()
held += [ask() for _ in range(1000)]
print(flush=True)
sys.stdin.readline()
EOF
# shellcheck disable=SC2016 # expanded by the inner shell
USE='FULL-AUTO
net host www.world.test:80
limit FULL-AUTO files=4000' guarded unshare -n python3 "$world" "$work" sh -c '
	ulimit -n 8192; timeout 60 python3 open.py $$' >"$work/turns" 2>"$work/errors" ||
	row "failed net memory $(tail -n 1 "$work/errors")"
tee -a "$rows" <"$work/turns"
more net_first_adds net_first_named net_first_direct
ratio net_bytes_over_direct net_bytes_named net_bytes_direct
