#!/bin/sh
# session.sh - envrun and exec beside a bare shell
. tests/bench/lib.sh

runs=${RUNS:-50}
project
cp "$(command -v dash || command -v sh)" ./dash
sh=$project/dash
guarded true 2>/dev/null || {
	skip "envrun and exec" "needs root and overlayfs, for a policy of its own"
	exit 0
}
guarded ./spawn_median -l "$runs" session_dash "$sh" -c : :: \
	session_envrun ./wardbox envrun -- : :: \
	session_cd ./wardbox envrun -- 'cd .' :: \
	session_export ./wardbox envrun -- 'export A=1' :: \
	session_shim ./sh -c : :: \
	session_exec ./wardbox exec -- true >"$work/turns" 2>"$work/errors" || true
tee -a "$rows" <"$work/turns"
sed -n 's/^spawn_median: /failed /p' "$work/errors"
ratio session_envrun_over_real session_envrun session_dash

# Decided and recorded, and not confined: what carrying the state over costs.
bash=$(command -v bash || echo "$sh")
USE=OBSERVE guarded ./spawn_median -l "$runs" session_observed_dash "$sh" -c true :: \
	session_observed_envrun ./wardbox envrun --shell "$sh" -- true :: \
	session_observed_export ./wardbox envrun --shell "$sh" -- 'export A=1' :: \
	session_observed_bash "$bash" -c true :: \
	session_observed_envrun_bash ./wardbox envrun --shell "$bash" -- true \
	>"$work/turns" 2>"$work/errors" || true
tee -a "$rows" <"$work/turns"
sed -n 's/^spawn_median: /failed /p' "$work/errors"
ratio session_observed_envrun_over_real session_observed_envrun session_observed_dash
ratio session_observed_export_over_real session_observed_export session_observed_dash
ratio session_observed_envrun_over_bash session_observed_envrun_bash session_observed_bash
ratio session_cd_over_real session_cd session_dash
ratio session_exec_over_real session_exec session_dash

# Without a guard of its own, inside another's: the shell and the state alone.
mkdir "$run/inside"
in_sandbox() {
	guarded ./wardbox drop --preset=build --rw="$project" --rw="$run" \
		env TMPDIR="$run/inside" "$@"
}
in_sandbox ./spawn_median -l "$runs" session_inside_dash ./dash -c true :: \
	session_inside_envrun ./wardbox envrun --shell "$project/dash" -- true :: \
	session_inside_cd ./wardbox envrun -- 'cd .' \
	>"$work/turns" 2>"$work/errors" || true
tee -a "$rows" <"$work/turns"
sed -n 's/^spawn_median: /failed /p' "$work/errors"
ratio session_inside_envrun_over_real session_inside_envrun session_inside_dash

# One server for many lines: what each costs.
served() { # LINE
	echo "$1" >one
	yes "$1" | head -n 101 >many
	# shellcheck disable=SC2016 # expanded by the inner shell
	one=$(took 3 guarded "$sh" -c './wardbox envrun --serve-stdin <one')
	many=$(took 3 guarded "$sh" -c './wardbox envrun --serve-stdin <many')
	calc %.1f "($many - $one) / 100000"
}
row "session_served $(served :) us"
row "session_served_cd $(served 'cd .') us"
ratio session_served_over_real session_served session_dash
ratio session_served_over_envrun session_served session_envrun
