#!/usr/bin/env bats
# envrun: state that survives, as data.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
use FULL-AUTO'

setup() {
	project
	export WARDBOX_SESSION_ID=session-test
}

e() { # runs envrun with the given arguments under FULL-AUTO
	in_policy "$POLICY" "$WARDBOX" envrun "$@"
}

@test "directory, variables and code are carried over" {
	mkdir sub
	run e -- 'export FOO=bar; cd sub; exit 7'
	[ "$status" -eq 7 ]
	run e -- 'echo "$? $FOO"; pwd'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "7 bar" ]
	[ "${lines[1]}" = "$PROJECT/sub" ]
}

@test "observed, no variable is taken away; confined, what is denied and what the policy sets" {
	local all='env | grep -E "^(PATH|PAGER|EDITOR|PYTHONPATH|FOO)=" | sort'
	local path=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
	POLICY='use OBSERVE'
	PATH=$path e -- 'export PAGER=cat EDITOR=vi PYTHONPATH=lib FOO=1'
	run e -- "$all"
	[ "$output" = "$(printf '%s\n' EDITOR=vi FOO=1 PAGER=cat "PATH=$path" PYTHONPATH=lib)" ]
	e -- 'unset PATH PAGER'
	run e -- "/usr/bin/$all"
	[[ "$output" != *PATH=/* && "$output" != *PAGER* && "$output" == *EDITOR=vi* ]]
	# By its name a variable is kept, even so.
	e --strict -- 'export FOO=3'
	run e -- "/usr/bin/$all"
	[ "$output" = '' ]
	POLICY='use FULL-AUTO'
	e -- 'export FOO=2'
	run e -- "$all"
	[ "$output" = "$(printf '%s\n' FOO=2 PAGER=cat "PATH=$path:$HOME/.cargo/bin:$HOME/.pyenv/shims")" ]
}

@test "the session is the workspace's, as the shim's, from below its root, too" {
	unset WARDBOX_SESSION_ID
	mkdir sub
	e -- 'export FOO=bar'
	cd sub
	# shellcheck disable=SC2016 # the guarded shell's
	run e -- 'echo "$FOO $WARDBOX_SESSION_ID"'
	# shellcheck disable=SC2016
	in_policy "$POLICY" "$WARDBOX" session show | grep -x "workspace *$PROJECT"
	[ "$output" = "bar $(in_policy "$POLICY" "$WARDBOX" sh -c 'echo "$WARDBOX_SESSION_ID"')" ]
	cd /
	# shellcheck disable=SC2016
	run e -- 'echo "$WARDBOX_SESSION_ID"'
	# shellcheck disable=SC2016
	[ "$output" = "$(in_policy "$POLICY" "$WARDBOX" sh -c 'echo "$WARDBOX_SESSION_ID"')" ]
}

@test "the directory is kept where part of the project is not the command's" {
	mkdir -p .wardbox sub
	e -- 'cd sub; echo >made'
	run e -- 'pwd; ls'
	[ "${lines[0]}" = "$PROJECT/sub" ]
	[ "${lines[1]}" = made ]
	run e -- 'touch ../.wardbox/policy'
	[ "$status" -ne 0 ]
	[ ! -e .wardbox/policy ]
	run e --json -- 'pwd; :'
	[ "$(jq -r .cwd <<<"$output")" = "$PROJECT/sub" ]
}

@test "a directory is called what the caller calls it, from the first command on" {
	mkdir -p sub/deep
	ln -s "$PROJECT" ../link
	cd ../link
	e -- 'cd sub'
	run e -- 'pwd; pwd -P'
	[ "$output" = "$BATS_TEST_TMPDIR/link/sub
$PROJECT/sub" ]
	run e --session other -- 'pushd sub'
	[ "$output" = "$BATS_TEST_TMPDIR/link/sub $BATS_TEST_TMPDIR/link" ]
	# What names another place is nobody's word.
	PWD=/etc run e --session third -- 'cd sub'
	run e --session third -- pwd
	[ "$output" = "$PROJECT/sub" ]
}

@test "unexported variables, functions and traps are not" {
	e -- 'X=1; f() { :; }; trap "echo trapped" EXIT; export Y=2'
	run e -- 'echo "<$X><$Y>"; type f'
	[[ "$output" == "<><2>"* ]]
	[[ "$output" != *trapped* ]]
}

@test "a code that is too large for one is what the shell makes of it" {
	run e -- 'export BIG=1; exit 300'
	[ "$status" -eq 44 ]
	[ -z "$output" ]
	run e -- 'echo "$? $BIG"'
	[ "$output" = "44 1" ]
}

@test "unset is carried over" {
	e -- 'export A=1'
	e -- 'unset A'
	run e -- 'echo "<${A-unset}>"'
	[ "$output" = "<unset>" ]
}

@test "dangerous variables never reach the next command, and are named" {
	run e --json -- 'export LD_PRELOAD=/x BASH_ENV=/y FINE=1 2>/dev/null'
	if [ "$(jq -r .decision <<<"$output")" = allow ]; then
		[[ "$(jq -r .stripped <<<"$output")" == *LD_PRELOAD* ]]
		[[ "$(jq -r .stripped <<<"$output")" == *BASH_ENV* ]]
	fi
	run e -- 'echo "<$LD_PRELOAD$BASH_ENV>"'
	[ "$output" = "<>" ]
}

@test "--strict carries only what the policy keeps by name" {
	e --strict -- 'export MINE=1 LANG=C.UTF-8'
	run e --strict -- 'echo "<$MINE>"'
	[ "$output" = "<>" ]
}

@test "SHLVL does not grow, PWD cannot be spoofed" {
	local first
	first=$(e --shell bash -- 'export PWD=/etc; echo "$SHLVL"')
	[ "$first" -eq $((${SHLVL:-0} + 1)) ]
	e --shell bash -- ':'
	run e --shell bash -- 'echo "$SHLVL"; pwd -P'
	[ "${lines[0]}" -eq "$first" ]
	[ "${lines[1]}" = "$PROJECT" ]
}

@test "a low limit on open files is the command's, as far as there may be more" {
	limited() {
		in_policy "$POLICY" bash -c "ulimit $1"'; exec "${@:2}"' - "$1" \
			"$WARDBOX" envrun -- "$2"
	}
	run limited '-Sn 40' 'ulimit -Sn; export A=1'
	[ "$output" = 40 ]
	run limited '-Sn 40' 'echo $A'
	[ "$output" = 1 ]
	run limited '-n 40' ': >ran'
	# Who may raise a hard limit has room for more.
	[ -e ran ] || [[ $output == *"40 open files are allowed (ulimit -Hn), and a guarded command needs 201"* ]]
}

@test "a directory may have any name" {
	local odd=$'o\n\xff "\'$*\e'
	mkdir -p "$odd/.git" "$odd/$odd" out
	cd "$odd"
	e -- "cd '$odd'" || e -- 'cd o*'
	run e -- 'cd .'
	[ "$status" -eq 0 ]
	run e -- 'printf "[%s]" "$PWD"'
	[ "$output" = "[$PWD/$odd]" ]
	e -- 'pushd ..' >/dev/null
	e -- 'cd -' >/dev/null
	run e -- 'printf "[%s]" "$PWD"'
	[ "$output" = "[$PWD/$odd]" ]
}

@test "newlines, empty values and bytes that are no UTF-8 survive" {
	e -- 'export N="a
b" E= B=$(printf "\377\376")'
	run e -- 'printf "%s|%s|" "$N" "$E"; printf %s "$B" | od -An -tx1'
	[ "$output" = $'a\nb|| ff fe' ]
}

# LINE, then "CODE CAPTURE" as each shell has it: one for all, or those of bash,
# dash, busybox, mksh and zsh. A '*' stands for what depends on who is first.
row() {
	local all=("${@:2}") want=$2
	[ $# -eq 2 ] || want=${all[$nth]}
	printf '%s\0' "$1" >>in
	printf '%s\n' "$want" >>want
}

rows() {
	local big='x=$(head -c 200000 /dev/zero | tr "\0" y); export BIG=$x'
	row 'true' '0 captured'
	row 'false' '1 captured'
	row 'true # comment' '0 captured'
	row $'true\n' '0 captured'
	row 'true;' '0 captured'
	row 'true &' '0 captured'
	row 'true \' '0 captured'
	row $'cat <<E\nx\nE' '0 captured'
	row $'cat <<E\nx\nE\n' '0 captured'
	row 'IFS=0123456789; (exit 7)' '7 captured'
	row 'env() { :; }; (exit 3)' '3 captured'
	row 'PATH=/nowhere; (exit 4)' '4 captured'
	row 'unset PATH; (exit 4)' '4 captured'
	row 'export PWD=/nowhere' '0 captured'
	row 'x=$(head -c 100000 /dev/zero | tr "\0" y); export BIG=$x' '0 captured'
	row 'unset BIG' '0 captured'
	row 'sleep 3 & exit 3' '3 captured'
	row 'exit 5' '5 captured'
	row 'set -e; false; true' '1 captured'
	row 'set -u; echo $nothing_of_it' \
		'127 captured' '2 captured' '2 captured' '1 captured' '1 captured'
	row 'if' '2 captured' '2 captured' '2 captured' '1 captured' '1 captured'
	row 'echo "open' '2 captured' '2 captured' '2 captured' '1 captured' '1 captured'
	row 'trap "echo theirs" EXIT' '0 captured'
	row 'trap : EXIT; exit 4' '4 no-dump'
	row 'trap - EXIT; exit 4' '4 no-dump'
	row 'exec /bin/true' '0 no-dump'
	row 'kill -9 $$' '137 killed'
	row 'kill -TERM $$' '143 captured' '143 killed' '143 killed' '143 captured' '143 killed'
	row 'kill -INT 0' '130 *'
	row 'kill -TERM 0' '143 *'
	row 'kill -HUP 0' '129 *' '129 *' '129 *' '129 *' '1 captured'
	row 'set -n' '0 no-dump'
	row 'exec 200>&-; (exit 3)' \
		'3 no-dump' '127 captured' '3 no-dump' '127 captured' '127 no-dump'
	row "$big; (exit 3)" '3 no-dump'
	row 'ulimit -n 3; true' '0 captured' '0 captured' '0 captured' '0 captured' '1 no-dump'
	row 'ulimit -f 0; (exit 3)' '3 no-dump'
	row 'exec() { :; }; (exit 3)' \
		'3 captured' '2 captured' '2 captured' '3 captured' '3 captured'
}

# The child's end may interrupt dash while its last exec is being decided.
@test "a child that ends at the shell's end costs no state" {
	local i
	need command -v dash
	for ((i = 0; i < 300; i++)); do printf 'true &\n'; done |
		in_policy 'use FULL-AUTO' setsid -w "$WARDBOX" envrun --shell dash \
			--serve-stdin | jq -r .capture | sort | uniq -c >got
	cat got
	[ "$(tr -s ' ' <got)" = " 300 captured" ]
}

@test "the outcome table, in every shell that is here, confined and not" {
	local nth=0 sh got want n
	for sh in bash dash busybox mksh zsh; do
		rm -f in want
		rows
		nth=$((nth + 1))
		command -v "$sh" >/dev/null || continue
		for POLICY in 'use OBSERVE' 'use FULL-AUTO'; do
			in_policy "$POLICY" setsid -w "$WARDBOX" envrun --session "table-$sh" \
				--shell "$sh" --serve-stdin --null <in |
				jq -r '"\(.decision) \(.exit_code) \(.capture)"' >got
			[ "$(wc -l <got)" -eq "$(wc -l <want)" ]
			n=0
			while read -r decision got && read -r want <&9; do
				n=$((n + 1))
				# shellcheck disable=SC2053 # a pattern
				[ "$decision" = allow ] || continue
				[[ $got == $want ]] || {
					echo "$sh, $POLICY: line $n: $got, not $want:"
					tr '\n\0' '~\n' <in | sed -n "${n}p"
					false
				}
			done <got 9<want
			[ "$n" -eq 37 ]
		done
	done
}

# What the line exported, by --trace-exec: CAPTURE and the value of A after it.
traced() { # CAPTURE VALUE LINE
	local out
	out=$(e --shell "$sh" --trace-exec --json -- "$3") || true
	[ "$(jq -r .capture <<<"$out")" = "$1" ] || {
		echo "$sh: $3"
		echo "$out"
		return 1
	}
	out=$(e --shell "$sh" -- 'echo "$A in ${PWD##*/}"')
	[ "$out" = "$2" ] || {
		echo "$sh: $3"
		echo "left $out"
		return 1
	}
}

@test "--trace-exec: what an exec'd program is given is carried over, in every shell" {
	local sh
	mkdir -p sub
	printf '#!/bin/sh\nexport A=theirs\nexec /bin/true\n' >script
	chmod +x script
	for POLICY in 'use FULL-AUTO' 'use OBSERVE'; do
		for sh in bash dash busybox mksh zsh; do
			command -v "$sh" >/dev/null || continue
			export WARDBOX_SESSION_ID=session-trace-$sh
			traced captured "1 in project" 'export A=1; cd sub && cd ..; exec /bin/true'
			traced captured "2 in sub" 'export A=2; cd sub; exec /bin/sh -c "exit 3"'
			traced captured "3 in project" 'cd ..; (exec /bin/true); export A=3'
			# What the program does is its own.
			traced captured "4 in project" 'export A=4; exec ./script'
			# Not in the shell's place.
			traced captured "5 in project" 'export A=5; (A=6; exec /bin/true); /bin/true'
			run e --shell "$sh" --json -- 'export A=7; exec /bin/true'
			[ "$(jq -r .capture <<<"$output")" = no-dump ]
		done
	done
}

@test "--trace-exec on a terminal; a failed exec; what is left running is not kept from it" {
	need command -v script
	in_policy "$POLICY" script -qec "$WARDBOX envrun --trace-exec -- 'export A=1; (A=2; exec /bin/true); exec /bin/echo hi'" /dev/null </dev/null
	run e -- 'echo $A'
	[ "$output" = 1 ]
	POLICY='use OBSERVE'
	printf '#!/no/such/interpreter\n' >none
	chmod +x none
	run e --shell bash --trace-exec -- 'shopt -s execfail; export A=2; exec ./none; export A=3; exec /bin/true'
	run e -- 'echo $A'
	[ "$output" = 3 ]
	run e --trace-exec -- '{ sleep 0.5; exec /bin/echo late; } >late & exec /bin/true'
	[ "$status" -eq 0 ]
	for i in $(seq 50); do
		[ ! -s late ] || break
		sleep 0.1
	done
	[ "$(cat late)" = late ]
	# Nothing of it is confined.
	run e --trace-exec -- 'mkdir -p m && mount -t tmpfs none m && umount m && exec /bin/echo free'
	[ "$output" = free ]
}

@test "a large variable and a large environment" {
	e -- 'x=$(head -c 100000 /dev/zero | tr "\0" y); export BIG=$x'
	run e -- 'echo ${#BIG}'
	[ "$output" = 100000 ]
	run e --json -- 'x=$(head -c 200000 /dev/zero | tr "\0" y); export BIG=$x'
	[ "$(jq -r .capture <<<"$output")" = no-dump ]
	run e -- 'echo ${#BIG}'
	[ "$output" = 100000 ]
}

@test "what was lost is said, and stands in the record" {
	run e -- 'export A=1; exec true'
	[ "$status" -eq 0 ]
	[[ "$output" == *"the state stays as it was: "*exec*"128 KiB"* ]]
	run e -- 'x=$(head -c 200000 /dev/zero | tr "\0" y); export BIG=$x'
	[ "$status" -eq 0 ]
	[[ "$output" == *"the state stays as it was: "*"128 KiB"* ]]
	run e --json -- 'export A=1; kill -9 $$'
	[ "$status" -eq 137 ]
	[[ "$(jq -r .note <<<"$output")" == *"the shell was killed"* ]]
	run e -- 'x=$(head -c 60000 /dev/zero | tr "\0" y); export A=2'"$(
		printf ' V%d=$x' {1..20})"
	[ "$status" -eq 0 ]
	[[ "$output" == *"its environment is too large"* ]]
	run e -- 'echo "<$A$V1>"'
	[ "$output" = "<>" ]
	run in_policy "$POLICY" "$WARDBOX" audit dump -o json
	[ "$(grep -c env.lost <<<"$output")" -eq 4 ]
	[[ "$output" == *'"why":"no-dump"'* ]]
	[[ "$output" == *'"why":"killed"'* ]]
	[[ "$output" == *'"why":"too-large"'* ]]
}

