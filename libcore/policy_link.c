/* policy_link.c - links that a line makes, and what is behind them
 * SPDX-License-Identifier: MIT
 *
 * Such a link is not there yet when the line is judged: ln -s . l; cat l/../x.
 */
#include <string.h>

#include "path.h"
#include "policy_args.h"
#include "str.h"

struct made_link {
	const char *path, *to; /* physical; as it stands in the link */
	const struct made_link *next;
};

const char *judge_made(const struct judge *j, const char *path)
{
	for (const struct made_link *l = j->made; l; l = l->next)
		if (str_eq(l->path, path))
			return l->to;
	return NULL;
}

/* The link is called name, in each directory that the command may run in. */
static void remember(struct judge_cmd *k, const char *name, const char *to)
{
	struct judge *j = k->j;
	struct path_found f;

	judge_same_forget(j);
	for (unsigned i = 0; i < k->cwd->n; i++) {
		struct shell_str dir = k->cwd->alts[i];
		struct made_link *l = arena_new(j->arena, struct made_link);

		f.want = FOUND_ENTRY;
		judge_resolve(j, judge_text(j, dir.p, dir.n), name, &f);
		if (!l || f.where != FOUND_IN)
			continue;
		l->path = judge_text(j, f.path, strlen(f.path));
		l->to = to;
		l->next = j->made;
		j->made = l;
	}
}

/* What a symbolic link says is read from where it stands: the first n bytes of
 * `last`. */
static void link_from(
	struct scan *s, const struct arg *a, const struct arg *last, size_t n)
{
	char path[JUDGE_PATH];
	struct buf b = BUF_FIXED(path);
	struct arg target = *a;

	buf_add(&b, last->s, n);
	buf_addf(&b, "%s%s", n ? "/" : "", a->s);
	if (!b.err)
		target.s = judge_text(s->k->j, buf_str(&b), b.len);
	judge_path(s->k, &target, PATH_READ);
}

/* A long option may be cut short. */
static bool symbolic(const struct scan *s)
{
	const struct parsed *o = s->out;
	bool found = args_given(o, "-s");

	for (size_t i = 0; i < o->opts; i++)
		found |= o->opt[i].name[1] == '-' &&
			 str_after("--symbolic", o->opt[i].name);
	return found;
}

/* Of ln's last operand: is it a directory (bit 1), or the link itself (bit 0)?
 * With -n even a link to a directory is that. */
static unsigned place(const struct scan *s, const struct arg *last)
{
	struct path_found f = {.want = FOUND_NAMES};

	judge_resolve(s->k->j, s->k->j->cwd, last->s, &f);
	return judge_enters(s->k->j, f.path) ? 2U | (f.count > 1) : 1;
}

void args_link(struct scan *s, const struct arg *a)
{
	const struct parsed *o = s->out;
	const struct arg *last = &o->operand[o->operands - 1];
	const char *slash = strrchr(last->s, '/');
	unsigned is;

	if (!symbolic(s)) {
		args_value(s, IMG_T_WPATH, a, "operand");
		return;
	}
	if (o->operands < 2 || a->s[0] == '/' || last->unknown) {
		judge_path(s->k, a, PATH_READ);
		return;
	}
	is = place(s, last);
	if (is & 1)
		link_from(s, a, last, slash ? (size_t)(slash - last->s) : 0);
	if (is & 2)
		link_from(s, a, last, strlen(last->s));
}

void args_made(struct scan *s)
{
	const struct parsed *o = s->out;
	size_t end = o->operands, n;
	const struct arg *last;
	unsigned is;

	/* What may be no operand at all leaves the one before it the last. */
	while (end > 1 && o->operand[end - 1].many)
		end--;
	n = end - (end > 1);
	last = &o->operand[n];
	is = n < end ? place(s, last) : 2;
	for (size_t i = 0; i < n && symbolic(s); i++) {
		const struct arg *a = &o->operand[i];
		const char *name = path_base(a->s);
		char within[JUDGE_PATH];
		struct buf b = BUF_FIXED(within);

		if (strpbrk(a->s, "\1\2"))
			continue;
		if (is & 1)
			remember(s->k, last->s, a->s);
		if (n < end)
			buf_addf(&b, "%s/", last->s);
		buf_adds(&b, name);
		if (is & 2 && *name && !b.err)
			remember(s->k, buf_str(&b), a->s);
	}
}
