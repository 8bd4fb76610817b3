#!/usr/bin/env bats
# Nothing that works through the real shell works otherwise through the shim.
# Each case runs through both, in OBSERVE and confined.

load ../lib/wardbox

# Confined, but with nothing in the way of what the cases do.
WIDE='policy 1 system
include default
use FULL-AUTO
profile FULL-AUTO shell=on unknown=allow child=allow net=all supervise=on
limit FULL-AUTO cpu=3000s mem=8G procs=500 files=5000 out=100M
path r /proc/**
runtime rw /tmp/**
env keep *'

setup() {
	need unshare -m true
	project
	links sh bash dash
	export WARDBOX_SESSION_ID=session-fidelity
	exec </dev/null
}

observed() { # GROUP [SHELL]
	in_policy 'use OBSERVE' python3 "$TOP/tests/lib/fidelity.py" "$1" \
		"/bin/${2-sh}" "$LINKS/${2-sh}"
}

confined() {
	in_policy "$WIDE" python3 "$TOP/tests/lib/fidelity.py" "$1" \
		"/bin/${2-sh}" "$LINKS/${2-sh}" confined
}

# With a supervisor of its own.
kept() {
	in_policy "$WIDE
profile FULL-AUTO background=keep" python3 "$TOP/tests/lib/fidelity.py" "$1" \
		"/bin/${2-sh}" "$LINKS/${2-sh}" confined
}

@test "kept: what is handed down, signals, stops, terminals" {
	kept state
	kept signals
	kept terminals
}

@test "kept: interactive bash, pipes, callers" {
	kept prompts bash
	kept ways bash
}

@test "observed: descriptors" {
	observed streams
}

@test "observed: much of it" {
	observed much
}

@test "observed: what is handed down, and how it ends" {
	observed state
}

@test "observed: signals, stops, background" {
	observed signals
}

@test "observed: terminals" {
	observed terminals
}

@test "observed: interactive dash and bash" {
	observed prompts dash
	observed prompts bash
}

@test "observed: corners" {
	observed corners
	observed corners bash
}

@test "confined: corners" {
	confined corners
	confined corners bash
}

@test "observed: odd inputs and callers" {
	observed odd
	observed odd bash
}

@test "confined: odd inputs and callers" {
	confined odd
	confined odd bash
}

@test "confined: descriptors" {
	confined streams
}

@test "confined: what is handed down, and how it ends" {
	confined state
}

@test "confined: signals, stops" {
	confined signals
}

@test "confined: terminals" {
	confined terminals
}

@test "confined: interactive bash" {
	confined prompts bash
}

@test "observed: people at a terminal" {
	observed keys
}

@test "confined: people at a terminal" {
	confined keys bash
}

@test "observed: pipes, their other ends, callers" {
	observed ways
	observed ways bash
}

@test "confined: pipes, their other ends, callers" {
	confined ways bash
}

# The real root with the shim over its /bin/sh, in a mount namespace.
installed() { # COMMAND...
	local usr=$BATS_TEST_TMPDIR/usr
	mkdir -p "$usr/up" "$usr/work"
	# shellcheck disable=SC2016 # expanded by the inner shell
	USR=$usr BOX=$WARDBOX in_policy 'use OBSERVE' bash -c '
		mount -t overlay overlay -o "lowerdir=/usr,upperdir=$USR/up,workdir=$USR/work" /usr &&
		"$BOX" install --yes --shells=sh,bash,dash >"$USR/log" 2>&1 || {
			cat "$USR/log"
			exit 1
		}
		unset USR BOX
		exec "$@"' bash "$@"
}

@test "make, git, python, perl, awk and others behave the same" {
	mkdir real shim
	(cd real && bash "$TOP/tests/lib/programs" >../real.out 2>../real.err)
	(cd shim && installed bash.real "$TOP/tests/lib/programs" >../shim.out 2>../shim.err) || true
	diff -u <(sed "s|$PWD/real|HERE|" real.out) <(sed "s|$PWD/shim|HERE|" shim.out)
	diff -u <(sed "s|$PWD/real|HERE|" real.err) <(sed "s|$PWD/shim|HERE|" shim.err)
	# It was the shim that ran them.
	[ "$(in_policy 'use OBSERVE' "$WARDBOX" audit dump -o json | grep -c '"start"')" -gt 30 ]
}
