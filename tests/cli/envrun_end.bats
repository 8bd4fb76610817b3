#!/usr/bin/env bats
# envrun: a shell that cannot have changed anything is not asked what it leaves.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

POLICY='policy 1 system
use FULL-AUTO'

setup() {
	project
	export WARDBOX_SESSION_ID=session-test A=1
	mkdir -p sub
	printf 'A=file\ncd sub\n' >code
	printf 'a b\n' >words
	export T=$PROJECT/tell
	# shellcheck disable=SC2016 # the script's own
	printf '#!/bin/sh\necho "$1 ${A-unset} ${B-unset} $(pwd -P)" >"${0%%/*}/left"\n' >tell
	chmod +x tell
}

e() { # runs envrun with the given arguments under FULL-AUTO
	in_policy "$POLICY" "$WARDBOX" envrun "$@"
}

# Of each line its shell says itself what it leaves.
lines() {
	cat <<-'X'
		:
		ls
		true | cat
		A=2
		A=2 :
		A=2 ls
		A=2 true
		A=2 eval :
		A=2 command :
		A=2 command eval :
		A=2 test x
		A=2; :
		true && A=2
		true & A=2
		true | A=2
		(A=2)
		{ A=2; }
		true; ! A=2
		time A=2
		if A=2; then :; fi
		while A=2; do break; done
		until A=2; do :; done
		case x in x) A=2;; esac
		f() { A=2; }; f
		f() { cd sub; }; f
		f() { true; }; f; ls
		ls() { A=2; }; ls
		alias x="A=2"; x
		unalias ls; ls
		for A in 2; do :; done
		for A in 2; do ls; done
		: ${B:=2}
		: ${A:=2}
		: ${A:+${B:=2}}
		unset A; : ${A:=2}
		unset A; ls
		ls "${A:+$((A=2))}"
		: $((A=2))
		: $((A+=2))
		: $((A++))
		echo $((A=2)) >/dev/null
		sleep $((A=0))
		ls >/dev/null$((A=2)); true
		: >out$((A=2))
		cat <<< $((A=2))
		test $((A=2))
		[ $((A=2)) ]
		[[ A=2 -eq 2 ]]
		[[ x =~ x ]]
		(( A=2 ))
		let A=2
		for ((A=2; A<2; )); do :; done
		printf -v A 2
		printf %d A=2
		"printf" -v A 2
		p=printf; $p -v A 2
		command printf -v A 2
		builtin printf -v A 2
		printf %s x
		read A <words
		read -r A <<< 2
		while read A; do :; done <words
		mapfile -t A <words
		getopts a A -a
		wait -p A
		export A=2
		export -n A
		command export A=2
		readonly A=2
		typeset -x A=2
		declare A=2
		local A=2
		unset A
		set -a; B=2
		set -- A; ls
		eval A=2
		eval "ls; A=2"
		eval ls
		. ./code
		source ./code
		command . ./code
		cd sub
		"cd" sub
		c\d sub
		command cd sub
		builtin cd sub
		\cd sub
		chdir sub
		cd sub && ls
		cd sub | ls
		(cd sub)
		pushd sub >/dev/null
		pushd sub >/dev/null; popd >/dev/null
		x=cd; $x sub
		$(echo cd) sub
		c[d] sub
		{ cd,sub; }
		{cd,sub}
		trap "A=2" EXIT
		command trap "A=2" EXIT
		exec {A}>out
		ls {A}>out
		echo ${B[A=2]}
		echo ${A[0]} ${A/1/2} ${A^^} ${A@Q}
		echo ${!A}
		coproc A=2
		sh -c "A=2; cd sub"
		env A=2 ls
		env -C sub ls
		nohup ls >/dev/null
		exit 3
		command exit 3
		(exit 3)
		return 3
		false
		no-such-program
		ulimit -c 0; ls
		umask 077; ls
		times; ls
		hash -r; ls
		type ls
		kill -0 $$
		wait
		shift 0
		set -e; false; A=2
		set -u; ls $nothing; A=2
		ls $nothing
		ls 'it'"s" $A "$PWD" `echo x` $(A=2)
		echo $? $# $0 $- $!
		echo $[A=2]
		echo $[A]
		echo $((A))
		echo $((V))
		echo $((x[V]))
		[[ V -eq 2 ]]
		test V -eq 2
		echo ${x[V]}
		echo ${A:V:1}
		echo ${V@P} ${P@P}
		echo ${!P}
		ls "$(A=2; cd sub)"
		ls <(cd sub; A=2)
		cat <<< "${B:=2}"
		ls >"${B:=out2}"
		A=2 [ x ]
		A=2 printf x
		IFS=: ls
		A=2 exec true
		\trap "A=2" EXIT
		tr\ap "A=2" EXIT
		pkill -x no-such-process-here
		command ls
		command -p ls
		builtin printf x
		env -u A ls
		exec 3>out
		ls 3>&1 4<&0
		printf "%s" "${B:-$((A=2))}"
		{ ls; } 2>/dev/null && (ls) || true
		ls # A=2
	X
}

# The line in the shell alone: its code, then what a program is given by it.
alone() { # SHELL... LINE
	# shellcheck disable=SC2016 # the shell's own
	"${@:1:$#-1}" -c 'trap "\"\$T\" \$?" EXIT
eval '"'shift
'"'"$1"
(exit $?)' sh "${*: -1}" >/dev/null 2>&1 </dev/null || :
	cat left 2>/dev/null || :
}

