/* profile_write.c - somebody's startup file, changed so that it never breaks
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "profile/profile_open.h"
#include "base/str.h"

enum { TRIES = 4, XATTRS_MAX = 65536, BACKUPS_MAX = 1000 };

struct job {
	const struct profile_write *ask;
	struct profile_written *out;
	struct profile_open at;
	struct stat st; /* of the file that was read */
	bool missing;
	struct diag *d;
};

void profile_written_release(struct profile_written *w)
{
	buf_release(&w->before);
	buf_release(&w->after);
}

static int lock_dir(struct job *j)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	unsigned waited = 0;

	while (flock(j->at.dirfd, LOCK_EX | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return diag_errno(j->d, -errno,
				"cannot lock the directory of %s",
				j->ask->path);
		if (waited >= j->ask->wait_ms)
			return diag_fail(j->d, -EAGAIN,
				"%s: another writer holds its directory",
				j->ask->path);
		nanosleep(&pause, NULL);
		waited += 10;
	}
	return 0;
}

static int read_old(struct job *j, int *fd)
{
	int err;

	j->missing = j->out->missing = false;
	buf_clear(&j->out->before);
	/* Looked at before it is opened: opening a device may do something. */
	if (fstatat(j->at.dirfd, j->at.name, &j->st, AT_SYMLINK_NOFOLLOW) == 0 &&
		!S_ISREG(j->st.st_mode))
		return diag_fail(
			j->d, -EBADMSG, "%s is not a file", j->ask->path);
	*fd = openat(j->at.dirfd, j->at.name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT) {
		j->missing = j->out->missing = true;
		return 0;
	}
	if (*fd < 0 || fstat(*fd, &j->st))
		return diag_of(j->d, -errno, j->ask->path);
	err = S_ISREG(j->st.st_mode) ? buf_read_fd(&j->out->before, *fd)
				     : -EIO;
	if (err == -ENOBUFS)
		return diag_fail(j->d, -EFBIG, "%s is larger than %d bytes",
			j->ask->path, PROFILE_TEXT_MAX);
	/* In this function -EAGAIN means that another writer changed the
	 * file. */
	if (err == -EAGAIN)
		err = -EIO;
	return err ? diag_of(j->d, err, j->ask->path) : 0;
}

/* Refuses a write that a rename makes possible although the owner forbade it:
 * by a mode without write bit, an attribute, a store of packages. */
