/* policy_prog.c - what a command's first word will run
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sys/env.h"
#include "base/path.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

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
