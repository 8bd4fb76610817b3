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
