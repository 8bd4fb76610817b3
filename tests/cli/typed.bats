#!/usr/bin/env bats
# A guarded shell that a person types to: each command is judged as it starts

load ../lib/wardbox

setup() {
	project
	export WARDBOX_SESSION_ID=session-typed
	S=wardbox-typed-$$
}

teardown() {
	tmux -L "$S" kill-server 2>/dev/null || true
}

log() {
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json
}

# A shell on a terminal, in tmux: begin POLICY SHELL
begin() {
	need command -v tmux
	echo "exec \"$WARDBOX\" $2" >go
	in_policy "$1" tmux -L "$S" new-session -d -x 100 -y 50 'sh ./go'
	sees '[#$] *$' 1
}

# Until TEXT is there N times: sees TEXT N
sees() {
	for _ in $(seq 100); do
		tmux -L "$S" capture-pane -p -S -100 >screen
		[ "$(grep -c -e "$1" screen)" -lt "$2" ] || return 0
		sleep 0.1
	done
	cat screen
	return 1
}

type() {
	tmux -L "$S" send-keys "$@" Enter
}

@test "in a shell that is typed to, what is typed is judged, not what that starts" {
	need command -v cc make
	printf 'int main(void) { return 3; }\n' >a.c
	printf 'a: a.c\n\tcc -o a a.c\n' >Makefile
	cat >typed <<-'X'
		make >/dev/null && ./a || echo made=$?
		wardbox-test-tool
		(su -c id) || echo sub=$?
		x=$(su -c id); echo text=$?
		f() { su -c id; }; f || echo fun=$?
		exec 3>&1; command su -c id || echo cmd=$?
		exit
	X
	for shell in dash bash busybox; do
		[ -x "$(command -v $shell)" ] || continue
		echo "$shell"
		rm -f sh
		cp "$WARDBOX" sh
		ln -sf "$(command -v $shell)" sh.real
		rm -f a
		# shellcheck disable=SC2016 # expanded by the inner shell
		run in_policy 'use FULL-AUTO' sh -c '
			mount -t tmpfs none /usr/local && mkdir /usr/local/bin /usr/local/lib &&
			printf "#!/bin/sh\necho link\"ed\"\n" >/usr/local/lib/tool.sh &&
			chmod 755 /usr/local/lib/tool.sh &&
			# A program of the system, whose file lies where no programs are.
			ln -s ../lib/tool.sh /usr/local/bin/wardbox-test-tool &&
			exec script -qec ./sh /dev/null <typed'
		[[ $output == *linked* ]]
		[[ $output == *made=3* ]]
		for how in sub text fun cmd; do
			[[ $output == *"$how=126"* ]]
		done
	done
}

@test "what wants a yes is asked for, there and then" {
	printf 'all:\n\t@echo made it\n' >Makefile
	for shell in dash 'bash --norc'; do
		[ -x "$(command -v "${shell%% *}")" ] || continue
		echo "$shell"
		begin 'use DEV' "$shell"
		type make
		sees 'Run it' 1
		grep -q 'rule unknown: no rule speaks of make' screen
		# What was typed before is no answer, nor is a mere Enter.
		type n
		sees 'not confirmed: make (rule unknown)' 1
		sees 'Permission denied' 1
		type make
		sees 'Run it' 2
		type y
		sees '^made it' 1
		type make
		sees 'Run it' 3
		type a
		sees '^made it' 2
		type make
		sees '^made it' 3
		[ "$(grep -c 'Run it' screen)" -eq 3 ]
		# Another command is another question; Ctrl-C is a no, and ends what
		# is typed, as it ends a command: a loop does not ask again.
		type 'while :; do make -s; done; echo on'
		sees 'Run it' 4
		tmux -L "$S" send-keys C-c
		type 'echo "code=$?"'
		sees 'code=130' 1
		not grep -q '^on' screen
		# The whole of it is shown, not just what the question is about.
		type "sh -c 'make -s; make -n'"
		sees 'Run it' 5
		grep -q '^    sh -c make -s; make -n' screen
		type n
		sees 'not confirmed: make -s' 1
		# The shell has its terminal as it had it.
		type 'echo one | cat; stty -a | grep -o "[-]icanon" ; echo done'
		sees 'Run it' 6
		type y
		sees 'Run it' 7
		type y
		sees '^done' 1
		tmux -L "$S" kill-server
		rm -rf "$BATS_TEST_TMPDIR"/ns/run/*/sessions/*.approved
	done
	log | jq -es 'map(select(.event == "exec.confirm")) | length >= 3'
	log | jq -es 'map(select(.event == "exec.deny" and .detail.decision == "confirm")) | length >= 2'
	run in_policy 'use DEV' "$WARDBOX" policy history
	[[ $output == *" confirm unknown        make"* ]]
	[[ $output == *" deny    unknown        make -s"* ]]
	run in_policy 'use DEV' "$WARDBOX" policy suggest
	[[ $output == *"allow make"* ]]
}

@test "what is denied is told with its rule, once, and not from behind" {
	begin 'use FULL-AUTO' dash
	type 'su -c id; echo code=$?'
	sees '^code=126' 1
	[ "$(grep -c '^wardbox sh: denied: su -c id: privilege change (rule priv' screen)" -eq 1 ]
	type 'set -m; (sleep 0.1; su -c behind) & wait; echo waited'
	sees '^waited' 1
	not grep -q 'denied: su -c behind' screen
	grep -q 'su: Permission denied' screen
	# A program's own are its own.
	printf 'import subprocess\ntry:\n subprocess.run(["su", "-c", "inner"])\nexcept OSError as e: print(e)\n' >run.py
	type 'python3 ./run.py; echo ended=$?'
	sees '^ended=0' 1
	not grep -q 'denied: su -c inner' screen
	log | grep -q 'su -c behind'
	log | grep -q 'su -c inner'
}

@test "a recorded command has its own terminal, and the person's by no name" {
	need unshare -m true
	links sh
	cp "$TOP/tests/lib/terminal_reach.py" reach.py
	for profile in DEV FULL-AUTO; do
		run in_policy "use $profile
allow python3 reach.py inside" python3 reach.py "$LINKS/sh" \
			'python3 reach.py inside; echo out >/dev/stdout; echo err >/dev/stderr; exit 3'
		echo "$output"
		[ "$status" -eq 0 ]
		tr -d '\r' <<<"$output" >seen
		diff - seen <<-'X'
			person: Permission denied
			own: own
			tty: own
			console: Permission denied
			out
			err
			code 3
		X
	done
}

@test "a bash reads the ~/.bashrc of the command's home, without a word of one that it may not" {
	need command -v tmux bash
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir "$HOME"
	echo 'echo "rc"=read' >"$HOME/.bashrc"
	begin 'use FULL-AUTO' bash
	type 'echo "flags=$-"'
	sees '^flags=.*i' 1
	grep -q '^rc=read' screen
	not grep -q 'Permission denied' screen
	tmux -L "$S" kill-server
	# shellcheck disable=SC2016 # the policy's own
	begin 'use FULL-AUTO
path r $HOME/.bashrc' bash
	sees '^rc=read' 1
}
