/* undo_store.c - the journals of a user, one directory each
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/file.h"

enum { JOURNALS_MAX = 2048, TRIES = 1000 };

static int lock_file(int fd, int how)
{
	int err;

	do
		err = flock(fd, how);
	while (err && errno == EINTR);
	return err ? -errno : 0;
}

/* Waits while another undo holds the lock: undos of other projects take turns. */
static int lock_in_turn(int fd)
{
	enum { ROUNDS = 400 };
	const struct timespec pause = {.tv_nsec = 50000000};
	int err;

	for (int i = 0; i < ROUNDS; i++) {
		err = lock_file(fd, LOCK_EX | LOCK_NB);
		if (err != -EWOULDBLOCK)
			return err;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

int undo_store_open(int dir, const char *name, bool make, bool alone,
	struct diag *d)
{
	autofd int fd = file_private_dir(dir, name, geteuid(), make, d);
	autofd int lock = -1;

	if (fd < 0)
		return fd;
	if (alone) {
		lock = openat(fd, "lock",
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (lock < 0)
			return diag_errno(d, -errno, "the undo store");
		if (lock_in_turn(lock))
			return diag_fail(d, -EBUSY,
				"another undo is at work, for 20 s already");
		/* Held until this process ends. */
		(void)fd_steal(&lock);
	}
	return fd_steal(&fd);
}

static const char *number_name(char out[static 24], uint64_t n)
{
	return buf_print(out, 24, "%llu", (unsigned long long)n);
}

/* The last number that was given, and a lock on it. */
int undo_new(int store, struct undo_info *info, int *dir, int *journal)
{
	autofd int last = openat(store, "last",
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	uint64_t n = 0;
	char name[24];
	int err = last < 0 ? -errno : lock_file(last, LOCK_EX);

	if (err)
		return err;
	if (pread(last, &n, sizeof n, 0) != (ssize_t)sizeof n)
		n = 0;
	err = -EEXIST;
	for (int i = 0; i < TRIES && err == -EEXIST; i++)
		err = mkdirat(store, number_name(name, ++n), 0700) ? -errno : 0;
	if (err)
		return err;
	if (pwrite(last, &n, sizeof n, 0) != (ssize_t)sizeof n)
		return -ENOSPC;
	info->number = n;
	*dir = openat(store, name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*dir < 0)
		return -errno;
	*journal = openat(*dir, "journal",
		O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	return *journal < 0 ? -errno : lock_file(*journal, LOCK_EX | LOCK_NB);
}

/* The journal goes last, because nothing is found without it, and because it can
 * tell what is missing. */
int undo_drop(int store, uint64_t number)
{
	char name[24];
	autodir DIR *dir = undo_dir_open(store, number_name(name, number));
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && !str_eq(e->d_name, "journal"))
			unlinkat(dirfd(dir), e->d_name, 0);
	unlinkat(dirfd(dir), "journal", 0);
	return unlinkat(store, name, AT_REMOVEDIR) ? -errno : 0;
}

/* -EBUSY while its command lives; else a descriptor. */
static int open_journal(int store, uint64_t number, int *dir)
{
	char name[24];
	int fd;

	*dir = openat(store, number_name(name, number),
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*dir < 0)
		return -errno;
	fd = openat(*dir, "journal", O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* All numbers, in order; -errno or their count. */
static int list_numbers(int store, uint64_t *out)
{
	autodir DIR *dir = undo_dir_open(store, ".");
	struct dirent *e;
	int n = 0;

	if (!dir)
		return -errno;
	while (n < JOURNALS_MAX && (e = readdir(dir)))
		if (!num_u64(e->d_name, 1, UINT64_MAX, &out[n]))
			n++;
	qsort(out, (size_t)n, sizeof *out, by_number);
	return n;
}

static int read_info(int store, uint64_t number, struct undo_info *to)
{
	autofd int dir = -1;
	autofd int fd = open_journal(store, number, &dir);

	if (fd < 0)
		return fd;
	*to = (struct undo_info){.number = number};
	to->running = lock_file(fd, LOCK_SH | LOCK_NB) != 0;
	if (undo_read_info(fd, to))
		return -EBADMSG;
	to->running = lock_file(fd, LOCK_SH | LOCK_NB) != 0;
	return 0;
}

int undo_list(int store, const char *root, struct undo_info **out, size_t *n,
	struct diag *d)
{
	autofree uint64_t *number = calloc(JOURNALS_MAX, sizeof *number);
	struct undo_info *list;
	int count = number ? list_numbers(store, number) : -ENOMEM;

	*out = NULL;
	*n = 0;
	if (count < 0)
		return diag_errno(d, count, "the undo store");
	list = calloc((size_t)count + 1, sizeof *list);
	if (!list)
		return diag_errno(d, -ENOMEM, "the undo store");
	for (int i = 0; i < count; i++)
		if (!read_info(store, number[i], &list[*n]) &&
			(!root || str_eq(list[*n].root, root)))
			++*n;
	for (size_t i = 0; i < *n; i++)
		for (size_t k = 0; k < *n && list[i].kind && list[i].complete; k++)
			if (list[k].number == list[i].of)
				list[k].undone = true;
	*out = list;
	return 0;
}

int undo_forget(int store, uint64_t number, struct diag *d)
{
	struct undo_info info;
	int err = read_info(store, number, &info);

	if (!err && info.running)
		return diag_fail(d, -EBUSY, "its command is still running");
	err = err == -EBADMSG || !err ? undo_drop(store, number) : err;
	return err ? diag_errno(d, err, "undo journal %llu",
			     (unsigned long long)number)
		   : 0;
}

/* The bytes that journal i holds and those of its session behind it. */
static uint64_t held_behind(const struct undo_info *list, size_t i, size_t n)
{
	uint64_t held = 0;

	for (size_t k = i; k < n; k++)
		if (str_eq(list[k].session, list[i].session))
			held += list[k].bytes;
	return held;
}

uint64_t undo_prune(int store, const struct undo_bounds *b)
{
	autofree struct undo_info *list = NULL;
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	uint64_t held = 0, freed = 0;
	size_t n;

	if (undo_list(store, NULL, &list, &n, NULL))
		return 0;
	for (size_t i = 0; i < n; i++)
		held += list[i].bytes;
	for (size_t i = 0; i < n; i++) {
		const struct undo_info *j = &list[i];
		const bool old = b->age_ns && now > j->began_ns &&
			now - j->began_ns > b->age_ns;
		/* The last one can be taken back in any case. */
		const bool many = i + 1 < n &&
			(n - i > JOURNALS_MAX / 2 ||
				(b->keep && held > b->keep) ||
				(b->session &&
					held_behind(list, i, n) > b->session));

		if (j->running || (!old && !many))
			continue;
		if (undo_drop(store, j->number))
			continue;
		held -= j->bytes;
		freed += j->bytes;
	}
	return freed;
}

/* Removes what was saved for a change that did not come to be in the journal. */
static void drop_unknown(const struct undo_model *m)
{
	autodir DIR *dir = undo_dir_open(m->dir, ".");
	struct dirent *e;
	uint64_t id;

	while (dir && (e = readdir(dir)))
		if (!num_u64(e->d_name + 1, m->obj_count, UINT32_MAX, &id))
			unlinkat(m->dir, e->d_name, 0);
}

/* Ends a journal that was cut off. Its tree is as the command left it, with the
 * changes of others since. */
static int close_cut(struct undo_model *m, int store, int *fd)
{
	const struct undo_spec spec = {.store = store, .kind = m->info.kind};
	struct undo u = {
		.spec = &spec, .m = m, .out.fd = *fd, .began = m->info.began_ns};
	int err = ftruncate(*fd, (off_t)m->whole) ? -errno : 0;

	drop_unknown(m);
	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		undo_hash_obj(&u, id);
	for (uint32_t i = 0; i < m->ent_count; i++)
		undo_hash_ent(&u, i);
	if (!err)
		err = undo_end_cut(&u);
	free(u.objs);
	free(u.ents);
	return err;
}

int undo_load(int store, uint64_t number, struct undo_model **out,
	struct diag *d)
{
	struct undo_model *m = undo_model_new();
	autofd int fd = -1;
	int err = m ? 0 : -ENOMEM;

	*out = NULL;
	if (!err) {
		fd = open_journal(store, number, &m->dir);
		err = fd < 0 ? fd : 0;
	}
	if (!err && lock_file(fd, LOCK_EX | LOCK_NB))
		err = -EBUSY;
	if (!err)
		err = undo_read(fd, m);
	if (m)
		m->info.number = number;
	if (!err)
		err = undo_again_follow(store, m);
	if (!err) {
		if (!m->info.ended)
			err = close_cut(m, store, &fd);
	}
	if (!err) {
		*out = m;
		return 0;
	}
	undo_free(&m);
	if (err == -EBUSY)
		return diag_fail(d, err,
			"the command of undo journal %llu is still running",
			(unsigned long long)number);
	return diag_errno(d, err, "undo journal %llu",
		(unsigned long long)number);
}
