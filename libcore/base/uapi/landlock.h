/* landlock.h - the kernel's Landlock interface, ABI 1 to 10
 * SPDX-License-Identifier: MIT
 *
 * Numbers and layouts as documented by the kernel; written out here because
 * the headers of distributions in use stop at ABI 2.
 */
#ifndef WARDBOX_UAPI_LANDLOCK_H
#define WARDBOX_UAPI_LANDLOCK_H

#include <stdint.h>

/* The same on every architecture that we build for. */
enum {
	LL_NR_CREATE_RULESET = 444,
	LL_NR_ADD_RULE = 445,
	LL_NR_RESTRICT_SELF = 446,
};

struct ll_ruleset_attr {
	uint64_t fs;     /* ABI 1 */
	uint64_t net;    /* ABI 4 */
	uint64_t scoped; /* ABI 6 */
	uint64_t quiet_fs, quiet_net, quiet_scoped; /* ABI 10 */
};
struct ll_path_attr {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));
struct ll_port_attr {
	uint64_t allowed, port; /* host byte order */
};

enum {
	LL_CREATE_VERSION = 1, /* flag of create_ruleset */
	LL_CREATE_ERRATA = 2,
	LL_RULE_PATH = 1, /* types of rules */
	LL_RULE_PORT = 2,
	LL_LOG_SAME_EXEC_OFF = 1, /* flags of restrict_self, ABI 7 */
	LL_LOG_NEW_EXEC_ON = 2,
	LL_LOG_SUBDOMAINS_OFF = 4,
	LL_TSYNC = 8, /* ABI 8 */
};

enum {
	LL_FS_EXECUTE = 1 << 0,
	LL_FS_WRITE_FILE = 1 << 1,
	LL_FS_READ_FILE = 1 << 2,
	LL_FS_READ_DIR = 1 << 3,
	LL_FS_REMOVE_DIR = 1 << 4,
	LL_FS_REMOVE_FILE = 1 << 5,
	LL_FS_MAKE_CHAR = 1 << 6,
	LL_FS_MAKE_DIR = 1 << 7,
	LL_FS_MAKE_REG = 1 << 8,
	LL_FS_MAKE_SOCK = 1 << 9,
	LL_FS_MAKE_FIFO = 1 << 10,
	LL_FS_MAKE_BLOCK = 1 << 11,
	LL_FS_MAKE_SYM = 1 << 12,
	LL_FS_REFER = 1 << 13,        /* ABI 2 */
	LL_FS_TRUNCATE = 1 << 14,     /* ABI 3 */
	LL_FS_IOCTL_DEV = 1 << 15,    /* ABI 5 */
	LL_FS_RESOLVE_UNIX = 1 << 16, /* ABI 9 */
};
enum {
	LL_NET_BIND_TCP = 1 << 0, /* ABI 4 */
	LL_NET_CONNECT_TCP = 1 << 1,
	LL_NET_BIND_UDP = 1 << 2, /* ABI 10 */
	LL_NET_CONNECT_SEND_UDP = 1 << 3,
};
enum {
	LL_SCOPE_ABSTRACT_UNIX = 1 << 0, /* ABI 6 */
	LL_SCOPE_SIGNAL = 1 << 1,
};
enum { LL_ABI_MAX = 10 };

#endif
