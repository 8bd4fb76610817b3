/* protect_back.c - what changed is put back
 * SPDX-License-Identifier: MIT
 *
 * Every name is opened from the root through no link, and replaced by renaming:
 * what the command made of it (a link, a FIFO, another name of a file) is never
 * written through.
 */
#include "protect/protect_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "protect/gitconf.h"
#include "sys/file.h"

enum { NOREPLACE = 1, ASIDE_MAX = 32 };

/* A name whose change is being put back. */
struct back {
	struct protect *p;
	const struct protect_seen *was; /* NULL: the name did not exist */
	const char *name;
	bool strict;
	char aside[PROTECT_PATH];
};

static int back_tell(struct back *k, const char *what, int err)
{
	const struct protect_change change = {
		.name = k->name,
		.what = what,
		.aside = k->aside,
		.strict = k->strict,
		.err = err,
	};

	k->p->spec->found(k->p->spec->ctx, &change);
	return err;
}

/* Opens the name's directory and makes it writable, because the command may
 * have taken that right away. */
static int back_parent(const struct back *k, const char **base)
{
	int fd = protect_parent(k->p->root, k->name, base);

	if (fd >= 0)
		protect_open_up(fd);
	return fd;
}

/* Renames the file to a name that nobody looks for. */
static int back_aside(struct back *k)
{
	const char *base;
	autofd int fd = back_parent(k, &base);
	char to[NAME_MAX + 32];
	unsigned number = 0;

	if (fd < 0)
		return fd;
	for (unsigned i = 0; i < ASIDE_MAX; i++) {
		/* All the usual names may be taken on purpose. */
		if (i < ASIDE_MAX / 2)
			number = i;
		else if (getrandom(&number, sizeof number, 0) < 0)
			return -EIO;
		if (number)
			BUF_PRINT(to, "%s.denied.%u", base, number);
		else
			BUF_PRINT(to, "%s.denied", base);
		if (syscall(SYS_renameat2, fd, base, fd, to, NOREPLACE) == 0) {
			BUF_PRINT(k->aside, "%.*s%s", (int)(base - k->name),
				k->name, to);
			return 0;
		}
		if (errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			break;
	}
	/* The file system cannot rename so, or the name is too long. */
	return unlinkat(fd, base, 0) ? -errno : 0;
}

/* Writes the former bytes, or the part of them that is left. */
static int back_write(struct back *k, const void *bytes, size_t n,
	const struct protect_mark *like)
{
	const char *base;
	autofd int fd = back_parent(k, &base);
	int err = fd < 0 ? fd
			 : file_replace(fd, base, bytes, n,
				   (like->mode ? like->mode : 0644) & 07777,
				   false);

	if (!err && geteuid() == 0 &&
		fchownat(fd, base, like->uid, like->gid, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	return err;
}

static int back_link(struct back *k)
{
	const char *base;
	autofd int fd = back_parent(k, &base);

	if (fd < 0)
		return fd;
	return symlinkat(k->was->text, fd, base) ? -errno : 0;
}

/* Makes the directories in which the file lay. */
static int back_parents(struct back *k)
{
	char dir[PROTECT_PATH];
	const char *base;
	int err = 0;

	for (const char *at = k->name; (at = strchr(at, '/')) && !err; at++) {
		autofd int fd = -1;

		memcpy(dir, k->name, (size_t)(at - k->name));
		dir[at - k->name] = '\0';
		fd = protect_parent(k->p->root, dir, &base);
		if (fd < 0)
			return fd;
		if (mkdirat(fd, base, 0755) && errno != EEXIST)
			err = -errno;
	}
	return err;
}

/* A file that could not be written, as on a full disk, must not stay
 * changed. */
static int back_failed(struct back *k, int err)
{
	if (err)
		(void)back_aside(k);
	return back_tell(k, "", err);
}

/* Puts the whole file back. */
static int back_whole(struct back *k)
{
	const struct protect_seen *was = k->was;
	const char *base;
	autofd int fd = protect_parent(k->p->root, k->name, &base);
	struct stat st;
	bool there = fd >= 0 && !fstatat(fd, base, &st, AT_SYMLINK_NOFOLLOW);
	int err = 0;

	if (!was || was->mark.how == PROTECT_ABSENT ||
		was->mark.how == PROTECT_DIR)
		return there ? back_tell(k, "", back_aside(k)) : 0;
	/* The file was too large to be kept, or not readable. */
	if (!was->mark.kept)
		return back_tell(k, "", -EFBIG);
	if (fd == -ENOENT)
		err = back_parents(k);
	if (!err && there && !S_ISREG(st.st_mode))
		err = back_aside(k);
	if (!err && was->mark.how == PROTECT_LINK) {
		if (there && !k->aside[0])
			err = back_aside(k);
		err = err ? err : back_link(k);
	} else if (!err && was->mark.how == PROTECT_FILE)
		err = back_write(
			k, was->text, was->mark.text_len, &was->mark);
	return back_failed(k, err);
}

/* Puts settings back: single ones, where the rest can stay. */
static int back_config(struct back *k, const struct protect_mark *now)
{
	autobuf struct buf b = BUF_INIT(GITCONF_TEXT_MAX);
	int err = -EINVAL;

	if (now->how == PROTECT_FILE)
		err = protect_read(k->p->root, k->name, &b);
	/* git cannot read a file that its owner may not read; the mode
	 * counts. */
	if (!err)
		err = protect_config(k->p, k->was, k->name, k->strict, &b);
	if (err > 0) {
		err = back_write(k, b.data, b.len, now);
		return err ? back_failed(k, err) : 0;
	}
	return err == 0 || err == -ENOMEM ? err : back_whole(k);
}

/* Are a worktree's settings where git puts them: two directories above? */
static bool is_usual_common(struct back *k, const struct buf *b)
{
	return str_find(k->name, "worktrees/") && b->len >= 5 &&
		memcmp(b->data, "../..", 5) == 0 &&
		strspn(b->data + 5, "\n") == b->len - 5;
}

static bool same_bytes(const struct protect_seen *was, const struct buf *b)
{
	return was && was->mark.kept && was->mark.how == PROTECT_FILE &&
		was->mark.text_len == b->len &&
		(!b->len || memcmp(was->text, b->data, b->len) == 0);
}

static bool same_link(struct back *k, const struct protect_mark *now)
{
	char link[PROTECT_PATH];
	const char *base;
	autofd int fd = protect_parent(k->p->root, k->name, &base);
	ssize_t n = fd < 0 || !k->was || now->how != PROTECT_LINK ||
			k->was->mark.how != PROTECT_LINK || !k->was->mark.kept
		? -1 : readlinkat(fd, base, link, sizeof link);

	return n >= 0 && (size_t)n == k->was->mark.text_len &&
		memcmp(link, k->was->text, (size_t)n) == 0;
}

static int back_file(struct back *k, const struct protect_mark *now)
{
	const struct protect_spec *spec = k->p->spec;
	const char *member = spec->member
		? spec->member(spec->ctx, k->name) : NULL;
	autobuf struct buf b = BUF_INIT(GITCONF_TEXT_MAX);
	const uint32_t exec = 0111;
	int err = 0;

	if (now->how == PROTECT_FILE)
		err = protect_read(k->p->root, k->name, &b);
	buf_reserve(&b, 1);
	if (!err && now->how == PROTECT_FILE && same_bytes(k->was, &b) &&
		!(now->mode & exec & ~k->was->mark.mode))
		return 0;
	if (same_link(k, now))
		return 0;
	if (!err && now->kind == PROTECT_COMMON && now->how == PROTECT_FILE &&
		is_usual_common(k, &b))
		return 0;
	if (member && !k->was)
		return 0;
	if (member && !err && now->how == PROTECT_FILE) {
		err = protect_member(k->was, member, &b);
		if (err > 0)
			return back_tell(k, member,
				back_write(k, b.data, b.len, now));
		if (err == 0)
			return 0;
	}
	return back_whole(k);
}

static bool is_same(const struct protect_list *before,
	const struct protect_mark *a, const struct protect_mark *b)
{
	/* A file that changed right before the look may have changed again
	 * within the same tick of the file system's clock: then its bytes
	 * decide, if they are known. */
	enum { TICK_NS = 100000000 };

	return a->how == b->how && a->dev == b->dev && a->ino == b->ino &&
		a->size == b->size && a->mode == b->mode &&
		a->mtime == b->mtime && a->ctime == b->ctime &&
		(!a->kept || a->ctime + TICK_NS < before->when);
}

static int back_one(struct protect *p, const struct protect_seen *now)
{
	const struct protect_seen *was = protect_find(&p->before, now->name);
	struct back k = {.p = p,
		.was = was,
		.name = now->name,
		.strict = now->mark.strict};

	if ((was && is_same(&p->before, &was->mark, &now->mark)) ||
		(p->spec->allowed && !now->mark.strict))
		return 0;
	if (was && was->mark.how == PROTECT_ABSENT)
		k.was = NULL;
	return now->mark.kind == PROTECT_CONFIG ? back_config(&k, &now->mark)
						: back_file(&k, &now->mark);
}

/* Settings may go; and whoever takes a whole repository or worktree away takes its
 * hooks, and what names its repository, with it. */
static int back_gone(struct protect *p, const struct protect_seen *was)
{
	struct back k = {.p = p,
		.was = was,
		.name = was->name,
		.strict = was->mark.strict};
	const char *base;
	autofd int fd = protect_parent(p->root, was->name, &base);

	if ((p->spec->allowed && !was->mark.strict) || !was->mark.kept ||
		was->mark.kind == PROTECT_CONFIG ||
		((was->mark.kind == PROTECT_HOOK ||
			 was->mark.kind == PROTECT_COMMON) && fd < 0) ||
		(p->spec->member && p->spec->member(p->spec->ctx, was->name)))
		return 0;
	return back_whole(&k);
}

/* Looks once and puts back what changed. *more: there was more than one look
 * shows. */
static int compare_once(struct protect *p, bool *more)
{
	autoprotect_list struct protect_list now = {0};
	int err = protect_look(p, &now), one;

	*more = now.full && !p->before.full;
	/* Files that settings include, and files that are gone. */
	for (size_t i = 0; i < p->before.count && !err; i++) {
		const struct protect_seen *was = &p->before.item[i];

		if (!protect_find(&now, was->name))
			err = protect_add_name(p, &now, was->name,
				was->mark.kind, was->mark.strict);
	}
	if (err)
		return err;
	for (size_t i = 0; i < now.count; i++) {
		const struct protect_seen *s = &now.item[i];
		const struct protect_seen *was =
			protect_find(&p->before, s->name);

		if (s->mark.how != PROTECT_ABSENT)
			one = back_one(p, s);
		else
			one = was && was->mark.how != PROTECT_ABSENT
				? back_gone(p, was) : 0;
		err = err ? err : one;
	}
	return err;
}

int protect_compare(struct protect *p)
{
	enum { LOOKS_MAX = 64 };
	bool more = true;
	int err = 0;

	/* New files are put aside, so that the next look has room for
	 * others. */
	p->again = true;
	for (unsigned i = 0; i < LOOKS_MAX && more && !err; i++)
		err = compare_once(p, &more);
	return more && !err ? -E2BIG : err;
}
