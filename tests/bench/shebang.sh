#!/bin/sh
# shebang.sh - auto-shebang beside a bare exec and the script it replaces
#
# AUTO_SHEBANG_ORIGINAL names a checkout of mandersogit/auto-shebang.
. tests/bench/lib.sh

runs=${RUNS:-200}
mkdir "$work/ours" "$work/dash" "$work/busybox"
ln -s "$box" "$work/ours/auto-x"
ln -s "$box" "$work/ours/auto-shebang"
original=${AUTO_SHEBANG_ORIGINAL-}
peers=
for shell in dash busybox; do
	[ -f "$original/auto-shebang" ] || {
		skip "auto-shebang under $shell" "no AUTO_SHEBANG_ORIGINAL"
		continue
	}
	have $shell || continue
	[ $shell != busybox ] || there="$there sh"
	sed "1s|.*|#!$there|" "$original/auto-shebang" >"$work/$shell/auto-x"
	chmod 755 "$work/$shell/auto-x"
	peers="$peers $shell"
done

for depth in 1 5 10 20; do
	base=$work/$depth
	dir=$base
	i=0
	while [ "$i" -lt "$depth" ]; do
		dir=$dir/d$i
		i=$((i + 1))
	done
	mkdir -p "$dir" "$base/bin"
	ln -s "$lib/bare" "$base/bin/auto-x"
	printf '#!/usr/bin/env auto-x\n# a script\n' >"$dir/s"

	d=shebang_depth$depth
	turns "$runs" "${d}_exec" "$lib/bare" exec "$lib/bare" :: \
		"$d" "$work/ours/auto-x" "$dir/s"
	ratio "${d}_over_exec" "$d" "${d}_exec"
	curve depth "ours" "$depth" "$(value "$d")"
	curve depth "bare exec" "$depth" "$(value "${d}_exec")"
	for shell in $peers; do
		turns $((runs / 10 + 1)) "${d}_original_$shell" \
			"$work/$shell/auto-x" "$dir/s" :: \
			"${d}_beside_$shell" "$work/ours/auto-x" "$dir/s"
		ratio "${d}_original_${shell}_over_ours" \
			"${d}_original_$shell" "${d}_beside_$shell"
		curve depth "original, $shell" "$depth" \
			"$(value "${d}_original_$shell")"
	done
	! have strace || {
		strace -f -o "$work/trace" "$work/ours/auto-x" "$dir/s"
		count "$d" "$work/ours/auto-x" "$dir/s"
		row "${d}_calls $(sed -n '2,/execve/p' "$work/trace" | wc -l) calls"
		row "${d}_forks $(grep -c -E 'fork|clone' "$work/trace" || true) forks"
	}
done

# A first line of 1 MB.
head -c 1000000 /dev/zero | tr '\0' x >"$work/1/bin/line"
turns "$runs" shebang_line_1mb "$work/ours/auto-shebang" --check auto-x "$work/1/bin/line"
