/* undo_again.c - files that a restore gave another inode, for older journals
 * SPDX-License-Identifier: MIT
 *
 * A file that comes back from a copy is another inode. Older journals know the
 * one of before, and by it the other names that the file has. So each restore
 * notes in the store, in order, which inode stands for which from then on.
 */
#include "undo/undo_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/file.h"

enum { AGAIN_MAX = 1 << 24 };

struct again {
	struct undo_ident was, is;
	uint64_t at; /* its place in the file */
	uint64_t by; /* the journal of the restore */
};

struct undo_ident undo_ident(const struct undo_stat *st)
{
	return (struct undo_ident){st->dev, st->ino, st->btime};
}

static int compare_idents(const struct undo_ident *a, const struct undo_ident *b)
{
	return memcmp(a, b, sizeof *a);
}

static int by_was(const void *a, const void *b)
{
	const struct again *x = a, *y = b;
	const int order = compare_idents(&x->was, &y->was);

	return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

int undo_again_note(int store, uint64_t by, const struct undo_ident *was,
	const struct undo_stat *is)
{
	struct again pair = {.was = *was, .is = undo_ident(is), .by = by};
	autofd int fd = -1;
	struct stat st;

	/* A number alone is given to another file in time. */
	if (!was->btime || !is->btime || !compare_idents(was, &pair.is))
		return 0;
	fd = openat(store, "again", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
			O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_size >= AGAIN_MAX && ftruncate(fd, st.st_size = 0))
		return -errno;
	pair.at = (uint64_t)st.st_size / sizeof pair;
	return file_write_all(fd, &pair, sizeof pair);
}

/* The object that stands now for the one of the time when the note at was made. */
static struct undo_ident follow_notes(
	struct undo_ident id, uint64_t at, const struct again *all, size_t n)
{
	for (;;) {
		const struct again want = {.was = id, .at = at};
		size_t low = 0, high = n;

		while (low < high) {
			const size_t mid = low + (high - low) / 2;

			if (by_was(&all[mid], &want) < 0)
				low = mid + 1;
			else
				high = mid;
		}
		if (low == n || compare_idents(&all[low].was, &id))
			return id;
		id = all[low].is;
		at = all[low].at + 1;
	}
}

static void follow_stat(
	struct undo_stat *st, uint64_t at, const struct again *all, size_t n)
{
	const struct undo_ident id = follow_notes(undo_ident(st), at, all, n);

	st->dev = id.dev;
	st->ino = id.ino;
	st->btime = id.btime;
}

int undo_again_follow(int store, struct undo_model *m)
{
	autofd int fd = openat(store, "again", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	autobuf struct buf b = BUF_INIT(2 * AGAIN_MAX);
	uint64_t own = 0, later = 0;
	struct again *all;
	size_t n;

	if (fd < 0 && errno != ENOENT)
		return -errno;
	if (fd >= 0 && buf_read_fd(&b, fd))
		return -EIO;
	/* The heap's blocks are aligned for any type. */
	all = (struct again *)(void *)b.data;
	n = b.len / sizeof *all;
	for (size_t i = 0; i < n; i++) {
		own += all[i].by < m->info.number;
		later += all[i].by <= m->info.number;
	}
	if (n)
		qsort(all, n, sizeof *all, by_was);
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++) {
		struct undo_obj *o = &m->obj[id];

		o->now = follow_notes(undo_ident(&o->before), own, all, n);
		follow_stat(&o->before, later, all, n);
		follow_stat(&o->after, later, all, n);
	}
	return 0;
}
