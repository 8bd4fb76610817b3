# wardbox.bash - what every bats file loads: load ../lib/wardbox
# shellcheck shell=bash

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${O:=$TOP/out}"
O=$(cd "$O" && pwd)
WARDBOX=$O/wardbox
HELPERS=$O/test/lib
# No test may depend on, or change, the state of the person running it.
unset WARDBOX_SESSION_ID WARDBOX_SESSION_FILE WARDBOX_POLICY WARDBOX_PROFILE \
	WARDBOX_DEBUG WARDBOX_IN_SESSION NO_COLOR CDPATH \
	XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR
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

# What a test cannot go on without, found where no skip reaches the test: in a
# pipe, behind `run`, in the background. tests/run counts the test that fails
# then as skipped, by this name.
lacking() { # NAME...
	echo "# lacks: $*" >&3 2>/dev/null || echo "# lacks: $*" >&2
	return 1
}

# A mount namespace cannot be had in a plain chroot, nor by every user.
unshare() {
	if [ -z "${UNSHARE_WORKS-}" ]; then
		UNSHARE_WORKS=no
		! command unshare -m true 2>/dev/null || UNSHARE_WORKS=yes
	fi
	if [ "$UNSHARE_WORKS" = no ] && [[ " $* " == *" -"*([^- ])m* ]]; then
		lacking "unshare -m"
		return
	fi
	command unshare "$@"
}

# Waits until process PID has begun to watch files: what is written from now on
# is seen.
until_watching() { # PID
	until find "/proc/$1/fd" -lname "*inotify*" | grep -q .; do sleep 0.02; done
}

# Waits until somebody else holds the lock of FILE.
until_locked() { # FILE
	while flock -n "$1" true; do sleep 0.02; done
}

as_user() { # run a command as uid 1000 with no privilege left
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

# Runs COMMAND... on this machine's root with another /etc/wardbox/policy (TEXT;
# "" for none) and with a log and a state base of its own: all of it in a
# private mount namespace, kept over the calls of one test.
in_policy() { # TEXT COMMAND...
	local text=$1 ns=$BATS_TEST_TMPDIR/ns work
	local policy=$ns/etc/wardbox/policy
	shift
	mkdir -p "$ns/etc/wardbox" "$ns/log/wardbox" "$ns/run"
	# A log in the home of who runs this would be gone on with, were there none.
	[ -d "$ns/log/wardbox/$(id -u)" ] || mkdir -m 700 "$ns/log/wardbox/$(id -u)"
	# Nor is a state left in /tmp by who cannot write to another's base, and one
	# that is there already is not used.
	[ -d "$ns/run/$(id -u)" ] || mkdir -m 700 "$ns/run/$(id -u)"
	[ -d "$ns/run/1000" ] || install -d -m 700 -o 1000 -g 1000 "$ns/run/1000"
	# An overlay empties its work directory as it is mounted: calls at the same
	# time have one each.
	work=$(mktemp -d "$ns/work.XXXXXX") || return
	chmod 755 "$ns" "$ns/etc" "$ns/etc/wardbox" "$ns/run"
	# Nor is the policy taken away from one that reads it.
	if [ -z "$text" ]; then
		rm -f "$policy"
	elif ! printf '%s\n' "$text" | cmp -s - "$policy" ||
		[ "$(stat -c %a "$policy")" != 644 ]; then
		rm -f "$policy"
		(umask 022 && printf '%s\n' "$text" >"$policy")
	fi
	# shellcheck disable=SC2016 # expanded by the inner shell
	NS=$ns WORK=$work unshare -m sh -c '
		mount -t overlay overlay -o "lowerdir=/etc,upperdir=$NS/etc,workdir=$WORK" /etc &&
		mount --bind "$NS/log" /var/log &&
		mkdir -p /run/wardbox && mount --bind "$NS/run" /run/wardbox &&
		unset NS WORK && exec "$@"' sh "$@"
}

# A directory that looks like a project, to be the jail: $PROJECT, entered.
project() {
	PROJECT=$BATS_TEST_TMPDIR/project
	mkdir -p "$PROJECT/.git"
	cd "$PROJECT" || return
}

# For tests of profile: an empty home, and nothing of who or where we are.
profile_home() {
	export HOME=$BATS_TEST_TMPDIR/home SHELL=/bin/bash
	mkdir "$HOME"
	unset XDG_CONFIG_HOME XDG_STATE_HOME ZDOTDIR ENV BASH_ENV SUDO_UID \
		PKEXEC_UID DOAS_USER GITHUB_PATH GITHUB_ENV CARGO_HOME GOPATH \
		KUBERNETES_SERVICE_HOST container
}

profile() { "$WARDBOX" profile "$@"; }

# For tests of audit: tests/data/audit's sample is $LOG, and we stand beside it.
sample_log() {
	LOG=$BATS_TEST_TMPDIR/log
	DATA=$TOP/tests/data/audit
	mkdir -m 700 "$LOG"
	install -m 600 "$DATA"/sample/* "$LOG"
	cd "$BATS_TEST_TMPDIR" || return
	export TZ=UTC
}
not() { ! "$@"; }
