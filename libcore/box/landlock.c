/* landlock.c - file, port and scope rules of the kernel's Landlock
 * SPDX-License-Identifier: MIT
 */
#include "box/landlock_in.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/sandbox.h"

enum {
	/* Rights that a rule on a file may hold; the others are about
	 * directories. */
	FILE_RIGHTS = LL_FS_EXECUTE | LL_FS_WRITE_FILE | LL_FS_READ_FILE |
		      LL_FS_TRUNCATE | LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX,
	/* Device nodes are never made: MAKE_CHAR and MAKE_BLOCK are handled and
	 * granted to nobody. */
	WRITE_RIGHTS = LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_REMOVE_DIR |
		       LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR | LL_FS_MAKE_REG |
		       LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM |
		       LL_FS_REFER | LL_FS_IOCTL_DEV,
};

uint64_t landlock_all_fs(int abi)
{
	/* How many bits each ABI knows. */
	static const uint8_t bits[LL_ABI_MAX + 1] = {
		0, 13, 14, 15, 15, 16, 16, 16, 16, 17, 17};

	if (abi <= 0)
		return 0;
	return (1ULL << bits[abi > LL_ABI_MAX ? LL_ABI_MAX : abi]) - 1;
}

uint64_t landlock_all_net(int abi)
{
	if (abi < 4)
		return 0;
	if (abi < 10)
		return LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
	return LL_NET_BIND_TCP | LL_NET_CONNECT_TCP | LL_NET_BIND_UDP |
	       LL_NET_CONNECT_SEND_UDP;
}

uint64_t landlock_rights(unsigned access, bool dir, int abi)
{
	uint64_t rights = 0;

	if (access & SANDBOX_READ)
		rights |= LL_FS_READ_FILE | LL_FS_READ_DIR;
	if (access & SANDBOX_LIST)
		rights |= LL_FS_READ_DIR;
	if (access & SANDBOX_EXEC)
		rights |= LL_FS_EXECUTE;
	if (access & SANDBOX_WRITE)
		rights |= WRITE_RIGHTS;
	if (access & SANDBOX_UNIX)
		rights |= LL_FS_RESOLVE_UNIX;
	if (!dir)
		rights &= FILE_RIGHTS;
	return rights & landlock_all_fs(abi);
}

int landlock_create(uint64_t fs, uint64_t net, uint64_t scoped, int abi)
{
	struct ll_ruleset_attr attr = {
		.fs = fs, .net = net, .scoped = scoped};
	size_t size = abi < 4 ? 8 : abi < 6 ? 16 : 24;
	long fd = syscall(LL_NR_CREATE_RULESET, &attr, size, 0);

	return fd < 0 ? -errno : (int)fd;
}

int landlock_add_path(int ruleset, int fd, uint64_t rights)
{
	struct ll_path_attr attr = {.allowed = rights, .fd = fd};

	return syscall(LL_NR_ADD_RULE, ruleset, LL_RULE_PATH, &attr, 0) < 0 ?
		       -errno :
		       0;
}

int landlock_add_port(int ruleset, uint16_t port, uint64_t rights)
{
	struct ll_port_attr attr = {.allowed = rights, .port = port};

	return syscall(LL_NR_ADD_RULE, ruleset, LL_RULE_PORT, &attr, 0) < 0 ?
		       -errno :
		       0;
}

int landlock_restrict(int ruleset, unsigned flags)
{
	return syscall(LL_NR_RESTRICT_SELF, ruleset, flags) < 0 ? -errno : 0;
}
