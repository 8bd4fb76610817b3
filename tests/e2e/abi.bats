#!/usr/bin/env bats
# Kernels whose Landlock is older than what is asked of it: each protection has
# another way there, or its absence is named.

load ../lib/wardbox

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need unshare -m true
	need "$HELPERS/abi" 1 true
	PLACE=$(mktemp -d /tmp/abi-XXXXXX)
	chmod 755 "$PLACE"
	NS_DIR=$BATS_TEST_TMPDIR/ns
	PROJECT=$PLACE/home/ours
	mkdir -p "$PROJECT/.git" "$PLACE/bin"
	cp "$WARDBOX" "$HELPERS"/{abi,docker,attack} "$PLACE/bin"
	POLICY="include default
use FULL-AUTO
path r \$HOME/outside
exec $PLACE/bin"
	cd "$PROJECT" || return
}

teardown() {
	[ -z "${OTHER-}" ] || kill "$OTHER" 2>/dev/null || true
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# COMMAND... as on a kernel of $ABI, as $USER_ID.
under() {
	mkdir -p "$NS_DIR/log/wardbox"
	[ -d "$NS_DIR/log/wardbox/1000" ] ||
		install -d -m 700 -o 1000 -g 1000 "$NS_DIR/log/wardbox/1000"
	in_policy "$POLICY" "$PLACE/bin/abi" "$ABI" "${AS[@]}" "${WITHOUT[@]}" \
		env HOME="$PLACE/home" "$@"
}
g() { # LINE
	under "$PLACE/bin/wardbox" bash -c "$1"
}

# each ABI... -- TIER... -- BODY: tiers are view and bare; as root and as uid 1000.
each() {
	local id abis=() tiers=()
	for (( ; ; )); do
		[ "$1" != -- ] || break
		abis+=("$1")
		shift
	done
	shift
	for (( ; ; )); do
		[ "$1" != -- ] || break
		tiers+=("$1")
		shift
	done
	shift
	for ABI in "${abis[@]}"; do
		for TIER in "${tiers[@]}"; do
			for id in 0 1000; do
				echo "# ABI $ABI, $TIER, uid $id"
				chown -R "$id:$id" "$PLACE/home"
				AS=() WITHOUT=()
				[ $id = 0 ] || AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
				[ "$TIER" = view ] || WITHOUT=("$PLACE/bin/docker")
				"$@"
			done
		done
	done
}

signals() {
	# A process outside of the tree that writes down what it gets.
	rm -f "$PLACE/home/hits"
	coproc UP { exec "${AS[@]}" sh -c 'trap "echo hit >>\"$1\"" WINCH
		echo up; while :; do sleep 0.1; done' sh "$PLACE/home/hits"; }
	OTHER=$UP_PID
	read -r -t 20 up <&"${UP[0]}"
	[ "$up" = up ]
	run g "$PLACE/bin/attack signals $OTHER"
	echo "$output"
	[[ $output == *EPERM* ]]
	run g "$PLACE/bin/attack sigio $OTHER"
	[[ $output == *EPERM* ]]
	run g "read -r _ _ _ p _ </proc/self/stat; read -r _ _ _ up _ </proc/\$p/stat
		for p in $OTHER \$up 1; do kill -0 \$p || kill -28 \$p || echo held; done
		$PLACE/bin/attack kill -1 28"
	echo "$output"
	[ "$(grep -c held <<<"$output")" -eq 3 ]
	# The one that comes is the first: none was sent before.
	"${AS[@]}" kill -WINCH "$OTHER"
	until_ test -e "$PLACE/home/hits"
	[ "$(wc -l <"$PLACE/home/hits")" -eq 1 ]
	kill "$OTHER"
	# The tree's own, by each call, with what the kernel tells of it.
	run g "trap 'echo got' WINCH; $PLACE/bin/attack signals \$\$; echo sent"
	echo "$output"
	[[ $output == *got* ]]
	run g 'sleep 60 & kill -0 $! && kill $!; wait $!; echo $?
		set -m; sleep 60 | sleep 60 & kill -9 -- -$!; wait $!; echo $?; set +m
		true & wait $!; kill -0 $! || echo none
		kill -USR1 $$; echo not'
	echo "$output"
	[ "$status" -eq 138 ]
	[[ $output == 143$'\n'*137$'\n'*'No such process'*none* ]]
	run g "setsid -w python3 -c 'import os, signal, threading
ended = os.posix_spawn(\"/bin/true\", [\"true\"], {})
os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
os.kill(ended, 0)
signal.signal(signal.SIGUSR1, lambda *a: print(\"usr1\"))
t = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1))
t.start(); t.join()
signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGUSR1)
os.killpg(0, signal.SIGUSR1)'; echo on"
	echo "$output"
	[ "$output" = $'usr1\nusr1\nusr1\non' ]
}
until_() {
	local i
	for ((i = 0; i < 200; i++)); do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}

@test "before ABI 6 a command signals its own tree, by every call, and nobody else" {
	each 1 5 -- view bare -- signals
}

sockets() {
	coproc UP { exec "${AS[@]}" "$PLACE/bin/attack" listen-unix "@abi-$$-$ABI-$TIER"; }
	OTHER=$UP_PID
	read -r -t 20 up <&"${UP[0]}"
	run "$PLACE/bin/attack" unix "@abi-$$-$ABI-$TIER"
	[ "$status" -eq 0 ]
	run g "$PLACE/bin/attack unix @abi-$$-$ABI-$TIER"
	echo "$output"
	[ "$status" -ne 0 ]
	kill "$OTHER"
	# Its own are there where the view shows no others.
	run g 'python3 -c "import socket
s = socket.socket(socket.AF_UNIX); s.bind(\"own\"); s.listen()
socket.socket(socket.AF_UNIX).connect(\"own\"); print(\"own\")"; rm -f own'
	[[ $TIER = bare || $output == own ]]
}

@test "before ABI 6 no abstract socket of others is reached" {
	each 5 -- view bare -- sockets
	# With the machine's network and local sockets there is no way: that is named.
	ABI=5 AS=() WITHOUT=()
	run under "$PLACE/bin/wardbox" drop --rox=/ --unrestricted-network -- true
	[ "$status" -eq 125 ]
	[[ $output == *"scope: abstract sockets need Landlock ABI 6"* ]]
	under "$PLACE/bin/wardbox" drop --rox=/ -- true
}

cuts() {
	echo outside >"$PLACE/home/outside"
	chown "$(stat -c %u "$PLACE/home")" "$PLACE/home/outside"
	cat >cut.py <<-'P'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		out = os.environ["HOME"] + "/outside"
		print(open(out).read().strip())
		class How(ctypes.Structure):
		    _fields_ = [(n, ctypes.c_uint64) for n in ("flags", "mode", "resolve")]
		def at2(path):
		    if libc.syscall(437, -100, path.encode(), ctypes.byref(How(os.O_TRUNC, 0, 0)), 24) < 0:
		        raise OSError
		for f in (lambda: os.truncate(out, 1), lambda: os.open(out, os.O_TRUNC),
		          lambda: os.open(out, 3 | os.O_TRUNC), lambda: at2(out),
		          lambda: open(out, "w"), lambda: os.open(out, os.O_RDWR | os.O_TRUNC)):
		    try: f(); print("cut")
		    except OSError: pass
		open("in", "w").write("long text")
		open("in", "w").write("short")
		os.ftruncate(os.open("in", os.O_RDWR), 3)
		print(open("in").read())
	P
	run g 'python3 cut.py; truncate -s 2 in; cat in'
	echo "$output"
	[ "$output" = $'outside\nsho\nsh' ]
	[ "$(cat "$PLACE/home/outside")" = outside ]
}

@test "before ABI 3 what may be read is not emptied, with a journal or without" {
	each 1 3 -- view bare -- cuts
	POLICY+=$'\nprofile FULL-AUTO undo=on'
	each 1 -- bare -- cuts
}

moves() {
	rm -rf a b
	run g 'mkdir -p a/d b && echo x >a/f && mv a/f b/f && mv a/d b/ && ls b && cat b/f && mv b/f b/g && ls -A a'
	echo "$output"
	[ "$output" = $'d\nf\nx' ]
	run g 'ln b/g a/g || echo refused'
	[[ $ABI != 1 || $output == *"Invalid cross-device link"*refused ]]
}

@test "a file goes to another directory on each ABI; on the first it is copied" {
	each 1 3 -- view bare -- moves
}

@test "before ABI 5 a device to be read is named, and one to be written works" {
	ABI=3 AS=() WITHOUT=()
	run under "$PLACE/bin/wardbox" drop --rox=/usr,/bin,/lib,/lib64 --ro=/dev/ptmx -- true
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"landlock: a device that can only be read (/dev/ptmx) needs Landlock ABI 5"* ]]
	under "$PLACE/bin/wardbox" drop --rox=/usr,/bin,/lib --ignore-missing --rox=/lib64 --rw=/dev/ptmx -- true
	ABI=5
	under "$PLACE/bin/wardbox" drop --rox=/usr,/bin,/lib --ignore-missing --rox=/lib64 --ro=/dev/ptmx -- true
}

none() {
	run g 'echo ran'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"landlock: "*"a line 'relax landlock' in /etc/wardbox/policy goes without it"* ]]
	[[ $output != *ran* ]]
	run under "$PLACE/bin/wardbox" doctor
	[ "$status" -eq 1 ]
	[[ $output == *"MISSING  landlock "*"MISSING  all together"* ]]
}
relaxed() {
	POLICY+=$'\nrelax landlock'
	run g 'echo ran; kill -0 1 || echo held'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == ran$'\n'*held* ]]
	under "$PLACE/bin/wardbox" audit dump -o json | grep landlock
}

@test "without Landlock nothing runs, unless root's policy says so, and that is recorded" {
	each 0 off -- view -- none
	each 0 -- view -- relaxed
}

@test "doctor says what an old kernel lacks and that commands run" {
	for ABI in 1 5; do
		AS=() WITHOUT=()
		run under "$PLACE/bin/wardbox" doctor
		[ "$status" -eq 0 ]
		[[ $output == *"[ABI $ABI; 6 has all that is asked of it]"*"missing  scope: signals"*"before, the watch sends each signal"* ]]
		[[ $output == *"works    all together"* ]]
	done
}

@test "hosts by name without a namespace need ABI 4: before it there is no network" {
	POLICY=$'include agent\nnet host example.test:80'
	AS=() WITHOUT=("$PLACE/bin/docker")
	for ABI in 3 5; do
		run g 'curl -sS --max-time 5 http://example.test/ 2>&1; python3 -c "import socket
socket.socket()" 2>&1 | tail -1'
		echo "ABI $ABI: $output"
		if [ $ABI = 3 ]; then
			[[ $output == *"Operation not permitted"* ]]
		else
			[[ $output != *"Operation not permitted"* ]]
		fi
	done
}