@test "an EXIT trap of the command's runs, and an ERR trap as often as it would" {
	local shell
	echo "trap 'echo bye' EXIT" >t.sh
	for shell in bash dash busybox mksh zsh yash; do
		[ -x "$(command -v $shell)" ] || continue
		echo "$shell"
		run e --shell "$(command -v $shell)" -- 'trap "echo bye" EXIT; export T=1; echo hi'
		[ "$output" = $'hi\nbye' ]
		# However it is spelled.
		run e --shell "$(command -v $shell)" -- "tr''ap 'echo bye' EXIT; export T=1; echo hi"
		[ "$output" = $'hi\nbye' ]
		run e --shell "$(command -v $shell)" -- 't=ap; "tr$t" "echo bye" EXIT; export T=1; echo "hi"'
		[ "$output" = $'hi\nbye' ]
		run e --shell "$(command -v $shell)" -- '. ./t.sh; export T=2'
		[ "$output" = bye ]
		run e --shell "$(command -v $shell)" -- 'echo $T'
		[ "$output" = 2 ]
	done
	run e --shell bash -- 'trap "echo err" ERR; false'
	[ "$status" -eq 1 ]
	[ "$output" = err ]
}

@test "cd, cd -, pushd, popd and dirs work across commands" {
	mkdir -p a/b
	e -- 'cd a'
	run e -- 'cd -'
	[ "$output" = "$PROJECT" ]
	run e -- pwd
	[ "$output" = "$PROJECT" ]
	run e -- 'pushd a/b'
	[ "$output" = "$PROJECT/a/b $PROJECT" ]
	run e -- dirs
	[ "$output" = "$PROJECT/a/b $PROJECT" ]
	run e -- 'popd'
	[ "$output" = "$PROJECT" ]
	run e -- 'popd'
	[ "$status" -eq 1 ]
	run e -- 'cd nowhere'
	[ "$status" -eq 1 ]
	run e -- 'echo $?'
	[ "$output" = 1 ]
}

