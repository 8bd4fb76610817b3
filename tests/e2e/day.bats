#!/usr/bin/env bats
# A sample of an agent's honest day works guarded (tests/day), and the runner
# tells what does not.

load ../lib/wardbox

# What works, by name: one action of it that stops working is a fault.
WORKS=(
	git/status git/add-commit git/commit-heredoc-message git/rebase-onto git/stash git/worktree-inside git/bisect-run
	c/make-j c/shared-lib-rpath c/include-dir c/threads c/tcp-loopback
	node/run node/eval node/npm-run-silent node/http-fetch
	python/heredoc python/unittest python/sqlite3 python/tempfile
	text/sed-in-place text/find-exec text/tar text/heredoc-write text/jq text/dotdot-write
	jobs/kill-job jobs/trap-cleanup jobs/exec-fds jobs/next-command-sees-files
	system/id home/mktemp root/cd-make shells/pipe-several shells/pty-commands sqlite/heredoc
	variables/tmpdir loops/while-read-pipe loops/mapfile
)

day() { "$TOP/tests/day/run" --box "$WARDBOX" --tools '' "$@"; }

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need unshare -mpnif true
	need python3 -c ''
}

works() { # UID
	local names
	names=$(
		IFS=,
		echo "${WORKS[*]}"
	)
	run day --as "$1" --name "$names"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"wardbox $1"* ]]
	[ "$(grep -c "^wardbox $1 " <<<"$output")" = 0 ]
	[[ "$output" == *"100.0%" ]]
}

@test "what works of an agent's day works as root" { works 0; }

@test "what works of an agent's day works as uid 1000" { works 1000; }

@test "the day's runner tells what differs, and what is no action" {
	mkdir "$BATS_TEST_TMPDIR/days"
	cat >"$BATS_TEST_TMPDIR/days/odd.day" <<-'END'
	@ secret
	cat ~/.ssh/id_ed25519
	@ same
	echo $RANDOM >/dev/null; mktemp -u
	END
	run day --as 0 --days "$BATS_TEST_TMPDIR/days" --name odd/secret,odd/same
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"wardbox 0 odd/secret: exit [0] became ["* ]]
	[[ "$output" == *"odd"*"1/2  50.0%"* ]]
	printf '@ fails\nfalse\n' >"$BATS_TEST_TMPDIR/days/odd.day"
	run day --as 0 --days "$BATS_TEST_TMPDIR/days"
	echo "$output"
	[ "$status" -eq 2 ]
	[[ "$output" == *"an error of the suite: uid 0 odd/fails: exit [1]"* ]]
}
