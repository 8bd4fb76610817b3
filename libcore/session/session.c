/* session.c - which session a command belongs to
 * SPDX-License-Identifier: MIT
 */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "session/session_place_in.h"
#include "base/str.h"

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
static int fill(int fd, struct session_name *out)
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
	err = fill(fd, out);
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
static int describe(const struct session_where *w, int dir, const char *id,
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
		err = describe(w, dir, out->id, d);
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