# Runs each line in both, and says where they differ.
compare() {
	local sh line want got code n=0
	for sh in bash dash busybox mksh; do
		command -v "$sh" >/dev/null || continue
		local -a shell=("$sh")
		[ "$sh" != busybox ] || shell=(busybox sh)
		while IFS= read -r line; do
			want=$(alone "${shell[@]}" "$line")
			[ -n "$want" ] || continue
			rm -f left out*
			code=0
			export WARDBOX_SESSION_ID=session-$sh-$n
			"$WARDBOX" envrun --shell "$sh" -- "$line" >/dev/null 2>&1 \
				</dev/null || code=$?
			# shellcheck disable=SC2016 # the guarded shell's
			got=$code\ $("$WARDBOX" envrun -- 'echo "${A-unset} ${B-unset} $PWD"')
			rm -f left out*
			n=$((n + 1))
			[ "$got" = "$want" ] || echo "$sh: $line: $got, not $want"
		done < <(lines)
	done
	echo "$n lines"
}

@test "what a line changes is carried on, and what it does not stays, as its shell has it" {
	# What arithmetic and prompts make of a variable's value, some shells do.
	# shellcheck disable=SC2016 # theirs
	export WARDBOX B= V='B=2' P='${B:=2}'
	run in_policy 'use OBSERVE' bash -c "$(declare -f lines alone compare); compare"
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[ "${lines[0]% lines}" -gt 200 ]
}

@test "the shell is the real one: its own words, its own place, its last code" {
	run -127 e -- 'no-such-program'
	[ "$output" = "sh: 1: no-such-program: not found" ] ||
		[ "$output" = "sh: line 1: no-such-program: command not found" ] ||
		[ "$output" = "sh: no-such-program: not found" ]
	# shellcheck disable=SC2016 # the guarded shell's
	run e -- 'echo $?'
	[ "$output" = 127 ]
	run e -- 'sh ./code; ls sub'
	[ "$status" -eq 0 ]
	run -127 e -- '-n'
	run e -- 'true'
	run -127 e -- '+x'
	run e -- ''
	[ "$status" -eq 0 ]
	run e -- ' # only words'
	[ "$status" -eq 0 ]
}

@test "a directory that is moved or taken away meanwhile is known" {
	e -- 'cd sub'
	run e -- 'mv ../sub ../other'
	[ "$status" -eq 0 ]
	run e -- 'pwd'
	[ "$output" = "$PROJECT/other" ]
	run e --diff -- 'mv ../other ../third'
	[ "$output" = "cwd $PROJECT/other -> $PROJECT/third" ]
	run e -- 'rmdir ../third'
	[ "$status" -eq 0 ]
	run e -- 'pwd'
	[[ "$output" == *"the session's directory is gone; going on in $PROJECT"* ]]
	# Nor is another of the same name taken for it.
	mkdir sub
	e -- 'cd sub'
	run e -- 'mv ../sub ../kept && mkdir ../sub'
	[ "$status" -eq 0 ]
	run e -- 'pwd'
	[ "$output" = "$PROJECT/kept" ]
	[ "$(e -- 'cd -' 2>&1)" = "$PROJECT" ]
}

@test "what ends by a signal says so, and loses nothing" {
	printf '#!/bin/sh\nkill -%s $$\n' SEGV >crash
	printf '#!/bin/sh\nkill -%s $$\n' PIPE >quiet
	chmod +x crash quiet
	e -- 'export C=1'
	for sh in dash bash busybox; do
		command -v "$sh" >/dev/null || continue
		run e --shell "$sh" -- './crash'
		[ "$status" -eq 139 ]
		[[ "$output" == *SEGV* || "$output" == *"Segmentation fault"* ]]
		run e --shell "$sh" -- './quiet'
		[ "$status" -eq 141 ]
		[ "$output" = "" ]
		run e --shell "$sh" --json -- './crash'
		[ "$(jq -r '"\(.exit_code) \(.capture)"' <<<"$output")" = "139 captured" ]
	done
	# shellcheck disable=SC2016 # the guarded shell's
	run e -- 'echo $C'
	[ "$output" = 1 ]
	run e --json --timeout 300ms -- 'sleep 5'
	[ "$(jq -r '"\(.exit_code) \(.capture) \(.timed_out)"' <<<"$output")" = "124 killed true" ]
}

@test "what the caller's environment brings is read, too" {
	need command -v bash
	POLICY='use OBSERVE'
	# Were it not asked, nobody would know.
	in_policy "$POLICY" env 'BASH_FUNC_ls%%=() { export A=function; }' \
		"$WARDBOX" envrun --shell bash -- 'ls'
	# shellcheck disable=SC2016 # the guarded shell's
	run e -- 'echo $A'
	[ "$output" = function ]
	export WARDBOX_SESSION_ID=session-env BASH_ENV=$PROJECT/code
	run e --shell bash -- 'ls'
	# shellcheck disable=SC2016
	run e -- 'echo "$A $PWD"'
	[ "$output" = "file $PROJECT/sub" ]
	unset BASH_ENV
	export WARDBOX_SESSION_ID=session-keep KEPT=1
	run e --keep KEPT -- 'true'
	unset KEPT
	# shellcheck disable=SC2016
	run e -- 'echo "$KEPT"'
	[ "$output" = 1 ]
	# Into a session with an environment of its own, too.
	KEPT=2 WARDBOX_SESSION_ID=session-test e -- 'export C=1'
	LATER=3 WARDBOX_SESSION_ID=session-test e --keep LATER -- 'true'
	# shellcheck disable=SC2016
	WARDBOX_SESSION_ID=session-test run e -- 'echo "$LATER"'
	[ "$output" = 3 ]
}
