/* sandbox_mount.c - read-only and hidden places, by mounts
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox_mount_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/ns.h"
#include "base/path.h"
#include "base/str.h"
#include "base/uapi/linux.h"

static int by_path(const void *a, const void *b)
{
	const struct sandbox_rule *r1 = a, *r2 = b;

	return path_order(r1->path, r2->path);
}

/* Finds the nearest rule around rule i: the rule before it, or one around
 * that. */
static struct sandbox_rule *rule_around(struct sandbox *s, size_t i)
{
	struct sandbox_rule *r = &s->rules[i];

	r->outer = (uint16_t)i;
	for (size_t j = i; j > 0;) {
		j = j == i ? i - 1 : s->rules[j].outer;
		if (path_beneath(s->rules[j].path, r->path)) {
			r->outer = (uint16_t)j;
			return &s->rules[j];
		}
		if (s->rules[j].outer == j)
			break;
	}
	return NULL;
}

/* Pins the directories between outer and inner as mount points, because those
 * cannot be renamed to make place for an unprotected one. */
static int pin_between(struct sandbox *s, const char *outer, const char *inner,
	size_t *added)
{
	const char *at = inner + strlen(outer);

	if (str_eq(outer, "/"))
		at = inner;
	while ((at = strchr(at + 1, '/'))) {
		size_t n = s->rule_count + *added;
		struct sandbox_rule *more = reallocarray(
			s->rules, n + 1, sizeof(*s->rules));
		struct stat st;

		if (!more)
			return -ENOMEM;
		s->rules = more;
		more[n] = (struct sandbox_rule){
			.path = strndup(inner, (size_t)(at - inner)),
			.access = SANDBOX_RW,
			.mount = SANDBOX_MOUNT_PIN,
			.dir = true,
			.tree = -1,
		};
		if (!more[n].path)
			return -ENOMEM;
		++*added;
		if (lstat(more[n].path, &st) < 0)
			return -errno;
		more[n].dev = st.st_dev;
		more[n].ino = st.st_ino;
	}
	return 0;
}

static enum sandbox_mount mount_kind(
	const struct sandbox_rule *r, bool writable)
{
	if (r->from)
		return SANDBOX_MOUNT_BIND;
	if (r->frame)
		return SANDBOX_MOUNT_FRAME;
	if (r->pts)
		return SANDBOX_MOUNT_PTS;
	/* Another directory than outside stands around it. */
	if (r->laid)
		return r->access & SANDBOX_HIDE ? SANDBOX_MOUNT_NO
			: r->access & SANDBOX_WRITE ? SANDBOX_MOUNT_RW
						    : SANDBOX_MOUNT_RO;
	/* No process stands in a mount over "/", so "/" keeps its own. */
	if (str_eq(r->path, "/") && !(r->access & SANDBOX_HIDE))
		return SANDBOX_MOUNT_NO;
	if (r->access & SANDBOX_HIDE)
		return r->access & SANDBOX_WRITE ? SANDBOX_MOUNT_TMPFS :
						   SANDBOX_MOUNT_EMPTY;
	if (r->node || !!(r->access & SANDBOX_WRITE) == writable)
		return SANDBOX_MOUNT_NO;
	return writable ? SANDBOX_MOUNT_RO : SANDBOX_MOUNT_RW;
}

/* Merges two grants of one path: rights add up, except that a hidden path stays
 * hidden. */
static void add_rule(struct sandbox_rule *to, const struct sandbox_rule *r)
{
	uint8_t access = to->access | r->access;
	bool cover = (to->access ^ r->access) & SANDBOX_HIDE;

	if (cover && r->access & SANDBOX_HIDE) {
		to->rights = r->rights;
		to->grant = r->grant;
		access = r->access;
	} else if (cover) {
		access = to->access;
	} else {
		to->rights |= r->rights;
	}
	to->access = access;
	to->other &= r->other;
	to->late |= r->late;
	to->cover |= r->cover | cover;
}

