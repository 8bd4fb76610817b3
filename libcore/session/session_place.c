/* session_place.c - the state base, and the key of a workspace
 * SPDX-License-Identifier: MIT
 */
#include "session/session_place_in.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "sys/proc_text.h"
#include "sys/sha256_hw.h"
#include "base/str.h"

/* A base may be shared: root's, or the user's own. Whoever may write to it
 * must not be able to move another one's directory away. */
static int open_base(const char *path, uid_t uid, bool make, struct diag *d)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	autofd int fd = openat(AT_FDCWD, path, flags);
	struct stat st;
	int err;

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdir(path, uid ? 0700 : 0755) && errno != EEXIST)
			return diag_errno(d, -errno, "cannot make %s", path);
		fd = open(path, flags);
	}
	err = fd < 0 ? -errno : 0;
	/* A link, a file, another user's: somebody put it there. A directory of
	 * the system that a sandbox closes is none of these. */
	if (fd < 0 && !lstat(path, &st) &&
		!(err == -EACCES && !st.st_uid && S_ISDIR(st.st_mode)))
		return diag_fail(d, -EPERM,
			"%s is there, and no directory of uid %u's (uid %u, mode"
			" %04o)",
			path, uid, st.st_uid, st.st_mode & 07777u);
	if (fd < 0)
		return diag_errno(d, err, "cannot open %s", path);
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "cannot open %s", path);
	if ((st.st_uid && st.st_uid != uid) ||
		((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return diag_fail(d, -EPERM,
			"%s could be changed by others (uid %u, mode %04o)",
			path, st.st_uid, st.st_mode & 07777u);
	return fd_steal(&fd);
}

static int open_place(const char *path, uid_t uid, bool make, struct diag *d)
{
	autofd int base = open_base(path, uid, make, d);
	autofd int own = -1;
	char name[16];
	struct buf b = BUF_FIXED(name);

	if (base < 0)
		return base;
	buf_addf(&b, "%u", uid);
	own = file_private_dir(base, buf_str(&b), uid, make, d);
	if (own < 0)
		return own;
	if (faccessat(own, ".", W_OK | X_OK, AT_EACCESS))
		return diag_errno(d, -errno, "cannot write to %s/%s", path,
			buf_str(&b));
	return fd_steal(&own);
}

/* The first of the places that is there, or that can be made. Of all of them
 * anyone could prepare open, which is not passed over then: the user would have
 * two places, and which one others would choose. */
static int first_place(const char *const *place, const char *open, uid_t uid,
	bool make, char *base, struct diag *d)
{
	for (; *place; place++) {
		int fd = open_place(*place, uid, make, d);

		if (fd >= 0 && base && str_copy(base, SESSION_BASE_MAX, *place)) {
			close(fd);
			return -ENAMETOOLONG;
		}
		if (fd >= 0)
			return fd;
		if (fd != -EPERM || *place != open)
			continue;
		diag_hint(d, "have it removed, by root or by its owner: nothing"
			     " is kept elsewhere meanwhile");
		return fd;
	}
	return -ENOENT;
}

int session_base(const struct session_where *w, bool make, char *base,
	struct diag *d)
{
	char shared[32];
	const char *const places[] = {"/run/wardbox",
		BUF_PRINT(shared, "/tmp/wardbox-%u", (unsigned)w->uid), NULL};
	const char *const inside[] = {w->guarded, NULL};
	const char *const *place = w->guarded ? inside
				   : w->bases ? w->bases
					      : places;
	const char *workspace = w->workspace ? w->workspace : w->cwd;
	char last[SESSION_BASE_MAX];
	const char *const project[] = {last, NULL};
	int fd;

	if (w->guarded && w->guarded[0] != '/')
		return diag_fail(
			d, -ENOENT, "TMPDIR names no place for sessions");
	fd = first_place(place, shared, w->uid, false, base, d);
	if (fd == -ENOENT && make)
		fd = first_place(place, shared, w->uid, true, base, d);
	if (fd != -ENOENT || w->guarded || !workspace ||
		path_join(last, sizeof last, workspace, ".wardbox"))
		return fd;
	fd = first_place(project, NULL, w->uid, make, base, d);
	if (fd < 0)
		diag_hint(d, "'install -d -o 0 -m 1777 /run/wardbox', by root,"
			" makes a place for all users");
	return fd < 0 ? -ENOENT : fd;
}

int session_dir(const struct session_where *w, bool make, char *base,
	struct diag *d)
{
	autofd int own = w->own > 0 ? -1 : session_base(w, make, base, d);
	int in = w->own > 0 ? w->own : own;

	return in < 0 ? in : file_private_dir(in, "sessions", w->uid, make, d);
}

/* A part of the key, with its length, so that parts cannot run together. */
static void mix(br_sha256_context *hash, const void *bytes, size_t n)
{
	uint64_t length = n;

	hash->vtable->update(&hash->vtable, &length, sizeof length);
	hash->vtable->update(&hash->vtable, bytes, n);
}

/* The control group tells containers apart that share a host's name and
 * directories. A login of a user has one too, but a new login shall find the
 * old session: of what lies below user.slice only that name counts. */
static void mix_caller(br_sha256_context *hash, const struct session_where *w)
{
	autobuf struct buf b = BUF_INIT(SESSION_CGROUPS_MAX);
	const char *line = w->cgroups;
	struct utsname host;

	if (!uname(&host))
		mix(hash, host.nodename, strlen(host.nodename));
	if (!line)
		line = session_cgroups(&b);
	while (*line) {
		size_t n = strcspn(line, "\n");

		mix(hash, line, proc_cgroup_place(line, n));
		line += n + (line[n] == '\n');
	}
}

const char *session_cgroups(struct buf *text)
{
	return file_read(AT_FDCWD, "/proc/self/cgroup", text) ? ""
							      : buf_str(text);
}

void session_caller(const struct session_where *w,
	char out[static SESSION_CALLER_SIZE])
{
	struct buf b = {.data = out, .cap = SESSION_CALLER_SIZE,
		.max = SESSION_CALLER_SIZE - 1};
	unsigned char digest[br_sha256_SIZE];
	br_sha256_context hash;

	(w->sha ? w->sha : sha256_portable())->init(&hash.vtable);
	mix_caller(&hash, w);
	hash.vtable->out(&hash.vtable, digest);
	for (size_t i = 0; i < SESSION_CALLER_SIZE / 2; i++)
		buf_addf(&b, "%02x", digest[i]);
	buf_str(&b);
}

int session_key(const struct session_where *w, char key[static SESSION_KEY_SIZE],
	struct diag *d)
{
	const char *workspace = w->workspace ? w->workspace : w->cwd;
	/* An ancestor of what the kernel calls the directory is named by it. */
	bool named = w->real && path_beneath(workspace, w->cwd);
	autofd int fd = named ? -1
			      : openat(AT_FDCWD, workspace,
					O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct buf b = {.data = key, .cap = SESSION_KEY_SIZE,
		.max = SESSION_KEY_SIZE - 1};
	unsigned char digest[br_sha256_SIZE];
	char real[SESSION_BASE_MAX];
	br_sha256_context hash;
	struct stat st;

	if (named ? stat(workspace, &st) : fd < 0 || fstat(fd, &st))
		return diag_errno(d, -errno, "%s", workspace);
	/* Without /proc the path as it was given has to do. */
	if ((named || path_of_fd(fd, real, sizeof real)) &&
		str_copy(real, sizeof real, workspace))
		return diag_errno(d, -ENAMETOOLONG, "%.80s", workspace);
	(w->sha ? w->sha : sha256_portable())->init(&hash.vtable);
	mix(&hash, real, strlen(real));
	mix(&hash, &st.st_dev, sizeof st.st_dev);
	mix(&hash, &st.st_ino, sizeof st.st_ino);
	mix_caller(&hash, w);
	hash.vtable->out(&hash.vtable, digest);
	for (size_t i = 0; i < 16; i++)
		buf_addf(&b, "%02x", digest[i]);
	buf_adds(&b, ".sid");
	buf_str(&b);
	return b.err;
}