static int check_writable(struct job *j, int fd)
{
	char real[1024];
	struct statvfs fs;
	int attributes = 0;
	const char *why = NULL;

	if (fstatvfs(j->at.dirfd, &fs) == 0 && (fs.f_flag & ST_RDONLY))
		return diag_fail(j->d, -EROFS,
			"%s is on a read-only file system", j->ask->path);
	if (path_of_fd(j->at.dirfd, real, sizeof real) == 0 &&
		path_beneath("/nix/store", real))
		why = "is made by a package manager (/nix/store)";
	if (!j->missing) {
		if (syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &attributes) == 0 &&
			(attributes & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
			why = attributes & FS_IMMUTABLE_FL
				      ? "has the immutable attribute"
				      : "has the append-only attribute";
		else if (!(j->st.st_mode & 0222) ||
			 faccessat(j->at.dirfd, j->at.name, W_OK, AT_EACCESS))
			why = "is read-only";
	}
	if (!why && faccessat(j->at.dirfd, ".", W_OK | X_OK, AT_EACCESS))
		why = "is in a directory that is read-only";
	if (!why)
		return 0;
	return diag_fail(j->d, -EACCES,
		"%s %s\036add the lines by hand where the file is made, or use "
		"'profile print'",
		j->ask->path, why);
}

static int copy_xattrs(int from, int to)
{
	autofree char *names = malloc(XATTRS_MAX);
	autofree char *value = malloc(XATTRS_MAX);
	ssize_t n;

	if (!names || !value)
		return -ENOMEM;
	n = flistxattr(from, names, XATTRS_MAX);
	if (n < 0)
		return errno == ENOTSUP ? 0 : -errno;
	for (char *name = names; name < names + n; name += strlen(name) + 1) {
		ssize_t len = fgetxattr(from, name, value, XATTRS_MAX);

		/* The labels of a security module are its own to give. */
		if (len < 0)
			continue;
		if (fsetxattr(to, name, value, (size_t)len, 0) &&
			!str_after(name, "security."))
			return -errno;
	}
	return 0;
}

static mode_t new_mode(const struct job *j)
{
	return (j->st.st_mode & 07777 & ~j->ask->less) | j->ask->more;
}

/* Gives the new file what the old one had. */
static int dress_new(const struct job *j, int old, int new)
{
	mode_t mask;

	if (j->missing) {
		mask = umask(0);
		umask(mask);
		/* A file for all users is one that all can read. */
		if (j->ask->flags & PROFILE_OPEN_PUBLIC)
			mask = 022;
		return fchmod(new, 0666 & ~mask) ? -errno : 0;
	}
	if ((j->st.st_uid != geteuid() || j->st.st_gid != getegid()) &&
		fchown(new, j->st.st_uid, j->st.st_gid))
		return -errno;
	if (fchmod(new, new_mode(j)))
		return -errno;
	return copy_xattrs(old, new);
}

/* The temporary's name is fixed: under the lock only one writer has it, and
 * one that was killed leaves at most this behind. */
static int temporary_name(const struct job *j, char *out, size_t size)
{
	return *buf_print(out, size, ".%s.wardbox~", j->at.name)
		       ? 0
		       : -ENAMETOOLONG;
}

/* A file that was not there: a descriptor, or -errno. */
static int make_file(int dir, const char *name)
{
	int fd = openat(dir, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int write_temporary(struct job *j, int old, const char *temp)
{
	autofd int fd = -1;
	int err;

	unlinkat(j->at.dirfd, temp, 0);
	fd = make_file(j->at.dirfd, temp);
	if (fd < 0)
		return fd;
	err = file_write_all(fd, j->out->after.data, j->out->after.len);
	if (!err)
		err = dress_new(j, old, fd);
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

/* Is the file still the one that was read? */
static bool is_unmoved(const struct job *j)
{
	struct stat now;

	if (fstatat(j->at.dirfd, j->at.name, &now, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT && j->missing;
	return !j->missing && now.st_dev == j->st.st_dev &&
	       now.st_ino == j->st.st_ino && now.st_size == j->st.st_size &&
	       now.st_mtim.tv_sec == j->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == j->st.st_mtim.tv_nsec;
}

/* Under the first name that is free: a backup that is there already may be all
 * that is left of what its owner wrote. */
static int keep_old(struct job *j, int dir, char name[NAME_MAX + 1])
{
	const struct buf *old = &j->out->before;
	char number[12] = "";
	int err, fd = -EEXIST;

	for (unsigned i = 1; fd == -EEXIST && i <= BACKUPS_MAX; i++) {
		if (!*buf_print(name, NAME_MAX + 1, "%s.wardbox-backup%s",
			    j->at.name, number))
			return -ENAMETOOLONG;
		fd = make_file(dir, name);
		BUF_PRINT(number, ".%u", i);
	}
	if (fd < 0)
		return fd;
	err = file_write_all(fd, old->data, old->len);
	if (!err && fsync(fd))
		err = -errno;
	if (err)
		unlinkat(dir, name, 0);
	close(fd);
	return err;
}

static int keep_backup(struct job *j)
{
	const char *dir = j->ask->backup_dir;
	char name[NAME_MAX + 1];
	char place[1024];
	int err;

	if (!dir || j->missing)
		return 0;

	autofd int own = *dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			      : -1;
	int fd = *dir ? own : j->at.dirfd;

	if (fd < 0)
		return diag_of(j->d, -errno, dir);
	err = keep_old(j, fd, name);
	if (!err)
		err = path_of_fd(fd, place, sizeof place);
	if (!err)
		err = path_join(
			j->out->backup, sizeof j->out->backup, place, name);
	return err ? diag_errno(j->d, err, "cannot keep a backup of %s",
			     j->ask->path)
		   : 0;
}

/* For a file that cannot be renamed over: a mount point, or one with several
 * names that are to stay one file. The old bytes lie beside it meanwhile. */
static int write_in_place(struct job *j)
{
	const struct buf *new = &j->out->after;
	autofd int fd = -1;
	char temp[NAME_MAX + 1];
	int err = temporary_name(j, temp, sizeof temp);

	/* In a directory that anyone may write to, another name may be
	 * anything. */
	if (j->st.st_nlink > 1 && (j->ask->flags & PROFILE_OPEN_TRUSTED) &&
		j->st.st_uid)
		return -EPERM;
	if (!err)
		err = file_replace(j->at.dirfd, temp, j->out->before.data,
			j->out->before.len, 0600, true);
	if (err)
		return err;
	fd = openat(j->at.dirfd, j->at.name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		unlinkat(j->at.dirfd, temp, 0);
		return err;
	}
	err = file_write_all(fd, new->data, new->len);
	if (!err && (ftruncate(fd, (off_t) new->len) ||
			    ((j->ask->less | j->ask->more) &&
				    fchmod(fd, new_mode(j))) ||
			    fsync(fd)))
		err = -errno;
	if (!err) {
		unlinkat(j->at.dirfd, temp, 0);
		j->out->in_place = true;
	}
	return err;
}

static int put_new(struct job *j, int old)
{
	char temp[NAME_MAX + 1];
	int err = temporary_name(j, temp, sizeof temp);

	if (err)
		return err;
	if (!j->missing && j->st.st_nlink > 1)
		return is_unmoved(j) ? write_in_place(j) : -EAGAIN;
	err = write_temporary(j, old, temp);
	if (!err && !is_unmoved(j))
		err = -EAGAIN;
	if (!err && renameat(j->at.dirfd, temp, j->at.dirfd, j->at.name))
		err = -errno;
	if (err)
		unlinkat(j->at.dirfd, temp, 0);
	/* A mount point, or an owner that a new file cannot be given. */
	if (err == -EBUSY || (err == -EPERM && !j->missing))
		return write_in_place(j);
	if (!err)
		fsync(j->at.dirfd);
	return err;
}

static int take_away(struct job *j, int old)
{
	if (j->at.through_link) {
		j->out->action = PROFILE_REMOVED;
		return put_new(j, old);
	}
	if (!is_unmoved(j))
		return -EAGAIN;
	return unlinkat(j->at.dirfd, j->at.name, 0) ? -errno : 0;
}

/* Once through: read, edit, write. */
static int attempt_once(struct job *j)
{
	autofd int old = -1;
	struct profile_written *o = j->out;
	int err = read_old(j, &old);

	if (err)
		return err;
	buf_clear(&o->after);
	err = j->ask->edit(j->ask->ctx, o->before.len ? o->before.data : "",
		o->before.len, j->missing, &o->after, &o->action, j->d);
	if (err || o->action == PROFILE_UNCHANGED)
		return err;
	err = check_writable(j, old);
	if (!err && j->ask->check)
		err = j->ask->check(j->ask->ctx, &o->before, &o->after, j->d);
	if (err || j->ask->dry_run)
		return err;
	err = keep_backup(j);
	if (err)
		return err;
	err = o->action == PROFILE_UNLINKED ? take_away(j, old)
					    : put_new(j, old);
	if (err && err != -EAGAIN)
		diag_errno(j->d, err, "cannot write %s", j->ask->path);
	return err;
}

/* Without its directory there is no file; is there anything to write? */
static int without_directory(struct job *j)
{
	j->missing = j->out->missing = true;
	return j->ask->edit(j->ask->ctx, "", 0, true, &j->out->after,
		&j->out->action, j->d);
}

static void job_close(struct job *j)
{
	cleanup_fd(&j->at.dirfd);
}

/* Whoever made the link knows what belongs where it leads; a file made there would
 * outlive the block. */
static int refuse_link(const struct job *j)
{
	return diag_fail(j->d, -ELOOP,
		"%s leads, by a symlink, to what is not there\036"
		"make what it leads to, or take the link away",
		j->ask->path);
}

int profile_write(const struct profile_write *job, struct profile_written *out,
	struct diag *d)
{
	autoclean(job_close) struct job j = {
		.at.dirfd = -1, .ask = job, .out = out, .d = d};
	unsigned flags = job->flags;
	int err;

	profile_written_release(out);
	*out = (struct profile_written){
		.before = BUF_INIT(PROFILE_TEXT_MAX),
		.after = BUF_INIT(PROFILE_TEXT_MAX),
	};
	err = profile_open_path(&j.at, job->path, flags, d);
	if (j.at.dangling) {
		err = without_directory(&j);
		return err || out->action == PROFILE_UNCHANGED ? err :
								 refuse_link(&j);
	}
	if (err == -ENOENT) {
		err = without_directory(&j);
		if (err || job->dry_run || out->action == PROFILE_UNCHANGED)
			return err;
		err = profile_open_path(
			&j.at, job->path, flags | PROFILE_OPEN_MAKE, d);
	}
	if (!err && !job->dry_run)
		err = lock_dir(&j);
	if (err)
		return err;
	for (unsigned i = 0; i < TRIES; i++) {
		err = attempt_once(&j);
		if (err != -EAGAIN)
			return err;
	}
	return diag_fail(
		d, -EAGAIN, "%s is being changed by someone else", job->path);
}
