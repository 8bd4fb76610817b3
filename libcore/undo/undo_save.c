/* undo_save.c - one object: what it is, its content, its metadata
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_in.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/file.h"
#include "sys/sha256_hw.h"

/* The kernel's struct statx: C libraries differ in whether they have one. */
struct kernel_time {
	int64_t sec;
	uint32_t nsec;
	int32_t spare;
};
struct kernel_stat {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	struct kernel_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare[14];
};
enum {
	STAT_WANTED = 0xfff, /* all the basic ones, and the birth */
	STAT_EMPTY_PATH = 0x1000,
	STAT_NOFOLLOW = 0x100,
	COPY_STEP = 1 << 30,
	OVERLAY = 0x794c7630,
};
static const unsigned long file_clone = 0x40049409; /* FICLONE */

static uint64_t as_nanoseconds(struct kernel_time t)
{
	return (uint64_t)t.sec * 1000000000U + t.nsec;
}

/* An overlay makes a file of a lower layer anew when it first changes: the number
 * stays, and the birth does not. */
static bool is_overlay(int dir, const char *name)
{
	struct statfs fs;

	return !(dir == AT_FDCWD ? statfs(name, &fs) : fstatfs(dir, &fs)) &&
		fs.f_type == OVERLAY;
}

int undo_stat(int dir, const char *name, struct undo_stat *out)
{
	struct kernel_stat k = {.mask = 0};

	if (syscall(SYS_statx, dir, name,
		    STAT_NOFOLLOW | (*name ? 0 : STAT_EMPTY_PATH), STAT_WANTED,
		    &k) < 0) {
		out->mode = 0;
		return -errno;
	}
	*out = (struct undo_stat){
		.dev = makedev(k.dev_major, k.dev_minor),
		.ino = k.ino,
		.btime = as_nanoseconds(k.btime),
		.ctime = as_nanoseconds(k.ctime),
		.mtime = as_nanoseconds(k.mtime),
		.atime = as_nanoseconds(k.atime),
		.size = k.size,
		.rdev = makedev(k.rdev_major, k.rdev_minor),
		.mode = k.mode,
		.uid = k.uid,
		.gid = k.gid,
		.nlink = k.nlink,
	};
	if (!k.dev_major && is_overlay(dir, name))
		out->btime = 0;
	return 0;
}

/* A name by which calls that know no descriptor reach what it is open on. */
static void proc_name(char out[static 40], int fd)
{
	buf_print(out, 40, "/proc/self/fd/%d", fd);
}

/* Names first, then room for one value. */
enum { XATTR_ONE = 1 << 16 };

/* 0: it has none, or the file system knows none. */
static ssize_t list_xattrs(const char *path, char **room)
{
	ssize_t n = listxattr(path, NULL, 0);

	*room = NULL;
	if (n <= 0)
		return n < 0 && errno != ENOTSUP ? -errno : 0;
	*room = malloc(2 * (size_t)XATTR_ONE);
	if (!*room)
		return -ENOMEM;
	n = listxattr(path, *room, XATTR_ONE);
	return n < 0 ? -errno : n;
}

int undo_xattrs(int dir, const char *name, struct buf *out)
{
	autofd int fd = -1;
	autofree char *room = NULL;
	char path[40];
	ssize_t n, len;

	if (*name)
		fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*name && fd < 0)
		return -errno;
	proc_name(path, *name ? fd : dir);
	n = list_xattrs(path, &room);
	if (n < 0)
		return (int)n;
	for (const char *at = room; at < room + n; at += strlen(at) + 1) {
		char *value = room + XATTR_ONE;
		uint32_t size;

		len = getxattr(path, at, value, XATTR_ONE);
		if (len < 0) {
			if (errno == ENODATA)
				continue;
			return -errno;
		}
		size = (uint32_t)len;
		buf_add(out, at, strlen(at) + 1);
		buf_add(out, &size, sizeof size);
		buf_add(out, value, (size_t)len);
	}
	return out->err;
}