/* For one path a bind wins, and an empty frame yields. */
static bool same_path(struct sandbox_rule *to, const struct sandbox_rule *r)
{
	const bool replaced = (r->from && !to->from) || (to->frame && !r->frame);

	if (!to->from && !r->from && !to->frame && !r->frame)
		return false;
	if (replaced) {
		char *path = to->path;

		*to = *r;
		to->path = path;
	}
	return true;
}

static void merge_rules(struct sandbox *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rule_count; i++) {
		struct sandbox_rule *r = &s->rules[i];

		if (n && str_eq(s->rules[n - 1].path, r->path)) {
			if (!same_path(&s->rules[n - 1], r))
				add_rule(&s->rules[n - 1], r);
			free(r->path);
		} else {
			s->rules[n++] = *r;
		}
	}
	s->rule_count = n;
}

/* Is the path visible without a mount? A path that no rule grants need not be
 * hidden, but a path that must be empty has to exist. */
static bool is_shown(const struct sandbox *s, const struct sandbox_rule *r,
	const struct sandbox_rule *out)
{
	return r->access & SANDBOX_HIDE &&
	       (out || r->cover || r->access & SANDBOX_WRITE ||
		       !(s->enforced & SANDBOX_LANDLOCK) ||
		       sandbox_is_device(r->path));
}

/* Rules are in the order of their paths. */
static bool writes_root(const struct sandbox *s)
{
	return s->rule_count && str_eq(s->rules[0].path, "/") &&
	       s->rules[0].access & SANDBOX_WRITE;
}

int sandbox_mounts(struct sandbox *s, struct diag *d)
{
	size_t added = 0, n;
	int away = 0, err = 0;

	qsort(s->rules, s->rule_count, sizeof(*s->rules), by_path);
	merge_rules(s);
	n = s->rule_count;
	for (size_t i = 0; i < n && err == 0; i++) {
		struct sandbox_rule *r = &s->rules[i];
		const struct sandbox_rule *out = rule_around(s, i);
		bool writable = out && out->access & SANDBOX_WRITE;
		bool needed = !s->plan->grants[r->grant].in_view;

		if (out && (out->from || out->frame)) {
			r->laid = (uint16_t)strlen(out->path);
			r->mount = (uint8_t)mount_kind(r, writable);
			continue;
		}
		if (out && out->access & SANDBOX_HIDE) {
			err = diag_fail(d, -EINVAL,
				"grant %s lies in %s, which is hidden",
				r->path, out->path);
			continue;
		}
		r->mount = (uint8_t)mount_kind(r, writable);
		if (r->mount == SANDBOX_MOUNT_RO && needed)
			away = 1;
		/* Elsewhere everything is read-only, unless "/" may be
		 * written. */
		if (r->from || r->frame || r->pts)
			continue;
		if (is_shown(s, r, out) ||
			(r->mount == SANDBOX_MOUNT_RO && writes_root(s))) {
			away |= needed;
			err = sandbox_views(s, r, &added);
			if (err < 0) {
				diag_errno(d, err, "other names of %s",
					s->rules[i].path);
				continue;
			}
			r = &s->rules[i];
			out = rule_around(s, i);
		}
		if (!writable || r->mount == SANDBOX_MOUNT_NO || !needed)
			continue;
		err = pin_between(s, out->path, r->path, &added);
		if (err < 0)
			diag_errno(d, err, "grant %s", s->rules[i].path);
	}
	s->rule_count += added;
	if (err < 0)
		return err;
	if (added) {
		qsort(s->rules, s->rule_count, sizeof(*s->rules), by_path);
		merge_rules(s);
	}
	return away;
}

