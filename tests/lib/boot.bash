# boot.bash - a machine that boots into wardbox: load ../lib/boot
# shellcheck shell=bash

# Debian's kernel, unpacked and not installed: $KERNEL. KERNEL=FILE takes another.
kernel() {
	local at=$O/boot
	mkdir -p "$at"
	[ -n "${KERNEL-}" ] || KERNEL=$(find "$at/kernel/boot" -name "vmlinuz-*" 2>/dev/null)
	[ -z "$KERNEL" ] || return 0
	(
		cd "$at" || exit
		package=$(apt-cache depends linux-image-amd64 |
			awk '/Depends: linux-image/ { print $2; exit }')
		apt-get -q download "$package" &&
			dpkg-deb -x "$package"_*.deb kernel.new &&
			mv kernel.new kernel && rm -rf ./*.deb kernel/lib kernel/usr
	) >"$at/log" 2>&1 || return
	KERNEL=$(find "$at/kernel/boot" -name "vmlinuz-*")
}

# An initramfs of busybox with the shim installed, whose /init is SCRIPT, read
# from stdin. busybox mounts what a kernel wants mounted, then /init
# is process 1, by its #!/bin/sh.
initramfs() {
	local r=$BATS_TEST_TMPDIR/root name
	root_busybox "$r"
	mkdir -p "$r/sys" "$r/run" "$r/var/log" "$r/home/work/.git"
	for name in mount mkdir cat echo poweroff sleep; do
		ln -s busybox "$r/bin/$name"
	done
	"$WARDBOX" install --root "$r" --profile OBSERVE --yes >/dev/null
	[ "$(readlink "$r/bin/sh")" = /bin/wardbox ]
	cat >"$r/stage" <<-'X'
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t devtmpfs dev /dev
		mkdir -p /dev/pts
		mount -t devpts pts /dev/pts
		mount -t tmpfs tmp /tmp
		mount -t tmpfs run /run
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
	CONSOLE=$BATS_TEST_TMPDIR/console
	timeout 300 qemu-system-x86_64 -accel tcg -cpu max -m 512 -display none \
		-serial "file:$CONSOLE.raw" -monitor none -nic none -no-reboot \
		-kernel "$KERNEL" -initrd "$BATS_TEST_TMPDIR/initrd" -append \
		"console=ttyS0 loglevel=1 panic=-1 rdinit=/bin/busybox $* -- sh /stage" \
		</dev/null >&2
	sed -e 's/\x1b\[[0-9;?]*[A-Za-z]//g' -e 's/\r//g' "$CONSOLE.raw" >"$CONSOLE"
	tail -n 60 "$CONSOLE"
}

# What the console said between "== NAME" and the next "==".
said() { # NAME
	awk -v n="== $1" '$0 == n { on = 1; next } /^==/ { on = 0 } on' "$CONSOLE"
}
