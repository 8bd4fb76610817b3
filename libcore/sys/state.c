/* state.c - the state of a session: its parts, and its file
 * SPDX-License-Identifier: MIT
 */
#include "sys/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/str.h"

void state_release(struct state *s)
{
	free(s->cwd);
	free(s->pwd);
	free(s->old);
	free(s->workspace);
	free(s->changes);
	for (size_t i = 0; i < s->dir_count; i++)
		free(s->dirs[i]);
	free(s->dirs);
	env_release(&s->env);
	env_release(&s->first_env);
	buf_release(&s->file);
	*s = STATE_INIT;
}

int state_changed(struct state *s, const char *lines, size_t n)
{
	free(s->changes);
	s->changes = NULL;
	if (n > STATE_CHANGES_MAX)
		for (n = STATE_CHANGES_MAX; n && lines[n - 1] != '\n';)
			n--;
	if (!n)
		return 0;
	s->changes = strndup(lines, n);
	return s->changes ? 0 : -ENOMEM;
}

int state_path(char **slot, const char *value)
{
	char *copy = NULL;

	if (value) {
		if (value[0] != '/' ||
			strnlen(value, STATE_PATH_MAX) == STATE_PATH_MAX)
			return -EINVAL;
		copy = strdup(value);
		if (!copy)
			return -ENOMEM;
	}
	free(*slot);
	*slot = copy;
	return 0;
}

bool state_carries(const char *pair)
{
	static const char own[][9] = {"PWD=", "OLDPWD=", "SHLVL=", "_=",
		"WARDBOX_"};
	bool found = false;

	for (size_t i = 0; !found && i < ARRAY_SIZE(own); i++)
		found = own[i][0] == pair[0] && str_after(pair, own[i]);
	return !found;
}

int state_push(struct state *s, const char *dir)
{
	char *copy = NULL, **grown;
	int err;

	if (s->dir_count == STATE_DIRS_MAX)
		return -E2BIG;
	err = state_path(&copy, dir);
	if (err)
		return err;
	grown = reallocarray(s->dirs, s->dir_count + 1, sizeof *grown);
	if (!grown) {
		free(copy);
		return -ENOMEM;
	}
	memmove(grown + 1, grown, s->dir_count * sizeof *grown);
	grown[0] = copy;
	s->dirs = grown;
	s->dir_count++;
	return 0;
}

char *state_take(struct state *s, size_t nth)
{
	char *dir;

	if (nth >= s->dir_count)
		return NULL;
	dir = s->dirs[nth];
	s->dir_count--;
	memmove(s->dirs + nth, s->dirs + nth + 1,
		(s->dir_count - nth) * sizeof *s->dirs);
	return dir;
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000u +
		(uint64_t)st->st_ctim.tv_nsec;
}

/* The file is replaced as a whole, so its size does not change. */
static int read_whole(struct buf *b, int fd, size_t size)
{
	char *room = size <= b->max ? buf_reserve(b, size + 1) : NULL;
	ssize_t n = room ? read(fd, room, size + 1) : 0;

	if (!room || n < 0)
		return room ? -errno : -EFBIG;
	b->len = (size_t)n;
	return b->len == size ? 0 : -EIO;
}

int state_load(int dirfd, const char *name, uid_t uid, struct state *s,
	struct diag *d)
{
	autofd int fd = openat(dirfd, name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	struct stat st;
	int err;

	if (fd < 0)
		return diag_errno(d, -errno, "cannot open %s", name);
	err = file_check_regular(fd, uid, name, &st, d);
	if (err)
		return err;
	err = read_whole(&b, fd, (size_t)st.st_size);
	if (err)
		return diag_errno(d, err, "cannot read %s", name);
	err = state_parse(s, buf_str(&b), b.len, d);
	if (err && d)
		diag_at(d, name, d->line, 0);
	s->inode = st.st_ino;
	s->changed_ns = changed_ns(&st);
	buf_release(&s->file);
	s->file = b;
	b = BUF_INIT(0);
	return err;
}

int state_save(int dirfd, const char *name, const struct state *s,
	struct diag *d)
{
	autobuf struct buf b = BUF_INIT(STATE_FILE_MAX);
	int err = state_write(s, &b);

	if (err)
		return diag_errno(d, err, "the state does not fit into a file");
	err = file_replace(dirfd, name, b.data, b.len, 0600, false);
	return err ? diag_errno(d, err, "cannot write %s", name) : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && str_eq(a, b));
}

static bool same_dirs(const struct state *a, const struct state *b)
{
	bool equal = a->dir_count == b->dir_count;

	for (size_t i = 0; equal && i < a->dir_count; i++)
		equal = str_eq(a->dirs[i], b->dirs[i]);
	return equal;
}

static int take_away(void *to, const char *pair, const char *there)
{
	autofree char *name = there ? NULL : strndup(pair, strcspn(pair, "="));

	if (name)
		env_unset(to, name);
	return there || name ? 0 : -ENOMEM;
}

static int put_in(void *to, const char *pair, const char *there)
{
	(void)there;
	return env_put(to, pair);
}

#define SWAP(a, b)                                                             \
	do {                                                                   \
		__typeof__(a) swap_ = (a);                                     \
		(a) = (b);                                                     \
		(b) = swap_;                                                   \
	} while (0)

int state_merge(
	const struct state *before, struct state *after, struct state *to)
{
	bool moved = !to->cwd || !same_text(before->cwd, after->cwd) ||
			!same_text(before->pwd, after->pwd);
	int err = env_differ(&before->env, &after->env, take_away, &to->env);

	if (!err)
		err = env_differ(&after->env, &before->env, put_in, &to->env);
	if (err)
		return err;
	if (moved) {
		SWAP(to->cwd, after->cwd);
		SWAP(to->pwd, after->pwd);
		SWAP(to->old, after->old);
	}
	if (!to->workspace)
		SWAP(to->workspace, after->workspace);
	if (!same_dirs(before, after)) {
		SWAP(to->dirs, after->dirs);
		SWAP(to->dir_count, after->dir_count);
	}
	SWAP(to->changes, after->changes);
	to->has_env |= after->has_env;
	to->code = after->code;
	to->used = after->used;
	if (!to->created)
		to->created = after->created;
	to->commands++;
	return 0;
}

int state_update(int dirfd, const char *name, uid_t uid, struct state *s,
	struct diag *d)
{
	autostate struct state before = STATE_INIT, now = STATE_INIT;
	struct stat st;
	int err;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) ||
		(st.st_ino == s->inode && changed_ns(&st) == s->changed_ns))
		return state_save(dirfd, name, s, d);
	err = state_load(dirfd, name, uid, &now, d);
	if (!err && s->file.len)
		err = state_parse(&before, s->file.data, s->file.len, d);
	if (!err && !before.cwd && s->first_cwd) {
		err = state_path(&before.cwd, s->first_cwd);
		SWAP(before.pwd, s->pwd);
		if (!err)
			err = state_path(&s->pwd, before.pwd);
	}
	if (!err && !before.has_env)
		SWAP(before.env, s->first_env);
	if (err)
		return err;
	err = state_merge(&before, s, &now);
	if (err)
		return diag_errno(d, err, "cannot hold the state");
	SWAP(*s, now);
	return state_save(dirfd, name, s, d);
}
