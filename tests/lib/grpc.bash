# grpc.bash - a binary with SERVE_GRPC: load ../lib/grpc, behind wardbox and serve
# shellcheck shell=bash

# WARDBOX becomes the one of full_defconfig, built where `make size` builds it.
# nghttp2's source comes as the other libraries' does.
grpc_box() {
	local dir=$O/size/full
	[ "$(wardbox_has)" = yes ] && return
	mkdir -p "$dir"
	# Two calls: what is made depends on the configuration as make begins.
	flock "$dir" sh -c '
		for goal in full_defconfig all; do
			make -C "$1" --no-print-directory O="$2" DEPS="$3" $goal || exit
		done' sh "$TOP" "$dir" "$O/deps" >"$BATS_FILE_TMPDIR/full.log" 2>&1 || {
		tail -3 "$BATS_FILE_TMPDIR/full.log"
		touch "$BATS_FILE_TMPDIR/none"
	}
}

wardbox_has() {
	grep -q 'grpc\.health' "$WARDBOX" && echo yes
}

grpc_need() {
	[ ! -e "$BATS_FILE_TMPDIR/none" ] || skip "not here: a build with SERVE_GRPC"
	[ "$(wardbox_has)" = yes ] || WARDBOX=$O/size/full/wardbox
	export WARDBOX
}
