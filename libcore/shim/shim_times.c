/* shim_times.c - directories look afterwards as they looked before
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_steps_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

static int note_time(struct shim_root *r, const char *path)
{
	autofd int fd = shim_root_openat(r, path, O_RDONLY | O_DIRECTORY);
	struct shim_record *rec = &r->record;
	struct stat st;

	for (size_t i = 0; i < rec->time_count; i++)
		if (str_eq(rec->time[i].path, path))
			return 0;
	if (fd < 0 || fstat(fd, &st))
		return 0;
	if (rec->time_count == SHIM_DIRS_MAX)
		return -E2BIG;
	rec->time[rec->time_count].before = st.st_mtim;
	rec->time[rec->time_count].after = st.st_mtim;
	return str_copy(rec->time[rec->time_count++].path, SHIM_PATH_MAX, path);
}

int shim_times_before(struct shim_root *r)
{
	char dir[SHIM_PATH_MAX];
	size_t n = (size_t)(path_base(r->record.binary) - r->record.binary);
	int err = 0;

	for (size_t i = 0; i < SHIM_PLACES && !err; i++)
		if (r->place[i].fd >= 0)
			err = note_time(r, r->place[i].path);
	memcpy(dir, r->record.binary, n);
	dir[n > 1 ? n - 1 : n] = '\0';
	if (!err)
		err = note_time(r, dir);
	if (!err)
		err = note_time(r, "/");
	if (!err)
		err = note_time(r, "/etc");
	return err ? err : note_time(r, "/etc/wardbox");
}

static int time_now(const struct shim_root *r, const char *path,
	struct timespec *t)
{
	autofd int fd = shim_root_openat(r, path, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -ENOENT;
	*t = st.st_mtim;
	return 0;
}

static void set_time(const struct shim_root *r, const char *path,
	const struct timespec *t)
{
	struct timespec set[2] = {{.tv_nsec = UTIME_OMIT}, *t};
	autofd int fd = shim_root_openat(r, path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0)
		(void)futimens(fd, set);
}

int shim_end_record(struct shim_root *r, struct diag *d)
{
	struct shim_record *rec = &r->record;
	int err;

	rec->busy = false;
	for (size_t i = 0; i < rec->time_count; i++)
		(void)time_now(r, rec->time[i].path, &rec->time[i].after);
	err = shim_save_record(r, d);
	/* Writing the record has changed its own directory once more. */
	for (size_t i = 0; i < rec->time_count && !err; i++)
		set_time(r, rec->time[i].path, &rec->time[i].after);
	return err;
}

void shim_times_check(struct shim_root *r)
{
	struct shim_record *rec = &r->record;

	for (size_t i = rec->time_count; i-- > 0;) {
		struct timespec now;

		if (!time_now(r, rec->time[i].path, &now) &&
			now.tv_sec == rec->time[i].after.tv_sec &&
			now.tv_nsec == rec->time[i].after.tv_nsec)
			continue;
		rec->time_count--;
		memmove(&rec->time[i], &rec->time[i + 1],
			(rec->time_count - i) * sizeof rec->time[0]);
	}
}

void shim_times_restore(const struct shim_root *r)
{
	for (size_t i = 0; i < r->record.time_count; i++)
		set_time(r, r->record.time[i].path, &r->record.time[i].before);
}
