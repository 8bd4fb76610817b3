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

/* A walk along a path: cur is physical, todo is what is left. */
struct steps {
	const struct judge *j;
	struct path_found *at;
	size_t len;   /* of at->path */
	size_t floor; /* ".." may not go below: the root's length, or 0 */
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

/* Goes to where an absolute path begins: the root when it is beneath it. What
 * is left of it is returned. */
static const char *anchor(struct steps *s, const char *path)
{
	const char *root = s->j->root;
	size_t n = strlen(root);

	s->at->missing = false;
	if (n > 1 && strncmp(path, root, n) == 0 &&
		(path[n] == '/' || !path[n])) {
		memcpy(s->at->path, root, n);
		s->len = s->floor = n;
		return path + n;
	}
	s->len = s->floor = 0;
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
	ssize_t got = -1;

	if (f->named && is_last(s) && !note_name(s, name, n))
		return FOUND_TOO_LONG;
	if (s->len + 1 + n >= sizeof(f->path))
		return FOUND_TOO_LONG;
	f->path[s->len++] = '/';
	memcpy(f->path + s->len, name, n);
	s->len += n;
	f->path[s->len] = 0;
	if (f->missing || strpbrk(f->path + parent, "\1\2"))
		return FOUND_IN;
	got = readlink(f->path, link, sizeof(link) - 1);
	if (got < 0) {
		f->missing = errno != EINVAL;
		return FOUND_IN;
	}
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
	if (f->missing)
		f->missing = s->len && access(f->path, F_OK) < 0;
	return FOUND_IN;
}

void judge_resolve(const struct judge *j, const char *cwd, const char *path,
	struct path_found *out)
{
	struct steps s = {.j = j, .at = out, .from = MAX_TODO - 1};
	int rc = FOUND_IN;

	out->missing = false;
	out->count = out->in_exec = 0;
	if (path[0] == '/')
		rc = push(&s, anchor(&s, path)) ? rc : FOUND_TOO_LONG;
	else if (!push(&s, path) || !push(&s, anchor(&s, cwd)))
		rc = FOUND_TOO_LONG;
	while (rc == FOUND_IN && s.todo[s.from]) {
		char name[MAX_NAME + 1];
		size_t n = strcspn(s.todo + s.from, "/");

		if (n > MAX_NAME) {
			rc = FOUND_TOO_LONG;
			break;
		}
		memcpy(name, s.todo + s.from, n);
		name[n] = 0;
		s.from += n + 1;
		if (n == 0 || str_eq(name, "."))
			continue;
		rc = str_eq(name, "..") ? up(&s) : into(&s, name, n);
	}
	out->path[s.len] = 0;
	if (s.len == 0)
		memcpy(out->path, "/", 2);
	out->where = rc != FOUND_IN                     ? (unsigned)rc
		     : path_beneath(j->root, out->path) ? FOUND_IN
							: FOUND_OUT;
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

/* Can pattern and text mean the same name? In text SHELL_REL stands for any
 * bytes; '/' matches itself alone. */
static bool may_be(const char *pattern, const char *text, bool glob)
{
	if (*text == SHELL_REL) {
		if (glob && *pattern == '.')
			return false; /* '*' takes no leading dot */
		for (;; pattern++) {
			if (may_be(pattern, text + 1, glob))
				return true;
			if (!*pattern || *pattern == '/')
				return false;
		}
	}
	if (*pattern == '*') {
		for (;; text++) {
			if (may_be(pattern + 1, text, glob))
				return true;
			if (!*text || *text == '/')
				return false;
		}
	}
	if (!*pattern || !*text)
		return *pattern == *text;
	return (*pattern == '?' || *pattern == *text) &&
	       may_be(pattern + 1, text + 1, glob);
}

static bool protected_by(const char *pattern, const char *rel, bool glob)
{
	char dir[JUDGE_PATH];
	size_t n = strlen(pattern);

	if (n <= 3 || !str_ends(pattern, "/**") ||
		str_copy(dir, sizeof(dir), pattern) < 0)
		return may_be(pattern, rel, glob);
	dir[n - 3] = 0;
	if (may_be(dir, rel, glob))
		return true;
	/* Beneath it: as many segments as the directory has. */
	for (const char *c = rel; *c; c++) {
		char head[JUDGE_PATH];

		if (*c != '/' || (size_t)(c - rel) >= sizeof(head))
			continue;
		memcpy(head, rel, (size_t)(c - rel));
		head[c - rel] = 0;
		if (may_be(dir, head, glob))
			return true;
	}
	return false;
}

static void check_protect(
	struct judge_cmd *k, const char *physical, const struct arg *a)
{
	struct judge *j = k->j;
	const char *rel = physical + strlen(j->root);

