#!/usr/bin/env bats
# The shim: decided, confined, run and recorded; and nothing else changes.

load ../lib/wardbox

setup() {
	project
	export WARDBOX_SESSION_ID=session-test
}

# What a test that failed leaves would hold bats up.
teardown() {
	for s in sh ask; do tmux -L "wardbox-$s-$$" kill-server 2>/dev/null || true; done
	pkill -f "^sleep (321|4447)\.$$\$" || true
}

g() { # the guarded shell under a profile: g PROFILE SHELL-ARGUMENT...
	local profile=$1
	shift
	in_policy "use $profile" "$WARDBOX" sh "$@"
}

log() { # the log of this test as JSON lines
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json
}

intact() { # without a fingerprint kept elsewhere, 4 is all there is to say
	run in_policy '' "$WARDBOX" audit verify
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	[[ "$output" == *intact* ]]
}

@test "an allowed line runs, with two records" {
	run g DEV -c 'echo hello'
	[ "$status" -eq 0 ]
	[ "$output" = hello ]
	[ "$(log | jq -rs 'map(.type) | join(" ")')" = "header start io end" ] ||
		log | jq -es 'map(.type) | index("start") != null and index("end") != null'
	intact
}

@test "a denied line does not run, is 126, names its rule, and is recorded" {
	run g FULL-AUTO -c 'touch ran; curl http://x.example'
	[ "$status" -eq 126 ]
	[ ! -e ran ]
	[[ "$output" == *"rule net"* ]]
	log | jq -es 'map(select(.decision == "deny")) | length == 1'
}

@test "a question without a terminal is a denial that says how to allow it" {
	run g DEV -c 'make -v' </dev/null
	[ "$status" -eq 126 ]
	[[ "$output" == *"no terminal"* ]]
	[[ "$output" == *policy* ]]
}

@test "what is not known before it runs is judged when it starts" {
	echo 'touch ran; curl http://x.example; echo after' >cmds
	for line in 'x=$(printf cu; echo rl); $x http://x.example' \
		'eval "$(cat cmds)"' '. ./cmds' 'cat cmds | sh' 'sh <cmds' \
		'echo curl x | while read -r l; do $l; done' \
		'e=$(echo eval); $e "curl http://x.example"' \
		'alias a=$(echo curl); echo $(a x || c"u"rl x)'; do
		echo "$line"
		run g FULL-AUTO -c "$line" </dev/null
		[[ "$output" == *"ermission denied"* || "$output" == *"rule net"* ]]
	done
	# The allowed words beside it work, and the rest of the text runs on.
	run g FULL-AUTO -c 'eval "$(cat cmds)"' </dev/null
	[ -e ran ]
	[[ "$output" == *after ]]
	run g FULL-AUTO -c 'l="uname -s"; $(echo $l)'
	[ "$output" = Linux ]
	run g FULL-AUTO -c 'PATH=$PWD/bin:$PATH; export PATH; uname -s'
	[ "$output" = Linux ]
	# The record says that it was open.
	log | jq -es 'map(select(.decision == "open")) | length > 4'
	log | grep exec.open | grep -q 'uname -s'
	# In DEV what nobody knows asks when it starts; nobody is there to ask.
	run g DEV -c 'x=$(echo make); $x -v' </dev/null
	[ "$status" -eq 126 ]
	[[ "$output" != *"GNU Make"* ]]
	run g DEV -c 'x=$(echo head); $x -n1 cmds' </dev/null
	[[ "$output" == "touch ran;"* ]]
	# Without supervision nobody would judge it then.
	run in_policy 'include default
use FULL-AUTO
profile FULL-AUTO supervise=off' "$WARDBOX" sh -c '$(echo uname)'
	[ "$status" -eq 126 ]
	[[ "$output" == *"rule stream"* ]]
}

@test "however long the words of a program are, what it starts is its own" {
	need gcc --version
	echo 'int main(void) { return 0; }' >x.c
	run g FULL-AUTO -c "gcc $(printf -- '-DNAME_OF_ONE_OF_MANY_%d=1 ' {1..400}) -o x x.c && ./x && echo built"
	echo "$output"
	[ "$output" = built ]
	# A line that is as long is the shell's all the same.
	run g FULL-AUTO -c "x=\$(echo curl); : $(printf 'word_%d ' {1..900}); \$x http://x.example"
	[[ "$output" == *"rule net"* ]]
}

@test "what the shell cannot read it reports itself, with its own code" {
	run g FULL-AUTO -c 'if then; curl x'
	[ "$status" -eq 2 ]
	[[ "$output" == *"yntax error"* ]]
}

@test "however long the words are, the reason and the rule are said" {
	local long
	long=$(printf 'x%.0s' {1..150})
	run g FULL-AUTO -c "git push 'to somewhere' $long $long" </dev/null
	[ "$status" -eq 126 ]
	[[ "$output" == *"git push 'to somewhere' xxx"*...* ]]
	[[ "$output" == *"reaches the network (rule git-net)"* ]]
	run g FULL-AUTO -c "sudo /$long $long $long"
	[ "$status" -eq 126 ]
	[[ "$output" == *"privilege change (rule priv, system policy)"* ]]
	run g FULL-AUTO -c "echo $long"
	[ "$output" = "$long" ]
}

@test "what programs read of /etc by themselves root's may, too, and no secret" {
	local etc=$BATS_TEST_TMPDIR/ns/etc dir
	for dir in java-17-openjdk/security pki/ca-trust crypto-policies ssl/private; do
		mkdir -p "$etc/$dir"
		echo "of $dir" >"$etc/$dir/x"
	done
	printf '#!/bin/sh\ncat "/etc/$1/x"\n' >reads
	chmod +x reads
	for dir in java-17-openjdk/security pki/ca-trust crypto-policies; do
		run g FULL-AUTO -c "./reads $dir"
		[ "$output" = "of $dir" ]
	done
	run g FULL-AUTO -c './reads ssl/private'
	[ "$status" -eq 1 ]
	[[ "$output" == *"Permission denied"* ]]
}

@test "what root lets a line name of /usr it reads, and no program writes it" {
	run g 'FULL-AUTO
path r /usr/share
list env-safe PATH=/usr/bin:/bin' -c 'PATH=/usr/bin:/bin; export PATH
		ls /usr/share >/dev/null && echo read'
	[ "$output" = read ]
	printf '#!/bin/sh\necho x >"$1/wardbox-was-here" || exit 7\necho wrote\n' >w
	chmod +x w
	run g FULL-AUTO -c './w /usr/share'
	[ "$status" -ne 0 ]
	[[ "$output" != *wrote* ]]
	[ ! -e /usr/share/wardbox-was-here ]
	run g FULL-AUTO -c './w .'
	[ "$output" = wrote ]
	run g FULL-AUTO -c 'echo x >/usr/share/wardbox-was-here'
	[ "$status" -ne 0 ]
	[ ! -e /usr/share/wardbox-was-here ]
	run g FULL-AUTO -c 'ls /usr/bin >/dev/null && echo read'
	[ "$output" = read ]
}

