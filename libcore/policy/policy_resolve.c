/* policy_resolve.c - where a path leads, link by link
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

enum {
	MAX_LINKS = 40,
	MAX_NAME = 255,
	MAX_TODO = 2 * JUDGE_PATH,
};

/* A walk along a path: at->path is the physical part, todo the rest. */
struct steps {
	struct judge *j;
	struct path_found *at;
	size_t len;   /* of at->path */
	unsigned links;
	size_t from;
	char name[MAX_NAME + 1]; /* the component at hand */
	char link[JUDGE_PATH];   /* the target, when the component is a link */
	char todo[MAX_TODO]; /* filled from .from on */
};

/* Puts text in front of the rest. */
static bool push_text(struct steps *s, const char *text)
{
	size_t n = strlen(text);

	if (n + 1 > s->from)
		return false;
	s->todo[--s->from] = '/';
	s->from -= n;
	memcpy(s->todo + s->from, text, n);
	return true;
}

/* The root's length when the path begins with it, else 0. */
static size_t in_root(const struct judge *j, const char *path)
{
	size_t n = strlen(j->root);

	return n > 1 && strncmp(path, j->root, n) == 0 &&
			       (path[n] == '/' || !path[n])
		       ? n
		       : 0;
}

/* Begins an absolute path: at the root when the path is beneath the root.
 * Returns the rest of the path. */
static const char *anchor_path(struct steps *s, const char *path)
{
	size_t n = in_root(s->j, path);

	s->at->missing = false;
	if (n) {
		memcpy(s->at->path, s->j->root, n);
		s->len = n;
		return path + n;
	}
	s->len = 0;
	return path;
}

static bool note_name(struct steps *s, const char *name, size_t n)
{
	struct path_found *f = s->at;

	f->path[s->len] = 0;
	if (f->count < JUDGE_NAMES && n < sizeof(f->names[0])) {
		if (judge_exec_dir(s->j, s->len ? f->path : "/"))
			f->in_exec |= 1U << f->count;
		memcpy(f->names[f->count], name, n);
		f->names[f->count++][n] = 0;
		return true;
	}
	return f->count < JUDGE_NAMES;
}

static bool is_last(const struct steps *s)
{
	for (size_t i = s->from; s->todo[i]; i++)
		if (s->todo[i] != '/')
			return false;
	return true;
}

/* Walks one component that is neither "." nor "..". */
static int step_into(struct steps *s, const char *name, size_t n)
{
	char *link = s->link;
	struct path_found *f = s->at;
	size_t parent = s->len;
	ssize_t got;

	if (f->want & FOUND_NAMES && is_last(s) && !note_name(s, name, n))
		return FOUND_TOO_LONG;
	if (s->len + 1 + n >= sizeof(f->path))
		return FOUND_TOO_LONG;
	f->path[s->len++] = '/';
	memcpy(f->path + s->len, name, n);
	s->len += n;
	f->path[s->len] = 0;
	if (f->missing || strpbrk(f->path + parent, SHELL_REL_S SHELL_ANY_S) ||
		(f->want & FOUND_ENTRY && is_last(s)))
		return FOUND_IN;
	s->j->work += JUDGE_LOOK;
	got = readlink(f->path, link, sizeof(s->link) - 1);
	if (got < 0) {
		f->missing = errno != EINVAL;
		return FOUND_IN;
	}
	/* A link in /proc leads elsewhere for the command than for this
	 * process. */
	if (str_after(f->path, "/proc/"))
		return FOUND_OUT;
	if (++s->links > MAX_LINKS || (size_t)got == sizeof(s->link) - 1)
		return FOUND_TOO_LONG;
	link[got] = 0;
	s->len = parent;
	f->path[parent] = 0;
	return push_text(s, link[0] == '/' ? anchor_path(s, link) : link)
		       ? FOUND_IN
		       : FOUND_TOO_LONG;
}

