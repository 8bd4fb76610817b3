/* policy_path.c - where a path leads, link by link, and whether it may
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "policy_judge.h"
#include "str.h"

enum {
	MAX_LINKS = 40,
	MAX_NAME = 255,
	MAX_TODO = 2 * JUDGE_PATH,
};

/* A link led from beneath the root to elsewhere. */
static const size_t LEFT = SIZE_MAX;

/* A walk along a path: cur is physical, todo is what is left. */
struct steps {
	struct judge *j;
	struct path_found *at;
	size_t len;   /* of at->path */
	size_t floor; /* ".." may not go below: the root's length; 0; or LEFT */
	unsigned links;
	char todo[MAX_TODO]; /* used from .from on */
	size_t from;
};

/* Puts text in front of what is to be walked. */
static bool push(struct steps *s, const char *text)
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

/* Goes to where an absolute path begins: the root when it is beneath it. What
 * is left of it is returned. */
static const char *anchor(struct steps *s, const char *path)
{
	size_t n = in_root(s->j, path);

	s->at->missing = false;
	if (n) {
		memcpy(s->at->path, s->j->root, n);
		s->len = s->floor = n;
		return path + n;
	}
	s->len = 0;
	s->floor = s->floor ? LEFT : 0;
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

/* One component that is neither "." nor "..". */
static int into(struct steps *s, const char *name, size_t n)
{
	char link[JUDGE_PATH];
	struct path_found *f = s->at;
	size_t parent = s->len;
	bool made;
	ssize_t got;

	if (f->want & FOUND_NAMES && is_last(s) && !note_name(s, name, n))
		return FOUND_TOO_LONG;
	if (s->len + 1 + n >= sizeof(f->path))
		return FOUND_TOO_LONG;
	f->path[s->len++] = '/';
	memcpy(f->path + s->len, name, n);
	s->len += n;
	f->path[s->len] = 0;
	made = s->j->made && judge_made(s->j, f->path, link);
	if ((!made && (f->missing || strpbrk(f->path + parent, "\1\2"))) ||
		(f->want & FOUND_ENTRY && is_last(s)))
		return FOUND_IN;
	s->j->work += JUDGE_LOOK;
	got = made ? (ssize_t)strlen(link)
		   : readlink(f->path, link, sizeof(link) - 1);
	if (got < 0) {
		f->missing = errno != EINVAL;
		return FOUND_IN;
	}
	/* What it is to us, it is not to the command. */
	if (str_after(f->path, "/proc/"))
		return FOUND_OUT;
	if (++s->links > MAX_LINKS || (size_t)got == sizeof(link) - 1)
		return FOUND_TOO_LONG;
	link[got] = 0;
	s->len = parent;
	f->path[parent] = 0;
	return push(s, link[0] == '/' ? anchor(s, link) : link)
		       ? FOUND_IN
		       : FOUND_TOO_LONG;
}

static int up(struct steps *s)
{
	struct path_found *f = s->at;

	if (s->len == s->floor)
		return s->floor ? FOUND_ESCAPE : FOUND_IN;
	while (s->len > 0 && f->path[--s->len] != '/')
		;
	f->path[s->len] = 0;
	if (f->missing) {
		s->j->work += JUDGE_LOOK;
		f->missing = s->len && access(f->path, F_OK) < 0;
	}
	return FOUND_IN;
}

/* Walks what is left. */
static int walk(struct steps *s)
{
	int rc = FOUND_IN;

	while (rc == FOUND_IN && s->todo[s->from]) {
		char name[MAX_NAME + 1];
		size_t n = strcspn(s->todo + s->from, "/");

		if (n > MAX_NAME)
			return FOUND_TOO_LONG;
		memcpy(name, s->todo + s->from, n);
		name[n] = 0;
		s->from += n + 1;
		s->j->work++;
		if (n == 0 || str_eq(name, "."))
			continue;
		rc = str_eq(name, "..") ? up(s) : into(s, name, n);
	}
	return rc;
}

/* The directory that a path of n bytes begins with, seen from cwd: where it
 * leads. Thousands of operands lie in a few of them. */
struct judged_dir {
	bool known, missing;
	const struct made_link *made; /* that are in the way */
	unsigned links;
	size_t n, len, floor;
	char cwd[JUDGE_PATH], given[JUDGE_PATH], path[JUDGE_PATH];
};

/* Begins where it leads, when the path begins so. */
static const char *take_dir(struct steps *s, const char *cwd, const char *path)
{
	const struct judged_dir *d = s->j->dir;

	if (!d || !d->known || d->made != s->j->made || !str_eq(cwd, d->cwd) ||
		strncmp(path, d->given, d->n) != 0 ||
		(path[0] == '/') != (d->given[0] == '/') ||
		in_root(s->j, path) != in_root(s->j, d->given))
		return NULL;
	memcpy(s->at->path, d->path, d->len);
	s->len = d->len;
	s->floor = d->floor;
	s->links = d->links;
	s->at->missing = d->missing;
	return path + d->n;
}

/* Walks to the directory that the path's first n bytes are, from where the
 * rest of them begins, and remembers it. */
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
	if (rest ? !push(s, d->given + (rest - path))
	    : path[0] == '/'
		    ? !push(s, anchor(s, d->given))
		    : !push(s, d->given) || !push(s, anchor(s, cwd)))
		return FOUND_TOO_LONG;
	s->at->want = 0;
	rc = walk(s);
	s->at->want = want;
	if (rc != FOUND_IN)
		return rc;
	memcpy(d->path, s->at->path, s->len);
	d->len = s->len;
	d->floor = s->floor;
	d->links = s->links;
	d->missing = s->at->missing;
	d->n = n;
	d->made = s->j->made;
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
		rc = push(&s, path + n) ? walk(&s) : FOUND_TOO_LONG;
	out->path[s.len] = 0;
	if (s.len == 0)
		memcpy(out->path, "/", 2);
	out->where = rc != FOUND_IN                      ? (unsigned)rc
		     : !path_beneath(j->root, out->path) ? FOUND_OUT
		     : s.floor == LEFT                   ? FOUND_ESCAPE
							 : FOUND_IN;
}

