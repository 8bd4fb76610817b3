/* shim_steps.c - the single steps of putting a shim over a shell
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_steps_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

int shim_open_parent(const struct shim_root *r, const char *path, char *name)
{
	char dir[SHIM_PATH_MAX];
	size_t n = (size_t)(path_base(path) - path);

	if (n >= sizeof dir || str_copy(name, SHIM_PATH_MAX, path + n))
		return -ENAMETOOLONG;
	memcpy(dir, path, n);
	dir[n] = '\0';
	return shim_root_openat(r, dir, O_RDONLY | O_DIRECTORY);
}

/* ".NAME.wardbox" */
static const char *temporary_name(char out[static SHIM_PATH_MAX], const char *name)
{
	struct buf b = {.data = out, .cap = SHIM_PATH_MAX,
		.max = SHIM_PATH_MAX - 1};

	buf_addf(&b, ".%s.wardbox", name);
	return buf_str(&b);
}

static const char *original_name(char out[static SHIM_PATH_MAX], const char *name)
{
	struct buf b = {.data = out, .cap = SHIM_PATH_MAX,
		.max = SHIM_PATH_MAX - 1};

	buf_addf(&b, "%s.real", name);
	return buf_str(&b);
}

static int remove_name(int dir, const char *name)
{
	return unlinkat(dir, name, 0) && errno != ENOENT ? -errno : 0;
}

int shim_put_file(
	int dir, const char *name, const void *bytes, size_t n, mode_t mode)
{
	char temp[SHIM_PATH_MAX];
	autofd int fd = -1;
	int err = remove_name(dir, temporary_name(temp, name));

	if (err)
		return err;
	fd = openat(dir, temp,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = file_write_all(fd, bytes, n);
	if (!err && (fchmod(fd, mode) || fsync(fd) ||
			    renameat(dir, temp, dir, name) || fsync(dir)))
		err = -errno;
	if (err)
		(void)remove_name(dir, temp);
	return err;
}

static int remove_at(const struct shim_root *r, const char *path, int flags)
{
	char name[SHIM_PATH_MAX], temp[SHIM_PATH_MAX];
	autofd int dir = shim_open_parent(r, path, name);

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	(void)remove_name(dir, temporary_name(temp, name));
	return unlinkat(dir, name, flags) && errno != ENOENT ? -errno : 0;
}

int shim_remove(const struct shim_root *r, const char *path)
{
	return remove_at(r, path, 0);
}

int shim_remove_dir(const struct shim_root *r, const char *path)
{
	return remove_at(r, path, AT_REMOVEDIR);
}

int shim_entry_prepare(const struct shim_entry *e)
{
	char temp[SHIM_PATH_MAX], real[SHIM_PATH_MAX];
	int err = remove_name(e->dir, temporary_name(temp, e->name));

	original_name(real, e->name);
	if (err)
		return err;
	if (e->state == SHIM_PLAIN)
		return linkat(e->dir, e->name, e->dir, real, 0) ? -errno : 0;
	if (e->state != SHIM_OVERWRITTEN)
		return 0;
	/* The newer shell replaces the original that was kept so far. */
	if (linkat(e->dir, e->name, e->dir, temp, 0) ||
		renameat(e->dir, temp, e->dir, real))
		return -errno;
	return 0;
}

int shim_entry_swap(const struct shim_entry *e, const char *binary)
{
	char temp[SHIM_PATH_MAX];
	int err = remove_name(e->dir, temporary_name(temp, e->name));

	if (err)
		return err;
	if (symlinkat(binary, e->dir, temp) ||
		renameat(e->dir, temp, e->dir, e->name))
		return -errno;
	return 0;
}

int shim_entry_restore(struct shim_entry *e)
{
	char temp[SHIM_PATH_MAX], real[SHIM_PATH_MAX];
	int err = remove_name(e->dir, temporary_name(temp, e->name));

	original_name(real, e->name);
	if (err || (e->state != SHIM_GUARDED && e->state != SHIM_REMOVED))
		return err;
	if (linkat(e->dir, real, e->dir, temp, 0) ||
		renameat(e->dir, temp, e->dir, e->name))
		return -errno;
	e->state = SHIM_HALF;
	return 0;
}

int shim_entry_forget(const struct shim_entry *e)
{
	char real[SHIM_PATH_MAX];

	/* A file that overwrote the shim is newer than the kept original. */
	if (e->state != SHIM_HALF && e->state != SHIM_OVERWRITTEN)
		return 0;
	return remove_name(e->dir, original_name(real, e->name));
}

static int make_dir(struct shim_root *r, const char *path);

static int add_made(struct shim_root *r, const char *path)
{
	size_t i = r->record.made[0][0] != '\0';

	return str_copy(r->record.made[i], SHIM_PATH_MAX, path);
}

/* Takes over an empty directory without a record: a run was killed between the
 * two. */
static int claim_empty(struct shim_root *r, const char *path)
{
	(void)shim_remove(r, SHIM_RECORD);
	if (!str_eq(path, "/etc/wardbox") || shim_remove_dir(r, path))
		return 0;
	return make_dir(r, path);
}

static int make_dir(struct shim_root *r, const char *path)
{
	char name[SHIM_PATH_MAX];
	autofd int dir = shim_root_openat(r, path, O_PATH | O_DIRECTORY);
	autofd int parent = -1;
	mode_t mask;
	int err;

	if (dir >= 0)
		return r->recorded ? 0 : claim_empty(r, path);
	if (dir != -ENOENT)
		return dir;
	parent = shim_open_parent(r, path, name);
	if (parent < 0)
		return parent;
	/* Every user's shell must be able to read the policy there. */
	mask = umask(022);
	err = mkdirat(parent, name, 0755) ? -errno : 0;
	umask(mask);
	return err ? err : add_made(r, path);
}

int shim_make_etc(struct shim_root *r, struct diag *d)
{
	int err = make_dir(r, "/etc");

	if (!err)
		err = make_dir(r, "/etc/wardbox");
	return err ? diag_errno(d, err, "cannot make /etc/wardbox") : 0;
}

int shim_save_record(const struct shim_root *r, struct diag *d)
{
	autobuf struct buf b = BUF_INIT(SHIM_RECORD_MAX);
	char name[SHIM_PATH_MAX];
	autofd int dir = shim_open_parent(r, SHIM_RECORD, name);
	int err = dir < 0 ? dir : shim_record_write(&r->record, &b);

	if (!err)
		err = shim_put_file(dir, name, b.data, b.len, 0644);
	return err ? diag_errno(d, err, "cannot write " SHIM_RECORD) : 0;
}
