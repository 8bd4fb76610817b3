#!/usr/bin/env bats
# demo: the tour that scripts/demo ends with, as somebody reads it

load ../lib/wardbox

@test "each step shows what its title says" {
	need unshare -m true
	local line
	cd "$TOP"
	run timeout 120 unshare -m sh scripts/demo tour </dev/null
	echo "$output"
	[ "$status" -eq 0 ]
	while read -r line; do
		[[ "$output" == *"$line"* ]] || { echo "no: $line"; false; }
	done <<-'END'
		hello from a guarded shell
		denied: curl http://example.com: exfiltration risk (rule net
		no terminal to ask on
		cannot create ../f: Permission denied
		run by /
		CC is clang
		demo[1] allow sh -c 'echo hello from a guarded shell'
		intact:
		tampered with:
		works    landlock
	END
	# what was denied was denied, and nothing else failed
	[ "$(grep -c 'exit code' <<<"$output")" -le 6 ]
}

@test "on a terminal nobody is asked, either" {
	need unshare -m true
	cd "$TOP"
	run timeout 120 unshare -m script -qec "sh scripts/demo tour" /dev/null </dev/null
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"no terminal to ask on"*"The binary:"* ]]
}
