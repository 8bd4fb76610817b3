/* linux.h - the kernel's calls, flags and structures that C libraries lack
 * SPDX-License-Identifier: MIT
 *
 * Calls from 424 on have one number on every architecture that we build for.
 */
#ifndef WARDBOX_UAPI_LINUX_H
#define WARDBOX_UAPI_LINUX_H

#include <stdint.h>

enum {
	NR_PIDFD_SEND_SIGNAL = 424,
	NR_IO_URING_SETUP = 425,
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSCONFIG = 431,
	NR_FSMOUNT = 432,
	NR_PIDFD_OPEN = 434,
	NR_CLONE3 = 435,
	NR_CLOSE_RANGE = 436,
	NR_MOUNT_SETATTR = 442,
};

enum {
	CLOSE_RANGE_UNSHARE_ = 2,
	CLOSE_RANGE_CLOEXEC_ = 4,
	PIDFD_FLAG = 0x1000, /* CLONE_PIDFD */
	NS_TIME = 0x80,      /* CLONE_NEWTIME */
	NS_MOUNT = 0x00020000,
	NS_CGROUP = 0x02000000,
	NS_UTS = 0x04000000,
	NS_IPC = 0x08000000,
	NS_USER = 0x10000000,
	NS_PID = 0x20000000,
	NS_NET = 0x40000000,
	NS_ALL = NS_TIME | NS_MOUNT | NS_CGROUP | NS_UTS | NS_IPC | NS_USER |
		 NS_PID | NS_NET,
};

#define CLONE_INTO_CGROUP_ UINT64_C(0x200000000)
struct clone_args2 {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal;
	uint64_t stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

enum {
	OPEN_TREE_CLONE_ = 1,
	OPEN_TREE_CLOEXEC_ = 02000000,
	AT_RECURSIVE_ = 0x8000,
	AT_EMPTY_PATH_ = 0x1000,
	MOVE_MOUNT_F_EMPTY = 0x4,
	MOVE_MOUNT_T_EMPTY = 0x40,
	FSMOUNT_CLOEXEC_ = 1,
	FSOPEN_CLOEXEC_ = 1,
	FSCONFIG_STRING = 1,
	FSCONFIG_CREATE = 6,
};
enum {
	MOUNT_ATTR_RDONLY_ = 1,
	MOUNT_ATTR_NOSUID_ = 2,
	MOUNT_ATTR_NODEV_ = 4,
	MOUNT_ATTR_NOEXEC_ = 8,
};
struct mount_attr1 {
	uint64_t set, clear, propagation, userns_fd;
};

enum { RESOLVE_NO_MAGICLINKS_ = 2, RESOLVE_NO_SYMLINKS_ = 4 };

/* capget and capset, version 3 */
enum { CAP_VERSION3 = 0x20080522 };
struct cap_head {
	uint32_t version;
	int32_t pid;
};
struct cap_data {
	uint32_t effective, permitted, inheritable;
};
enum {
	CAP_SYS_ADMIN_ = 21,
	CAP_SETPCAP_ = 8,
	CAP_MAX_TRIED = 63,
};

enum {
	CGROUP2_MAGIC = 0x63677270,
	CGROUP1_MAGIC = 0x27e0eb,
	TMPFS_MAGIC_ = 0x01021994,
	PROC_MAGIC = 0x9fa0,
};

#endif