@test "pushd, popd and dirs count, as bash's do" {
	mkdir -p a b c
	local line all=''
	for line in 'pushd a' 'pushd ../b' 'pushd ../c' 'pushd +1' 'pushd -1' \
		'dirs -v' 'dirs -p' 'dirs +2' 'dirs -0' 'popd +2' 'popd -0' \
		'pushd +0' 'pushd +9' 'popd +0' 'popd +0' 'dirs -c' dirs pwd; do
		run e -- "$line"
		all+="$status $output"$'\n'
	done
	# shellcheck disable=SC2016
	diff <(printf '%s' "$all") <(OUT=$BATS_TEST_TMPDIR/out HOME=/nowhere bash -c '
		for line in "pushd a" "pushd ../b" "pushd ../c" "pushd +1" "pushd -1" \
			"dirs -v" "dirs -p" "dirs +2" "dirs -0" "popd +2" "popd -0" \
			"pushd +0" "pushd +9" "popd +0" "popd +0" "dirs -c" dirs pwd; do
			$line >"$OUT" 2>&1
			printf "%s %s\n" $? "$(sed "s/.*: line [0-9]*: /wardbox envrun: /" "$OUT")"
		done')
}

@test "a logical path is kept, a directory that vanished is replaced and told" {
	mkdir -p real/deep
	ln -s real link
	e -- 'cd link'
	run e -- pwd
	[ "$output" = "$PROJECT/link" ]
	e -- 'cd deep'
	rm -r real/deep
	run e -- 'pwd -P'
	[[ "$output" == *"gone"* ]]
	[[ "$output" == *"$PROJECT/real"* ]]
}

@test "a denied line does not run, and the state stays" {
	e -- 'export A=1'
	run e -- 'export A=2; curl http://x.example'
	[ "$status" -eq 126 ]
	run e -- 'echo $A'
	[ "$output" = 1 ]
}

@test "cd out of the project gives no more than the project" {
	mkdir -p "$BATS_TEST_TMPDIR/other/.git"
	e -- "cd $BATS_TEST_TMPDIR/other"
	run e -- 'pwd; echo x >made'
	[ "${lines[0]}" = "$BATS_TEST_TMPDIR/other" ]
	[ ! -e "$BATS_TEST_TMPDIR/other/made" ]
	run e -- "cd $PROJECT; echo x >made"
	[ "$status" -eq 0 ]
	[ -e "$PROJECT/made" ]
}

@test "commands that run at the same time forget nothing of each other" {
	# One name space for all: an overlay is mounted once at a time.
	in_policy "$POLICY" sh -c 'for i in 1 2 3 4 5 6 7 8; do
		"$0" envrun --state st -- "export V$i=$i" &
	done; wait' "$WARDBOX"
	run e --state st -- 'env | grep -c "^V[1-8]="'
	[ "$output" = 8 ]
	mkdir -p sub
	in_policy "$POLICY" sh -c '"$0" envrun -- ": >began; until [ -e go ]; do sleep 0.02; done; export SLOW=1" &
		until [ -e began ]; do sleep 0.02; done
		"$0" envrun -- "export FAST=1; cd sub"; : >go; wait' "$WARDBOX"
	run e -- 'echo "$SLOW $FAST ${PWD##*/}"'
	[ "$output" = "1 1 sub" ]
}

@test "nor do the first ones of a session" {
	mkdir -p moved
	# shellcheck disable=SC2016 # expanded by the inner shells
	LANG=C in_policy "$POLICY" sh -c '
		"$0" envrun -- ": >first; until [ -e quick ]; do sleep 0.02; done; cd moved; export SLOW=1" &
		slow=$!
		"$0" envrun -- ": >second; until [ -e over ]; do sleep 0.02; done" &
		until [ -e first ] && [ -e second ]; do sleep 0.02; done
		"$0" envrun -- "export LANG=new QUICK=1 HOSTALIAS=x"
		: >quick
		wait $slow
		: >over
		wait
		"$0" envrun -- "echo \"\${PWD##*/} \$LANG \$SLOW\$QUICK \$HOSTALIAS\""' "$WARDBOX" >out
	cat out
	[ "$(cat out)" = 'moved new 11 x' ]
}

refused() { # STATE
	run e --state "$1" -- 'echo ran'
	[ "$status" -eq 125 ]
	[[ "$output" == *"$1"* && "$output" != *ran* ]]
}

@test "a state that is none, or anybody else's, is refused, and nothing hangs" {
	e --state st -- 'export A=1'
	ln -s st link && refused link
	mkfifo fifo && refused fifo
	mkdir dir && refused dir
	cp st foreign && chown 1000 foreign && refused foreign
	cp st open && chmod 666 open && refused open
	head -c 200 st >cut && refused cut
	{ cat st && echo; } >more && refused more
	sed 's/^cwd .*/&\n&/' st >twice && refused twice
	tr '=' '\0' <st >nul && refused nul
	truncate -s 8M large && refused large
	: >empty && refused empty
	run e --state st -- 'echo $A'
	[ "$output" = 1 ]
}

@test "a command that forges its state chooses neither its jail nor its loader" {
	local other=$BATS_TEST_TMPDIR/other
	mkdir -p "$other/.git"
	e --state st -- 'echo x >allowed'
	[ -e allowed ]
	{
		echo "wardbox-state 1"
		printf '%s %d:%s\n' cwd "${#other}" "$other" workspace "${#other}" "$other" \
			vars 1 3 env 23 LD_PRELOAD=/lib/evil.so env 14 BASH_ENV=/evil env 6 FINE=1
		echo "end 6"
	} >st
	run e --state st -- "echo \"<\$LD_PRELOAD\$BASH_ENV\$FINE>\""
	echo "$output"
	[ "$output" = "<1>" ]
	run e --state st -- "echo x >$other/forbidden"
	[ ! -e "$other/forbidden" ]
	run e --state st -- "echo x >forbidden"
	[ ! -e "$other/forbidden" ]
}

@test "killed at any moment, or on a full disk, the state is the old or the new one" {
	local i last=0 now
	e --state st -- 'export N=0'
	for i in $(seq 40); do
		# shellcheck disable=SC2016 # expanded by the inner shell
		in_policy "$POLICY" sh -c '
			"$1" envrun --state st -- "export N=$2" &
			sleep "0.0$3"
			kill -9 $! 2>/dev/null
			wait' _ "$WARDBOX" "$i" "$((RANDOM % 4))$((RANDOM % 10))" 2>/dev/null || true
		now=$(e --state st -- 'echo $N')
		[ "$now" = "$last" ] || [ "$now" = "$i" ]
		last=$now
	done
	mkdir full
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use OBSERVE' sh -c 'mount -t tmpfs -o size=16k none full &&
		"$1" envrun --state full/st -- "export A=old" &&
		head -c 100000 /dev/zero >full/fill
		"$1" envrun --state full/st -- "export A=new; (exit 3)"
		echo "code $?"
		ls full
		rm full/fill
		"$1" envrun --state full/st -- "echo \$A"' _ "$WARDBOX"
	echo "$output"
	[[ "$output" == *"was not saved"*"No space left"*"code 3"* ]]
	[[ "$output" != *".tmp"* ]]
	[ "${lines[-1]}" = old ]
}

@test "a session that is used is not an old one" {
	e --session lively -- 'true'
	run in_policy "$POLICY" "$WARDBOX" session show --json lively
	[ "$(jq -r '.used != null and .created != null and .commands == 1' <<<"$output")" = true ]
	run in_policy "$POLICY" "$WARDBOX" session end --older 1h
	[ "$output" = "" ]
	e --session lively -- 'true'
}

@test "--timeout asks first, and the state that is left counts" {
	for POLICY in 'use FULL-AUTO' 'use OBSERVE'; do
		run e --timeout 2s --shell bash -- 'trap "echo asked >asked; export A=1; exit 0" TERM; sleep 30 & wait'
		[ "$status" -eq 124 ]
		[ "$(cat asked)" = asked ]
		rm asked
		run e -- 'echo $A'
		[ "$output" = 1 ]
		e -- 'unset A'
		SECONDS=0
		run e --timeout 300ms -- 'trap "" TERM; sleep 30; sleep 30'
		[ "$status" -eq 124 ]
		[ "$SECONDS" -lt 28 ]
	done
}

@test "--timeout ends the whole tree with 124" {
	run e --timeout 300ms -- 'sleep 300 & sleep 300'
	[ "$status" -eq 124 ]
}

@test "--state keeps the state in a file of its own" {
	e --state st -- 'export Q=9'
	run e --state st -- 'echo $Q'
	[ "$output" = 9 ]
	run e -- 'echo "<$Q>"'
	[ "$output" = "<>" ]
	echo garbage >st
	run e --state st -- 'true'
	[ "$status" -eq 125 ]
	[[ "$output" == *st* ]]
}

@test "--keep passes a variable of the caller's on, --session names another" {
	export MINE=here
	run e --keep MINE -- 'echo "<$MINE>"'
	[ "$output" = "<here>" ]
	export BASH_ENV=/nowhere
	run e --session other --keep BASH_ENV -- 'echo "<$BASH_ENV>"'
	[ "$output" = "<>" ]
	unset BASH_ENV
	PATH=/mine:$PATH run e --session other --keep PATH -- 'echo "$PATH"'
	[[ "$output" != */mine* ]]
	e --session other -- 'export S=1'
	run e -- 'echo "<$S>"'
	[ "$output" = "<>" ]
}

@test "--diff says what changed" {
	e -- 'export A=1 B=1'
	run e --diff -- 'export A=2; unset B; export C=3'
	[[ "$output" == *"~ A=2"* ]]
	[[ "$output" == *"- B=1"* ]]
	[[ "$output" == *"+ C=3"* ]]
	mkdir $'d\e[31m\n+ FORGED=1'
	run e --diff -- 'cd d*; export ESC="$(printf "a\033]0;x\007")"'
	[[ "$output" == *'d\x1b[31m\x0a+ FORGED=1'* && "$output" != *$'\e'* ]]
	[[ "$output" == *'+ ESC=a\x1b]0;x\x07'* && "$output" != *$'\n+ FORGED'* ]]
	rmdir d*
	run e -- true
	[[ "$output" == *"directory is gone"* ]]
	# What is repeated of arguments steers no terminal either.
	run "$WARDBOX" envrun $'--\e[31m'
	[[ "$output" == *'--\x1b[31m'* ]]
}

@test "--diff tells of a first command what it changed, and nothing that is ours" {
	export LANG=C.UTF-8 TZ=UTC
	run e --session first --diff -- 'export LANG=C NEW=1; unset TZ'
	echo "$output"
	[ "${#lines[@]}" -eq 3 ]
	[[ "$output" == *"~ LANG=C"* ]]
	[[ "$output" == *"+ NEW=1"* ]]
	[[ "$output" == *"- TZ=UTC"* ]]
	run e --session second --diff -- ':'
	[ -z "$output" ]
	# A place of one's own is one's own where nothing is confined.
	run in_policy $'policy 1 system\nuse OBSERVE' env -u TMPDIR "$WARDBOX" envrun \
		--session third --diff -- 'export TMPDIR=/nowhere'
	[ "$output" = "+ TMPDIR=/nowhere" ]
}

@test "what cannot begin is told as JSON, too, and a loop goes on after it" {
	run -127 e --json --shell /nowhere/sh -- true
	jq -e '.exit_code == 127 and (.error | test("/nowhere/sh"))' <<<"$output"
	run e --json --state /nowhere/state -- true
	[ "$status" -eq 125 ]
	jq -e '.error | test("/nowhere/state")' <<<"$output"
	run e --json
	[ "$status" -eq 125 ]
	jq -e '.error | test("no command")' <<<"$output"
	run e --bogus --json -- true
	[ "$status" -eq 125 ]
	jq -e '.exit_code == 125 and .error == "unknown option --bogus"' <<<"$output"
	run e -j --timeout never -- true
	[ "$status" -eq 125 ]
	jq -e '.error | test("timeout: .never.")' <<<"$output"
	run e --json --session 'a b' -- true
	[ "$status" -eq 125 ]
	jq -e '.error == "--session: '"'a b'"' is no session id" and
		(.hint | test("letters"))' <<<"$output"
	e -- 'export KEPT=1'
	echo broken >"$BATS_TEST_TMPDIR/ns/run/0/sessions/session-test.state"
	run e --json -- 'echo ran >ran'
	[ "$status" -eq 125 ]
	jq -e '.decision == null and .capture == "no-dump" and
		(.error | test("state")) and (.hint | test("session end"))' <<<"$output"
	printf 'echo ran >ran\necho ran >ran\n' >lines
	run e --serve-stdin <lines
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	jq -e '.exit_code == 125' <<<"${lines[1]}"
	run e --repl <lines
	[ "$(grep -c "is no state" <<<"$output")" -eq 2 ]
	[ ! -e ran ]
	in_policy "$POLICY" "$WARDBOX" session end session-test
	run e --json -- 'echo ran'
	[ "$(jq -r .stdout <<<"$output")" = ran ]
}

@test "--serve-stdin answers each command with a JSON line" {
	printf 'cd /nowhere\nexport A=5\n\necho $A; echo e >&2\nexit 3\n' >in
	in_policy "$POLICY" sh -c '"$1" envrun --serve-stdin <in >out' _ "$WARDBOX"
	[ "$(wc -l <out)" -eq 4 ]
	[ "$(sed -n 3p out | jq -r '.stdout + .stderr')" = $'5\ne\n' ] ||
		[ "$(sed -n 3p out | jq -r .stdout)" = 5 ]
	[ "$(sed -n 4p out | jq -r .exit_code)" = 3 ]
}

@test "a loop that is told to end passes it on, answers, and ends by it" {
	local sig code pid
	mkfifo in
	for sig in TERM HUP; do
		# No job of this shell's: its SIGHUP is to be the default.
		in_policy "$POLICY" timeout -s KILL 20 env --default-signal=TERM,HUP sh -c \
			'echo $$ >pid; exec "$@"' sh "$WARDBOX" envrun --serve-stdin \
			<in >out 2>err &
		pid=$!
		exec 8>in
		echo "touch began; sleep 60" >&8
		# Where nothing runs it is answered, and never began.
		until [ -e began ] || [ -s out ] || ! kill -0 "$pid" 2>/dev/null; do
			sleep 0.05
		done
		[ -e began ]
		kill -$sig "$(cat pid)"
		code=0
		wait $pid || code=$?
		exec 8>&-
		echo "$sig: $code, $(cat out)"
		[ "$code" -eq $((128 + $(kill -l $sig))) ]
		jq -e --argjson code "$code" '.exit_code == $code' out
		rm began out
	done
}

@test "--serve-stdin waits where its input is not ready" {
	run in_policy "$POLICY" python3 -c '
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETFL, os.O_NONBLOCK)
p = subprocess.Popen(sys.argv[1:], stdin=r)
os.close(r)
for piece in (b"echo o", b"ne\n", b"echo two\n"):
    time.sleep(0.2)
    os.write(w, piece)
os.close(w)
sys.exit(p.wait())' "$WARDBOX" envrun --serve-stdin
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "$(jq -r .stdout <<<"${lines[0]}")" = one ]
	[ "$(jq -r .stdout <<<"${lines[1]}")" = two ]
}

