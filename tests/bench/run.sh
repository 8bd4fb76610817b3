#!/bin/sh
# run.sh - the guarded shell beside the real one
. tests/bench/lib.sh

runs=${RUNS:-100}
project
cp "$(command -v dash || command -v sh)" ./dash
# As installed: the shim stands where the shell was.
cp dash sh.real
sh=$project/dash
if ! guarded true 2>/dev/null; then
	skip "every guarded shell" "needs root and overlayfs, for a policy of its own"
	exit 0
fi
guarded ./sh -c : || {
	echo "failed sh -c : ends with $?"
	exit 0
}

in_turns() { # the same as turns, guarded
	guarded ./spawn_median -l "$@" 2>>"$work/errors" >"$work/turns" || true
	tee -a "$rows" <"$work/turns"
	sed -n 's/^spawn_median: /failed /p' "$work/errors"
	: >"$work/errors"
}

bash=$(command -v bash || echo "$sh")
in_turns "$runs" run_dash "$sh" -c : :: \
	run_guarded ./sh -c : :: \
	run_bash "$bash" -c : :: \
	run_dropped ./wardbox drop --preset=build "$sh" -c :
ratio run_guarded_over_real run_guarded run_dash
ratio run_bash_over_dash run_bash run_dash

# One now and then, on a machine that is idle otherwise: where something waits for
# other CPUs, it waits long.
guarded ./spawn_median -i "$((runs / 3 + 1))" run_ls_dash "$sh" -c 'ls; ls' :: \
	run_ls_guarded ./sh -c 'ls; ls' 2>>"$work/errors" >"$work/turns" || true
tee -a "$rows" <"$work/turns"
ratio run_ls_guarded_over_real run_ls_guarded run_ls_dash

# The supervisor's own; its policy is compiled by now.
if n=$(guarded timeout 60 "$lib/instructions" ./sh -c : 2>/dev/null); then
	row "run_guarded_instructions $n count"
fi
! have strace || {
	guarded strace -f -o "$work/trace" ./sh -c :
	row "run_guarded_calls $(grep -c -v -e resumed -e ' [+-]' "$work/trace") calls"
}

# Inside: the shim finds itself in a session and passes on. The whole turn of
# the bench is one guarded command, so both sides pay for the exec watch.
guarded ./sh -c "./spawn_median -l $runs run_inside_dash ./dash -c : :: \
	run_inside_shim ./sh -c : :: run_inside_bare ./bare" \
	>"$work/turns" 2>"$work/errors" || true
tee -a "$rows" <"$work/turns"
[ -s "$work/turns" ] || sed 's/^/failed /' "$work/errors"
ratio run_pass_through_over_real run_inside_shim run_inside_dash

# Bytes through a guarded pipe over a bare one.
bytes=134217728
yes '  CC       src/main.c -O2 -Wall -DVERSION="1.2" 0123456789abcdef ok 12 ms' |
	head -c $((bytes / 16)) >text
copy="cat$(printf ' text%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)"
in_turns 15 run_pipe_bare "$sh" -c "$copy | cat" :: \
	run_pipe_guarded "$sh" -c "./sh -c '$copy' | cat"
row "run_pump $(calc %.2f "$(value run_pipe_bare) / $(value run_pipe_guarded)") x"
row "run_pump_rate $(calc %.0f "$bytes / $(value run_pipe_guarded)") MB/s"

# What one more supervisor costs while its command runs, where many run and share
# the program's text.
# shellcheck disable=SC2016 # expanded by the inner shell
guarded "$sh" -c '
	for i in 1 2 3 4 5 6; do ./sh -c "sleep 3" & done
	sleep 1
	awk "/^Private_(Clean|Dirty)/ { n += \$2 } /^Anonymous/ { d += \$2 }
		END { print \"run_supervisor_uss\", n, \"KB\"
		print \"run_supervisor_own\", d, \"KB\" }" /proc/$!/smaps_rollup
	wait'

! have strace || {
	calls() { # NAME COMMAND...
		name=$1
		shift
		guarded strace -f -qq -o "$work/trace" "$@" || true
		row "${name}_calls $(grep -c '(' "$work/trace") calls"
		row "${name}_forks $(grep -c -E 'v?fork\(|clone3?\(' "$work/trace" || true) forks"
	}
	calls run_dash "$sh" -c :
	calls run_guarded ./sh -c :
}

# Peers that confine or record a shell.
peer() { # NAME COMMAND...
	peer=$1
	shift
	guarded "$@" >/dev/null 2>&1 || {
		skip "sh -c : beside $peer" "does not work here"
		return 0
	}
	in_turns $((runs / 5 + 1)) "run_dash_beside_$peer" "$sh" -c : :: \
		"run_peer_$peer" "$@"
	ratio "run_peer_${peer}_over_real" "run_peer_$peer" "run_dash_beside_$peer"
}
! have busybox || peer busybox "$there" sh -c :
! have bwrap || peer bwrap "$there" --ro-bind / / --unshare-all --proc /proc --dev /dev "$sh" -c :
! have firejail || peer firejail "$there" --quiet --noprofile "$sh" -c :
! have tlog-rec || {
	tlog=$there
	peer tlog_recording "$tlog" --writer=file --file-path="$work/tlog" "$sh" -c :
}
! have sudo || {
	mkdir -p "$work/ns/etc/sudoers.d"
	printf 'Defaults log_output, iolog_dir=%s/sudo-io\n' "$work" \
		>"$work/ns/etc/sudoers.d/wardbox-bench"
	chmod 440 "$work/ns/etc/sudoers.d/wardbox-bench"
	peer sudo_recording "$there" -n "$sh" -c :
}

# Commands in a row, and shims at once: milliseconds for all of them.
ms() { calc %.2f "$(took 3 "$@") / 1e6"; }
cat >many <<-'X'
	i=0
	while [ $i -lt "$1" ]; do
		"$2" -c : || exit
		i=$((i + 1))
	done
X
cat >atonce <<-'X'
	i=0
	while [ $i -lt "$1" ]; do
		sh many 10 "$2" &
		i=$((i + 1))
	done
	wait
X
for n in 1 10 50 200; do
	curve session "real shell" $n "$(ms "$sh" many $n "$sh")"
	curve session "guarded, each" $n "$(ms guarded "$sh" many $n ./sh)"
	i=0
	while [ $i -lt $n ]; do
		echo :
		i=$((i + 1))
	done >lines
	curve session "envrun --serve-stdin" $n "$(ms guarded "$sh" -c './wardbox envrun --serve-stdin <lines')"
done
records() { guarded ./wardbox audit dump -t start -o json | wc -l; }
for n in 1 2 4 8; do
	before=$(records)
	curve parallel "real shell" $n "$(calc %.2f "$(took 3 "$sh" atonce $n "$sh") / 1e7 / $n")"
	curve parallel "guarded" $n "$(calc %.2f "$(took 3 guarded "$sh" atonce $n ./sh) / 1e7 / $n")"
	lost=$((before + n * 30 - $(records)))
done
row "run_parallel_8_lost $lost records"
guarded ./wardbox audit verify --links >/dev/null 2>&1 ||
	[ $? = 4 ] || echo "failed the log of run.sh does not verify"
