/* undo_again.c - objects that a restore made anew, for the journals of before
 * SPDX-License-Identifier: MIT
 *
 * A file that comes back from a copy is another inode. Older journals know the
 * one of before, and by it the other names that a file has.
 */
#include "undo/undo_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/file.h"

enum { AGAIN_MAX = 1 << 24, HOPS_MAX = 256 };

struct ident {
	uint64_t dev, ino, btime;
};
struct again {
	struct ident was, is;
};

static struct ident ident_of(const struct undo_stat *st)
{
	return (struct ident){st->dev, st->ino, st->btime};
}

static int by_was(const void *a, const void *b)
{
	const struct ident *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->btime != y->btime)
		return x->btime < y->btime ? -1 : 1;
	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

int undo_again_note(int store, const struct undo_stat *was,
	const struct undo_stat *is)
{
	const struct again pair = {ident_of(was), ident_of(is)};
	autofd int fd = openat(store, "again", O_WRONLY | O_CREAT | O_APPEND |
			O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	/* A number alone is given to another file in time. */
	if (!was->btime || !is->btime)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_size >= AGAIN_MAX && ftruncate(fd, 0))
		return -errno;
	return file_write_all(fd, &pair, sizeof pair);
}

static void follow(struct undo_stat *st, const struct again *all, size_t n)
{
	const struct again *pair = NULL;

	for (unsigned i = 0; st->mode && i < HOPS_MAX; i++) {
		const struct ident was = ident_of(st);

		pair = bsearch(&was, all, n, sizeof *all, by_was);
		if (!pair)
			return;
		st->dev = pair->is.dev;
		st->ino = pair->is.ino;
		st->btime = pair->is.btime;
	}
}

int undo_again_follow(int store, struct undo_model *m)
{
	autofd int fd = openat(store, "again", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	autobuf struct buf b = BUF_INIT(2 * AGAIN_MAX);
	struct again *all;
	size_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (buf_read_fd(&b, fd))
		return -EIO;
	/* The heap's blocks are aligned for any type. */
	all = (struct again *)(void *)b.data;
	n = b.len / sizeof *all;
	if (!n)
		return 0;
	qsort(all, n, sizeof *all, by_was);
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++) {
		follow(&m->obj[id].before, all, n);
		follow(&m->obj[id].after, all, n);
	}
	return 0;
}
