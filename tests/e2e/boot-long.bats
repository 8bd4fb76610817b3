#!/usr/bin/env bats
# boot: wardbox is /bin/sh of a machine, from process 1 to power off

load ../lib/wardbox
load ../lib/roots
load ../lib/boot

# What init does in each test: tells of itself, then tries the guarded shell
# before and after the policy names what may be missing. RELAX are the words.
init() { # RELAX
	boot_ready
	sed -e "s/@RELAX@/$1/" -e "s/@PARTS@/${1// /,}/" <<-'X' | initramfs
		#!/bin/sh
		cd /home/project
		echo "== init"
		cat /proc/1/comm
		echo "pid $$"
		echo "== doctor"
		wardbox doctor --json
		echo "== strict"
		WARDBOX_PROFILE=FULL-AUTO /bin/sh -c 'echo ran; echo x >made'
		echo "gave $?"
		echo "== relax"
		echo 'relax @RELAX@' >>/etc/wardbox/policy
		WARDBOX_PROFILE=FULL-AUTO /bin/sh -c 'echo ran >made && cat made'
		echo "gave $?"
		echo "== outside"
		WARDBOX_PROFILE=FULL-AUTO /bin/sh -c 'echo x >/etc/escape'
		echo "gave $?"
		echo "== kernel"
		wardbox drop --best-effort=@PARTS@ --rox=/bin /bin/busybox cat /init
		echo "gave $?"
		echo "== power"
		WARDBOX_PROFILE=FULL-AUTO /bin/sh -c 'poweroff -f'
		echo "gave $?"
		echo "== verify"
		wardbox audit verify
		echo "gave $?"
		echo "== log"
		wardbox audit dump -t start,event -o json
		echo "== off"
		sleep 3 # what the terminal still holds
		poweroff -f
	X
}

logged() { # JQ-FILTER: holds for some record
	said log | jq -Rne "any(inputs | fromjson?; $1)" >/dev/null
}

# What every boot shows, whatever protections the kernel has.
sound() {
	said init | grep -q '^pid'
	said doctor | jq -e '.findings | length > 5'
	said outside | grep -q '^gave 126'
	[[ "$(said outside)" == *"/etc/escape"* ]]
	said power | grep -q '^gave 126'
	[[ "$(said power)" == *"rule power"* ]]
	# intact; nothing on this machine to hold it against
	said verify | grep -q '^gave 4'
	[[ "$(said verify)" == *"intact"* ]]
	logged '.type == "start" and .argv == ["/bin/sh", "/init"] and .pid == 1'
	logged '.decision == "deny" and .rule == "power"'
	# busybox starts itself, by /proc/self/exe: no denial
	! logged '.event == "exec.deny"' || false
	grep -q 'reboot: Power down' "$CONSOLE"
	! grep -q -i 'panic' "$CONSOLE"
}

# What Debian's kernel gives: Landlock, of an older ABI.
protected() {
	init scope
	boot
	sound
	said doctor | jq -e '.findings[] | select(.name == "landlock") | .note' |
		grep 'ABI [1-9]'
	if said doctor | jq -e '.findings[] | select(.name == "scope: signals") | .works'; then
		said strict | grep -q '^gave 0'
	else
		# Landlock is there, and too old for one protection: named, nothing ran.
		said strict | grep -q '^gave 125'
		[[ "$(said strict)" == *"scope"*"Landlock ABI 6"* ]]
		[[ "$(said strict)" != *ran* ]]
		logged '.event == "relax"'
	fi
	said relax | grep -q '^ran'
	said relax | grep -q '^gave 0'
	said kernel | grep -q '^gave 1$'
	[[ "$(said kernel)" == *"Permission denied"* ]]
}

@test "a machine boots into the shim, runs, refuses, records, and powers off" {
	protected
}

@test "so does one of another architecture" {
	[ "$(uname -m)" != aarch64 ] || skip "it is this machine's own"
	MACHINE=aarch64 protected
}

@test "so does one of 32 bits" {
	MACHINE=armhf protected
}

# What no emulator of programs alone can do is done by a machine.
units() {
	boot_ready
	need test -x "$O/$MACHINE/test/test_sandbox"
	initramfs ../test_{run,run_bytes,run_pty,limits,probe,landlock,seccomp} \
		../test_{sandbox,shim,audit_write} <<-'X'
		#!/bin/sh
		wardbox install --root / --uninstall --yes
		export CMOCKA_MESSAGE_OUTPUT=TAP
		ln -s busybox /bin/stty
		touch /etc/passwd
		for t in /bin/test_*; do
			echo "== ${t#/bin/test_}"
			$t </dev/null || echo "gave $?"
		done
		echo "== off"
		sleep 3
		poweroff -f
	X
	boot
	said seccomp | grep '^ok'
	said sandbox | grep '^ok'
	not grep -E '^(not ok [0-9]+ - |gave )' "$CONSOLE"
}

@test "unit tests of what is the kernel's, on a machine of 64 bits" {
	MACHINE=aarch64 units
}

@test "unit tests of what is the kernel's, on one of 32" {
	MACHINE=armhf units
}

@test "a kernel without Landlock: refused by name, until the policy names it" {
	init 'landlock scope'
	boot lsm=yama
	sound
	said doctor | jq -e '.findings[] | select(.name == "landlock") | .works | not'
	said strict | grep -q '^gave 125'
	[[ "$(said strict)" == *"landlock"*"lsm="*"a line 'relax landlock' in"* ]]
	[[ "$(said strict)" != *ran* ]]
	said relax | grep -q '^ran'
	said relax | grep -q '^gave 0'
	logged '.event == "relax" and .detail.missing == "landlock"'
	# The relaxation is real: that is what the refusal was for.
	said kernel | grep -q '^gave 0$'
}
