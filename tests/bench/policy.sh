#!/bin/sh
# policy.sh - what it costs to decide a line
#
# Prints "name value unit": microseconds per line, the policy loaded once; the
# whole start with a decision; a long line.
set -eu

O=$(cd "${O:-out}" && pwd)
box=$O/wardbox
runs=${RUNS:-2000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/proj/.git" "$work/proj/src"
cd "$work/proj"
export HOME="$work"

now() { date +%s%N; }

# The time of n lines less the time of one.
per_line() { # NAME LINE [MORE ARGUMENTS]
	name=$1 line=$2
	shift 2
	yes "$line" | head -n "$runs" >"$work/many"
	echo "$line" >"$work/one"
	best=
	for i in 1 2 3; do
		a=$(now)
		"$box" policy test "$@" --batch "$work/one" >/dev/null
		b=$(now)
		"$box" policy test "$@" --batch "$work/many" >/dev/null
		c=$(now)
		t=$(((c - b - (b - a)) / (runs - 1)))
		[ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	awk -v n="$name" -v t="$best" \
		'BEGIN { printf "policy_%s %.1f us\n", n, t / 1000 }'
}

per_line null ':'
per_line git 'git status'
per_line list 'git status && npm test'
per_line pipe 'cat README.md src/main.c | grep -n foo | head -5'
per_line loop 'for f in a b c; do cp "$f" build/; done'
per_line build 'cd src && gcc -O2 -o main main.c && ./main >out.txt 2>&1'
per_line pipe_sh 'cat README.md src/main.c | grep -n foo | head -5' --dialect sh
per_line denied 'git status; curl http://example.com'

runs=4
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "git status; "; print ":" }' \
	>"$work/long"
per_line long_44k "$(cat "$work/long")"

runs=200
a=$(now)
i=0
while [ $i -lt $runs ]; do
	"$box" policy test 'git status' >/dev/null
	i=$((i + 1))
done
b=$(now)
echo "policy_start_and_decide $(((b - a) / runs / 1000)) us"
