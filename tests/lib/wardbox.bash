# wardbox.bash - what every bats file loads: load ../lib/wardbox
# shellcheck shell=bash

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${O:=$TOP/out}"
WARDBOX=$O/wardbox
HELPERS=$O/test/lib
# No test may depend on, or change, the state of the person running it.
unset WARDBOX_SESSION_ID WARDBOX_SESSION_FILE WARDBOX_POLICY WARDBOX_PROFILE \
	WARDBOX_DEBUG WARDBOX_IN_SESSION NO_COLOR CDPATH
export LC_ALL=C.UTF-8 TERM=dumb

# A directory with a link per name: links NAME... ; then $LINKS/NAME runs it.
links() {
	LINKS=$BATS_TEST_TMPDIR/links
	mkdir -p "$LINKS"
	local name
	for name; do
		ln -sf "$WARDBOX" "$LINKS/$name"
	done
}

# For features that a kernel or container may lack. With MUST_WORK=1 the skip
# is counted as a failure by tests/run.
need() { # COMMAND... : skip unless it succeeds
	"$@" >/dev/null 2>&1 || skip "not here: $*"
}

as_user() { # run a command as uid 1000 with no privilege left
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}
