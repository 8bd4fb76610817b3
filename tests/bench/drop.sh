#!/bin/sh
# drop.sh - drop beside a bare spawn, and beside what else is installed
. tests/bench/lib.sh

runs=${RUNS:-200}
cp "$lib/bare" "$work/true"
turns "$runs" drop_bare "$work/true" :: \
	drop_drop "$box" drop --rox="$work" "$work/true" :: \
	drop_landlock_alone "$box" drop --rox="$work" --unrestricted-syscalls --unrestricted-network "$work/true" :: \
	drop_supervised "$box" drop --rox="$work" --no-strays "$work/true" :: \
	drop_pid "$box" drop --rox="$work" --unshare-pid "$work/true" :: \
	drop_watch "$box" drop --rox="$work" --watch-exec "$work/true" :: \
	drop_preset_build "$box" drop --preset=build --rox="$work" "$work/true"
for row in drop landlock_alone supervised preset_build; do
	ratio drop_${row}_over_bare drop_$row drop_bare
done
more drop_pid_namespace_adds drop_pid drop_supervised
more drop_watch_adds drop_watch drop_supervised

# A hundred programs started under the watch, and without.
cat >"$work/many" <<-'X'
	i=0
	while [ $i -lt 100 ]; do
		"$1"
		i=$((i + 1))
	done
X
sh=$(command -v dash || command -v sh)
turns $((runs / 20 + 1)) \
	drop_100_execs "$box" drop --no-strays --rox=/ "$sh" "$work/many" "$work/true" :: \
	drop_100_execs_children "$box" drop --children=50 --rox=/ "$sh" "$work/many" "$work/true" :: \
	drop_100_execs_watch "$box" drop --rox=/ --watch-exec "$sh" "$work/many" "$work/true"
row "drop_watch_per_exec $(calc %.1f "($(value drop_100_execs_watch) - $(value drop_100_execs)) / 100") us"
row "drop_watch_per_exec_and_fork $(calc %.1f "($(value drop_100_execs_children) - $(value drop_100_execs)) / 100") us"

# One more supervisor's own memory while a command runs; others share the
# program's text with it. Each maps more of that than it uses, from where its
# addresses happen to begin, so that one other would not have all of it.
for _ in 1 2 3 4 5 6; do
	"$box" drop --no-strays --rox=/ sleep 3 &
done
sleep 1
awk '/^Private_(Clean|Dirty)/ { n += $2 } /^Anonymous/ { d += $2 }
	END { print "drop_supervisor_uss", n, "KB"; print "drop_supervisor_own", d, "KB" }' \
	"/proc/$!/smaps_rollup"
wait

! have strace || {
	strace -f -o "$work/trace" "$box" drop --rox="$work" "$work/true"
	row "drop_calls $(sed '1d; /execve.*true"/q' "$work/trace" | wc -l) calls"
}

peer() { # NAME COMMAND...
	peer=$1
	shift
	"$@" >/dev/null 2>&1 || {
		skip "drop beside $peer" "does not work here"
		return 0
	}
	turns $((runs / 10 + 1)) "drop_bare_beside_$peer" "$work/true" :: \
		"drop_peer_$peer" "$@" :: \
		"drop_drop_beside_$peer" "$box" drop --rox="$work" "$work/true"
	ratio "drop_peer_${peer}_over_bare" "drop_peer_$peer" "drop_bare_beside_$peer"
	ratio "drop_peer_${peer}_over_ours" "drop_peer_$peer" "drop_drop_beside_$peer"
}
! have bwrap || {
	bwrap=$there
	peer bwrap "$bwrap" --ro-bind / / "$work/true"
	peer bwrap_all "$bwrap" --ro-bind / / --unshare-all --proc /proc \
		--dev /dev --bind "$work" "$work" "$work/true"
}
! have firejail || peer firejail "$there" --quiet --noprofile "$work/true"
! have unshare || peer unshare "$there" -Ur "$work/true"
! have sudo || peer sudo "$there" -n "$work/true"