/* Opens name, if it is the rule's own file. */
static int open_same(const struct sandbox_rule *r, const char *name)
{
	int fd = openat(AT_FDCWD, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_dev != r->dev || st.st_ino != r->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int copy_tree(int fd)
{
	long tree = syscall(NR_OPEN_TREE, fd, "",
		AT_EMPTY_PATH_ | AT_RECURSIVE_ | OPEN_TREE_CLONE_ |
			OPEN_TREE_CLOEXEC_);

	return tree < 0 ? -errno : (int)tree;
}

static int set_attr(int fd, const char *path, uint64_t set, unsigned how)
{
	struct mount_attr1 attr = {.set = set};

	return syscall(NR_MOUNT_SETATTR, fd, path,
		       how | (*path ? 0 : AT_EMPTY_PATH_), &attr,
		       sizeof(attr)) < 0 ?
		       -errno :
		       0;
}

static int new_tmpfs(bool writable)
{
	long fs = syscall(NR_FSOPEN, "tmpfs", FSOPEN_CLOEXEC_), fd = -1;
	int err;

	if (fs < 0)
		return -errno;
	if (syscall(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0) == 0)
		fd = syscall(NR_FSMOUNT, fs, FSMOUNT_CLOEXEC_,
			MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_ |
				(writable ? 0 : MOUNT_ATTR_RDONLY_));
	err = errno;
	close((int)fs);
	return fd < 0 ? -err : (int)fd;
}

static int new_devpts(void)
{
	long fs = syscall(NR_FSOPEN, "devpts", FSOPEN_CLOEXEC_), fd = -1;
	int err;

	if (fs < 0)
		return -errno;
	if (syscall(NR_FSCONFIG, fs, FSCONFIG_STRING, "ptmxmode", "0666", 0) ==
			0 &&
		syscall(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0) == 0)
		fd = syscall(NR_FSMOUNT, fs, FSMOUNT_CLOEXEC_,
			MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NOEXEC_);
	err = errno;
	close((int)fs);
	return fd < 0 ? -err : (int)fd;
}

/* Takes the tree for a rule's path, before anything changes. */
static int take_tree(struct sandbox_rule *r)
{
	int fd, err;

	if (r->mount == SANDBOX_MOUNT_PTS) {
		r->tree = new_devpts();
		return r->tree < 0 ? r->tree : 0;
	}
	if (r->dir && r->mount >= SANDBOX_MOUNT_EMPTY &&
		r->mount != SANDBOX_MOUNT_BIND) {
		r->tree = new_tmpfs(r->mount != SANDBOX_MOUNT_EMPTY);
		return r->tree < 0 ? r->tree : 0;
	}
	/* A device that may not be used refuses to be opened. */
	fd = r->mount == SANDBOX_MOUNT_EMPTY ?
		     openat(AT_FDCWD, "/dev/null", O_PATH | O_CLOEXEC) :
		     open_same(r, r->from ? r->from : r->path);
	if (fd < 0)
		return r->mount == SANDBOX_MOUNT_EMPTY ? -errno : fd;
	r->tree = copy_tree(fd);
	close(fd);
	if (r->tree < 0)
		return r->tree;
	err = 0;
	if (r->mount == SANDBOX_MOUNT_RO)
		err = set_attr(r->tree, "", MOUNT_ATTR_RDONLY_, AT_RECURSIVE_);
	else if (r->mount == SANDBOX_MOUNT_EMPTY)
		err = set_attr(r->tree, "",
			MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NODEV_, AT_RECURSIVE_);
	else if (r->mount == SANDBOX_MOUNT_BIND)
		err = set_attr(r->tree, "",
			MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_, AT_RECURSIVE_);
	return err;
}

/* Opens the place where the rule's tree will stand. */
static int open_point(struct sandbox_rule *r)
{
	if (r->laid)
		return sandbox_point(r->path, r->laid, r->dir);
	if (!r->from)
		return open_same(r, r->path);
	return path_openat2(AT_FDCWD, r->path, O_PATH | O_DIRECTORY, 0,
		RESOLVE_NO_SYMLINKS_ | RESOLVE_NO_MAGICLINKS_);
}

static bool is_absent(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ESTALE;
}

/* Will directories be made in it for mounts? */
static bool is_closed_later(const struct sandbox_rule *r)
{
	return r->mount == SANDBOX_MOUNT_FRAME ||
	       (r->mount == SANDBOX_MOUNT_BIND && !(r->access & SANDBOX_WRITE));
}

static int put_tree(struct sandbox_rule *r)
{
	int at = open_point(r), err = 0;

	/* If the command's own directory has no place for a file, the file is
	 * not shown; the working directory always is. Another name that the
	 * view does not show need not be hidden. */
	if (at < 0)
		return (r->laid && !r->dir && at != -ENOSYS) ||
				       (r->other && is_absent(at)) ?
			       0 :
			       at;
	if (syscall(NR_MOVE_MOUNT, r->tree, "", at, "",
		    MOVE_MOUNT_F_EMPTY | MOVE_MOUNT_T_EMPTY) < 0)
		err = -errno;
	close(at);
	if (err == 0 && is_closed_later(r))
		return 0;
	close(r->tree);
	r->tree = -1;
	return err;
}

/* Mounts the working directory, although nothing else of it is shown. */
static int put_cwd(struct sandbox *s)
{
	const struct sandbox_rule *in = NULL;
	int fd;

	for (size_t i = 0; i < s->rule_count; i++)
		if (path_beneath(s->rules[i].path, s->cwd))
			in = &s->rules[i];
	if (!in || (!in->from && !in->frame) || str_eq(in->path, s->cwd))
		return 0;
	fd = sandbox_point(s->cwd, strlen(in->path), true);
	if (fd >= 0)
		close(fd);
	return 0;
}

/* Makes the frames read-only. */
static int close_frames(struct sandbox *s)
{
	int err = 0;

	for (size_t i = 0; i < s->rule_count; i++) {
		struct sandbox_rule *r = &s->rules[i];

		if (!is_closed_later(r) || r->tree < 0)
			continue;
		if (err == 0)
			err = set_attr(r->tree, "", MOUNT_ATTR_RDONLY_, 0);
		close(r->tree);
		r->tree = -1;
	}
	return err;
}

int sandbox_mount_all(struct sandbox *s)
{
	int err = ns_private();

	if (err < 0)
		return err;
	for (size_t i = 0; i < s->rule_count; i++) {
		struct sandbox_rule *r = &s->rules[i];

		err = r->mount ? take_tree(r) : 0;
		/* If no new terminals can be had there are none, because the
		 * existing ones are others'. */
		if (err < 0 && r->pts) {
			r->mount = SANDBOX_MOUNT_NO;
			r->rights = 0;
			continue;
		}
		if (err < 0)
			return err;
	}
	err = 0;
	if (!writes_root(s))
		err = set_attr(
			AT_FDCWD, "/", MOUNT_ATTR_RDONLY_, AT_RECURSIVE_);
	for (size_t i = 0; i < s->rule_count && err == 0; i++)
		if (s->rules[i].mount)
			err = put_tree(&s->rules[i]);
	if (err == 0 && s->cwd && s->cwd[0])
		err = put_cwd(s);
	return err < 0 ? err : close_frames(s);
}

int sandbox_enter_gone(void)
{
	int at = new_tmpfs(true), in, err = 0;

	if (at < 0)
		return at;
	if (mkdirat(at, "gone", 0700) < 0)
		err = -errno;
	in = err < 0 ? -1 : openat(at, "gone", O_PATH | O_CLOEXEC);
	if (err == 0 && (in < 0 || fchdir(in) < 0 ||
				unlinkat(at, "gone", AT_REMOVEDIR) < 0))
		err = -errno;
	if (in >= 0)
		close(in);
	close(at);
	return err;
}
