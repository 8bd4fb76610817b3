/* policy_prog.c - what a command's first word will run
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "env.h"
#include "path.h"
#include "policy_judge.h"
#include "str.h"

static void add_name(struct judge *j, struct prog *p, const char *name)
{
	for (unsigned i = 0; i < p->count; i++)
		if (str_eq(p->names[i], name))
			return;
	if (p->count < JUDGE_NAMES)
		p->names[p->count++] = judge_text(j, name, strlen(name));
}

/* Of a file that was called by a path, only the names that stand in an exec
 * directory mean anything: a local name can be given to any file. */
static void take_names(
	struct judge *j, struct prog *p, const struct path_found *f, bool all)
{
	for (unsigned i = 0; i < f->count; i++)
		if (all || (f->in_exec & 1U << i))
			add_name(j, p, f->names[i]);
}

static bool exec_dir(const struct judge *j, const char *dir, size_t n)
{
	char text[256];

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, dir, n);
	text[n] = 0;
	return judge_exec_dir(j, text);
}

/* A file that is there, or would be. */
static void classify(struct judge_cmd *k, const char *path, struct prog *p)
{
	struct judge *j = k->j;
	struct path_found f;

	f.named = true;
	judge_resolve(j, "/", path, &f);
	p->file = judge_text(j, f.path, strlen(f.path));
	if (f.where == FOUND_ESCAPE || f.where == FOUND_TOO_LONG ||
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

/* A name in an exec directory: the directory is trusted as it stands, only a
 * link is followed. False when it is not there. */
static bool in_exec_dir(struct judge_cmd *k, const char *path, const char *name,
	struct prog *p)
{
	char link[8];
	ssize_t n = readlink(path, link, sizeof(link));

	if (n < 0 && errno != EINVAL)
		return false;
	p->file = judge_text(k->j, path, strlen(path));
	add_name(k->j, p, name);
	if (n >= 0)
		classify(k, path, p);
	p->where = PROG_SYSTEM;
	p->name = name;
	return true;
}

static void look_up(struct judge_cmd *k, const char *name, struct prog *p)
{
	struct judge *j = k->j;
	char path[JUDGE_PATH];

	for (const char *dir = j->search; dir && *dir;) {
		size_t n = strcspn(dir, ":");
		struct buf b = BUF_FIXED(path);

		buf_add(&b, dir, n);
		buf_adds(&b, n ? "/" : "./");
		buf_adds(&b, name);
		buf_str(&b);
		if (!b.err && path[0] == '/' && exec_dir(j, dir, n)) {
			if (in_exec_dir(k, path, name, p))
				return;
		} else if (!b.err && access(path, X_OK) == 0) {
			classify(k, path[0] == '/' ? path : name, p);
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

	*out = (struct prog){.where = PROG_MISSING};
	if (!strchr(word, '/')) {
		/* A wrapper's command is a program even when it is named as a
		 * builtin; for the rules that is the same name. */
		if (judge_granted(j, "builtin", word)) {
			out->where = PROG_BUILTIN;
			out->name = word;
			add_name(j, out, word);
			return;
		}
		look_up_once(k, word, out);
		return;
	}
	if (word[0] == '/') {
		classify(k, word, out);
		return;
	}
	for (unsigned i = 0; i < k->cwd->n; i++) {
		struct shell_str dir = k->cwd->alts[i];
		char path[JUDGE_PATH];
		struct buf b = BUF_FIXED(path);
		struct prog one = {.where = PROG_OUTSIDE};

		buf_add(&b, dir.p, dir.n);
		buf_addf(&b, "/%s", word);
		if (!b.err && !shell_str_unknown(dir, true))
			classify(k, buf_str(&b), &one);
		if (i == 0 || one.where == PROG_OUTSIDE)
			*out = one;
		else
			for (unsigned n = 0; n < one.count; n++)
				add_name(j, out, one.names[n]);
	}
}

void judge_prog_file(struct judge_cmd *k, const char *file, const char *word,
	struct prog *out)
{
	*out = (struct prog){.where = PROG_MISSING};
	classify(k, file, out);
	/* A multicall binary goes by the name it was called. */
	if (out->where != PROG_LOCAL) {
		add_name(k->j, out, path_base(word));
		if (out->where == PROG_SYSTEM)
			out->name = path_base(word);
	}
}