@test "--serve-stdin --null takes commands of several lines" {
	printf 'echo a\necho b\0echo c' >in
	in_policy "$POLICY" sh -c '"$1" envrun --serve-stdin --null <in >out' _ "$WARDBOX"
	[ "$(jq -r .stdout out)" = $'a\nb\n\nc' ]
}

@test "a thousand commands in one process leave nothing behind" {
	run in_policy "$POLICY" python3 "$TOP/tests/lib/serve-many.py" "$WARDBOX" 1000 . /run/wardbox
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "--repl ends by exit, whatever blanks are around it" {
	printf 'echo one\n\t exit \t\necho two\n' >lines
	run e --repl <lines
	[ "$status" -eq 0 ]
	[[ "$output" == *one* ]]
	[[ "$output" != *two* ]]
}

@test "--repl talks to a person on a terminal" {
	need command -v tmux
	local s=wardbox-envrun-$$
	cat >go <<-G
		#!/bin/sh
		exec $WARDBOX envrun --repl
	G
	chmod +x go
	in_policy "$POLICY" tmux -L "$s" new-session -d -x 80 -y 24 ./go
	prompts() { # N: waits for the prompt to stand there so often
		local i
		for i in $(seq 100); do
			[ "$(tmux -L "$s" capture-pane -p | grep -c '^.*/.*>')" -lt "$1" ] || return 0
			sleep 0.1
		done
		return 1
	}
	tmux -L "$s" send-keys 'export A=hello' Enter
	prompts 2
	tmux -L "$s" send-keys 'echo $A-$((1+1))' Enter
	for i in $(seq 50); do
		tmux -L "$s" capture-pane -p | grep -q '^hello-2' && break
		sleep 0.1
	done
	tmux -L "$s" send-keys 'echo g$((0))o; sleep 100' Enter
	for i in $(seq 100); do
		tmux -L "$s" capture-pane -p | grep -q '^g0o' && break
		sleep 0.1
	done
	tmux -L "$s" send-keys C-c
	prompts 4
	tmux -L "$s" send-keys 'history' Enter
	for i in $(seq 50); do
		tmux -L "$s" capture-pane -p | grep -q '3  echo g.*sleep 100' && break
		sleep 0.1
	done
	tmux -L "$s" capture-pane -p >screen
	tmux -L "$s" kill-server
	cat screen
	grep -q '^hello-2' screen
	grep -q '3  echo g.*sleep 100' screen
}

@test "bad calls are 125 and say what is needed" {
	run e --state / -- 'export A=1'
	[ "$status" -eq 125 ]
	[[ $output == *"--state /: Is a directory"* ]]
	run e --keep A=B -- true
	[ "$status" -eq 125 ]
	[[ $output == *"--keep takes a variable's name, not 'A=B'"* ]]
	run e --repl --serve-stdin
	[ "$status" -eq 125 ]
	[[ $output == *"not both"* ]]
	run e --shell '' -- true
	[ "$status" -eq 127 ]
	[[ $output == *"--shell : No such file or directory"* ]]
	run "$WARDBOX" envrun
	[ "$status" -eq 125 ]
	run "$WARDBOX" envrun -- a b
	[ "$status" -eq 125 ]
	[[ "$output" == *"in quotes"* ]]
	run "$WARDBOX" envrun --shell /no/such/shell -- true
	[ "$status" -eq 127 ]
	run "$WARDBOX" envrun --shell /etc/passwd -- true
	[ "$status" -eq 126 ]
	# fish said what is wrong with our words, and 0.
	for shell in fish tcsh pwsh nologin; do
		run "$WARDBOX" envrun --json --shell $shell -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"language of sh"* ]]
	done
	run "$WARDBOX" envrun --timeout soon -- true
	[ "$status" -eq 125 ]
	run "$WARDBOX" envrun --timeout 0 -- true
	[ "$status" -eq 125 ]
	run "$WARDBOX" exec --timeout 0 -- true
	[ "$status" -eq 125 ]
}

