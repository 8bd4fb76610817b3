/* session.c - which session a command belongs to, and where sessions lie
 * SPDX-License-Identifier: MIT
 */
#include "session/session.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "session/session_place_in.h"
#include "sys/file.h"
#include "sys/proc_text.h"
#include "sys/sha256_hw.h"

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
static void hash_bytes(br_sha256_context *hash, const void *bytes, size_t n)
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
		hash_bytes(hash, host.nodename, strlen(host.nodename));
	if (!line)
		line = session_cgroups(&b);
	while (*line) {
		size_t n = strcspn(line, "\n");

		hash_bytes(hash, line, proc_cgroup_place(line, n));
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
	hash_bytes(&hash, real, strlen(real));
	hash_bytes(&hash, &st.st_dev, sizeof st.st_dev);
	hash_bytes(&hash, &st.st_ino, sizeof st.st_ino);
	mix_caller(&hash, w);
	hash.vtable->out(&hash.vtable, digest);
	for (size_t i = 0; i < 16; i++)
		buf_addf(&b, "%02x", digest[i]);
	buf_adds(&b, ".sid");
	buf_str(&b);
	return b.err;
}

const char *session_source_name(enum session_source source)
{
	static const char names[][12] = {"id", "file", "workspace", "default"};

	return names[source];
}

bool session_id_valid(const char *id)
{
	size_t n = 0;

	if (!chr_alpha(id[0]) && !chr_digit(id[0]))
		return false;
	while (chr_alpha(id[n]) || chr_digit(id[n]) || id[n] == '-' ||
		id[n] == '_')
		n++;
	return !id[n] && n <= SESSION_ID_MAX;
}

int session_id_check(const char *what, const char *id, struct diag *d)
{
	if (session_id_valid(id))
		return 0;
	diag_fail(d, -EINVAL, "%s'%.64s' is no session id", what, id);
	diag_hint(d, "letters, digits, '-' and '_', at most %d",
		SESSION_ID_MAX);
	return -EINVAL;
}

int session_id_make(char id[static SESSION_ID_MAX + 1])
{
	struct buf b = {.data = id, .cap = SESSION_ID_MAX + 1,
		.max = SESSION_ID_MAX};
	unsigned char r[16];

	if (getrandom(r, sizeof r, 0) != sizeof r)
		return -EIO;
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	buf_adds(&b, "session-");
	for (size_t i = 0; i < sizeof r; i++)
		buf_addf(&b, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", r[i]);
	buf_str(&b);
	return b.err;
}

int session_read_id(int fd, uid_t uid, const char *name,
	char id[static SESSION_ID_MAX + 1], struct diag *d)
{
	char text[SESSION_ID_MAX + 4];
	struct stat st;
	ssize_t n;
	int err;

	err = file_check_regular(fd, uid, name, &st, d);
	if (err)
		return err;
	n = pread(fd, text, sizeof text - 1, 0);
	if (n < 0)
		return diag_errno(d, -errno, "cannot read %s", name);
	if (memchr(text, '\0', (size_t)n))
		n = sizeof text; /* not a text at all */
	while (n > 0 && n < (ssize_t)sizeof text && chr_space(text[n - 1]))
		n--;
	if (!n)
		return diag_fail(d, -ENODATA, "%s is empty", name);
	if (n <= SESSION_ID_MAX) {
		memcpy(id, text, (size_t)n);
		id[n] = '\0';
		if (session_id_valid(id))
			return 0;
	}
	id[0] = '\0';
	return diag_fail(d, -EINVAL, "%s holds no session id", name);
}

/* Makes an id and writes it as the only line of fd, which is locked and
 * empty. */
static int fill_name(int fd, struct session_name *out)
{
	char line[SESSION_ID_MAX + 2];
	struct buf b = BUF_FIXED(line);
	int err = session_id_make(out->id);

	if (err)
		return err;
	buf_addf(&b, "%s\n", out->id);
	out->fresh = true;
	return file_write_all(fd, b.data, b.len);
}

/* Step 2: the session of the file that WARDBOX_SESSION_FILE names. */
static int by_file(const struct session_where *w, bool make,
	struct session_name *out, struct diag *d)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	autofd int fd = open(w->file, O_RDONLY | flags);
	int err;

	out->source = SESSION_BY_FILE;
	err = fd < 0 ? -errno : session_read_id(fd, w->uid, w->file, out->id, d);
	if (fd < 0 && err != -ENOENT)
		return diag_errno(d, err, "WARDBOX_SESSION_FILE: %s", w->file);
	if (err != -ENOENT && err != -ENODATA)
		return err;
	if (!make)
		return diag_fail(d, -ENOENT, "%s names no session yet", w->file);
	cleanup_fd(&fd);
	fd = open(w->file, O_RDWR | O_CREAT | flags, 0600);
	if (fd < 0)
		return diag_errno(d, -errno, "WARDBOX_SESSION_FILE: cannot make"
			" %s", w->file);
	err = session_flock(fd, w->file, d);
	if (err)
		return err;
	/* Another process may have held the lock and written the file. */
	err = session_read_id(fd, w->uid, w->file, out->id, d);
	if (err != -ENODATA)
		return err;
	err = fill_name(fd, out);
	return err ? diag_errno(d, err, "cannot write %s", w->file) : 0;
}

