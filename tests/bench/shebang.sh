#!/bin/sh
# shebang.sh - auto-shebang beside a bare exec and the script it replaces
#
# Prints "name value unit". AUTO_SHEBANG_ORIGINAL names a checkout of
# mandersogit/auto-shebang, which is measured too when it is there.
set -eu

O=$(cd "${O:-out}" && pwd)
lib=$O/test/lib
runs=${RUNS:-400}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

median() { "$lib/spawn_median" "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a / b }'; }

mkdir "$work/ours" "$work/theirs"
ln -s "$O/wardbox" "$work/ours/auto-x"
ln -s "$O/wardbox" "$work/ours/auto-shebang"
for depth in 1 5 10 20; do
	top=$work/$depth
	dir=$top
	i=0
	while [ "$i" -lt "$depth" ]; do
		dir=$dir/d$i
		i=$((i + 1))
	done
	mkdir -p "$dir" "$top/bin"
	ln -s "$lib/bare" "$top/bin/auto-x"
	printf '#!/usr/bin/env auto-x\n# a script\n' >"$dir/s"
	eval "script$depth=\$dir/s"

	# shellcheck disable=SC2046 # a number per word
	set -- $(median "$runs" "$lib/bare" :: "$lib/bare" exec "$lib/bare" :: \
		"$work/ours/auto-x" "$dir/s")
	[ "$depth" != 1 ] || echo "shebang_floor_program $1 us"
	[ "$depth" != 1 ] || echo "shebang_floor_exec $2 us"
	echo "shebang_depth$depth $3 us"
	[ "$depth" != 1 ] || echo "shebang_depth1_over_exec $(ratio "$3" "$2") x"
	if command -v strace >/dev/null; then
		strace -f -o "$work/trace" "$work/ours/auto-x" "$dir/s"
		echo "shebang_depth${depth}_calls $(sed -n '2,/execve/p' \
			"$work/trace" | wc -l) calls"
		echo "shebang_depth${depth}_forks $(grep -c -E 'fork|clone' \
			"$work/trace" || true) forks"
	fi
done

# A first line of 1 MB.
head -c 1000000 /dev/zero | tr '\0' x >"$work/1/bin/line"
# shellcheck disable=SC2046
set -- $(median "$runs" "$work/ours/auto-shebang" --check auto-x "$work/1/bin/line")
echo "shebang_line_1mb $1 us"

[ -n "${AUTO_SHEBANG_ORIGINAL-}" ] || exit 0
for shell in dash busybox; do
	command -v $shell >/dev/null || continue
	first=$(command -v $shell)
	[ $shell != busybox ] || first="$first sh"
	sed "1s|.*|#!$first|" "$AUTO_SHEBANG_ORIGINAL/auto-shebang" \
		>"$work/theirs/auto-x"
	chmod 755 "$work/theirs/auto-x"
	for depth in 1 20; do
		eval "script=\$script$depth"
		# shellcheck disable=SC2046,SC2154
		set -- $(median $((runs / 10 + 1)) "$work/theirs/auto-x" \
			"$script" :: "$work/ours/auto-x" "$script")
		echo "shebang_original_${shell}_depth$depth $1 us"
		echo "shebang_original_${shell}_over_ours_depth$depth $(ratio "$1" "$2") x"
	done
done