@test "no line runs in another directory than the caller's, which is gone" {
	mkdir gone
	cd gone
	rmdir ../gone
	run e -- pwd
	[ "$status" -eq 125 ]
	[[ "$output" == *"the current directory: No such file"* ]]
	unset WARDBOX_SESSION_ID
	run e --json -- pwd
	[ "$status" -eq 125 ]
	echo "${lines[-1]}" | jq -e '.error'
	cd ..
	e --session known -- 'export A=1'
	mkdir gone
	cd gone
	rmdir ../gone
	run e --session known -- 'pwd; echo $A'
	[[ "$output" == *"$PROJECT"$'\n1' ]]
}

@test "--repl: a line is edited, and the terminal is given back" {
	run in_policy "$POLICY" python3 "$TOP/tests/lib/repl.py" "$WARDBOX"
	echo "$output"
	[ "$output" = "all as typed" ]
}

@test "every command of a loop has the caller's signals, none of them blocked" {
	printf '%s\n' 'grep SigBlk /proc/self/status' '(exit 4) & wait' 'cd .' \
		'grep SigBlk /proc/self/status' >lines
	in_policy "use OBSERVE" timeout 60 "$WARDBOX" envrun --serve-stdin <lines >answers
	[ "$(grep -c 'SigBlk:.t0000000000000000' answers)" -eq 2 ]
}