static int step_up(struct steps *s)
{
	struct path_found *f = s->at;

	while (s->len > 0 && f->path[--s->len] != '/')
		;
	f->path[s->len] = 0;
	if (f->missing) {
		s->j->work += JUDGE_LOOK;
		f->missing = s->len && access(f->path, F_OK) < 0;
	}
	return FOUND_IN;
}

/* Walks the rest. */
static int walk_rest(struct steps *s)
{
	int rc = FOUND_IN;

	while (rc == FOUND_IN && s->todo[s->from]) {
		char *name = s->name;
		size_t n = strcspn(s->todo + s->from, "/");

		if (n > MAX_NAME)
			return FOUND_TOO_LONG;
		memcpy(name, s->todo + s->from, n);
		name[n] = 0;
		s->from += n + 1;
		s->j->work++;
		if (n == 0 || str_eq(name, "."))
			continue;
		rc = str_eq(name, "..") ? step_up(s) : step_into(s, name, n);
	}
	return rc;
}

/* The target of the directory that begins a path (n bytes of .given), seen from
 * cwd. It is kept because thousands of operands lie in a few directories. */
struct judged_dir {
	bool known, missing;
	unsigned links;
	size_t n, len;
	char cwd[JUDGE_PATH], given[JUDGE_PATH], path[JUDGE_PATH];
};

/* Begins at the kept directory, when the path begins so. */
static const char *take_dir(struct steps *s, const char *cwd, const char *path)
{
	const struct judged_dir *d = s->j->dir;

	if (!d || !d->known || !str_eq(cwd, d->cwd) ||
		strncmp(path, d->given, d->n) != 0 ||
		(path[0] == '/') != (d->given[0] == '/') ||
		in_root(s->j, path) != in_root(s->j, d->given))
		return NULL;
	memcpy(s->at->path, d->path, d->len);
	s->len = d->len;
	s->links = d->links;
	s->at->missing = d->missing;
	return path + d->n;
}

/* Walks to the directory of the path's first n bytes, from rest on, and keeps
 * it. */
static int to_dir(struct steps *s, const char *cwd, const char *path, size_t n,
	const char *rest)
{
	struct judged_dir *d = s->j->dir;
	unsigned want = s->at->want;
	int rc;

	if (!d)
		d = s->j->dir = arena_new(s->j->arena, struct judged_dir);
	if (!d || n >= sizeof(d->given) ||
		str_copy(d->cwd, sizeof(d->cwd), cwd) < 0)
		return FOUND_TOO_LONG;
	d->known = false;
	memcpy(d->given, path, n);
	d->given[n] = 0;
	if (rest ? !push_text(s, d->given + (rest - path))
	    : path[0] == '/'
		    ? !push_text(s, anchor_path(s, d->given))
		    : !push_text(s, d->given) || !push_text(s, anchor_path(s,
			cwd)))
		return FOUND_TOO_LONG;
	s->at->want = 0;
	rc = walk_rest(s);
	s->at->want = want;
	if (rc != FOUND_IN)
		return rc;
	memcpy(d->path, s->at->path, s->len);
	d->len = s->len;
	d->links = s->links;
	d->missing = s->at->missing;
	d->n = n;
	d->known = true;
	return FOUND_IN;
}

void judge_resolve(struct judge *j, const char *cwd, const char *path,
	struct path_found *out)
{
	struct steps s = {.j = j, .at = out, .from = MAX_TODO - 1};
	const char *slash = strrchr(path, '/'), *rest;
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	int rc = FOUND_IN;

	j->work += 4;
	out->missing = false;
	out->count = out->in_exec = 0;
	rest = take_dir(&s, cwd, path);
	if (rest != path + n)
		rc = to_dir(&s, cwd, path, n, rest);
	if (rc == FOUND_IN)
		rc = push_text(&s, path + n) ? walk_rest(&s) : FOUND_TOO_LONG;
	out->path[s.len] = 0;
	if (s.len == 0)
		memcpy(out->path, "/", 2);
	out->where = rc != FOUND_IN                      ? (unsigned)rc
		     : !path_beneath(j->root, out->path) ? FOUND_OUT
							 : FOUND_IN;
}
