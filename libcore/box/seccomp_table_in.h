/* seccomp_table_in.h - how each system call is treated
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SECCOMP_TABLE_IN_H
#define WARDBOX_SECCOMP_TABLE_IN_H

#include <stdint.h>

#include "sys/probe.h"
#include "box/seccomp_in.h"

enum seccomp_act {
	SECCOMP_ACT_ALLOW,
	SECCOMP_ACT_EPERM,
	SECCOMP_ACT_EACCES, /* as Landlock would */
	SECCOMP_ACT_ENOSYS,
	SECCOMP_ACT_NOTIFY,
	SECCOMP_ACT_EXEC, /* NOTIFY, except for the exec that knows the pass */
	/* from here on arguments are looked at */
	SECCOMP_ACT_OPEN, /* NOTIFY, where the flags say that it writes */
	SECCOMP_ACT_OPENAT,
	SECCOMP_ACT_IOCTL,
	SECCOMP_ACT_IOCTL_META, /* the same, and no flags of files */
	SECCOMP_ACT_SOCKET,
	SECCOMP_ACT_SOCKETPAIR,
	SECCOMP_ACT_SEND3, /* flags in the fourth argument */
	SECCOMP_ACT_SEND2, /* in the third */
	SECCOMP_ACT_CLONE,
	SECCOMP_ACT_UNSHARE,
	SECCOMP_ACT_RLIMIT,
	SECCOMP_ACT_PRLIMIT,
	SECCOMP_ACT_WHO, /* setpriority, and the next ioprio_set */
	SECCOMP_ACT_IO_WHO,
	SECCOMP_ACT_SELF, /* the first argument is 0: the thread that calls */
	SECCOMP_ACT_PRCTL,
	SECCOMP_ACT_MEMFD,
	SECCOMP_ACT_FCNTL,
};

enum {
	SECCOMP_ACTS = SECCOMP_ACT_FCNTL + 1,
	/* The newest call that was considered when the table was written (Linux
	 * 6.19); later calls are answered ENOSYS. */
	SECCOMP_NR_KNOWN = 470,
	SECCOMP_NR_MAX = SECCOMP_NR_KNOWN + 1, /* stands for all later calls */
	SECCOMP_TIOCSTI = 0x5412,
	SECCOMP_TIOCSETD = 0x5423,
	SECCOMP_TIOCLINUX = 0x541c,
	SECCOMP_FIOSETOWN = 0x8901,
	SECCOMP_SIOCSPGRP = 0x8902,
	SECCOMP_SETOWN = 8,
	SECCOMP_SETOWN_EX = 15,
	SECCOMP_SETLEASE = 0x400, /* F_SETDELEG: 0x410 */
	SECCOMP_BTRFS_VOL = 0x50009400, /* any ioctl with the name of a
					 * volume */
	SECCOMP_IOC_GIVES = 0x40000000, /* the direction of an ioctl's data:
					 * towards the kernel */
	SECCOMP_FSCRYPT = 0x6613,       /* FS_IOC_SET_ENCRYPTION_POLICY */
	SECCOMP_INSIDE_OPTION = PROBE_INSIDE_OPTION,
	SECCOMP_INSIDE_ERRNO = PROBE_INSIDE_ERRNO,
};

/* Fills act[0..SECCOMP_NR_MAX] with enum seccomp_act. */
void seccomp_table(const struct seccomp_spec *spec, uint8_t *act);

#endif
