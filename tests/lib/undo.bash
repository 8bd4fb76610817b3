# undo.bash - guarded commands whose changes are taken back: load ../lib/undo
# shellcheck shell=bash disable=SC2034

load ../lib/wardbox

setup() {
	project
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME"
	POLICY='include default
use FULL-AUTO
profile FULL-AUTO undo=on unknown=allow'
}

# Where one namespace holds a whole script its calls are direct.
in_place() {
	if [ -n "${INSIDE-}" ]; then
		${AS-} "$@"
	else
		in_policy "$POLICY" "$@"
	fi
}
g() { # LINE: run, guarded and journaled
	in_place "$WARDBOX" sh -c "$1"
}
undo() {
	in_place "$WARDBOX" undo "$@"
}
# Runs SCRIPT in one mount namespace, where it may mount what it likes; AS: the
# words that make a guarded command another user's.
inside() { # SCRIPT
	INSIDE=1 WARDBOX=$WARDBOX SCRATCH=$BATS_TEST_TMPDIR AS=${AS-} \
		in_policy "$POLICY" bash -ec \
		"$(declare -f in_place g undo tree exact not some_files); $1" 3>&-
}
# All that can be told of the project.
tree() {
	find . -name .wardbox -prune -o \( -type d -printf '%p d %m %U %G %T@\n' -o \
		-printf '%p %y %m %U %G %T@ %s %n %l\n' \) | sort
	find . -type f -exec sha256sum {} + | sort
	getfattr -R -d -m - . 2>/dev/null || true
}
# The line changes the tree; undo and redo are exact.
exact() { # LINE
	local code=0 keep=${SCRATCH:-$BATS_TEST_TMPDIR}
	tree >"$keep/before"
	g "$1" || code=$?
	[ "$code" -eq "${CODE:-0}" ]
	tree >"$keep/after"
	not cmp -s "$keep/before" "$keep/after"
	undo
	tree | diff "$keep/before" -
	undo redo
	tree | diff "$keep/after" -
	undo
	tree | diff "$keep/before" -
}

some_files() {
	mkdir -p d/e empty
	echo one >a
	echo two >d/e/f
	echo three >'d/a name
of two lines'
	ln a hard
	ln -s d/e/f soft
	mkfifo pipe
	truncate -s 1M sparse
	echo end >>sparse
	chmod 640 a
	chmod 2750 d
	touch -d '2001-02-03 04:05:06.789' a d/e/f d
}
