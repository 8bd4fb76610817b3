#!/bin/sh
# drop.sh - drop beside a bare spawn, and beside what else is installed
#
# Prints "name value unit". bwrap and firejail are measured when they are there.
set -eu

O=$(cd "${O:-out}" && pwd)
lib=$O/test/lib
runs=${RUNS:-400}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

median() { "$lib/spawn_median" "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a / b }'; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f\n", a - b }'; }

cp "$lib/bare" "$work/true"
box=$O/wardbox
# shellcheck disable=SC2046 # a number per word
set -- $(median "$runs" \
	"$work/true" :: \
	"$box" drop --rox="$work" "$work/true" :: \
	"$box" drop --rox="$work" --unrestricted-syscalls --unrestricted-network "$work/true" :: \
	"$box" drop --rox="$work" --no-strays "$work/true" :: \
	"$box" drop --rox="$work" --unshare-pid "$work/true" :: \
	"$box" drop --rox="$work" --watch-exec "$work/true" :: \
	"$box" drop --preset=build "$work/true" 2>/dev/null)
bare=$1 drop=$2 files=$3 stay=$4 pid=$5 watch=$6 build=$7
echo "drop_bare $bare us"
echo "drop_drop $drop us"
echo "drop_over_bare $(ratio "$drop" "$bare") x"
echo "drop_landlock_alone_over_bare $(ratio "$files" "$bare") x"
echo "drop_supervised_over_bare $(ratio "$stay" "$bare") x"
echo "drop_pid_namespace_over_supervised $(less "$pid" "$stay") us"
echo "drop_watch_over_supervised $(less "$watch" "$stay") us"
echo "drop_preset_build_over_bare $(ratio "$build" "$bare") x"

# A hundred programs started under the watch, and without.
cat >"$work/many" <<-'X'
	i=0
	while [ $i -lt 100 ]; do
		"$1"
		i=$((i + 1))
	done
X
# shellcheck disable=SC2046
set -- $(median $((runs / 20 + 1)) \
	"$box" drop --no-strays --rox=/ sh "$work/many" "$work/true" :: \
	"$box" drop --children=50 --rox=/ sh "$work/many" "$work/true" :: \
	"$box" drop --rox=/ --watch-exec sh "$work/many" "$work/true" 2>/dev/null)
echo "drop_watch_per_exec $(awk -v a="$3" -v b="$1" 'BEGIN { printf "%.0f\n", (a - b) / 100 }') us"
echo "drop_watch_per_exec_and_fork $(awk -v a="$2" -v b="$1" 'BEGIN { printf "%.0f\n", (a - b) / 100 }') us"

# Our own memory while a command runs: what is private to the supervisor.
"$box" drop --no-strays --rox=/ sleep 5 &
sleep 0.5
awk '/^Private_(Clean|Dirty)/ { n += $2 } /^Anonymous/ { d += $2 }
	END { print "drop_supervisor_uss", n, "KB"; print "drop_supervisor_own", d, "KB" }' \
	"/proc/$!/smaps_rollup"
kill $!
wait $! || true

peer() { # NAME COMMAND...
	name=$1
	shift
	"$@" >/dev/null 2>&1 || return 0
	# shellcheck disable=SC2046
	set -- $(median $((runs / 10 + 1)) "$work/true" :: "$@" 2>/dev/null)
	echo "drop_peer_${name}_over_bare $(ratio "$2" "$1") x"
}
peer bwrap "$(command -v bwrap || echo bwrap)" --ro-bind / / "$work/true"
peer bwrap_all "$(command -v bwrap || echo bwrap)" --ro-bind / / --unshare-all \
	--proc /proc --dev /dev --bind "$work" "$work" "$work/true"
peer firejail "$(command -v firejail || echo firejail)" --quiet --noprofile "$work/true"
peer unshare "$(command -v unshare || echo unshare)" -Ur "$work/true"