/* Matches segment by segment: '*' does not take '/'. */
static bool grant_glob(const char *pattern, const char *path)
{
	unsigned a = 0, b = 0;

	for (const char *c = pattern; *c; c++)
		a += *c == '/';
	for (const char *c = path; *c; c++)
		b += *c == '/';
	return a == b && str_glob(pattern, path);
}

/* $ROOT and $HOME filled in; false when that is not known. */
static bool expand(
	const struct judge *j, const char *pattern, char *out, size_t size)
{
	const char *rest = str_after(pattern, "$ROOT"), *base = j->root;
	struct buf b = {.data = out, .cap = size, .max = size - 1};

	if (!rest) {
		rest = str_after(pattern, "$HOME");
		base = rest ? j->home : "";
	}
	if (!base)
		return false;
	buf_adds(&b, base);
	buf_adds(&b, rest ? rest : pattern);
	return *buf_str(&b) != 0 && !b.err;
}

static bool granted_by(const struct judge *j, const struct policy_image *img,
	const char *text, const char *physical, bool write)
{
	struct img_path p;
	char pattern[JUDGE_PATH];

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_PATH); i++) {
		size_t n;

		img_get(img, IMG_PATH, i, &p);
		if ((write && !p.write) ||
			!expand(j, img_str(img, p.pattern), pattern,
				sizeof(pattern)))
			continue;
		n = strlen(pattern);
		if (n > 3 && str_ends(pattern, "/**")) {
			pattern[n - 3] = 0;
			if (path_beneath(pattern, physical))
				return true;
		} else if (grant_glob(pattern, text) ||
			   str_eq(pattern, physical)) {
			return true;
		}
	}
	return false;
}

/* Every layer that speaks of paths must grant it. */
static bool granted(const struct judge *j, const char *cwd, const char *path,
	const char *physical, bool write)
{
	char text[JUDGE_PATH];

	if (path_normal(text, sizeof(text), cwd, path) < 0)
		return false;
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];

		if (img && (i == 0 || IMG_COUNT(img, IMG_PATH)) &&
			!granted_by(j, img, text, physical, write))
			return false;
	}
	return true;
}

/* Can the pattern mean rel, or, ending in a "**" of its own, what is above it? In
 * rel SHELL_REL stands for any bytes; '/' matches itself alone. at: the
 * beginnings of the pattern that may be what was read of rel. */
static bool protected_by(const char *pattern, const char *rel, bool glob)
{
	size_t n = strlen(pattern);
	const bool tree = n > 3 && str_ends(pattern, "/**");
	bool at[JUDGE_PATH] = {true}, any = true;

	n -= tree ? 3 : 0;
	if (n >= sizeof(at))
		return true;
	for (; any; rel++) {
		const bool some = *rel == SHELL_REL;
		bool was = false, is = false;
		char last = '/';

		any = false;
		for (size_t i = 0; i <= n; last = pattern[i++]) {
			const bool from = some ? is : was;
			bool stay = pattern[i] == '*' && *rel != '/';

			if (some) /* it takes no leading dot */
				stay = !glob || last != '/' || pattern[i] != '.';
			was = at[i] || (was && last == '*');
			is = (was && stay) ||
			     (from && (last == *rel || last == '?' ||
					      (some && last != '/')));
			at[i] = is;
			any |= is;
		}
		if (!*rel || (tree && was && *rel == '/'))
			return was;
	}
	return false;
}

/* Nearly all differ in their first byte. */
static bool begins_alike(const char *pattern, const char *rel)
{
	return *pattern == *rel || strchr("*?", *pattern) || *rel == SHELL_REL;
}

