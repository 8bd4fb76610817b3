/* state.c - the state of a session: its parts, and its file
 * SPDX-License-Identifier: MIT
 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

void state_release(struct state *s)
{
	free(s->cwd);
	free(s->pwd);
	free(s->old);
	free(s->workspace);
	for (size_t i = 0; i < s->dir_count; i++)
		free(s->dirs[i]);
	free(s->dirs);
	env_release(&s->env);
	*s = STATE_INIT;
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
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return diag_fail(d, -EINVAL, "%s is no regular file", name);
	err = file_check_trusted(fd, uid, name, d);
	if (err)
		return err;
	err = buf_read_fd(&b, fd);
	if (err)
		return diag_errno(d, err, "cannot read %s", name);
	err = state_parse(s, buf_str(&b), b.len, d);
	if (err && d)
		diag_at(d, name, d->line, 0);
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
