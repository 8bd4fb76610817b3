# full.bash - the binary of full_defconfig: load ../lib/full, behind wardbox
# shellcheck shell=bash

# In setup_file: builds it, where $WARDBOX does not have the part itself. What is
# fetched for a part comes as the other libraries do.
full_box() {
	local dir=$O/full log=$BATS_FILE_TMPDIR/full.log
	mkdir -p "$dir"
	flock "$dir" sh -ec 'cd "$2"
		make --no-print-directory O="$1" full_defconfig
		make --no-print-directory -j2 O="$1" DEPS="$O/deps" all' \
		sh "$dir" "$TOP" >"$log" 2>&1 || {
		tail -3 "$log"
		touch "$BATS_FILE_TMPDIR/none"
	}
}

# In setup: WARDBOX is that binary.
full_need() {
	[ ! -e "$BATS_FILE_TMPDIR/none" ] || skip "not here: a build of full_defconfig"
	export WARDBOX=$O/full/wardbox
}
