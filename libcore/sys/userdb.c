/* userdb.c - users as /etc/passwd has them
 * SPDX-License-Identifier: MIT
 */
#include "sys/userdb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/num.h"
#include "base/str.h"

/* For machines whose ids once had 16 bits. */
#ifdef SYS_setgroups32
#define SETGROUPS SYS_setgroups32
#define SETRESGID SYS_setresgid32
#define SETRESUID SYS_setresuid32
#else
#define SETGROUPS SYS_setgroups
#define SETRESGID SYS_setresgid
#define SETRESUID SYS_setresuid
#endif

enum { FIELDS = 7, PASSWD_MAX = 8 << 20, USER_LINE = 1024 };

/* Cuts line at its colons; false unless it has seven fields. */
static bool split_fields(char *line, char *field[FIELDS])
{
	size_t i = 1;

	field[0] = line;
	for (; *line; line++) {
		if (*line != ':')
			continue;
		if (i == FIELDS)
			return false;
		*line = '\0';
		field[i++] = line + 1;
	}
	return i == FIELDS;
}

static int parse_line(const char *text, size_t n, struct user *out)
{
	char line[USER_LINE];
	char *field[FIELDS];
	unsigned uid, gid;

	if (!n || n >= sizeof line || memchr(text, '\0', n))
		return -EINVAL;
	memcpy(line, text, n);
	line[n] = '\0';
	if (!split_fields(line, field) || !*field[0] ||
		num_uint(field[2], 0, UINT_MAX - 1, &uid) ||
		num_uint(field[3], 0, UINT_MAX - 1, &gid))
		return -EINVAL;
	*out = (struct user){.uid = uid, .gid = gid};
	if (str_copy(out->name, sizeof out->name, field[0]) ||
		str_copy(out->home, sizeof out->home, field[5]) ||
		str_copy(out->shell, sizeof out->shell, field[6]))
		return -EINVAL;
	return 0;
}

int user_parse(const char *text, size_t n, const char *name, uid_t uid,
	struct user *out)
{
	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) - at : n - at;
		struct user u;

		if (parse_line(text + at, len, &u) == 0 &&
			(name ? str_eq(u.name, name) : u.uid == uid)) {
			*out = u;
			return 0;
		}
		at += len + 1;
	}
	return -ENOENT;
}

int user_find(const char *path, const char *name, uid_t uid, struct user *out)
{
	autobuf struct buf text = BUF_INIT(PASSWD_MAX);
	int err = file_read(AT_FDCWD, path, &text);

	return err ? err : user_parse(buf_str(&text), text.len, name, uid, out);
}

int user_each_home(const char *path,
	int each(void *ctx, uid_t uid, const char *home), void *ctx)
{
	autobuf struct buf text = BUF_INIT(PASSWD_MAX);
	int err = file_read(AT_FDCWD, path, &text);
	char *rest = (char *)(uintptr_t)buf_str(&text), *line;

	for (; !err && (line = strsep(&rest, "\n"));) {
		char *field[FIELDS];
		unsigned uid;

		if (split_fields(line, field) &&
			!num_uint(field[2], 0, UINT_MAX - 1, &uid))
			err = each(ctx, uid, field[5]);
	}
	return err;
}

int user_become(uid_t uid, gid_t gid)
{
	if (syscall(SETGROUPS, 1, &gid) || syscall(SETRESGID, gid, gid, gid) ||
		syscall(SETRESUID, uid, uid, uid))
		return -errno;
	return 0;
}