@test "--diff alone tells what the last command changed" {
	mkdir -p d
	run e --diff
	[ -z "$output" ]
	e -- 'export DIFF_A=1; export DIFF_B=2'
	run e --diff
	[ "$(grep -c DIFF_ <<<"$output")" -eq 2 ]
	[[ "$output" != *"+ HOME="* ]]
	e -- 'unset DIFF_A; DIFF_B=3'
	run e --diff
	[[ "$output" == *"- DIFF_A=1"* && "$output" == *"DIFF_B=3"* ]]
	e -- 'cd d'
	e --diff --json | jq -e '.changes | test("^cwd .* -> .*/d\n$")'
	e -- true
	[ -z "$(e --diff)" ]
	e -- 'export ESC="$(printf "a\033]0;x\007")"'
	[[ "$(e --diff)" == *'+ ESC=a\x1b]0;x\x07'* ]]
}

@test "--serve-stdin answers what follows a frame that is too long, and much output" {
	{
		printf 'echo %0300000d\n' 0
		printf 'echo after; head -c 20000000 /dev/zero\n'
		printf 'echo last'
	} >in
	in_policy "use OBSERVE" sh -c '"$1" envrun --serve-stdin <in >out' _ "$WARDBOX"
	[ "$(wc -l <out)" -eq 3 ]
	[ "$(sed -n 1p out | jq -r .exit_code)" = 125 ]
	sed -n 2p out | jq -e '.truncated and (.stdout | startswith("after\n") and length == 16777216)'
	[ "$(sed -n 3p out | jq -r '.stdout + (.truncated | tostring)')" = $'last\nfalse' ]
	{ printf 'true %0300000d\n' 0; } >in
	for mode in -0 --json; do
		in_policy "use OBSERVE" sh -c '"$1" envrun --serve-stdin $2 <in >out' _ "$WARDBOX" $mode
		[ "$(jq -r .exit_code out)" = 125 ]
	done
}

