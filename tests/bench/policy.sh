#!/bin/sh
# policy.sh - what it costs to decide a line
#
# Microseconds per line, the policy loaded once; the whole start with a
# decision; a long line.
. tests/bench/lib.sh

mkdir -p "$work/proj/.git" "$work/proj/src"
cd "$work/proj"
export HOME="$work"

# The time of n lines less the time of one. Leaves it in $ns.
per_line() { # NAME RUNS LINE [MORE ARGUMENTS]
	name=$1 n=$2 line=$3
	shift 3
	yes "$line" | head -n "$n" >"$work/many"
	echo "$line" >"$work/one"
	one=$(took 5 "$box" policy test "$@" --batch "$work/one")
	many=$(took 5 "$box" policy test "$@" --batch "$work/many")
	ns=$(((many - one) / (n - 1)))
	[ "$name" = - ] || row "policy_$name $(calc %.1f "$ns / 1000") us"
}

per_line null 2000 ':'
per_line git 2000 'git status'
per_line list 2000 'git status && npm test'
per_line pipe 2000 'cat README.md src/main.c | grep -n foo | head -5'
# shellcheck disable=SC2016 # not expanded, decided
per_line loop 2000 'for f in a b c; do cp "$f" build/; done'
per_line build 2000 'cd src && gcc -O2 -o main main.c && ./main >out.txt 2>&1'
per_line pipe_sh 2000 'cat README.md src/main.c | grep -n foo | head -5' --dialect sh
per_line denied 2000 'git status; curl http://example.com'

# From the line's reading on: compiling the policy takes millions of steps.
yes 'git status' | head -n 2 >"$work/two"
echo 'git status' >"$work/one"
if have strace && one=$(behind "$work/one" "$box" policy test --batch "$work/one") &&
	two=$(behind "$work/two" "$box" policy test --batch "$work/two"); then
	row "policy_git_instructions $((two - one)) count"
fi

dash=$(command -v dash || true)
for repeat in 1 8 64 512 4366; do
	line=$(awk -v n="$repeat" 'BEGIN {
		for (i = 0; i < n; i++) printf "git status -s; "; print ":" }')
	per_line - $((4000 / repeat + 2)) "$line"
	[ "$ns" -gt 0 ] || ns=1
	curve line "deciding" ${#line} "$(calc %.2f "$ns / 1000")"
	# dash reads from a file: its parser, nothing run.
	[ -z "$dash" ] || {
		echo "$line" >"$work/text"
		floor=$(took 9 "$dash" -n /dev/null)
		t=$(($(took 9 "$dash" -n "$work/text") - floor))
		[ $t -lt 20000 ] || curve line "dash -n" ${#line} "$(calc %.2f "$t / 1000")"
	}
done
row "policy_long_64k $(calc %.2f "$ns / 1000000") ms"

# Lines made to be slow: the slowest of them.
worst=0
while read -r n text; do
	line=$(awk -v n="$n" -v t="$text" 'BEGIN { for (i = 0; i < n; i++) {
		s = t; gsub(/#/, i, s); printf "%s ", s } print ":" }')
	per_line - 4 "$line" --profile FULL-AUTO
	[ "$ns" -le "$worst" ] || worst=$ns
done <<'END'
6000 p# a;
12000 >a
8000 <f#
4000 cd src;
5000 cd d&&
4000 [ -f a# ];
8000 v#=$v#;
400 f#() { a; }; f#;
2000 if a; then x#=b; fi;
1000 while a; do x=$x.; done;
4000 sh -c 'a';
6000 src/../src/f#
2000 git log a#;
1500 gcc -c f#.c -o f#.o;
2000 awk '{ print $1 }' f#;
2000 python3 -c 'print(#)';
2000 cat <<<a#;
3000 >a#{b,c}
6000 >*#
4000 #>&1
4000 env
4000 popd;
500 cd a/b/c/d/e/f/g/h;
1000 while a; do cd d#; done;
800 if a; then cd d#; fi; cp a# b# c;
500 if a; then f#() { b; }; fi;
250 v#=a; trap 'x' EXIT; (a);
250 v#=a; sh -c 'a#';
900 case a in b) x=#;; c) x=#;; d) x=#;; esac;
60 for a in 1; do for b in 1; do for c in 1; do for d in 1; do x=$x$a; done; done; done; done;
END
row "policy_worst_64k $(calc %.2f "$worst / 1000000") ms"

echo "$line" | tr ';' '(' >"$work/deep"
per_line - 4 "$(cat "$work/deep")"
row "policy_refused_60k $(calc %.2f "$ns / 1000000") ms"

turns 100 policy_start "$box" --version :: \
	policy_start_and_decide "$box" policy test 'git status'