static void check_protect(struct judge_cmd *k, const char *physical,
	const struct arg *a, enum path_use use)
{
	struct judge *j = k->j;
	const char *rel = physical + strlen(j->root);

	rel += *rel == '/';
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = j->p->layer[l];
		uint32_t count = img ? IMG_COUNT(img, IMG_PROTECT) : 0;
		struct img_protect p;

		for (uint32_t i = 0; i < count; i++) {
			const char *text, *pattern;

			img_get(img, IMG_PROTECT, i, &p);
			text = img_str(img, p.text);
			pattern = img_str(img, p.pattern);
			if (!(p.profiles & 1U << j->profile) ||
				(use == PATH_GUESS &&
					p.decision != POLICY_DENY) ||
				!begins_alike(pattern, rel))
				continue;
			j->work++;
			if (!protected_by(pattern, rel, a->glob))
				continue;
			/* A number may be any name so far: none is meant. */
			if (*rel == SHELL_REL && !a->glob)
				judge_unresolved(k, a, "path");
			else
				judge_raise(k, p.decision, "protect",
					"writes the protected %s%s%s",
					judge_show(j, rel), *text ? ": " : "",
					text);
		}
	}
}

/* Known only to be somewhere. A redirection takes no directory away. */
static void written_somewhere(struct judge_cmd *k)
{
	k->j->written_all = true;
	k->j->moved_all |= k->cmd && !k->keeps;
}

static void remember(struct judge_cmd *k, const char *physical)
{
	struct judge *j = k->j;
	unsigned n = j->written_count;

	if (strpbrk(physical, "\1\2") || n == JUDGE_WRITTEN) {
		written_somewhere(k);
		return;
	}
	j->written[n].path = judge_text(j, physical, strlen(physical));
	j->written[n].moved = k->cmd && !k->keeps;
	j->written_count++;
}

/* cd may fail where two directories are possible. */
static void outside(struct judge_cmd *k, const struct arg *a,
	const struct path_found *f)
{
	const bool up = f->where == FOUND_ESCAPE;
	const bool link = !up && a->s[0] != '/' && !str_eq(f->path, a->s);

	judge_raise(k, POLICY_DENY, "path", "%s%s %s%s",
		judge_show(k->j, a->s), up ? ": '..' leaves" : " is outside",
		k->j->root, link ? " behind a link" : "");
	if (str_eq(k->v.rule, "path") && !k->v.alternative[0])
		judge_alternative(k,
			up && k->cwd->n > 1
				? "if cd may fail: cd DIR && COMMAND"
				: "a file of the project, or root grants "
				  "it: path r|rw FILE");
}

static void path_from(struct judge_cmd *k, const struct arg *a, const char *cwd,
	enum path_use use)
{
	struct judge *j = k->j;
	struct path_found f;

	f.want = k->unlinks && use == PATH_WRITE ? FOUND_ENTRY : 0;
	judge_resolve(j, cwd, a->s, &f);
	if (f.where == FOUND_TOO_LONG)
		judge_raise(k, POLICY_DENY, "path",
			"%s: too long or too many links", judge_show(j, a->s));
	else if (f.where == FOUND_ESCAPE ||
		 (!judge_is_tmp(j, f.path) &&
			 !granted(j, cwd, a->s, f.path, use == PATH_WRITE)))
		outside(k, a, &f);
	else if (f.where == FOUND_IN &&
		 (use == PATH_WRITE || use == PATH_GUESS)) {
		check_protect(k, f.path, a, use);
		if (use == PATH_WRITE)
			remember(k, f.path);
		if (use == PATH_WRITE && k->removes &&
			str_eq(f.path, j->root))
			judge_raise(k, POLICY_DENY, "protect",
				"takes all of %s away", j->root);
	}
}

/* Whether the links are there depends on how the commands before end. */
static void both_ways(struct judge_cmd *k, const struct arg *a, const char *cwd,
	enum path_use use)
{
	const struct made_link *made = k->j->made;

	path_from(k, a, cwd, use);
	k->j->made = NULL;
	if (made)
		path_from(k, a, cwd, use);
	k->j->made = made;
}

void judge_path(struct judge_cmd *k, const struct arg *a, enum path_use use)
{
	struct judge *j = k->j;
	struct arg known = *a;

	/* Below an approved parent the kernel alone watches paths. */
	if (!*a->s || j->depth || judge_spent(j))
		return;
	/* @FILE is how many programs are given more words. */
	if (*a->s == '@' && a->s[1] && strchr("/.~", a->s[1]))
		known.s++;
	if (a->unknown) {
		judge_unresolved(k, a, "path");
		if (use == PATH_WRITE)
			written_somewhere(k);
		known.s = judge_text(j, known.s, strcspn(known.s, "\2"));
		if (!*known.s)
			return;
		known.unknown = false;
		use = PATH_READ;
	}
	for (unsigned i = 0; i < k->cwd->n; i++) {
		const char *cwd = judge_cwd(k, i);

		if (known.s[0] != '/' && strchr(cwd, SHELL_ANY)) {
			judge_unresolved(k, a, "directory");
			continue;
		}
		both_ways(k, &known, *cwd ? cwd : "/", use);
	}
}

void judge_path_val(
	struct judge_cmd *k, const struct shell_val *v, enum path_use use)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct arg a = judge_arg(k->j, v->alts[i].p, v->alts[i].n);

		a.many = v->many;
		a.glob = v->glob;
		judge_path(k, &a, use);
	}
}
