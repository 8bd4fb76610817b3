#!/bin/sh
# run.sh - what the shim adds: to bytes through a pipe, to memory, to a start
#
# Prints "name value unit". Uses a private mount namespace for its policy.
set -eu

O=$(cd "${O:-out}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/etc" "$work/upper" "$work/log" "$work/bin" "$work/project" "$work/project/.git"
ln -s "$O/wardbox" "$work/bin/sh"

if [ "${INSIDE-}" != 1 ]; then
	rm -rf "$work"
	trap - EXIT
	INSIDE=1 O=$O exec unshare -m sh "$0"
fi
unset INSIDE
mkdir -p "$work/upper/wardbox"
chmod 755 "$work" "$work/upper" "$work/upper/wardbox"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$work/upper,workdir=$work/etc" /etc
mount --bind "$work/log" /var/log
cd "$work/project"
export WARDBOX_SESSION_ID=session-bench

policy() {
	case $1 in
	observe) printf 'use OBSERVE\n' ;;
	confined)
		cat <<-'X'
			policy 1 system
			include default
			use FULL-AUTO
			limit FULL-AUTO cpu=3000s mem=8G procs=500 files=5000 out=1M
			path r /dev/**
		X
		;;
	esac >/etc/wardbox/policy
}

now() { date +%s%N; }

# MB/s of a command's output through a pipe.
rate() { # MB COMMAND...
	mb=$1
	shift
	start=$(now)
	"$@" | dd bs=64k of=/dev/null 2>/dev/null
	echo $((mb * 1000000000 / ($(now) - start)))
}

middle() { sort -n | sed -n "$(((${1} + 1) / 2))p"; }

mb=${MB:-1000}
times=5
zeros="head -c ${mb}M /dev/zero"
for p in observe confined; do
	policy $p
	for _ in $(seq $times); do
		rate "$mb" /bin/sh -c "$zeros" >>"$work/bare.$p"
		rate "$mb" "$work/bin/sh" -c "$zeros" >>"$work/shim.$p"
	done
	bare=$(middle $times <"$work/bare.$p")
	shim=$(middle $times <"$work/shim.$p")
	echo "run_pipe_bare_$p $bare MB/s"
	echo "run_pipe_captured_$p $shim MB/s"
	echo "run_pipe_captured_over_bare_$p $(awk -v a="$shim" -v b="$bare" 'BEGIN { printf "%.2f", a / b }') x"
done

# What the supervisor has written to while its command runs, in KB; of the rest
# every shim shares one copy.
for p in observe confined; do
	policy $p
	"$work/bin/sh" -c 'head -c 200000 /dev/zero; exec sleep 3' | cat >/dev/null &
	sleep 1
	for pid in $(pgrep -f "^$work/bin/sh -c head"); do
		awk -v p="$p" '/^Private_Dirty/ { n += $2 }
			END { print "run_supervisor_uss_" p, n, "KB" }' "/proc/$pid/smaps_rollup"
		break
	done
	wait
done

# A start, a command that does nothing, and an end.
for p in observe confined; do
	policy $p
	# shellcheck disable=SC2046 # a number per word
	set -- $("$O/test/lib/spawn_median" 200 /bin/sh -c : :: "$work/bin/sh" -c :)
	echo "run_start_real_$p $1 us"
	echo "run_start_shim_$p $2 us"
	echo "run_start_over_real_$p $(awk -v a="$2" -v b="$1" 'BEGIN { printf "%.2f", a / b }') x"
done
