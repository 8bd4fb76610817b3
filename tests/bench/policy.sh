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

echo "$line" | tr ';' '(' >"$work/deep"
per_line - 4 "$(cat "$work/deep")"
row "policy_refused_60k $(calc %.2f "$ns / 1000000") ms"

turns 100 policy_start "$box" --version :: \
	policy_start_and_decide "$box" policy test 'git status'
