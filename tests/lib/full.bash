# full.bash - the binary of full_defconfig: load ../lib/full, behind wardbox
# shellcheck shell=bash

# In setup_file: builds it, where $WARDBOX does not have the part itself. What is
# fetched for a part comes as the other libraries do.
full_box() {
	local dir=$O/full log=$BATS_FILE_TMPDIR/full.log
	mkdir -p "$dir"
	flock "$dir" make -C "$TOP" --no-print-directory O="$dir" DEPS="$O/deps" \
		full_defconfig all >"$log" 2>&1 || {
		tail -3 "$log"
		touch "$BATS_FILE_TMPDIR/none"
	}
}

# In setup: WARDBOX is that binary.
full_need() {
	[ ! -e "$BATS_FILE_TMPDIR/none" ] || skip "not here: a build of full_defconfig"
	export WARDBOX=$O/full/wardbox
}
