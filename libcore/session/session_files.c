/* session_files.c - the files of a user's sessions
 * SPDX-License-Identifier: MIT
 */
#include "session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "session/session_place_in.h"
#include "base/str.h"

enum {
	NAME_SIZE = SESSION_ID_MAX + 8,
	LOCK_TRIES = 400, /* of 5 ms */
};

static int state_name(
	char name[static NAME_SIZE], const char *id, struct diag *d)
{
	struct buf b = {.data = name, .cap = NAME_SIZE, .max = NAME_SIZE - 1};
	int err = session_id_check("", id, d);

	if (err)
		return err;
	buf_addf(&b, "%s.state", id);
	buf_str(&b);
	return b.err;
}

int session_flock(int fd, const char *name, struct diag *d)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return diag_errno(d, -errno, "cannot lock %s", name);
		nanosleep(&pause, NULL);
	}
	return diag_fail(d, -ETIMEDOUT, "%s is locked by someone else", name);
}

int session_lock(int dir, struct diag *d)
{
	/* A description of its own, or a fork would share the lock. */
	autofd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return diag_errno(d, -errno, "cannot lock the sessions");
	err = session_flock(fd, "the sessions' directory", d);
	return err ? err : fd_steal(&fd);
}

int session_load(int dir, uid_t uid, const char *id, struct state *s,
	struct diag *d)
{
	char name[NAME_SIZE];
	int err = state_name(name, id, d);

	if (err)
		return err;
	err = state_load(dir, name, uid, s, d);
	if (err && err != -ENOENT)
		diag_hint(d, "'wardbox session end %s' forgets it", id);
	return err;
}

int session_save(int dir, const char *id, const struct state *s, struct diag *d)
{
	char name[NAME_SIZE];
	int err = state_name(name, id, d);

	return err ? err : state_save(dir, name, s, d);
}

int session_update(int dir, uid_t uid, const char *id, struct state *s,
	struct diag *d)
{
	char name[NAME_SIZE];
	int err = state_name(name, id, d);

	return err ? err : state_update(dir, name, uid, s, d);
}

int session_create(int dir, const char *id, const struct state *s,
	struct diag *d)
{
	char name[NAME_SIZE];
	int err = state_name(name, id, d);

	if (err)
		return err;
	if (!faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return diag_fail(d, -EEXIST, "there is a session %s already",
			id);
	return session_save(dir, id, s, d);
}

/* Called per file of the directory; nonzero ends it and is the result. */
typedef int each_file(int dir, const char *name, void *ctx);

static void close_dir(DIR **stream)
{
	if (*stream)
		closedir(*stream);
}

static int for_each(int dir, each_file *each, void *ctx)
{
	autofd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclean(close_dir) DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!stream)
		return -errno;
	fd_steal(&fd);
	while (!err && (e = readdir(stream)))
		err = each(dir, e->d_name, ctx);
	return err;
}

/* The id that a workspace's file names. */
static int claimed_id(int dir, const char *name, uid_t uid,
	char id[static SESSION_ID_MAX + 1])
{
	autofd int fd = openat(dir, name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : session_read_id(fd, uid, name, id, NULL);
}

/* What lies beside a session's state and ends with it: what a person said yes to,
 * and what the session's commands were told. */
static void drop_beside(int dir, const char *id)
{
	static const struct {
		const char *where, *suffix;
	} of[] = {{"", ".approved"}, {"../told/", ".why"},
		{"../told/", ".policy"}};
	char name[SESSION_ID_MAX + 24];

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		(void)unlinkat(dir,
			BUF_PRINT(name, "%s%s%s", of[i].where, id,
				of[i].suffix), 0);
}

struct ending {
	const char *id;
	uid_t uid;
	bool found;
};

static int end_one(int dir, const char *name, void *ctx)
{
	char id[SESSION_ID_MAX + 1];
	struct ending *e = ctx;
	const char *rest = str_after(name, e->id);

	if (rest && str_eq(rest, ".live"))
		e->found |= !unlinkat(dir, name, AT_REMOVEDIR);
	/* What a killed writer left of it. */
	if (rest && str_after(rest, ".state.") && str_ends(rest, ".tmp"))
		unlinkat(dir, name, 0);
	if (!str_ends(name, ".sid") || claimed_id(dir, name, e->uid, id) ||
		!str_eq(id, e->id))
		return 0;
	e->found = true;
	return unlinkat(dir, name, 0) ? -errno : 0;
}

int session_end(int dir, uid_t uid, const char *id, struct diag *d)
{
	struct ending e = {.id = id, .uid = uid};
	autofd int lock = -1;
	char name[NAME_SIZE];
	int err = state_name(name, id, d);

	if (err)
		return err;
	lock = session_lock(dir, d);
	if (lock < 0)
		return lock;
	err = for_each(dir, end_one, &e);
	if (!err && !unlinkat(dir, name, 0))
		e.found = true;
	else if (!err && errno != ENOENT)
		err = -errno;
	if (err)
		return diag_errno(d, err, "cannot end session %s", id);
	drop_beside(dir, id);
	return e.found ? 0
		       : diag_fail(d, -ENOENT, "there is no session %s", id);
}

struct listing {
	struct session_list *list;
	size_t cap;
};

static int list_one(int dir, const char *name, void *ctx)
{
	char id[SESSION_ID_MAX + 1] = "";
	struct listing *l = ctx;
	size_t n = strlen(name);

	if (str_ends(name, ".state") && n - 6 <= SESSION_ID_MAX)
		memcpy(id, name, n - 6);
	/* One that was ended while a command of it ran. */
	else if (str_ends(name, ".live") && n - 5 <= SESSION_ID_MAX)
		memcpy(id, name, n - 5);
	else if (str_ends(name, ".sid"))
		(void)claimed_id(dir, name, geteuid(), id);
	if (!session_id_valid(id))
		return 0;
	if (l->list->count == SESSION_COUNT_MAX)
		return -E2BIG;
	if (l->list->count == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 16;
		void *grown = reallocarray(l->list->id, cap, sizeof id);

		if (!grown)
			return -ENOMEM;
		l->list->id = grown;
		l->cap = cap;
	}
	memcpy(l->list->id[l->list->count++], id, sizeof id);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int session_list(int dir, struct session_list *l, struct diag *d)
{
	struct listing all = {.list = l};
	int err = for_each(dir, list_one, &all);
	size_t kept = 0;

	if (err)
		return diag_errno(d, err, "cannot list the sessions");
	if (l->count)
		qsort(l->id, l->count, sizeof l->id[0], by_name);
	for (size_t i = 0; i < l->count; i++)
		if (!i || !str_eq(l->id[i], l->id[kept - 1]))
			memmove(l->id[kept++], l->id[i], sizeof l->id[0]);
	l->count = kept;
	return 0;
}

void session_list_release(struct session_list *l)
{
	free(l->id);
	*l = SESSION_LIST_INIT;
}
