# world.bash - for tests of hosts by name: servers in a network of the test's own
# shellcheck shell=bash disable=SC2034

ALLOW='use FULL-AUTO
except id=net @net **
net host www.world.test:80 www.world.test git.world.test *.deep.world.test:80
net host line.world.test:9999 meta.test:80 private.test:80 flip.test:80 alias.test:80
net host hosts.test:80 evil.test:80 dead.test:80 six.world.test:80 loop.test:80'

setup() {
	project
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR"
	WORLD=$BATS_TEST_TMPDIR/world
	mkdir -p "$WORLD"
	CERT=$WORLD/cert.pem
	SEEN=$WORLD/seen
	for tool in ip openssl curl python3; do
		command -v $tool >/dev/null || skip "no $tool"
	done
	need unshare -mn true
	need python3 -c 'import ssl'
}

# Runs SCRIPT in a network of its own, with servers, where `g LINE` is a guarded
# line and `w` is wardbox.
world() { # SCRIPT
	in_policy "${POLICY:-$ALLOW}" unshare -n python3 "$TOP/tests/lib/world.py" \
		"$WORLD" bash -c '
		WARDBOX=$1 CERT=$2 SEEN=$3 HELPERS=$4 WORLD=${2%/*}
		w() { "$WARDBOX" "$@"; }
		g() { "$WARDBOX" sh -c "$1"; }
		not() { ! "$@"; }
		set -e
		eval "$5"' bash "$WARDBOX" "$CERT" "$SEEN" "$HELPERS" "$1" 3>&-
}