@test "a command that fails over a place outside is told which, once, on stderr" {
	g FULL-AUTO -c 'cat /etc/shadow; cat /etc/shadow' >out 2>err || true
	[ ! -s out ]
	[ "$(grep -c "out of the command's reach: /etc/shadow" err)" -eq 1 ]
	run g FULL-AUTO -c 'mkdir /usr/share/wardbox-was-here'
	[[ "$output" == *"reach: changes of /usr/share/wardbox-was-here"* ]]
	# Nothing is said of what did not fail, or for another reason.
	for line in 'cat /etc/shadow 2>/dev/null; true' 'ls /usr/bin >/dev/null; false' \
		'[ -f /etc/shadow ] && false' 'cat /opt/none-such 2>/dev/null' 'cat none-such 2>/dev/null'; do
		run g FULL-AUTO -c "$line"
		echo "$line: $output"
		[ -z "$output" ]
	done
}

@test "SAFE runs nothing, FULL-AUTO runs what is not denied, OBSERVE all" {
	run g SAFE -c ':'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c 'ls -d .'
	[ "$output" = . ]
	run g OBSERVE -c 'cat /etc/hostname >/dev/null; : || curl x; echo "$?"'
	[ "$output" = 0 ]
	log | jq -es 'map(select(.rule? // "" | startswith("would-deny"))) | length >= 1'
}

@test "the policy's limit on output is the log's, the reader gets it all" {
	# shellcheck disable=SC2016 # the guarded shell's
	local line='head -c $1 /dev/zero | tr "\\0" x'
	run g 'FULL-AUTO
limit FULL-AUTO out=4k' -c "$line" sh 9000
	[ "${#output}" -eq 9000 ]
	g FULL-AUTO -c "$line" sh 3000000 >all
	[ "$(stat -c %s all)" -eq 3000000 ]
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o contract >log
	jq -es 'map([(.stdout | length / 100 | floor), .truncated]) ==
		[[41, true], [30000, false]]' log
}

@test "the environment can tighten and not loosen" {
	WARDBOX_PROFILE=SAFE run g FULL-AUTO -c 'echo no'
	[ "$status" -eq 126 ]
	WARDBOX_PROFILE=OBSERVE run g DEV -c 'make -v'
	[ "$status" -eq 126 ]
	WARDBOX_PROFILE=nonsense run g DEV -c 'echo no'
	[ "$status" -eq 126 ]
	[[ $output == *"nonsense: no such profile"* ]]
}

@test "the project's name is a name, whatever it holds" {
	local odd=$'p*[x]{a,b}? "\'$\\\t'
	mkdir -p "$odd/.git" 'pother/.git'
	cd "$odd"
	run g 'FULL-AUTO
path rw $ROOT/beside' -c 'echo 1 >made && cat made && touch ./beside'
	[ "$output" = 1 ]
	[ -e beside ]
	echo 'for f; do : >"$f"; done' >write
	run g FULL-AUTO -c "sh ./write in ../pother/out"
	[ -e in ]
	[ ! -e ../pother/out ]
	# Nor does it stand for another's.
	run g 'FULL-AUTO
path rw $ROOT/file' -c 'touch ../pother/file'
	[ ! -e ../pother/file ]
	run in_policy 'use FULL-AUTO' "$WARDBOX" exec -- sh -c 'echo 2 >made; cat made'
	[ "$output" = 2 ]
	# Nor is the end of a name that of a pattern.
	mkdir -p "$PROJECT/all/**/.git"
	cd "$PROJECT/all/**"
	echo ': >"$1" && : >"$2"' >write
	run g 'FULL-AUTO
path rw $ROOT' -c 'sh ./write in ../out'
	[ -e in ]
	[ ! -e ../out ]
	run g 'FULL-AUTO
path rw $ROOT' -c 'touch ../out'
	[ ! -e ../out ]
	# $ROOTy is not what lies beside it and is called so with a y.
	mkdir -p "$PROJECT/px/.git" "$PROJECT/pxy"
	cd "$PROJECT/px"
	run g 'FULL-AUTO
path rw $ROOTy/**' -c "touch in && touch $PROJECT/pxy/f"
	[ ! -e ../pxy/f ]
	run g "FULL-AUTO
path rw $PROJECT/pxy/**" -c "touch in && touch $PROJECT/pxy/f"
	[ "$status" -eq 0 ]
	[ -e ../pxy/f ]
}

@test "a write outside of the project is stopped by the kernel" {
	mkdir "$BATS_TEST_TMPDIR/outside"
	# What no reading of the line can see: the path is in a file.
	echo "$BATS_TEST_TMPDIR/outside/f" >where
	run g FULL-AUTO -c 'read -r p <where; echo x >inside && python3 -c "open(input(), \"w\")" <where'
	[ "$status" -ne 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/outside/f" ]
	[ -e inside ]
}

@test "a program that is only known at run time is judged when it starts" {
	cat >run.py <<-'P'
		import os, sys
		os.execvp(sys.argv[1][::-1], [sys.argv[1][::-1], "fine"])
	P
	run g FULL-AUTO -c 'python3 run.py lruc'
	[ "$status" -ne 0 ]
	[[ "$output" == *"Permission"* ]]
	log | grep -q exec.deny
	# however often: what else is in the log is not pushed out of it
	cat >often.py <<-'P'
		import os
		for i in range(5000):
		    try:
		        os.execv("/usr/bin/" + "lruc"[::-1], ["x"])
		    except OSError:
		        pass
	P
	log >before
	run g FULL-AUTO -c 'python3 often.py'
	[ "$(log | grep -c exec.deny)" -eq $((1024 + 2 + $(grep -c exec.deny before))) ]
	log | grep -q '"count":4096'
	run g FULL-AUTO -c 'python3 run.py ohce'
	[ "$output" = fine ]
}

@test "every order of -c is read" {
	local args
	run g FULL-AUTO -c -e 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -ec 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c -- 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -o errexit -c 'curl http://x.example'
	[ "$status" -eq 126 ]
	run g FULL-AUTO -c -e 'echo "$0 $1 $-"' zero one
	[[ "$output" == "zero one "*e* ]]
}

@test "a script file and a script on stdin are read before they run" {
	printf 'touch ran\ncurl http://x.example\n' >bad.sh
	printf 'echo fine $1\n' >good.sh
	run g FULL-AUTO bad.sh
	[ "$status" -eq 126 ]
	run g FULL-AUTO good.sh arg
	[ "$output" = "fine arg" ]
	run g FULL-AUTO <bad.sh
	[ "$status" -eq 126 ]
	run g FULL-AUTO -s arg <good.sh
	[ "$output" = "fine arg" ]
	[ ! -e ran ]
	cat bad.sh | { run g FULL-AUTO; [ "$status" -eq 126 ]; }
	[ ! -e ran ]
}

@test "a script on stdin shares it with its commands, byte for byte" {
	printf 'read x\nvalue\necho "<$x>"\ncat\nthe rest\n' >in
	bash <in >want
	[ "$(head -n 1 want)" = "<value>" ]
	in_policy 'use OBSERVE' "$WARDBOX" bash <in >out
	cmp out want
	cat in | in_policy 'use OBSERVE' "$WARDBOX" bash >out
	cmp out want
}

@test "what a command read of a file is recorded, and a script from a pipe" {
	# shellcheck disable=SC2016 # expanded by the guarded shell
	printf 'one\ntwo\nthree\n' >in
	input() { # what the log has as input of all commands
		in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json |
			jq -rj 'select(.stream == "stdin") | .data'
	}
	g FULL-AUTO -c 'read x; echo "<$x>"' <in >out
	[ "$(cat out)" = "<one>" ]
	[ "$(input)" = one ]
	echo 'cat; echo token=ghp_0123456789abcdefghijABCDEFGHIJ012345' |
		g FULL-AUTO >out
	[[ "$(input)" == *"cat; echo token="* ]]
	[[ "$(input)" != *ghp_0123* ]]
	# Denied, it is there, too: nothing else tells what it was.
	echo 'curl http://x.example?token=ghp_0123456789abcdefghijABCDEFGHIJ678901' >bad.sh
	run g FULL-AUTO <bad.sh
	[ "$status" -eq 126 ]
	[[ "$(input)" == *"curl http://x.example?token=[REDACTED]"* ]]
	sed -i s/curl/wget/ bad.sh
	cat bad.sh | { run g FULL-AUTO; [ "$status" -eq 126 ]; }
	[[ "$(input)" == *"wget http://x.example?token=[REDACTED]"* ]]
	[[ "$(input)" != *ghp_0123* ]]
	# Of a pipe that others read, too, nothing is taken to be shown.
	{ g FULL-AUTO -c 'read x' && cat; } < <(cat in) >out
	[ "$(cat out)" = "$(tail -n 2 in)" ]
	[[ "$(input)" != *three* ]]
}

@test "exit codes, signals and names are the real shell's" {
	run g FULL-AUTO -c 'exit 7'
	[ "$status" -eq 7 ]
	run g FULL-AUTO -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	run g FULL-AUTO -c 'no-such-command-anywhere'
	[ "$status" -eq 127 ]
	links bash
	run in_policy 'use FULL-AUTO' "$LINKS/bash" -c 'echo "$0 ${BASH_VERSION:+bash}"'
	[[ "$output" == *"bash bash" ]]
	run in_policy 'use OBSERVE' bash -c 'exec -a -bash "$1" -c "shopt -q login_shell && echo login"' _ "$LINKS/bash"
	[ "$output" = login ]
}

@test "a script whose interpreter is a link to a shim runs as by the shell" {
	need test -x /bin/bash
	links bash
	ln -s bash "$LINKS/rbash"
	ln -s rbash "$LINKS/other"
	# shellcheck disable=SC2016 # the script's own
	for name in rbash other bash; do
		printf '#!%s\necho "${BASH_VERSION:+bash} $0 $1"; cd .\n' \
			"$LINKS/$name" >"$name.script"
		chmod +x "$name.script"
	done
	run in_policy 'use OBSERVE' ./rbash.script x
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "bash ./rbash.script x" ]
	[[ ${lines[1]} == *"cd: restricted" ]]
	run in_policy 'use OBSERVE' ./other.script x
	[ "$status" -eq 0 ]
	[ "$output" = "bash ./other.script x" ]
	run in_policy 'use OBSERVE' ./bash.script x
	[ "$output" = "bash ./bash.script x" ]
}

@test "a nested shim is inside by the kernel's word, not by a variable" {
	cp "$WARDBOX" ./sh
	run g FULL-AUTO -c "./sh -c 'echo nested'"
	[ "$output" = nested ]
	[ "$(log | jq -rs 'map(select(.type == "start")) | length')" = 1 ]
	WARDBOX_IN_SESSION=1 run g FULL-AUTO -c 'curl http://x.example'
	[ "$status" -eq 126 ]
}

@test "a line that starts no program has the devices that it names" {
	local device
	for device in null zero urandom; do
		run g FULL-AUTO -c ": </dev/$device"
		[ "$status" -eq 0 ]
		run g FULL-AUTO -c "d=/dev; exec 3<\$d/$device"
		[ "$status" -eq 0 ]
	done
	run g FULL-AUTO -c 'exec 3<>/dev/null; echo x >&3'
	[ "$status" -eq 0 ]
	run g FULL-AUTO -c 'exec 3>/dev/kmsg'
	[ "$status" -ne 0 ]
	run g FULL-AUTO -c ': & wait' # its input is null
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
}

@test "the tree ends with the command, and says which limit ended it" {
	run g FULL-AUTO -c "sleep 321.$$ & echo started"
	[ "${lines[0]}" = started ]
	[[ $output == *"ended with the command that left it running: "* ]]
	! pgrep -f "^sleep 321.$$" || false
	run in_policy $'use FULL-AUTO\nlimit FULL-AUTO mem=64M' "$WARDBOX" sh -c \
		'python3 -c "x = bytearray(300 << 20)"'
	[ "$status" -ne 0 ]
	[[ "$output" == *memory* || "$output" == *Memory* ]]
	[[ "$output" == *"'limit FULL-AUTO mem="*"/etc/wardbox/policy"* ]]
	# the record says it, too
	log | jq -es 'map(select(.event == "limit"))[-1].detail | .limit == "memory" and (.by | length > 0)'
	run in_policy $'use FULL-AUTO\nlimit FULL-AUTO cpu=1s' "$WARDBOX" sh -c 'while :; do :; done'
	[[ "$output" == *"limit on CPU time"* ]]
	log | jq -es 'map(select(.event == "limit"))[-1].detail.limit == "CPU time"'
	run in_policy $'use FULL-AUTO\nlimit FULL-AUTO procs=2' "$WARDBOX" sh -c \
		'for i in 1 2 3 4; do sleep 4 & done; wait'
	[[ "$output" == *"not started: sleep"*": more processes than allowed"* ]]
	[[ "$output" == *"'limit FULL-AUTO procs="* ]]
	log | jq -es 'map(select(.event == "limit"))[-1].detail == {"limit": "processes", "by": "exec watch"}'
	# who was there first may start it, be there ever so many that only ask
	cat >four.py <<-'P'
		import os, time
		r, w = os.pipe()
		def ask():
		    for program in ["/bin/no-such"] * 5 + ["/bin/sleep"]:
		        try:
		            os.execv(program, ["sleep", "4"])
		        except OSError:
		            pass
		    os.write(2, b"refused\n")
		    time.sleep(4)
		    os._exit(0)
		for i in range(4):
		    if os.fork() == 0:
		        os.close(w)
		        os.read(r, 1)
		        ask()
		os.close(w)
		for i in range(4):
		    os.wait()
	P
	run in_policy $'use FULL-AUTO\nlimit FULL-AUTO procs=3' "$WARDBOX" sh -c '/usr/bin/python3 four.py; :'
	[ "$(grep -c refused <<<"$output")" = 2 ]
	run g FULL-AUTO -c 'sleep 0.1'
	[ "$output" = "" ]
	[ "$(log | jq -s 'map(select(.event == "limit")) | length')" = 4 ]
}

@test "what is given on other descriptors can be opened by name, and is there with few" {
	local few
	mkdir -p "$BATS_TEST_TMPDIR/outside"
	echo given >"$BATS_TEST_TMPDIR/outside/given"
	for few in 1000 40; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run in_policy 'use FULL-AUTO' bash -c 'ulimit -n "$1"
			exec "$2" sh -c "cat /dev/fd/20; echo new >/dev/fd/21; cat /dev/fd/21" \
				20<"$3/given" 21>"$3/new"' bash $few "$WARDBOX" "$BATS_TEST_TMPDIR/outside"
		echo "$output"
		[[ "$output" == $'given\n'*"Permission denied" ]]
		[ "$(cat "$BATS_TEST_TMPDIR/outside/new")" = new ]
	done
}

@test "the environment is clean: kept, set and denied by the policy" {
	LD_PRELOAD_X=1 SECRET_THING=1 LANG=C.UTF-8 run g FULL-AUTO -c 'env'
	[[ "$output" != *SECRET_THING* ]]
	[[ "$output" == *LANG=C.UTF-8* ]]
	[[ "$output" == *WARDBOX_IN_SESSION=1* ]]
	[[ "$output" == *TMPDIR=* ]]
	run g FULL-AUTO -c 'f=$(mktemp) && echo x >"$f" && cat "$f"'
	[ "$output" = x ]
}

@test "the log, the state and the policy are out of the command's reach" {
	g FULL-AUTO -c ':'
	cat >try.py <<-'P'
		import errno, os
		for path, mode in (("/var/log/wardbox/%d/head" % os.getuid(), "r"),
		                   ("/run/wardbox/%d/x" % os.getuid(), "w"),
		                   ("/etc/wardbox/policy", "a")):
		    try:
		        open(path, mode)
		        print("open")
		    except OSError as e:
		        print("closed" if e.errno in (errno.EACCES, errno.EROFS, errno.ENOENT) else e)
	P
	run g FULL-AUTO -c 'python3 try.py'
	[ "$output" = $'closed\nclosed\nclosed' ]
}

@test "secrets are redacted in the log, never in the output" {
	local token=ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789
	run g FULL-AUTO -c "echo token $token" 
	[ "$output" = "token $token" ]
	log >all
	! grep -q "$token" all || false
	grep -q REDACTED all
}

@test "a broken policy, an unwritable log: 125, what to do, nothing ran" {
	run in_policy 'nonsense here' "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[1]}" = "  see wardbox-policy(1), POLICY FILES" ]
	[ ! -e ran ]
	[[ "$output" == 'wardbox sh: the policy is broken: /etc/wardbox/policy:1: nonsense: '* ]]
	run in_policy 'use FULL-AUTO' sh -c 'chmod 666 /etc/wardbox/policy && exec "$@"' \
		_ "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[1]}" == *"chmod go-w /etc/wardbox/policy" ]]
	[ ! -e ran ]
	[[ "$output" == *'broken: /etc/wardbox/policy can be written by'* ]]
	# Who may write the directory may take the policy away.
	run in_policy 'use FULL-AUTO' sh -c 'chmod 777 /etc/wardbox && exec "$@"' \
		_ "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[[ "$output" == *'broken: /etc/wardbox can be written by'* ]]
	run in_policy 'use FULL-AUTO' sh -c 'cd /etc/wardbox && mkdir -m 777 policy.d &&
		echo "use SAFE" >policy.d/a.policy && exec "$@"' _ "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[[ "$output" == *'broken: /etc/wardbox/policy.d can be written by'* ]]
	run in_policy '' sh -c 'rm -r /etc/wardbox/policy.d && cd /etc/wardbox &&
		ln -s nowhere policy && exec "$@"' _ "$WARDBOX" sh -c 'echo ran >ran'
	[ "$status" -eq 125 ]
	[[ "$output" == *'broken: /etc/wardbox/policy: '* ]]
	[ ! -e ran ]
	in_policy '' rm -f /etc/wardbox/policy
	run in_policy 'use FULL-AUTO' sh -c \
		'mkdir -p /var/log/wardbox/$(id -u) && mount -t tmpfs -o ro tmpfs /var/log/wardbox/$(id -u) && exec "$@"' \
		_ "$WARDBOX" sh -c 'touch ran'
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "two hundred shims, eight at a time, lose no record" {
	in_policy 'use FULL-AUTO' sh -c 'seq 200 | xargs -P 8 -n 1 "$1" sh -c ": \$0"' _ "$WARDBOX"
	[ "$(log | jq -rs 'map(select(.type == "start")) | length')" -eq 200 ]
	[ "$(log | jq -rs 'map(select(.type == "end")) | length')" -eq 200 ]
	intact
}

@test "as another user, with its own log and state" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become another"
	local home
	home=$(mktemp -d)
	chown 1000:1000 "$home"
	cp "$WARDBOX" "$home/wardbox"
	cd "$home"
	HOME=$home run in_policy 'use FULL-AUTO' setpriv --reuid 1000 --regid 1000 \
		--clear-groups ./wardbox sh -c 'id -u; cat /etc/shadow'
	rm -rf "$home"
	[[ "$output" == *"denied"* || "${lines[0]}" = 1000 ]]
}

sees() { # TEXT COUNT: waits until the screen of tmux's server $s has it so often
	local i
	for i in $(seq 100); do
		tmux -L "$s" capture-pane -p >screen
		[ "$(grep -c "$1" screen)" -ge "$2" ] && return
		sleep 0.1
	done
	cat screen
	return 1
}

@test "asks on the terminal: no, yes, always" {
	need command -v tmux
	local s=wardbox-sh-$$
	printf '#!/bin/sh\nPS1=ready; export PS1\nexec dash\n' >go
	chmod +x go
	cat >ask <<-A
		#!/bin/sh
		"$WARDBOX" sh -c 'ls -d .; exit 5'
		echo "code \$?"
	A
	chmod +x ask
	in_policy 'use DEV' tmux -L "$s" new-session -d -x 100 -y 40 ./go
	answer() {
		tmux -L "$s" send-keys ./ask Enter
		sees 'Run it' "$2"
		tmux -L "$s" send-keys "$1" Enter
		sees '^code ' "$2"
	}
	answer n 1
	answer y 2
	answer a 3
	tmux -L "$s" send-keys ./ask Enter
	sees '^code ' 4
	tmux -L "$s" kill-server
	cat screen
	[ "$(grep -c 'Run it' screen)" -eq 3 ]
	[ "$(grep -c 'code 126' screen)" -eq 1 ]
	[ "$(grep -c 'code 5' screen)" -eq 3 ]
}

@test "a question says how many lines there are where there are more than one" {
	need command -v script
	echo 'ls -d .' >one
	printf 'ls -d .\nls' >two
	asked() {
		rm -f said
		(until grep -q 'Run it' said; do sleep 0.05; done 2>/dev/null; echo n) |
			in_policy 'use DEV' script -qfec "$WARDBOX sh $1" said
	}
	run asked one
	[[ "$output" == *"ls -d ."*"Run it"* ]]
	[[ "$output" != *unusual* ]]
	run asked two
	[[ "$output" == *"unusual: 2 lines"*"Run it"* ]]
}

@test "a question is answered by yes alone, after it was asked; Ctrl-C is a no" {
	need command -v tmux
	local s=wardbox-ask-$$
	keys() { tmux -L "$s" send-keys "$@"; }
	cat >ask <<-A
		#!/bin/sh
		printf 'typed early? '; sleep 1
		"$WARDBOX" sh -c 'ls -d .; exit 5'
		echo "code \$?"
	A
	chmod +x ask
	in_policy 'use DEV' tmux -L "$s" -f /dev/null new-session -d -x 100 -y 60 "PS1='> ' dash"
	keys ./ask Enter
	sees 'early?' 1
	keys y Enter
	sees 'Run it' 1
	keys yellow Enter
	sees 'code 126' 1
	keys ./ask Enter
	sees 'Run it' 2
	keys YES Enter
	sees 'code 5' 1
	# bash ends a loop when what runs in it was stopped
	keys "bash -c 'for i in 1 2; do ./ask; done'; echo over" Enter
	sees 'Run it' 3
	keys C-c
	sees 'not confirmed' 2
	keys "clear; echo back" Enter
	sees '^back' 1
	keys "$WARDBOX envrun --repl" Enter
	sees 'project>' 1
	keys "ls" Enter
	sees 'Run it' 1
	keys C-c
	sees 'not confirmed' 1
	keys "echo still" Enter
	sees '^still' 1
	tmux -L "$s" kill-server
	[ "$(in_policy '' "$WARDBOX" audit --decision deny -o json | grep -c 'ls')" -ge 3 ]
}

@test "in / there is no project: nothing of the system can be touched" {
	cd /
	run g FULL-AUTO -c 'echo fine; pwd'
	[ "$output" = $'fine\n/' ]
	run g FULL-AUTO -c 'cat etc/shadow'
	[ "$status" -ne 0 ]
	run g FULL-AUTO -c 'python3 -c "print(open(input()).read())"' <<<"/etc/shadow"
	[ "$status" -ne 0 ]
	[[ "$output" != *root:* ]]
}

@test "a log and a state inside of the project are hidden from it" {
	mkdir -p home/.local/state
	# Neither /var/log nor /run can be written: the log goes home.
	HOME=$PWD/home in_policy 'use FULL-AUTO' sh -c 'mount -t tmpfs -o ro none /var/log && exec "$@"' \
		_ "$WARDBOX" sh -c ':'
	[ -n "$(find home/.local/state/wardbox -name head)" ]
	printf 'import os\nfor d, _, f in os.walk("home/.local/state"):\n  print(d, f)\n' >look.py
	HOME=$PWD/home run in_policy 'use FULL-AUTO' sh -c 'mount -t tmpfs -o ro none /var/log && exec "$@"' \
		_ "$WARDBOX" sh -c 'python3 look.py; echo done'
	[[ "$output" == *done* ]]
	[[ "$output" != *head* ]]
}

@test "a log and a state beneath what else the policy grants are hidden from it" {
	local home=$BATS_TEST_TMPDIR/home state policy
	mkdir -p "$home/.local/share"
	echo fact >"$home/.local/share/fact"
	ln -s "$home" "$BATS_TEST_TMPDIR/link"
	printf 'import os, sys\nfor top in sys.stdin.read().split():\n  for d, _, f in os.walk(top):\n    print(d, f)\n' >look.py
	# Without anything said, as root says, and by a link.
	for policy in 'use FULL-AUTO' "use FULL-AUTO
runtime r \$HOME/**" "use FULL-AUTO
runtime rw $home/** /run/**"; do
		for HOME in "$home" "$BATS_TEST_TMPDIR/link"; do
			export HOME
			state=$HOME/.local/state/wardbox
			run in_policy "$policy" sh -c 'mount -t tmpfs -o ro none /var/log && exec "$@"' \
				_ "$WARDBOX" sh -c 'python3 look.py; echo done' \
				<<<"$HOME/.local $HOME/.local/share $state /run/wardbox"
			echo "$output"
			[ -e "$state/audit/head" ]
			[[ "$output" == *fact* ]]
			[[ "$output" == *done* ]]
			[[ "$output" != *head* ]]
			[[ "$output" != *.state\'* ]]
		done
	done
}

@test "a program that is not there is not found, and that is no denial" {
	cat >try.py <<-'P'
		import os, sys
		for name in ("/usr/local/bin/none-such", "none-such"):
		    try: os.execvp(name, [name])
		    except FileNotFoundError: print("not found")
		sys.stdout.flush()
		# itself, not its supervisor
		os.execv("/proc/self/exe", ["python3", "-c", "print('again')"])
	P
	run g FULL-AUTO -c 'python3 try.py'
	[ "$output" = $'not found\nnot found\nagain' ]
	run g FULL-AUTO -c 'timeout 5 none-such'
	[ "$status" -eq 127 ]
	[ "$(log | jq -rs 'map(select(.event == "exec.deny")) | length')" = 0 ]
}

@test "a program by a descriptor's number is that program, in every spelling" {
	cat >try.py <<-'P'
		import os
		fd = os.open("@FILE@", os.O_RDONLY)
		os.set_inheritable(fd, True)
		for name in ("/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/",
		             "/proc//self/fd/", "/proc/self/../self/fd/"):
		    if os.fork() == 0:
		        try: os.execv(name + str(fd), ["true"])
		        except OSError: os._exit(9)
		    print(os.waitstatus_to_exitcode(os.wait()[1]), end=" ", flush=True)
	P
	curl=$(type -P curl || type -P wget) || skip "not here: curl or wget"
	sed "s|@FILE@|$(type -P true)|" try.py >allowed.py
	run g FULL-AUTO -c "python3 allowed.py"
	[[ "$output" == "0 "* ]]
	sed "s|@FILE@|$curl|" try.py >denied.py
	run g FULL-AUTO -c "python3 denied.py"
	echo "$output"
	[[ "$output" == *"wardbox sh: denied: "* ]]
	[ "$(sed 's/wardbox sh: denied: .*//; /^  /d' <<<"$output" | tr -d '\n')" = "9 9 9 9 9 " ]
}

@test "where no terminal can be made, the one that is there is the command's" {
	need script -qec true /dev/null
	cat >boot <<-'X'
		mount -t tmpfs none /dev
		exec "$0" sh -c '[ -t 0 ] && [ -t 1 ] && echo "$((6 * 7))"'
	X
	for profile in OBSERVE FULL-AUTO; do
		in_policy "use $profile" script -qec "unshare -m sh -c '. ./boot' '$WARDBOX'" /dev/null >out </dev/null
		[ "$(tr -d '\r' <out)" = 42 ] || { cat out; false; }
	done
}

@test "the record names the policy by a sum, which changes with it" {
	unset WARDBOX_SESSION_ID
	g FULL-AUTO -c :
	g FULL-AUTO -c :
	g OBSERVE -c :
	in_policy $'use FULL-AUTO\nlimit FULL-AUTO files=100' "$WARDBOX" sh -c :
	mkdir .wardbox
	echo 'deny id=mine curl ** : "not here"' >.wardbox/policy
	g FULL-AUTO -c :
	log >log.json
	jq -rs '.[] | select(.type == "start").policy_sha256' log.json >sums
	[ "$(wc -l <sums)" -eq 5 ]
	[ "$(sort -u sums | wc -l)" -eq 4 ]
	[ "$(head -n 2 sums | sort -u | wc -l)" -eq 1 ]
	grep -qxE '[0-9a-f]{64}' sums
	# The session began with it.
	[ "$(jq -rs 'map(select(.event == "policy.load"))[0].detail.sha256' log.json)" = "$(head -n 1 sums)" ]
	# There is nothing that would undo a command, and it is not claimed.
	jq -es 'map(select(.type == "end")) | length == 5 and all(.rollback == "none")' log.json
	intact
}

@test "a place that the policy opens is open to what the shell does itself" {
	mkdir other
	other=$PWD/other
	mkdir inside
	cd inside
	mkdir .git
	in_policy "use FULL-AUTO
path rw $other/**" "$WARDBOX" sh -c "echo kept >$other/file"
	[ "$(cat "$other/file")" = kept ]
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c "echo more >$other/file"
	[ "$(cat "$other/file")" = kept ]
	other=$(mktemp -d /srv/other.XXXXXX)
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c "echo more >$other/file"
	[ "$status" -ne 0 ]
	[ ! -e "$other/file" ]
	rmdir "$other"
}

@test "no policy opens the guard's own files" {
	local uid own line
	uid=$(id -u)
	own='use FULL-AUTO
path rw /etc/** /var/log/** /run/**'
	in_policy "$own" "$WARDBOX" sh -c 'echo 1 >/etc/zz; echo 2 >/var/log/zz; echo 3 >/run/zz; rm /run/zz'
	[ "$(cat "$BATS_TEST_TMPDIR/ns/etc/zz" "$BATS_TEST_TMPDIR/ns/log/zz")" = "1
2" ]
	for line in ': >/etc/wardbox/policy' ': >/etc/wardbox/other' \
		'rm -rf /etc/wardbox/policy' 'mv /etc/wardbox /etc/elsewhere' \
		": >/var/log/wardbox/$uid/head" "cat /var/log/wardbox/$uid/head" \
		'mv /var/log/wardbox /var/log/elsewhere' \
		': >/run/wardbox/policy.img' \
		"for f in /run/wardbox/$uid/sessions/*; do : >\$f; done"; do
		run in_policy "$own" "$WARDBOX" sh -c "$line"
		[ "$status" -ne 0 ]
	done
	[ "$(cat "$BATS_TEST_TMPDIR/ns/etc/wardbox/policy")" = "$own" ]
	# Its temporary files are among the sessions, and are its own.
	in_policy "$own" "$WARDBOX" sh -c 'echo x >"$TMPDIR/mine"; cat "$TMPDIR/mine"'
	intact
}

@test "nor does a link that the policy names" {
	local own
	ln -s /etc "$BATS_TEST_TMPDIR/conf"
	ln -s /run "$BATS_TEST_TMPDIR/state"
	ln -s /var/log "$BATS_TEST_TMPDIR/logs"
	own="use FULL-AUTO
path rw $BATS_TEST_TMPDIR/conf/** $BATS_TEST_TMPDIR/state/**
path r $BATS_TEST_TMPDIR/logs/**"
	cat >try.py <<-'P'
		import glob, os
		for path in "/run/wardbox/policy.img", "/etc/wardbox/other", "/etc/zz":
		    try:
		        open(path, "w")
		        print("wrote", path)
		    except OSError:
		        pass
		print("read", glob.glob("/var/log/wardbox/*/*"))
	P
	run in_policy "$own" "$WARDBOX" sh -c 'python3 try.py; true'
	[ "$status" -eq 0 ]
	[ "$output" = "wrote /etc/zz
read []" ]
}

@test "a link that the policy names is followed, unless a command could have made it" {
	local own at=$BATS_TEST_TMPDIR
	mkdir "$at/data" "$at/data/in" "$at/other" "$at/shared"
	echo kept >"$at/data/in/file"
	ln -s data "$at/there"
	ln -s "$at/there/in/../in" "$at/deep"
	own="use FULL-AUTO
path rw $at/there/** $at/deep/** $at/shared/** $PROJECT/cache/** $at/shared/x/**"
	run in_policy "$own" "$WARDBOX" sh -c "cat $at/there/in/file; echo new >$at/deep/new; cat $at/data/in/new"
	[ "$output" = $'kept\nnew' ]
	run in_policy "$own" "$WARDBOX" sh -c "rm $at/there/in/new; python3 -c 'open(\"$at/deep/more\", \"w\")'"
	[ "$status" -eq 0 ]
	[ -e "$at/data/in/more" ]
	# What the command can put there would choose what the next one gets.
	ln -s "$at/other" cache
	ln -s "$at/other" "$at/shared/x"
	run in_policy "$own" "$WARDBOX" sh -c "echo no >cache/a"
	[ "$status" -ne 0 ]
	run in_policy "$own" "$WARDBOX" sh -c "echo no >$at/shared/x/a"
	[ "$status" -ne 0 ]
	cat >try.py <<-P
		for path in "cache/b", "$at/shared/x/b", "$at/other/b":
		    try:
		        open(path, "w")
		        print("wrote", path)
		    except OSError:
		        pass
	P
	run in_policy "$own" "$WARDBOX" sh -c 'python3 try.py; true'
	[ "$status:$output" = 0: ]
	[ -z "$(ls "$at/other")" ]
}

@test "an original that was moved away is named, with where it belongs" {
	[ ! -e /bin/ash ] && [ ! -e /usr/bin/ash ] || skip "this machine has an ash"
	mkdir shells
	cp "$WARDBOX" shells/ash
	run shells/ash -c :
	[ "$status" -eq 127 ]
	[[ $output == *'no real ash behind this shim'*'put shells/ash.real back'* ]]
	printf '#!/bin/sh\necho "original $*"\n' >shells/ash.real
	chmod 755 shells/ash.real
	run in_policy 'use OBSERVE' shells/ash -c :
	[ "$output" = 'original -c :' ]
}

@test "a low limit on open files is the command's; one too low is told" {
	local box=$WARDBOX
	# shellcheck disable=SC2016 # expanded by the inner shells
	run in_policy 'use FULL-AUTO' sh -c 'ulimit -Sn 8 && exec "$0" sh -c "ulimit -Sn; cat /dev/null; echo \$?"' "$box"
	[ "$output" = $'8\n0' ]
	# shellcheck disable=SC2016
	run in_policy 'use FULL-AUTO' setpriv --bounding-set -sys_resource --inh-caps -sys_resource \
		sh -c 'ulimit -n 8 && exec "$0" sh -c "echo ran"' "$box"
	[ "$status" -eq 125 ]
	[[ $output == *'8 open files are allowed'*needs* ]]
	# shellcheck disable=SC2016
	run in_policy 'use OBSERVE' sh -c 'ulimit -n 16 && exec "$0" sh -c "ulimit -n; exit 3"' "$box"
	[ "$status" -eq 3 ]
	[ "$output" = 16 ]
}

# In the background, killed by SIGKILL when all of it is there: prints what is
# left of it.
lost() { # POLICY COMMAND...
	local policy=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_policy "$policy" "$@" sh -c '
		nap="sleep 4447.$1"
		"$0" sh -c "$nap & setsid $nap & ($nap; :); true" &
		i=0
		while [ "$(pgrep -cf "^$nap\$")" != 3 ] && [ $i -lt 200 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		kill -9 $!
		wait $! 2>/dev/null
		echo "status $?"
		i=0
		while pgrep -f "^$nap\$" >/dev/null && [ $i -lt 30 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		pgrep -f "^$nap\$" || true
		"$0" audit dump -t event,end -o json >log.json' "$WARDBOX" "$$"
}

@test "a shim that is killed takes its tree along, and its end is recorded" {
	local how place
	place=$(mktemp -d "$BATS_TMPDIR/lost-XXXXXX")
	chmod 1777 "$place"
	cp "$WARDBOX" "$place/wardbox"
	cd "$place"
	for how in "" "setpriv --reuid 1000 --regid 1000 --clear-groups"; do
		# what is left behind is known by a network of its own
		[ -z "$how" ] || need as_user unshare -Urn true
		# shellcheck disable=SC2086
		WARDBOX=$place/wardbox run lost 'use FULL-AUTO' env HOME="$place" $how
		echo "$output"
		[ "$output" = 'status 137' ]
		jq -es 'map(select(.type == "event" and .event == "supervisor.lost"))[-1].exec as $id |
			map(select(.type == "end"))[-1] | .exec == $id and .signal == 9' log.json
		rm -f log.json
	done
	rm -rf "$place"
}

@test "where the shim itself fails it says so, with 125" {
	need strace -qq -o /dev/null true
	run in_policy 'use FULL-AUTO' strace -qq -o /dev/null -e inject=poll:error=ENOMEM \
		"$WARDBOX" sh -c 'sleep 5; exit 3'
	[ "$status" -eq 125 ]
	[[ $output == *"cannot stay with the command: "* ]]
	# be it what it was to pass on
	for ((i = 1; i < 9; i++)); do
		run in_policy 'use FULL-AUTO' strace -qq -o /dev/null -e inject=write:error=ENOMEM:when=$i \
			"$WARDBOX" sh -c 'echo out; exit 3'
		[ "$status" -eq 125 ] || [ "$status $output" = "3 out" ]
	done
}

@test "children that its process had before are not waited for" {
	need strace -qq -o /dev/null true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use FULL-AUTO' bash -c 'sleep 76.1 >/dev/null 2>&1 3>&- & echo $! >before
		exec strace -D -o calls -e trace=kill "$@" 3>&-' bash "$WARDBOX" sh -c 'sleep 0.1; exit 3'
	[ "$status" -eq 3 ]
	kill "$(cat before)"
	for ((i = 0; i < 100; i++)); do ! grep -q '^+++ exited' calls || break; sleep 0.1; done
	[ "$(grep -c SIGKILL calls)" -lt 20 ]
}

# By its number a killed shim's tree is known: what is not held is soon another's,
# whose processes would be ended with it.
@test "the number of its network is nobody else's as long as a shim lives" {
	need unshare -n true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use FULL-AUTO' sh -c '
		nap="sleep 4448.$1"
		"$0" sh -c "exec $nap" &
		i=0
		while ! pid=$(pgrep -f "^$nap\$") && [ $i -lt 200 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		number=$(readlink "/proc/$pid/ns/net")
		[ "$number" = "$(readlink /proc/self/ns/net)" ] || echo own
		kill -STOP $!
		kill -9 "$pid"
		i=0
		while [ $i -lt 300 ]; do
			[ "$(unshare -n readlink /proc/self/ns/net)" != "$number" ] || echo again
			i=$((i + 1))
		done
		kill -CONT $!
		wait $! 2>/dev/null' "$WARDBOX" "$$"
	echo "$output"
	[ "$output" = own ]
}

@test "so does one whose command has a terminal" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy $'policy 1 system\ninclude default\nuse FULL-AUTO\nprofile FULL-AUTO background=end' sh -c '
		nap="sleep 4449.$$"
		"$0" exec --pty -- sh -c "$nap & setsid $nap & ($nap; :); true" </dev/null &
		i=0
		until [ "$(pgrep -fc "^$nap\$")" = 3 ] || [ $i = 200 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		pgrep -fc "^$nap\$"
		kill -9 $!
		i=0
		while pgrep -f "^$nap\$" >/dev/null && [ $i -lt 30 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		pgrep -f "^$nap\$"' "$WARDBOX"
	echo "$output"
	[ "${lines[0]}" = 3 ]
	kill "${lines[@]:1}" 2>/dev/null || true
	[ "${#lines[@]}" -eq 1 ]
}

@test "a command that has itself traced does not take its supervisor along" {
	local how ending=$'policy 1 system\ninclude default\nuse FULL-AUTO\nprofile FULL-AUTO background=end'
	cp "$HELPERS/attack" attack
	for how in "$WARDBOX sh -c" "$WARDBOX exec --pty -- sh -c"; do
		# shellcheck disable=SC2086 # words
		run in_policy "$ending" $how 'exec ./attack traceme 15 left'
		echo "$output"
		[ "$status" -eq 143 ]
		log | jq -es 'map(select(.type == "end"))[-1].signal == 15 and
			all(.event != "supervisor.lost")'
	done
	# What goes on would make "left" within this second.
	sleep 1
	[ ! -e left ]
	[ "$(log | jq -s 'map(select(.type == "end")) | length')" = 2 ]
}

@test "unconfined, what a killed shim had started goes on as with any shell" {
	run lost 'use OBSERVE' env
	echo "$output"
	[ "${lines[0]}" = 'status 137' ]
	# The command itself died with its shim.
	[ "${#lines[@]}" -eq 4 ]
	kill "${lines[@]:1}"
	jq -es 'map(select(.event == "supervisor.lost")) | length == 1' log.json
}

@test "a configuration in a home that is somebody else's is not one's own" {
	local place
	place=$(mktemp -d "$BATS_TMPDIR/home-XXXXXX")
	chmod 777 "$place"
	cp "$WARDBOX" "$place/wardbox"
	cd "$place"
	mkdir -p theirs/.config/wardbox mine/.config/wardbox
	chmod 700 theirs mine/.config/wardbox
	echo 'use SAFE' | tee theirs/.config/wardbox/policy >mine/.config/wardbox/policy
	chown -R 1000:1000 mine
	as() { # HOME COMMAND...
		in_policy 'use FULL-AUTO' setpriv --reuid 1000 --regid 1000 --clear-groups \
			env HOME="$place/$1" "${@:2}"
	}
	run as theirs ./wardbox sh -c 'echo ran'
	[ "$output" = ran ]
	run as theirs env WARDBOX_DEBUG=1 ./wardbox sh -c 'echo ran'
	echo "$output"
	[[ $output == *"theirs/.config/wardbox/policy is somebody else's"* ]]
	# One's own counts, and one's own mistake is no way out of it.
	run as mine ./wardbox sh -c 'echo ran'
	[ "$status" -eq 126 ]
	chmod 000 mine/.config/wardbox
	run as mine ./wardbox sh -c 'echo ran'
	[ "$status" -eq 125 ]
	[[ $output == *'policy is broken'* ]]
	rm -rf "$place"
}

@test "without a mount namespace a log in the project is told of, and none is made there" {
	local place
	place=$(mktemp -d "$BATS_TMPDIR/place-XXXXXX")
	chmod 755 "$place"
	mkdir -p "$place/home/.git" "$place/home/own" "$place/root"
	cp "$WARDBOX" "$place/wardbox"
	chown -R 1000:1000 "$place/home"
	# In a chroot nobody makes a user namespace.
	# shellcheck disable=SC2016 # expanded by the inner shells
	bare() {
		in_policy 'use FULL-AUTO' sh -c '
			mount --rbind / "$0/root"
			exec chroot "$0/root" setpriv --reuid 1000 --regid 1000 --clear-groups \
				env -u WARDBOX_SESSION_ID HOME="$0/home/own" sh -c "cd \"\$HOME/..\" && exec \"\$@\"" sh "$@"' "$place" "$@"
	}
	need bare true
	run bare unshare -Ur true
	[ "$status" -ne 0 ] || skip "user namespaces work in a chroot"
	run bare "$place/wardbox" sh -c 'touch new; ls -A'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'.git\nnew\nown' ]
	run bare "$place/wardbox" audit dump -t start,end
	[ "${#lines[@]}" -ge 2 ]
	mkdir -p "$place/home/own/.local/state/wardbox/audit"
	chown -R 1000:1000 "$place/home/own/.local"
	chmod 700 "$place/home/own/.local/state/wardbox/audit"
	run bare "$place/wardbox" sh -c 'touch again'
	echo "$output"
	[ "$status" -eq 125 ]
	[ ! -e "$place/home/again" ]
	[[ $output == *'.local/state/wardbox/audit from the command needs a mount namespace'*'/var/log/wardbox/1000'*"'relax mount'"* ]]
	rm -rf "$place"
}

@test "what ran before the shell took its place is not ended with it" {
	for profile in FULL-AUTO OBSERVE; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		in_policy "use $profile" dash -c 'sleep 74.1 & echo $! >before; exec "$@"' - \
			"$WARDBOX" sh -c 'ls >/dev/null; echo done' >out
		[ "$(cat out)" = done ]
		kill -0 "$(cat before)"
		kill "$(cat before)"
	done
}

@test "what a command can write does not choose the next session" {
	unset WARDBOX_SESSION_ID
	mkdir -p deep/er
	for file in sid deep/er/sid "$PWD/deep/abs"; do
		export WARDBOX_SESSION_FILE=$file
		first=$(g FULL-AUTO -c 'echo "$WARDBOX_SESSION_ID"')
		[[ $first == session-* ]]
		[ "$(cat "$file")" = "$first" ]
		for way in 'echo evil >"$F"' 'rm -f "$F"; echo evil >"$F"' \
			'echo evil >new; mv -f new "$F"' 'ln "$F" second' \
			'mv deep shallow; mkdir -p deep/er; echo evil >"$F"' \
			'chmod 666 "$F"'; do
			run g FULL-AUTO -c "F=$file; $way"
		done
		[ "$(g FULL-AUTO -c 'echo "$WARDBOX_SESSION_ID"')" = "$first" ]
		[ "$(g FULL-AUTO -c "cat $file; echo x >beside; cat beside")" = "$first
x" ]
		rm -rf shallow
	done
	# A link that is the command's to turn is not followed.
	ln -s deep turned
	WARDBOX_SESSION_FILE=turned/abs run g FULL-AUTO -c 'echo ran'
	[ "$status" -eq 125 ]
	[[ $output == *"could change a link to"* ]]
	ln deep/abs second
	WARDBOX_SESSION_FILE=deep/abs run g FULL-AUTO -c 'echo ran'
	[ "$status" -eq 125 ]
	[[ $output != *ran* ]]
	# Out of its reach nothing needs to be taken away.
	mkdir "$BATS_TEST_TMPDIR/apart"
	ln -s "$BATS_TEST_TMPDIR/apart" "$BATS_TEST_TMPDIR/by-link"
	export WARDBOX_SESSION_FILE=$BATS_TEST_TMPDIR/by-link/sid
	first=$(g FULL-AUTO -c 'echo "$WARDBOX_SESSION_ID"')
	run g FULL-AUTO -c "echo evil >$WARDBOX_SESSION_FILE"
	[ "$status" -ne 0 ]
	[ "$(cat ../apart/sid)" = "$first" ]
}

@test "below a make that is not guarded: its flags, overrides and job server" {
	links sh
	cat >Makefile <<-'EOF'
		all: a b
		a b: ; +:; $(MAKE) -f sub.mk Y=$@ x y
	EOF
	cat >sub.mk <<-'EOF'
		x y: ; @echo $(MAKELEVEL) $(Y) $@ $(V) $(findstring jobserver,$(MAKEFLAGS))
	EOF
	in_policy 'use FULL-AUTO' env PATH="$LINKS:$PATH" make -s -j3 V=1 SHELL=sh >out 2>err
	sort out
	cat err
	[ ! -s err ]
	[ "$(sort out)" = "$(printf '1 %s 1 jobserver\n' 'a x' 'a y' 'b x' 'b y')" ]
	# What a command sets itself starts what the policy lets start.
	run g FULL-AUTO -c 'MAKEFLAGS=--eval=all:\;curl\ x make -f sub.mk all'
	[ "$status" -ne 0 ]
	[[ "$output" == *"denied"* || "$output" == *"Permission denied"* ]]
	MAKEFLAGS=k run g FULL-AUTO -c 'echo "$MAKEFLAGS."'
	[ "$output" = . ]
	# A job server may be a FIFO; nothing else that is named so is granted.
	place=$(mktemp -d /var/tmp/wardbox-make.XXXXXX)
	mkfifo "$place/fifo" "$place/other"
	ln -s other "$place/link"
	echo secret >"$place/file"
	printf 'all: ; -echo t >%s/fifo\n\t-echo u >%s/other\n\t-cat %s/link\n\t-cat %s/file\n' \
		"$place" "$place" "$place" "$place" >probe.mk
	exec 7<>"$place/fifo" 8<>"$place/other"
	export MAKELEVEL=1
	MAKEFLAGS=" --jobserver-auth=fifo:$place/fifo -- A=b" \
		run g FULL-AUTO -c 'unset MAKEFLAGS; make -sf probe.mk'
	[[ $output != *"$place/fifo"* && $output != *secret* ]]
	not read -r -t 0 -u 8
	read -r -t 5 token <&7
	[ "$token" = t ]
	for at in link file; do
		MAKEFLAGS="--jobserver-auth=fifo:$place/$at" \
			run g FULL-AUTO -c 'unset MAKEFLAGS; make -sf probe.mk'
		[[ $output == *"$place/$at: "* && $output != *secret* ]]
	done
	exec 7<&- 8<&-
	rm -rf "$place"
}

@test "a confined command gets as many arguments as the kernel takes" {
	seq 20000 >list
	mkdir many
	(cd many && xargs touch <../list)
	# shellcheck disable=SC2016 # expanded by the guarded shell
	for line in 'sh -c "echo \$#" _ $(cat list)' 'xargs -n 20000 -s 1000000 sh -c "echo \$#" _ <list' \
		'cd many; ls * | wc -l' 'env ls -d many/* | wc -l'; do
		run g FULL-AUTO -c "$line"
		[ "$output" = 20000 ]
	done
	run g FULL-AUTO -c 'rm many/*; ls many | wc -l'
	[ "$output" = 0 ]
	head -c 130000 /dev/zero | tr '\0' x >one
	# shellcheck disable=SC2016
	run g FULL-AUTO -c 'printenv X$(cat one); sh -c "echo \${#1}" _ "$(cat one)"'
	[ "$output" = 130000 ]
	# What is judged is all of it.
	echo 'exec "env", ("A=b") x 15000, @ARGV, ("x") x 15000 or print $!+0' >run.pl
	run g FULL-AUTO -c 'perl run.pl true'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run g FULL-AUTO -c 'perl run.pl curl'
	[[ "$output" == 13 || "$output" == *curl*"Permission denied" ]]
}

@test "a command runs on the CPUs that its caller may use, all of them" {
	for profile in FULL-AUTO OBSERVE; do
		run g $profile -c nproc
		[ "$output" = "$(nproc)" ]
		one=$(taskset -pc $$ | sed 's/.*[ ,-]//')
		run in_policy "use $profile" taskset -c "$one" "$WARDBOX" sh -c nproc
		[ "$output" = 1 ]
	done
}

@test "the temporary directory of a confined command may be named; what is beside it may not" {
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c '
		f=$(mktemp "${TMPDIR:-/tmp}/a.XXXXXX") && echo one >$TMPDIR/b &&
		cat "$TMPDIR/b" && rm "$TMPDIR/b" "$f" && ls -A $TMPDIR | grep -v bats'
	echo "$output"
	[ "$output" = one ]
	for line in 'echo x >$TMPDIR/../y' \
		'cat $TMPDIR/../sessions/session-default.state'; do
		echo "$line"
		run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c "$line"
		[ "$status" -ne 0 ]
	done
	# A link that a command has made there leads nowhere, either.
	echo its words >/srv/kept
	in_policy 'use FULL-AUTO' sh -c 'for d in /run/wardbox/$(id -u)/at-*/tmp; do
		ln -s /srv "$d/e"; done'
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c 'cat $TMPDIR/e/kept'
	rm /srv/kept
	[ "$status" -ne 0 ]
	[[ $output != *words* ]]
	# Nor is it another's in a shell whose lines nobody reads before it does.
	run in_policy 'use FULL-AUTO' script -qec "$WARDBOX sh" /dev/null <<-'X'
		touch $TMPDIR/typed; rm $TMPDIR/typed && echo re"mov"ed
		touch $TMPDIR/../typed || echo re"fus"ed
		exit
	X
	[[ $output == *removed* ]]
	[[ $output == *refused* ]]
}

@test "without a view a socket by path or abstract name is refused, a pair of them works" {
	need unshare -m true
	project
	printf '%s\n' 'import socket' 'a, b = socket.socketpair()' 'a.send(b"pair")' \
		'print(b.recv(4).decode())' 'for name in "x.sock", "\0wardbox-test":' \
		'    try: socket.socket(socket.AF_UNIX).bind(name); print("bound")' \
		'    except OSError as e: print(e.strerror)' >s.py
	run in_policy 'use FULL-AUTO' "$HELPERS/docker" "$WARDBOX" sh -c 'python3 s.py'
	echo "$output"
	[ "$output" = $'pair\nOperation not permitted\nOperation not permitted' ]
}

@test "ldd says what a file needs; a program is not started by the loader" {
	need unshare -m true
	project
	cp "$(command -v ls)" a.out
	in_policy 'use FULL-AUTO' "$WARDBOX" sh -c 'ldd ./a.out' | grep 'libc\.so'
	loader=$(readelf -l a.out | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c "$loader ./a.out"
	[ "$status" -eq 126 ]
	[[ $output == *"rule loader"* ]]
}

@test "an owner that has no number in this user namespace is named as the cause" {
	need unshare -m true
	need unshare -U true
	run in_policy 'use FULL-AUTO' unshare -U "$WARDBOX" sh -c 'touch ran'
	echo "$output"
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == *'who owns'*'cannot be told: this user namespace has no number'* ]]
	[[ ${lines[1]} == *'--map-root-user'* ]]
	[ ! -e ran ]
	# Who has a number is known, be it the one that is shown for others.
	run in_policy 'use FULL-AUTO' unshare -Ur "$WARDBOX" sh -c 'exit 3'
	[ "$status" -eq 3 ]
	install -d -m 700 -o 65534 -g 65534 "$BATS_TEST_TMPDIR/ns/log/wardbox/65534"
	run in_policy 'use OBSERVE' setpriv --reuid 65534 --regid 65534 --clear-groups \
		env HOME=/nonexistent "$WARDBOX" sh -c 'exit 4'
	[ "$status" -eq 4 ]
}
