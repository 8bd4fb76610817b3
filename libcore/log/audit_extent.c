/* audit_extent.c - what of a directory is the log
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_extent_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/audit_place.h"
#include "sys/file.h"
#include "base/str.h"

static int by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

static int add_first(uint64_t **firsts, int *n, uint64_t first)
{
	enum { SEGMENTS_MAX = 1 << 20 };
	uint64_t *grown;

	if (*n >= SEGMENTS_MAX)
		return -E2BIG;
	if (!(*n & (*n - 1))) {
		size_t cap = *n ? 2 * (size_t)*n : 1;

		grown = reallocarray(*firsts, cap, sizeof **firsts);
		if (!grown)
			return -ENOMEM;
		*firsts = grown;
	}
	(*firsts)[(*n)++] = first;
	return 0;
}

/* Calls each for every name of the directory, until one returns an error. */
static int dir_each(int dirfd, int (*each)(void *ctx, const char *name),
	void *ctx, struct diag *d)
{
	autofd int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autodir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return diag_errno(d, -errno, "audit log: cannot list it");
	fd_steal(&fd);
	while (!err && (errno = 0, entry = readdir(dir)))
		err = each(ctx, entry->d_name);
	if (!err && errno)
		err = -errno;
	return err ? diag_errno(d, err, "audit log: cannot list it") : 0;
}

struct listing {
	uint64_t *firsts;
	int count;
};

static int list_name(void *ctx, const char *name)
{
	struct listing *l = ctx;
	uint64_t first;

	return audit_segment_parse(name, &first)
		? 0
		: add_first(&l->firsts, &l->count, first);
}

int audit_segments(int dirfd, uint64_t **firsts, struct diag *d)
{
	struct listing l = {0};
	int err = dir_each(dirfd, list_name, &l, d);

	if (err)
		free(l.firsts);
	*firsts = err ? NULL : l.firsts;
	if (!err && l.count)
		qsort(l.firsts, (size_t)l.count, sizeof *l.firsts, by_number);
	return err ? err : l.count;
}

void audit_extent_release(struct audit_extent *e)
{
	free(e->firsts);
	explicit_bzero(e, sizeof *e);
}

/* Is it a regular file, and how long? */
static bool file_regular(int dirfd, const char *name, struct stat *st)
{
	return !fstatat(dirfd, name, st, AT_SYMLINK_NOFOLLOW) &&
		S_ISREG(st->st_mode);
}

static bool segment_known(const struct audit_extent *e, uint64_t first)
{
	return !e->good || first <= e->head.segment;
}

int audit_extent_list(struct audit_extent *e, int dirfd, struct diag *d)
{
	int n = audit_segments(dirfd, &e->firsts, d);

	e->count = 0;
	for (int i = 0; i < n; i++) {
		char name[AUDIT_NAME];
		struct stat st;

		audit_segment_name(name, e->firsts[i]);
		if (segment_known(e, e->firsts[i]) &&
			file_regular(dirfd, name, &st))
			e->firsts[e->count++] = e->firsts[i];
	}
	return n < 0 ? n : 0;
}

/* Writers hold the lock for microseconds; a stopped writer must not keep us
 * from looking. */
static bool lock_shared(int fd)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (int i = 0; i < 2000; i++) {
		if (!flock(fd, LOCK_SH | LOCK_NB))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

static void read_head(
	struct audit_extent *e, int dirfd, int fd, crc32c_fn *crc)
{
	uint8_t raw[AUDIT_HEAD];
	char name[AUDIT_NAME];
	struct stat st;
	ssize_t got = pread(fd, raw, sizeof raw, 0);

	e->blank = !got;
	e->good = got == sizeof raw && !audit_head_parse(&e->head, raw, crc);
	explicit_bzero(raw, sizeof raw);
	if (!e->good)
		return;
	audit_boot_id(e->boot_id);
	e->rebooted = memcmp(e->head.boot_id, e->boot_id, AUDIT_ID) != 0;
	audit_segment_name(name, e->head.segment);
	if (file_regular(dirfd, name, &st))
		e->size = (uint64_t)st.st_size;
	/* When the machine went down the head may have lost the last
	 * records. */
	e->limit = e->rebooted ? e->size : e->head.end;
}

int audit_extent_take(struct audit_extent *e, int dirfd, crc32c_fn *crc,
	struct diag *d)
{
	autofd int fd = openat(dirfd, "head",
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	*e = AUDIT_EXTENT_INIT;
	if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENXIO)
		return diag_errno(d, -errno, "audit log: %s", "head");
	if (fd >= 0) {
		e->there = true;
		e->unlocked = !lock_shared(fd);
		read_head(e, dirfd, fd, crc);
	}
	/* The lock on fd keeps writers from beginning a segment. */
	return audit_extent_list(e, dirfd, d);
}

struct strays {
	int dirfd;
	const struct audit_extent *extent;
	void (*each)(void *ctx, const struct audit_stray *s);
	void *ctx;
};

/* "spine.1234abcd.tmp" and "expunge.tmp". */
static bool name_temporary(const char *name)
{
	return str_eq(name, "expunge.tmp") || str_glob("spine.*.tmp", name);
}

static int stray_name(void *ctx, const char *name)
{
	const struct strays *all = ctx;
	const size_t len = strlen(name);
	struct audit_stray s = {.kind = AUDIT_STRAY_FOREIGN};
	const bool own = str_eq(name, "head") || str_eq(name, "spine");
	const bool segment = !audit_segment_parse(name, &s.first);
	struct stat st = {0};
	const bool regular = file_regular(all->dirfd, name, &st);

	if (str_eq(name, ".") || str_eq(name, ".."))
		return 0;
	if (own || (segment && segment_known(all->extent, s.first))) {
		if (regular)
			return 0;
		s.kind = AUDIT_STRAY_SHAPE;
	} else if (segment) {
		s.kind = regular ? AUDIT_STRAY_BEYOND : AUDIT_STRAY_SHAPE;
	} else if (len >= 4 && strcasecmp(name + len - 4, ".aud") == 0) {
		s.kind = AUDIT_STRAY_SPELLING;
	} else if (regular && name_temporary(name)) {
		s.kind = AUDIT_STRAY_TEMPORARY;
	}
	for (size_t i = 0; i < len && i < sizeof s.name - 1; i++)
		s.name[i] = name[i] > ' ' && name[i] < 0x7f ? name[i] : '?';
	s.size = (uint64_t)st.st_size;
	s.mode = st.st_mode;
	/* A segment may be begun, or a spine written, while the names are
	 * listed. */
	if (st.st_mode)
		all->each(all->ctx, &s);
	return 0;
}

int audit_strays(int dirfd, const struct audit_extent *e,
	void (*each)(void *ctx, const struct audit_stray *s), void *ctx,
	struct diag *d)
{
	struct strays all = {
		.dirfd = dirfd, .extent = e, .each = each, .ctx = ctx};

	return dir_each(dirfd, stray_name, &all, d);
}