static int read_claim(int dir, const char *key, uid_t uid,
	struct session_name *out, struct diag *d)
{
	autofd int fd = openat(dir, key,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return diag_errno(d, -errno, "no session here yet");
	return session_read_id(fd, uid, key, out->id, d);
}

static int write_claim(int dir, const char *key, const char *id, struct diag *d)
{
	char line[SESSION_ID_MAX + 2];
	struct buf b = BUF_FIXED(line);
	int err;

	buf_addf(&b, "%s\n", id);
	err = file_replace(dir, key, b.data, b.len, 0600, false);
	return err ? diag_errno(d, err, "cannot write %s", key) : 0;
}

/* Describes a session that has run nothing, for a list. */
static int describe_session(const struct session_where *w, int dir, const char *id,
	struct diag *d)
{
	autostate struct state s = STATE_INIT;
	int err = state_path(&s.workspace, w->workspace ? w->workspace : w->cwd);

	s.created = s.used = clock_ns(CLOCK_REALTIME);
	return err ? err : session_create(dir, id, &s, d);
}

/* Step 3: the session of the workspace's file below the state base. */
static int by_workspace(const struct session_where *w, bool make,
	struct session_name *out, struct diag *d)
{
	autofd int opened = w->dir > 0 ? -1 : session_dir(w, make, NULL, d);
	autofd int lock = -1;
	char key[SESSION_KEY_SIZE];
	const int dir = w->dir > 0 ? w->dir : opened;
	int err = dir < 0 ? dir : session_key(w, key, d);

	out->source = SESSION_BY_WORKSPACE;
	if (err)
		return err;
	err = read_claim(dir, key, w->uid, out, d);
	if (!err || !make)
		return err;
	lock = session_lock(dir, d);
	if (lock < 0)
		return lock;
	if (!read_claim(dir, key, w->uid, out, d))
		return 0;
	err = session_id_make(out->id);
	if (!err)
		err = describe_session(w, dir, out->id, d);
	if (!err)
		err = write_claim(dir, key, out->id, d);
	out->fresh = !err;
	return err;
}

int session_bind(const struct session_where *w, int dir, const char *id,
	struct diag *d)
{
	char key[SESSION_KEY_SIZE];
	int err = session_key(w, key, d);

	return err ? err : write_claim(dir, key, id, d);
}

int session_resolve(const struct session_where *w, bool make,
	struct session_name *out, struct diag *d)
{
	int err;

	*out = (struct session_name){.source = SESSION_BY_ID};
	if (w->id && *w->id) {
		err = session_id_check("WARDBOX_SESSION_ID: ", w->id, d);
		return err ? err : str_copy(out->id, sizeof out->id, w->id);
	}
	if (w->file && *w->file)
		return by_file(w, make, out, d);
	err = by_workspace(w, make, out, d);
	if (!err || !make)
		return err;
	*out = (struct session_name){.source = SESSION_BY_DEFAULT};
	return str_copy(out->id, sizeof out->id, SESSION_DEFAULT);
}
