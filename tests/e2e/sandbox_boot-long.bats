#!/usr/bin/env bats
# What other kernels give: control groups of version 2, Landlock's newer rights
# and its records. KERNEL=FILE takes another kernel than Debian's.

load ../lib/wardbox
load ../lib/roots
load ../lib/boot

setup() {
	boot_ready
}

# Runs stdin as the first process of a machine that has control groups and audits.
machine() {
	{
		cat <<-'X'
		#!/bin/busybox sh
		export PATH=/bin
		mount -t cgroup2 cg /sys/fs/cgroup
		attack listen-tcp 9999 >/dev/null &
		D() { wardbox drop --best-effort=scope,net,unix --rox=/bin "$@"; }
		X
		cat
		echo 'echo "== off"; sleep 3; poweroff -f'
	} | initramfs attack
	boot audit=1
}

@test "control groups of version 2: memory, tasks, time, and all that is left behind" {
	machine <<-'X'
		echo "== plan"
		D --mem=64M --nproc=50 --cpu=60 --dry-run -- true
		echo "== memory"
		D --mem=32M -- dd if=/dev/zero of=/dev/null bs=200M count=1
		echo "gave $?"
		D --mem=300M -- dd if=/dev/zero of=/dev/null bs=20M count=1 2>/dev/null
		echo "gave $?"
		echo "== tasks"
		D --nproc=10 -- attack forks 50
		echo "== time"
		D --cpu=0.5 -- attack spin
		echo "gave $?"
		echo "== strays"
		D --nproc=20 --timeout=1 -- sh -c 'attack daemon 71; attack daemon 72; sleep 73'
		echo "gave $?"
		ps | grep '[s]leep 7'
		echo "== rest"
		ls /sys/fs/cgroup | grep wardbox
	X
	for what in memory tasks "CPU time"; do
		said plan | grep -q "$what: cgroup v2"
	done
	[[ "$(said memory)" == *"more memory than allowed (cgroup v2)"*"gave 137"*"gave 0"* ]]
	said tasks | grep -q '^9 EAGAIN'
	[[ "$(said time)" == *"more CPU time than allowed (cgroup v2)"*"gave 137"* ]]
	said strays | grep -q '^gave 124'
	said strays | not grep -q sleep
	[ -z "$(said rest)" ]
}

@test "Landlock's own records, and the rights of newer kernels" {
	machine <<-'X'
		abi=$(wardbox drop --probe | sed -n 's/^landlock *ABI //p')
		echo "== abi"
		echo "$abi"
		echo "== records"
		D --explain-denials -- busybox cat /init
		D --explain-denials --unshare-pid -- busybox cat /init
		D --explain-denials --net=tcp:1 --best-effort=scope,net,unix -- attack tcp 9999
		echo "== quiet"
		D --explain-denials -- true
		echo "== unix"
		mkdir /tmp/s
		attack listen-unix /tmp/s/one >/dev/null &
		attack listen-unix /tmp/s/two >/dev/null &
		sleep 1
		D --unix=/tmp/s/one -- attack unix /tmp/s/one
		D --unix=/tmp/s/one -- attack unix /tmp/s/two
		D --net=all -- attack unix /tmp/s/one
		echo "== rights"
		wardbox doctor --rights | cat
	X
	abi=$(said abi)
	[ -n "$abi" ]
	if [ "$abi" -ge 7 ]; then
		[ "$(said records | grep -c '^denied by the kernel: fs.read_file /init$')" = 2 ]
		said records | grep -q '^denied by the kernel: net.connect_tcp .*9999'
	else
		! said records | grep -q '^denied by the kernel'
	fi
	said quiet | not grep -q denied
	if [ "$abi" -ge 9 ]; then
		[ "$(said unix)" = $'ok\nEACCES\nEACCES' ]
	fi
	# what the kernel knows, it keeps
	said rights | grep -q '^works *execute'
	[ "$abi" -lt 9 ] || said rights | grep -q '^works *resolve-unix'
	[ "$abi" -lt 10 ] || said rights | grep -q '^works *connect-udp'
}