	rel += *rel == '/';
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = j->p->layer[l];
		uint32_t count = img ? IMG_COUNT(img, IMG_PROTECT) : 0;
		struct img_protect p;

		for (uint32_t i = 0; i < count; i++) {
			const char *text;

			img_get(img, IMG_PROTECT, i, &p);
			text = img_str(img, p.text);
			if (!(p.profiles & 1U << j->profile) ||
				!protected_by(img_str(img, p.pattern), rel,
					a->glob))
				continue;
			judge_raise(k, p.decision, "protect",
				"writes the protected %s%s%s",
				judge_show(j, rel), *text ? ": " : "", text);
		}
	}
}

static void remember(struct judge *j, const char *physical)
{
	const char *copy = judge_text(j, physical, strlen(physical));

	if (strpbrk(physical, "\1\2") || j->written_count == JUDGE_WRITTEN)
		j->written_all = true;
	else
		j->written[j->written_count++] = copy;
}

static void path_from(struct judge_cmd *k, const struct arg *a, const char *cwd,
	enum path_use use)
{
	struct judge *j = k->j;
	struct path_found f;

	f.named = false;
	judge_resolve(j, cwd, a->s, &f);
	if (f.where == FOUND_TOO_LONG)
		judge_raise(k, POLICY_DENY, "path",
			"%s: too long or too many links", judge_show(j, a->s));
	else if (f.where == FOUND_ESCAPE)
		judge_raise(k, POLICY_DENY, "path", "%s: '..' leaves %s",
			judge_show(j, a->s), j->root);
	else if (!granted(j, cwd, a->s, f.path, use == PATH_WRITE))
		judge_raise(k, POLICY_DENY, "path", "%s is outside %s%s",
			judge_show(j, a->s), j->root,
			str_eq(f.path, a->s) || a->s[0] == '/'
				? ""
				: " behind a link");
	else if (use == PATH_WRITE && f.where == FOUND_IN) {
		check_protect(k, f.path, a);
		remember(j, f.path);
	}
}

void judge_path(struct judge_cmd *k, const struct arg *a, enum path_use use)
{
	struct judge *j = k->j;
	struct arg known = *a;

	/* Below an approved parent the kernel alone watches paths. */
	if (!*a->s || j->depth)
		return;
	if (a->unknown) {
		judge_raise(k, j->set[IMG_P_UNRESOLVED], "unresolved",
			"%s: the path is not known before it runs",
			judge_show(j, a->s));
		if (use == PATH_WRITE)
			j->written_all = true;
		known.s = judge_text(j, a->s, strcspn(a->s, "\2"));
		if (!*known.s)
			return;
		known.unknown = false;
		use = PATH_READ;
	}
	for (unsigned i = 0; i < k->cwd->n; i++) {
		struct shell_str dir = k->cwd->alts[i];
		const char *cwd = judge_text(j, dir.p, dir.n);

		if (known.s[0] != '/' && strchr(cwd, SHELL_ANY)) {
			judge_raise(k, j->set[IMG_P_UNRESOLVED], "unresolved",
				"%s: the directory is not known before it runs",
				judge_show(j, a->s));
			continue;
		}
		path_from(k, &known, *cwd ? cwd : "/", use);
	}
}

void judge_path_val(
	struct judge_cmd *k, const struct shell_val *v, enum path_use use)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct arg a = {.many = v->many, .glob = v->glob};

		a.s = judge_text(k->j, v->alts[i].p, v->alts[i].n);
		a.unknown = strchr(a.s, SHELL_ANY) != NULL;
		a.rel = strchr(a.s, SHELL_REL) != NULL;
		judge_path(k, &a, use);
	}
}

/* Is there a ".." between slashes, or at an end? */
static bool has_dotdot(const char *s)
{
	for (const char *c = s; (c = str_find(c, "..")); c += 2)
		if ((c == s || c[-1] == '/') && (!c[2] || c[2] == '/'))
			return true;
	return false;
}

void judge_path_guess(struct judge_cmd *k, const struct arg *a)
{
	const char *s = a->s;

	if (str_find(s, "://"))
		return; /* an address */
	if (strpbrk(s, " \t\n") && s[0] != '/' && !has_dotdot(s))
		return; /* a sentence */
	if (s[0] == '-' && s[1] && s[1] != '-' && s[2])
		s += s[2] == '=' ? 3 : 2;
	while (*s) {
		size_t n = strcspn(s, "=:,");
		struct arg piece = *a;

		piece.s = judge_text(k->j, s, n);
		piece.unknown = strchr(piece.s, SHELL_ANY) != NULL;
		if (piece.s[0] == '/' || has_dotdot(piece.s) || s == a->s ||
			strchr(piece.s, '/'))
			judge_path(k, &piece, PATH_READ);
		s += n + (s[n] != 0);
	}
}
