/* audit_place.c - where the log of a user is kept, and in which boot
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log/audit_format_in.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

/* Tries one candidate: the private directory leaf in dir; with make, dir is
 * made, too. -ENOENT: not this place. */
static int try_place(const char *dir, const char *leaf, uid_t uid, bool make,
	bool make_dir, struct diag *d)
{
	autofd int parent = -1;
	int fd, err;

	if (make && make_dir && file_mkdirs(dir, 0700))
		return -ENOENT;
	parent = openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -ENOENT;
	fd = file_private_dir(parent, leaf, uid, make, d);
	if (fd == -ENOENT || fd == -EACCES || fd == -EROFS)
		return -ENOENT;
	if (fd < 0) {
		diag_at(d, dir, 0, 0);
		return fd;
	}
	err = file_check_parents(fd, uid, d);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A place where the log may be: leaf in dir. */
struct candidate {
	char dir[2048];
	char leaf[16];
	bool make_dir;
};

static bool is_absolute(const char *s)
{
	return s && s[0] == '/';
}

/* Fills the i-th candidate; false when its variable says nothing. */
static bool find_candidate(struct candidate *c, const struct audit_place *p,
	uid_t uid, unsigned i)
{
	struct buf dir = BUF_FIXED(c->dir);
	struct buf leaf = BUF_FIXED(c->leaf);

	c->make_dir = i > 0;
	switch (i) {
	case 0:
		buf_adds(&dir, p->log_root ? p->log_root : "/var/log/wardbox");
		c->make_dir = uid == 0;
		break;
	case 1:
		if (is_absolute(p->state_home))
			buf_addf(&dir, "%s/wardbox", p->state_home);
		else if (is_absolute(p->home))
			buf_addf(&dir, "%s/.local/state/wardbox", p->home);
		break;
	default:
		if (is_absolute(p->state_base))
			buf_addf(&dir, "%s/%u", p->state_base, (unsigned)uid);
	}
	if (i)
		buf_adds(&leaf, "audit");
	else
		buf_addf(&leaf, "%u", (unsigned)uid);
	/* buf_str() also ends the arrays with a NUL. */
	return buf_str(&dir)[0] == '/' && buf_str(&leaf)[0];
}

int audit_place_open(const struct audit_place *place, uid_t uid, bool make,
	char *path, size_t size, struct diag *d)
{
	struct candidate c;

	/* An existing log is the log, even if an earlier place could be
	 * made. */
	for (unsigned i = 0; i < (make ? 6u : 3u); i++) {
		int fd;

		if (!find_candidate(&c, place, uid, i % 3))
			continue;
		fd = try_place(c.dir, c.leaf, uid, i >= 3, c.make_dir, d);
		if (fd == -ENOENT)
			continue;
		if (fd >= 0 && path && path_join(path, size, c.dir, c.leaf)) {
			close(fd);
			return diag_errno(
				d, -ENAMETOOLONG, "audit log: %s", c.dir);
		}
		return fd;
	}
	diag_fail(d, -ENOENT, "there is no audit log%s",
		make ? ", and no place for one" : "");
	if (make)
		diag_hint(d, "make /var/log/wardbox/%u, mode 0700, or set HOME",
			(unsigned)uid);
	else
		diag_hint(d, "the first command that is recorded begins one, or"
			     " 'wardbox audit init'");
	return -ENOENT;
}

void audit_boot_id(uint8_t id[static AUDIT_ID])
{
	char text[40];
	autofd int fd = openat(AT_FDCWD, "/proc/sys/kernel/random/boot_id",
		O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!audit_id_parse(id, text))
		memset(id, 0, AUDIT_ID);
}
