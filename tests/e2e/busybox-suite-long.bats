#!/usr/bin/env bats
# busybox's own tests of its shells give the same through the shim as without:
# BUSYBOX_TESTS is the directory shell/ of its source.

load ../lib/wardbox
load ../lib/roots

setup() {
	need test -n "$BUSYBOX"
	need test -d "${BUSYBOX_TESTS-}/ash_test"
	need cc --version
	export WARDBOX_SESSION_ID=session-busybox
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The suite in ./run, for ash; ./KIND holds what came of it. Of it all, or of
# MODULEs.
run_suite() { # KIND [MODULE...]
	local kind=$1
	shift
	rm -f run/ash run/ash.real
	if [ "$kind" = real ]; then
		ln -s "$BUSYBOX" run/ash
	else
		ln -s "$BUSYBOX" run/ash.real
		ln -s "$WARDBOX" run/ash
	fi
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_policy 'use OBSERVE' env -C run sh -c '
		exec 3>&- 4>&-
		timeout 900 sh ./run-all "$@"' sh "$@" </dev/null 2>&1 |
		grep -a -e ' ok$' -e ': fail' | sort >"$kind"
}

same() { # SUITE
	local round modules
	rm -rf run
	cp -a "$BUSYBOX_TESTS/$1" run
	sed -i -e '/THIS_SH=/s/hush/ash/' -e 's/test ! -x hush/false/' run/run-all
	# Two race with themselves. One asks for the name of a process, which the
	# kernel takes from the file that was executed last: the original,
	# NAME.real. One sends a signal to $PPID, which is the shim.
	rm -f run/*/exitcode_trap[26].tests run/*/comm.tests \
		run/ash-signals/subshell.tests run/hush-signals/subshell.tests
	# Whatever this busybox has: both are asked the same.
	grep -rhoE 'CONFIG_[A-Z0-9_]+' run | sort -u | sed 's/$/=y/' >run/.config
	run_suite real
	run_suite shim
	echo "# $1: $(grep -c ' ok$' real) ok, $(grep -c ': fail' real) fail without;" \
		"$(grep -c ' ok$' shim) ok, $(grep -c ': fail' shim) fail with" >&3
	[ "$(grep -c ' ok$' real)" -gt 100 ]
	# Some race with themselves: what an outcome is, many runs tell.
	comm -3 real shim | sed 's/^\t//; s/:.*//' | sort -u >differ
	cp real real.all
	cp shim shim.all
	modules=$(sed 's:/.*::' differ | sort -u)
	for round in 1 2 3 4 5 6; do
		[ -n "$modules" ] || break
		# shellcheck disable=SC2086 # words
		run_suite real $modules && cat real >>real.all
		# shellcheck disable=SC2086
		run_suite shim $modules && cat shim >>shim.all
	done
	while read -r test; do
		echo "# $test: $(grep -c "^$test: ok" real.all) of $(grep -c "^$test:" real.all) ok without," \
			"$(grep -c "^$test: ok" shim.all) of $(grep -c "^$test:" shim.all) with" >&3
		[ "$(grep -m 1 "^$test: ok" real.all)" = "$(grep -m 1 "^$test: ok" shim.all)" ]
	done <differ
	# It was the shim that ran them.
	[ "$(in_policy 'use OBSERVE' "$WARDBOX" audit dump -o json | grep -c '"start"')" -gt 100 ]
}

@test "ash_test" {
	same ash_test
}

@test "hush_test, by ash" {
	same hush_test
}
