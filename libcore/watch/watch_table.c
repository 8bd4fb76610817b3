/* watch_table.c - which system calls each kind of the watch is about
 * SPDX-License-Identifier: MIT
 */
#include "watch/watch_in.h"

#include <stdbool.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "base/uapi/linux.h"
#include "base/uapi/nr.h"

enum { NO = WATCH_NO };

#define EXEC(nr) {nr, WATCH_EXEC, 0, NO, 0, 0, NO}
#define FILES(nr, how, dir, path, arg) {nr, WATCH_FILES, how, dir, path, arg, NO}
#define META(nr, how, dir, path, arg, flags)                                   \
	{nr, WATCH_METADATA, how, dir, path, arg, flags}
#define SIGNAL(nr) {nr, WATCH_SIGNALS, 0, NO, NO, 0, NO}
#define SCOPE(nr) {nr, WATCH_SCOPE, 0, NO, NO, 0, NO}
#define LINK WATCH_NOFOLLOW

const struct watch_call watch_calls[] = {
	EXEC(__NR_execve),
	EXEC(__NR_execveat),
	FILES(__NR_open, WATCH_OPEN, NO, 0, 1),
	FILES(__NR_openat, WATCH_OPEN, 0, 1, 2),
	FILES(__NR_openat2, WATCH_OPEN2, 0, 1, 2),
	FILES(__NR_creat, WATCH_WRITE, NO, 0, 0),
	FILES(__NR_truncate, WATCH_WRITE, NO, 0, 0),
	FILES(__NR_mkdir, WATCH_MAKE, NO, 0, 0),
	FILES(__NR_mkdirat, WATCH_MAKE, 0, 1, 0),
	FILES(__NR_rmdir, WATCH_REMOVE, NO, 0, 0),
	FILES(__NR_unlink, WATCH_REMOVE, NO, 0, 0),
	FILES(__NR_unlinkat, WATCH_REMOVE, 0, 1, 0),
	FILES(__NR_symlink, WATCH_MAKE, NO, 1, 0),
	FILES(__NR_symlinkat, WATCH_MAKE, 1, 2, 0),
	FILES(__NR_mknod, WATCH_MAKE, NO, 0, 0),
	FILES(__NR_mknodat, WATCH_MAKE, 0, 1, 0),
	FILES(__NR_rename, WATCH_RENAME, NO, 0, 1),
	FILES(__NR_renameat, WATCH_RENAME, 0, 1, 3),
	FILES(__NR_renameat2, WATCH_RENAME, 0, 1, 3),
	FILES(__NR_link, WATCH_LINK, NO, 0, 1),
	FILES(__NR_linkat, WATCH_LINK, 0, 1, 3),
	FILES(__NR_connect, WATCH_CONNECT, NO, 1, 2),
	FILES(__NR_bind, WATCH_BIND, NO, 1, 2),
	META(__NR_chmod, WATCH_MODE, NO, 0, 1, NO),
	META(__NR_fchmod, WATCH_MODE, 0, NO, 1, NO),
	META(__NR_fchmodat, WATCH_MODE, 0, 1, 2, NO),
	META(452 /* fchmodat2 */, WATCH_MODE, 0, 1, 2, 3),
	META(__NR_chown, WATCH_OWNER_OLD, NO, 0, 1, NO),
	META(__NR_lchown, WATCH_OWNER_OLD, NO, 0, 1, LINK),
	META(__NR_fchown, WATCH_OWNER_OLD, 0, NO, 1, NO),
	META(__NR_chown32, WATCH_OWNER, NO, 0, 1, NO),
	META(__NR_lchown32, WATCH_OWNER, NO, 0, 1, LINK),
	META(__NR_fchown32, WATCH_OWNER, 0, NO, 1, NO),
	META(__NR_fchownat, WATCH_OWNER, 0, 1, 2, 4),
	META(__NR_utime, WATCH_TIME, NO, 0, 1, NO),
	META(__NR_utimes, WATCH_TIMES, NO, 0, 1, NO),
	META(__NR_futimesat, WATCH_TIMES, 0, 1, 2, NO),
	META(__NR_utimensat, WATCH_TIMES, 0, 1, 2, 3),
	META(__NR_utimensat_time64, WATCH_TIMES64, 0, 1, 2, 3),
	META(__NR_setxattr, WATCH_SETXATTR, NO, 0, 1, NO),
	META(__NR_lsetxattr, WATCH_SETXATTR, NO, 0, 1, LINK),
	META(__NR_fsetxattr, WATCH_SETXATTR, 0, NO, 1, NO),
	META(__NR_removexattr, WATCH_RMXATTR, NO, 0, 1, NO),
	META(__NR_lremovexattr, WATCH_RMXATTR, NO, 0, 1, LINK),
	META(__NR_fremovexattr, WATCH_RMXATTR, 0, NO, 1, NO),
	SIGNAL(__NR_kill),
	SIGNAL(NR_PIDFD_SEND_SIGNAL),
	SCOPE(__NR_tkill),
	SCOPE(__NR_tgkill),
	SCOPE(__NR_rt_sigqueueinfo),
	SCOPE(__NR_rt_tgsigqueueinfo),
};

const struct watch_call *watch_call(int nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(watch_calls); i++)
		if (watch_calls[i].nr == nr && nr >= 0)
			return &watch_calls[i];
	return NULL;
}

/* Does the row belong to one of the kinds? Calls that change files are rows of
 * other kinds. */
static bool is_of(const struct watch_call *c, unsigned kinds)
{
	return c->kind & kinds ||
		(kinds & WATCH_SCOPE && c->kind == WATCH_SIGNALS) ||
		(kinds & WATCH_NET && c->kind == WATCH_FILES &&
			c->how == WATCH_CONNECT) ||
		(kinds & WATCH_WRITES &&
			c->kind & (WATCH_FILES | WATCH_METADATA) &&
			(c->kind != WATCH_FILES || (c->how != WATCH_CONNECT &&
							   c->how != WATCH_OPEN2)));
}

size_t watch_numbers(unsigned kinds, int16_t out[static WATCH_CALLS_MAX])
{
	size_t n = 0;

	_Static_assert(ARRAY_SIZE(watch_calls) <= WATCH_CALLS_MAX, "room");
	for (size_t i = 0; i < ARRAY_SIZE(watch_calls); i++)
		if (is_of(&watch_calls[i], kinds) && watch_calls[i].nr >= 0)
			out[n++] = watch_calls[i].nr;
	return n;
}
