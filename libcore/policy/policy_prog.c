/* policy_prog.c - what a command's first word will run, through all links
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "policy/policy_judge_in.h"
#include "sys/env.h"

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

/* Does wardbox stand in for something under that name? */
static bool stands_in(const char *name)
{
	return str_index("sh\0bash\0dash\0ash\0", name) >= 0 ||
	       str_after(name, "auto-");
}

/* A shell's name in an exec directory that leads to wardbox is the shim, which
 * is only that shell, guarded. */
static bool is_shim(const struct prog *p, const char *target)
{
	return p->count && str_eq(target, "wardbox") && stands_in(p->names[0]);
}

static void add_name(struct judge *j, struct prog *p, const char *name)
{
	if (is_shim(p, name))
		return;
	for (unsigned i = 0; i < p->count; i++)
		if (str_eq(p->names[i], name))
			return;
	if (p->count < JUDGE_NAMES)
		p->names[p->count++] = judge_text(j, name, strlen(name));
}

/* Adds names of a file that was called by a path. Only names in an exec
 * directory mean something, because a local name can be given to any file. */
static void take_names(
	struct judge *j, struct prog *p, const struct path_found *f, bool all)
{
	for (unsigned i = 0; i < f->count; i++)
		if (all || (f->in_exec & 1U << i))
			add_name(j, p, f->names[i]);
}

static bool exec_dir(struct judge *j, const char *dir, size_t n)
{
	while (n > 1 && dir[n - 1] == '/')
		n--;
	return n && judge_exec_dir(j, judge_text(j, dir, n));
}

/* Classifies a file that exists, or would. */
static void classify_file(struct judge_cmd *k, const char *path, struct prog *p)
{
	struct judge *j = k->j;
	struct path_found f;

	f.want = FOUND_NAMES;
	judge_resolve(j, "/", path, &f);
	p->file = judge_text(j, f.path, strlen(f.path));
	/* The command's own directories are treated like the project. */
	if (!f.in_exec && f.where == FOUND_OUT &&
		(judge_is_place(j, f.path) || judge_is_tmp(j, f.path))) {
		p->where = PROG_LOCAL;
		p->rel = p->file;
		return;
	}
	if (f.where == FOUND_TOO_LONG ||
		str_after(path, "/proc/") || str_after(path, "/dev/")) {
		p->where = PROG_OUTSIDE;
	} else if (f.in_exec) {
		p->where = PROG_SYSTEM;
		take_names(j, p, &f, !path_beneath(j->root, path));
		p->name = p->names[0];
		return;
	} else if (f.where == FOUND_IN) {
		p->where = PROG_LOCAL;
		p->rel = p->file + strlen(j->root);
		p->rel += *p->rel == '/';
		return;
	} else {
		p->where = PROG_OUTSIDE;
	}
	take_names(j, p, &f, true);
	add_name(j, p, path_base(path));
}

/* Finds a name in an exec directory. The directory is trusted as it stands;
 * only the file's own links are followed, for their names. False when the file
 * does not exist. */
static bool in_exec_dir(
	struct judge_cmd *k, const char *path, const char *name, struct prog *p)
{
	char link[JUDGE_PATH];
	const char *at = path;

	for (unsigned hop = 0;; hop++) {
		ssize_t n = readlink(at, link, sizeof(link) - 1);

		if (n < 0 && hop == 0 && errno != EINVAL)
			return false;
		if (hop == 0)
			add_name(k->j, p, name);
		if (n < 0)
			break;
		link[n] = 0;
		if (hop == JUDGE_NAMES - 1 || (size_t)n == sizeof(link) - 1) {
			judge_raise(k, POLICY_DENY, "program",
				"%s: too many links", name);
			break;
		}
		add_name(k->j, p, path_base(link));
		/* A relative link is seen from its own directory. */
		at = judge_print(k->j, "%.*s%s",
			link[0] == '/' ? 0 : (int)(path_base(at) - at), at,
			link);
	}
	p->file = judge_text(k->j, path, strlen(path));
	p->where = PROG_SYSTEM;
	p->name = name;
	return true;
}

static void look_up(struct judge_cmd *k, const char *name, struct prog *p)
{
	struct judge *j = k->j;

	for (const char *dir = *name ? j->search : NULL; dir && *dir;) {
		size_t n = strcspn(dir, ":");
		const char *path = judge_print(
			j, "%.*s%s%s", (int)n, dir, n ? "/" : "./", name);

		j->work += JUDGE_LOOK;
		if (*dir == '/' && exec_dir(j, dir, n)) {
			if (in_exec_dir(k, path, name, p))
				return;
		} else if (access(path, X_OK) == 0) {
			classify_file(k, *dir == '/' ? path : name, p);
			return;
		}
		dir += n + (dir[n] == ':');
	}
	p->where = PROG_MISSING;
	p->name = name;
	add_name(j, p, name);
}

static void look_up_once(struct judge_cmd *k, const char *name, struct prog *p)
{
	struct judge *j = k->j;

	for (unsigned i = 0; i < j->seen_count; i++) {
		if (str_eq(j->seen[i].word, name)) {
			*p = j->seen[i].prog;
			return;
		}
	}
	look_up(k, name, p);
	if (j->seen_count < JUDGE_SEEN)
		j->seen[j->seen_count++] = (struct prog_seen){
			judge_text(j, name, strlen(name)), *p};
}

void judge_prog(struct judge_cmd *k, const char *word, struct prog *out)
{
	struct judge *j = k->j;
	const char *dir;

	*out = (struct prog){.where = PROG_MISSING};
	if (!strchr(word, '/')) {
		/* A wrapper starts a program even if a builtin has that name;
		 * rules make no difference. */
		if (judge_granted(j, LIST_BUILTIN, word)) {
			out->where = PROG_BUILTIN;
			out->name = word;
			add_name(j, out, word);
			return;
		}
		look_up_once(k, word, out);
		return;
	}
	if (word[0] == '/') {
		classify_file(k, word, out);
		return;
	}
	dir = judge_cwd(k);
	*out = (struct prog){.where = PROG_OUTSIDE};
	if (!strpbrk(dir, SHELL_REL_S SHELL_ANY_S))
		classify_file(k, judge_print(j, "%s/%s", dir, word), out);
}

/* A shim runs NAME.real: for rules, the name is NAME. */
static void strip_real(struct judge *j, struct prog *p)
{
	for (unsigned i = 0; i < p->count; i++) {
		const char *name = p->names[i];

		if (!str_ends(name, ".real"))
			continue;
		name = judge_text(j, name, strlen(name) - strlen(".real"));
		if (stands_in(name))
			p->names[i] = name;
	}
}

void judge_prog_file(struct judge_cmd *k, const char *file, const char *word,
	struct prog *out)
{
	const char *called = path_base(word);

	*out = (struct prog){.where = PROG_MISSING};
	called += called[0] == '-';
	classify_file(k, file, out);
	if (out->where == PROG_LOCAL)
		return;
	/* The name stands in an exec directory, which is trusted, and is a
	 * link. */
	if (out->where == PROG_OUTSIDE && k->named &&
		!str_find(k->named, "..") &&
		exec_dir(k->j, k->named, (size_t)(path_base(k->named) - k->named)))
		out->where = PROG_SYSTEM;
	/* A multicall binary goes by the name with which it was called; a shim
	 * goes by that name alone. */
	if (out->where == PROG_SYSTEM && stands_in(called) &&
		str_eq(path_base(file), "wardbox"))
		out->count = 0;
	strip_real(k->j, out);
	add_name(k->j, out, called);
	if (out->where == PROG_SYSTEM)
		out->name = called;
}
