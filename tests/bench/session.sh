#!/bin/sh
# session.sh - what a session costs: finding it, running in it, the shim's link
#
# Prints "name value unit". Runs on its own /run, log and policy.
set -eu

O=$(cd "${O:-out}" && pwd)
if [ -z "${BENCH_NS-}" ]; then
	exec env BENCH_NS=1 unshare -m sh "$0"
fi
mount -t tmpfs none /mnt
mkdir -p /mnt/etc /mnt/work /mnt/log /mnt/project/.git
mount -t overlay none \
	-o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/work /etc
mkdir -p /etc/wardbox
printf 'policy 1 system\ninclude default\nuse FULL-AUTO\n' \
	>/etc/wardbox/policy
mount --bind /mnt/log /var/log
mount -t tmpfs none /run
cd /mnt/project

box=$O/wardbox
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a / b }'; }
"$box" exec s -- true
# shellcheck disable=SC2046 # a number per word
set -- $("$O/test/lib/spawn_median" "${RUNS:-100}" \
	"$O/test/lib/bare" :: \
	"$box" --version :: \
	"$box" session show s :: \
	"$box" exec s -- "$(command -v true)" :: \
	"$(command -v true)" 2>/dev/null)
echo "session_show_over_version $(ratio "$3" "$2") x"
echo "exec_true $4 us"
echo "exec_true_over_true $(ratio "$4" "$5") x"

# Eight at a time in one session: every one is counted.
before=$("$box" session show s --json | sed 's/.*"commands":\([0-9]*\).*/\1/')
for _ in 1 2 3 4 5 6 7 8; do
	(for _ in 1 2 3 4 5; do "$box" exec s -- true; done) &
done
wait
after=$("$box" session show s --json | sed 's/.*"commands":\([0-9]*\).*/\1/')
echo "session_parallel_counted $((after - before)) of-40"
