# lib.sh - what the scripts of tests/bench begin with
# shellcheck shell=sh disable=SC2034
#
# A script prints lines, and nothing else, on stdout:
#	NAME VALUE UNIT [P90]		a number; VALUE is a median
#	curve PLOT SERIES X Y		a point of the plot
#	skip NAME WHY...		what this machine does not have
set -eu

O=$(cd "${O:-out}" && pwd)
export O
box=$O/wardbox
lib=$O/test/lib
work=$(mktemp -d /tmp/wardbox-bench-XXXXXX)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
rows=$work/rows
: >"$rows"
unset WARDBOX_SESSION_ID WARDBOX_SESSION_FILE WARDBOX_POLICY WARDBOX_PROFILE \
	WARDBOX_DEBUG WARDBOX_IN_SESSION CDPATH
export LC_ALL=C

row() { echo "$*" | tee -a "$rows"; }
curve() { echo "curve $*"; }
skip() { echo "skip $*"; }

# turns RUNS NAME COMMAND... [:: NAME COMMAND...]: a row per command. They take
# turns, so that what else the machine does slows all alike.
turns() {
	"$lib/spawn_median" -l "$@" 2>>"$work/errors" >"$work/turns" || true
	cat "$work/turns" >>"$rows"
	cat "$work/turns"
	[ ! -s "$work/errors" ] || sed -n 's/^spawn_median: /failed /p' "$work/errors"
	: >"$work/errors"
}

# The value of a row of this script.
value() { awk -v n="$1" '$1 == n { v = $2 } END { print v + 0 }' "$rows"; }

calc() { awk "BEGIN { printf \"$1\n\", $2 }"; }

ratio() { # NAME ROW BASE-ROW
	a=$(value "$2") b=$(value "$3")
	[ "$b" = 0 ] || row "$1 $(calc %.2f "$a / $b") x"
}

more() { # NAME ROW BASE-ROW: what ROW takes beyond BASE-ROW
	row "$1 $(calc %.1f "$(value "$2") - $(value "$3")") us"
}

# Instructions of the process itself, none of its children's or the kernel's.
count() { # NAME COMMAND...
	name=$1
	shift
	n=$(steps "$@") || return 0
	row "${name}_instructions $n count"
}
steps() { timeout 60 "$lib/instructions" "$@" 2>/dev/null; }

# Those behind its first system call that shows TEXT.
behind() { # TEXT COMMAND...
	text=$1
	shift
	calls=$(strace "$@" 2>&1 >/dev/null | grep -n -m 1 -F -e "$text" | cut -d : -f 1)
	steps "-${calls:-0}" "$@"
}

now() { date +%s%N; }

# took RUNS COMMAND...: nanoseconds of the fastest of RUNS, output dropped.
took() {
	n=$1 least=
	shift
	while [ "$n" -gt 0 ]; do
		a=$(now)
		"$@" >/dev/null 2>&1 </dev/null || true
		b=$(now)
		[ -n "$least" ] && [ "$least" -le $((b - a)) ] || least=$((b - a))
		n=$((n - 1))
	done
	echo "$least"
}

# Where a command is, for spawn_median, which searches no PATH; or a skip line
# and false.
have() { # NAME
	command -v "$1" >"$work/have" || {
		skip "$1" "is not installed"
		return 1
	}
	there=$(cat "$work/have")
}

# /run is memory on every system, and so is what stands for it here.
run=$(mktemp -d /dev/shm/wardbox-bench-XXXXXX 2>/dev/null || mktemp -d "$work/run-XXXXXX")
trap 'rm -rf "$work" "$run"' EXIT

# Runs COMMAND... on this machine's root with FULL-AUTO (or $USE) as the policy,
# with an empty log and state: all of it in a private mount namespace. Ends with 125
# where that cannot be had.
guarded() {
	ns=$work/ns
	mkdir -p "$ns/etc/wardbox" "$ns/work" "$ns/log"
	chmod 755 "$ns" "$ns/etc" "$ns/etc/wardbox" "$run"
	(umask 022 && printf 'use %s\n' "${USE-FULL-AUTO}" >"$ns/etc/wardbox/policy")
	# shellcheck disable=SC2016 # expanded by the inner shell
	NS=$ns RUN=$run unshare -m sh -c '
		mount -t overlay overlay \
			-o "lowerdir=/etc,upperdir=$NS/etc,workdir=$NS/work" /etc &&
		mount --bind "$NS/log" /var/log &&
		mkdir -p /run/wardbox && mount --bind "$RUN" /run/wardbox &&
		unset NS RUN || exit 125
		exec "$@"' sh "$@"
}

# A directory that is the jail: $project, with copies of what is run in it.
project() {
	project=$work/project
	mkdir -p "$project/.git"
	cp "$box" "$project/sh"
	ln "$project/sh" "$project/wardbox"
	cp "$lib/spawn_median" "$lib/bare" "$project"
	cd "$project"
}