@test "no alias, function, disabled builtin or read-only name of a line reaches what is around it" {
	local sh line lines
	mkdir hostile
	cd hostile
	printf '%s\n' 'readonly __envd __envx __envo 1>&2; export A=1; (exit 13)' \
		'export A=1; alias exec="echo X" exit="echo X" eval="echo X" trap="echo X" builtin="echo X"; (exit 13)' \
		'export A=1; trap "" HUP; alias exit=: trap=: eval=: ; (exit 13)' \
		'export A=1; set -u; (exit 13)' >lines
	for sh in dash bash mksh zsh yash busybox; do
		sh=$(command -v $sh) || continue
		while IFS= read -r line; do
			rm -f st
			run in_policy 'use OBSERVE' "$WARDBOX" envrun --state "$PWD/st" \
				--shell "$sh" -- "$line"
			echo "$sh: $line: $status $output"
			[ "$status" -eq 13 ]
			[ -z "$output" ]
			# shellcheck disable=SC2016 # expanded by the shell of envrun
			run in_policy 'use OBSERVE' "$WARDBOX" envrun --state "$PWD/st" \
				--shell "$sh" -- 'echo "$A $?"'
			[ "$output" = "1 13" ]
		done <lines
	done
	for line in 'export A=1; enable -n exec exit trap set shift : ; false' \
		'export A=1; exec() { echo f; }; exit() { :; }; eval() { :; }; trap() { :; }; false'; do
		rm -f st
		run in_policy 'use OBSERVE' "$WARDBOX" envrun --state "$PWD/st" \
			--shell "$(command -v bash)" -- "$line"
		echo "$line: $status $output"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		# shellcheck disable=SC2016 # expanded by the shell of envrun
		run in_policy 'use OBSERVE' "$WARDBOX" envrun --state "$PWD/st" \
			--shell "$(command -v bash)" -- 'echo "$A $?"'
		[ "$output" = "1 1" ]
	done
}

