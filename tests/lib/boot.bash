# boot.bash - a machine that boots into wardbox: load ../lib/boot
# shellcheck shell=bash

# What a test needs to boot this machine, or the one named by $MACHINE, which is
# there once it was built: Debian's kernel, unpacked and not installed: $KERNEL.
# KERNEL=FILE takes another. Changes to the test's directory.
boot_ready() {
	: "${MACHINE:=$(uname -m)}"
	local kernel
	CPU=$MACHINE CONSOLE_NAME=ttyAMA0
	case $MACHINE in
	x86_64) DEBIAN=amd64 CONSOLE_NAME=ttyS0 kernel=amd64 ;;
	aarch64) DEBIAN=arm64 kernel=arm64 ;;
	armhf) DEBIAN=armhf CPU=arm kernel=armmp ;;
	*) skip "no kernel for $MACHINE" ;;
	esac
	need qemu-system-"$CPU" --version
	if [ "$MACHINE" = "$(uname -m)" ]; then
		need test -n "$BUSYBOX"
	else
		WARDBOX=$O/$MACHINE/wardbox
		HELPERS=$O/$MACHINE/test/lib
		need test -x "$WARDBOX"
		need unpacked busybox-static bin/busybox
		BUSYBOX=$UNPACKED
	fi
	[ -n "${KERNEL-}" ] || { need unpacked "linux-image-$kernel" 'boot/vmlinuz-*' &&
		KERNEL=$UNPACKED; }
	cd "$BATS_TEST_TMPDIR" || return
}

# A file of a package of the machine that is to boot: $UNPACKED.
unpacked() { # PACKAGE FILE
	local at=$O/boot/$MACHINE/$1
	[ -e "$at.done" ] ||
		sh "$TOP/scripts/fetch-package" "$at" \
			"$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" \
			"$DEBIAN" "$1" || return
	touch "$at.done"
	rm -rf "$at/lib/modules" "$at/usr/lib"
	UNPACKED=$(find "$at" -path "*/$2")
	[ -f "$UNPACKED" ]
}

# An initramfs of busybox in which the machine installs the shim, and whose /init
# is SCRIPT, read from stdin, with HELPERs in /bin. busybox mounts what a kernel
# wants mounted, then /init is process 1, by its #!/bin/sh.
initramfs() { # HELPER...
	local r=$BATS_TEST_TMPDIR/root name
	root_busybox "$r"
	mkdir -p "$r/sys" "$r/run" "$r/var/log" "$r/home/project/.git"
	for name in mount mkdir cat echo poweroff sleep \
		true seq setsid ls rm sed grep dd ps; do
		ln -s busybox "$r/bin/$name"
	done
	for name; do
		cp "$HELPERS/$name" "$r/bin/"
	done
	mkdir "$r/given"
	cp "$WARDBOX" "$r/given/wardbox"
	cat >"$r/stage" <<-'X'
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t devtmpfs dev /dev
		mkdir -p /dev/pts
		mount -t devpts pts /dev/pts
		mount -t tmpfs tmp /tmp
		mount -t tmpfs run /run
		/given/wardbox install --root / --profile OBSERVE --yes
		rm -r /given
		exec /init
	X
	cat >"$r/init"
	chmod 755 "$r/init"
	(cd "$r" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$BATS_TEST_TMPDIR/initrd"
}

# Boots it with more WORDS on the kernel's command line; what the console said,
# without colours and carriage returns, is $CONSOLE. Emulated: no /dev/kvm, which
# is there and does not work on many a machine.
boot() { # WORDS
	local -A machine=([x86_64]="-cpu max"
		[aarch64]="-M virt -cpu max,pauth-impdef=on"
		[armhf]="-M virt -cpu cortex-a15")
	# A busy machine emulates no timer that a kernel would find good.
	local -A words=([x86_64]=no_timer_check)
	CONSOLE=$BATS_TEST_TMPDIR/console
	# shellcheck disable=SC2086 # words
	timeout 300 "qemu-system-$CPU" -accel tcg ${machine[$MACHINE]} \
		-m 512 -display none \
		-serial "file:$CONSOLE.raw" -monitor none -nic none -no-reboot \
		-kernel "$KERNEL" -initrd "$BATS_TEST_TMPDIR/initrd" -append \
		"console=$CONSOLE_NAME loglevel=1 panic=-1 rdinit=/bin/busybox \
			${words[$MACHINE]-} $* -- sh /stage" \
		</dev/null >&2
	sed -e 's/\x1b\[[0-9;?]*[A-Za-z]//g' -e 's/\r//g' "$CONSOLE.raw" >"$CONSOLE"
	tail -n 60 "$CONSOLE"
}

# What the console said between "== NAME" and the next "==".
said() { # NAME
	awk -v n="== $1" '$0 == n { on = 1; next } /^==/ { on = 0 } on' "$CONSOLE"
}