int undo_open_file(int dir, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		O_CLOEXEC;
	int fd = openat(dir, name, flags | O_NOATIME);
	struct stat st;

	if (fd < 0 && errno == EPERM)
		fd = openat(dir, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

static int copy_range(int from, int to, off_t at, off_t end)
{
	if (lseek(to, at, SEEK_SET) < 0)
		return -errno;
	while (at < end) {
		off_t left = end - at;
		ssize_t n = sendfile(to, from, &at,
			(size_t)(left > COPY_STEP ? COPY_STEP : left));

		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

int undo_copy(int from, int to, uint64_t size, uint64_t *left)
{
	enum { SECTOR = 512 };
	off_t data, hole = 0;
	struct stat st;
	int err = 0;

	if (syscall(SYS_ioctl, to, file_clone, from) == 0)
		return 0;
	if (left && !fstat(from, &st)) {
		const uint64_t held = (uint64_t)st.st_blocks * SECTOR;
		const uint64_t n = held < size ? held : size;

		if (n > *left)
			return -EFBIG;
		*left -= n;
	}
	if (ftruncate(to, (off_t)size))
		return -errno;
	while (!err && hole < (off_t)size) {
		data = lseek(from, hole, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			return copy_range(from, to, hole, (off_t)size);
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || hole > (off_t)size)
			hole = (off_t)size;
		err = copy_range(from, to, data, hole);
	}
	return err;
}

bool undo_sum_file(int fd, uint64_t *budget, uint8_t out[static UNDO_SHA])
{
	const br_hash_class *sha = sha256_pick();
	br_sha256_context hash;
	struct stat st;
	char block[4096];
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > UNDO_HASHED_MAX ||
		(uint64_t)st.st_size > *budget)
		return false;
	*budget -= (uint64_t)st.st_size;
	sha->init(&hash.vtable);
	while ((n = pread(fd, block, sizeof block, at)) > 0) {
		hash.vtable->update(&hash.vtable, block, (size_t)n);
		at += n;
		if (at > UNDO_HASHED_MAX)
			return false;
	}
	if (n < 0)
		return false;
	hash.vtable->out(&hash.vtable, out);
	return true;
}

const char *undo_saved_name(char out[static 16], char kind, uint32_t id)
{
	return buf_print(out, 16, "%c%u", kind, id);
}

static bool has_xattr(const char *all, uint32_t len, const char *name)
{
	uint32_t size;

	for (const char *at = all; at < all + len;) {
		if (str_eq(at, name))
			return true;
		at += strlen(at) + 1;
		memcpy(&size, at, sizeof size);
		at += sizeof size + size;
	}
	return false;
}

/* Sets and removes only attributes that differ from before. */
static int set_xattrs(const char *path, const struct undo_obj *o)
{
	autofree char *room = NULL;
	autofree char *value = malloc(XATTR_ONE);
	ssize_t n = list_xattrs(path, &room), len;
	int err = value ? 0 : -ENOMEM;

	for (const char *at = room; n > 0 && at < room + n; at += strlen(at) + 1)
		if (!has_xattr(o->xattr, o->xattr_len, at) &&
			removexattr(path, at))
			err = -errno;
	for (const char *at = o->xattr;
		value && at < o->xattr + o->xattr_len;) {
		const char *name = at, *to;
		uint32_t size;

		at += strlen(at) + 1;
		memcpy(&size, at, sizeof size);
		to = at + sizeof size;
		at = to + size;
		len = getxattr(path, name, value, XATTR_ONE);
		if (len == (ssize_t)size && !memcmp(value, to, size))
			continue;
		if (setxattr(path, name, to, size, 0))
			err = -errno;
	}
	return err;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)((int64_t)ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000)};
}

/* Works on one opened object, because somebody who writes there could lead its
 * name elsewhere meanwhile. */
int undo_set_meta(int dir, const char *name, const struct undo_stat *to,
	const struct undo_obj *o)
{
	const struct timespec times[2] = {
		time_of(to->atime), time_of(to->mtime)};
	autofd int fd = openat(dir, *name ? name : ".",
		O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct undo_stat is;
	char path[40];
	mode_t special;
	bool timed;
	int err = fd < 0 ? -errno : undo_stat(fd, "", &is);

	if (err)
		return err;
	if ((is.mode ^ to->mode) & S_IFMT || (o && undo_mark(&is) != o->seen))
		return -ESTALE;
	/* A file that another user could write to gets no set-id bits back. */
	special = undo_is_file(to) && to->uid != is.uid && is.uid != geteuid()
			? 06000 : 0;
	if ((to->uid != is.uid || to->gid != is.gid) &&
		fchownat(fd, "", to->uid, to->gid, AT_EMPTY_PATH))
		err = -errno;
	timed = is.mtime != to->mtime || is.atime != to->atime;
	if (undo_is_link(to))
		return timed && utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) &&
				!err
			? -errno : err;
	proc_name(path, fd);
	/* A change of owner takes special bits away. */
	if ((to->mode != is.mode || to->uid != is.uid || to->gid != is.gid) &&
		chmod(path, to->mode & 07777 & ~special))
		err = err ? err : -errno;
	if (o && o->touched & UNDO_T_XATTR && set_xattrs(path, o))
		err = err ? err : -EPERM;
	/* Times of somebody else's file cannot be set. */
	if (timed && utimensat(AT_FDCWD, path, times, 0) &&
		is.mtime != to->mtime)
		err = err ? err : -errno;
	return err;
}
