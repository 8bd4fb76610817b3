#!/usr/bin/env bats
# What the linker and the first call of main promise.

load ../lib/wardbox

@test "the binary is a sealed static PIE" {
	run sh "$TOP/scripts/check-elf" "$WARDBOX"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "check-elf refuses a dynamic binary" {
	run sh "$TOP/scripts/check-elf" /bin/bash
	[ "$status" -eq 1 ]
	[[ "$output" == *INTERP* ]]
	[[ "$output" == *"shared library"* ]]
	[[ "$output" == *"relocation that nothing applies"* ]]
}

@test "writing into RELRO data dies once it is sealed" {
	run "$HELPERS/relro"
	[ "$status" -eq 139 ]
}

@test "the same write succeeds where nothing seals it" {
	run "$HELPERS/relro" unsealed
	[ "$status" -eq 0 ]
}

@test "nothing pulls in the stdio of the C library" {
	run grep -E 'libc\.a\((vfprintf|fopen|getpw_a|synccall)\.l?o\)' "$O/wardbox.map"
	[ "$status" -eq 1 ]
}

@test "no memory comes from the C library's allocator, which would not know ours" {
	run grep -E 'libc\.a\((malloc|free|realloc|calloc|libc_calloc|aligned_alloc|malloc_usable_size)\.l?o\)' \
		"$O/wardbox.map"
	[ "$status" -eq 1 ]
}

@test "what is smaller here does not come from the C library as well" {
	run grep -E 'libc\.a\((fork|qsort(_nr)?|strstr|lite_malloc)\.l?o\)' "$O/wardbox.map"
	[ "$status" -eq 1 ]
}

@test "what every run writes, and the heap's beginning, lie in one page" {
	run awk '/ [.](data|bss|heap) / { sub(/.*\]/, ""); print substr($3, 1, 13) }' \
		<(readelf -SW "$WARDBOX")
	echo "$output"
	[ ${#lines[@]} = 3 ]
	[ "$(printf '%s\n' "${lines[@]}" | sort -u | wc -l)" = 1 ]
}

@test "no path of the build tree is in the binary" {
	run grep -c -a -F "$TOP/" "$WARDBOX"
	[ "$output" = 0 ]
}

@test "each applet's prompt in Kconfig says what the applet adds" {
	run make -C "$TOP" --no-print-directory O="$O" check-prompts
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the binary keeps its size budget" {
	run make -C "$TOP" --no-print-directory O="$O" size
	[ "$status" -eq 0 ]
}

@test "the build is four hundred lines at most" {
	run awk '!/^[ \t]*(#|$)/ { n++ } END { print n + 0 }' "$TOP"/Makefile "$TOP"/build/*.mk
	echo "$output"
	[ "$output" -le 400 ]
}