@test "each shell knows where it was, and how deep it is, from command to command" {
	local sh first
	mkdir deep
	cd deep
	for sh in dash bash mksh zsh yash busybox; do
		sh=$(command -v $sh) || continue
		rm -f st
		d() { SHLVL=4 in_policy 'use OBSERVE' "$WARDBOX" envrun --state "$PWD/st" --shell "$sh" -- "$1"; }
		# shellcheck disable=SC2016 # expanded by the shell of envrun
		{
			first=$(d 'echo $SHLVL; cd /usr')
			[ "$(d 'export A=1; echo $SHLVL')" = "$first" ]
			[ "$(d 'echo $SHLVL')" = "$first" ]
			d 'cd /var; :'
			[ "$(d ':; echo $OLDPWD')" = /usr ]
			# zsh goes back by what no variable sets.
			[[ $sh != *zsh ]] || continue
			d 'cd -; :'
			[ "$(d ':; echo $PWD $OLDPWD')" = "/usr /var" ]
		}
	done
}

@test "a shell that a signal ends, ends as it does bare" {
	local sh bare
	for sh in dash bash mksh zsh yash; do
		sh=$(command -v $sh) || continue
		for sig in HUP TERM; do
			bare=0
			"$sh" -c "kill -$sig \$\$; sleep 5" || bare=$?
			run in_policy 'use OBSERVE' "$WARDBOX" envrun --shell "$sh" -- \
				"kill -$sig \$\$; sleep 5"
			echo "$sh $sig: $bare $status"
			[ "$status" -eq "$bare" ]
		done
	done
}
