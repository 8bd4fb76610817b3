/* userdb.h - users as /etc/passwd has them
 * SPDX-License-Identifier: MIT
 *
 * Read directly: a static binary has no name service, and asks nobody.
 */
#ifndef WARDBOX_USERDB_H
#define WARDBOX_USERDB_H

#include <stddef.h>
#include <sys/types.h>

struct user {
	char name[64];
	uid_t uid;
	gid_t gid;
	char home[512];
	char shell[256];
};

/* Finds the first whole line of text with this name, or (name NULL) this uid. 0
 * or -ENOENT. */
int user_parse(const char *text, size_t n, const char *name, uid_t uid,
	struct user *out);

/* The same in the passwd file at path. -ENOENT, or why it cannot be read. */
int user_find(const char *path, const char *name, uid_t uid, struct user *out);

/* Calls each for the home of every user in the passwd file at path. A result
 * other than 0 ends it and is returned. */
int user_each_home(const char *path,
	int each(void *ctx, uid_t uid, const char *home), void *ctx);

/* Takes on this uid and gid for good, and no other group. The process must have
 * one thread, because others would keep theirs. */
int user_become(uid_t uid, gid_t gid);

#endif
