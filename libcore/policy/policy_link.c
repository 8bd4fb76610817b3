/* policy_link.c - links that a line makes or copies, and what is behind them
 * SPDX-License-Identifier: MIT
 *
 * Such a link is not there yet when the line is judged: ln -s . l; cat l/../x.
 */
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "policy/policy_args_in.h"
#include "base/str.h"

struct made_link {
	const char *path, *to; /* physical; as it stands in the link */
	bool copy; /* what is there is as it is at `to`, which is physical */
	const struct made_link *next;
};

bool judge_made(struct judge *j, const char *path, char link[JUDGE_PATH])
{
	const char *at = path;
	ssize_t got;

	for (const struct made_link *l = j->made; l; l = l->next) {
		if (l->copy && path_beneath(l->path, at))
			at = judge_print(
				j, "%s%s", l->to, at + strlen(l->path));
		if (!l->copy && (str_eq(l->path, at) || str_eq(l->path, path)))
			return str_copy(link, JUDGE_PATH, l->to) == 0;
	}
	if (at == path)
		return false;
	j->work += JUDGE_LOOK;
	got = readlink(at, link, JUDGE_PATH - 1);
	link[got < 0 ? 0 : got] = 0;
	return got > 0;
}

/* A link, or a copy of what is called `to`, is called name, in each directory
 * that the command may run in. */
static void remember(
	struct judge_cmd *k, const char *name, const char *to, bool copy)
{
	struct judge *j = k->j;
	struct path_found f;

	judge_same_forget(j);
	j->linked |= !copy;
	for (unsigned i = 0; i < k->cwd->n; i++) {
		const char *cwd = judge_cwd(k, i);
		struct made_link *l = arena_new(j->arena, struct made_link);

		if (!l)
			return;
		f.want = FOUND_ENTRY;
		judge_resolve(j, cwd, to, &f);
		l->to = copy ? judge_print(j, "%s", f.path) : to;
		judge_resolve(j, cwd, name, &f);
		if (f.where != FOUND_IN)
			continue;
		l->path = judge_print(j, "%s", f.path);
		l->copy = copy;
		l->next = j->made;
		j->made = l;
	}
}

/* -s, or a long name that may be cut short. */
static bool symbolic(const struct scan *s)
{
	const struct parsed *o = s->out;
	bool found = args_given(o, "-s");

	for (size_t i = 0; i < o->opts; i++)
		found |= o->opt[i].name[1] == '-' &&
			 str_after("--symbolic-link", o->opt[i].name);
	return found;
}

/* Does it take links along as they are? An option of those, or a long one that
 * begins like one: --archive, --recursive, --no-dereference. */
static bool copies(const struct scan *s)
{
	const struct parsed *o = s->out;
	bool found = !s->k->keeps;

	for (size_t i = 0; i < o->opts; i++)
		found |= strpbrk(o->opt[i].name, "adlnPrR") ==
			 o->opt[i].name + strspn(o->opt[i].name, "-");
	return found;
}

/* Of n operands the place that the others go to, be it an option's; their
 * number in *n. */
static struct arg goal(const struct scan *s, size_t *n)
{
	const struct parsed *o = s->out;

	for (size_t i = 0; i < o->opts; i++)
		if (o->opt[i].value &&
			(str_eq(o->opt[i].name, "-t") ||
				str_after("--target-directory",
					o->opt[i].name)))
			return judge_arg(s->k->j, o->opt[i].value,
				strlen(o->opt[i].value));
	/* What may be no operand at all leaves the one before it the last. */
	while (*n > 1 && o->operand[*n - 1].many)
		--*n;
	return *n > 1 ? o->operand[--*n] : (struct arg){.s = "."};
}

/* Of ln's last operand: is it a directory (bit 1), or the link itself (bit 0)?
 * With -n even a link to a directory is that. */
static unsigned place(const struct scan *s, const struct arg *last)
{
	struct judge *j = s->k->j;
	struct path_found f = {.want = FOUND_NAMES};
	unsigned is = 0;

	if (str_ends(last->s, "/"))
		return 2;
	for (unsigned i = 0; i < s->k->cwd->n; i++) {
		judge_resolve(j, judge_cwd(s->k, i), last->s, &f);
		is |= judge_enters(j, f.path) ? 2U | (f.count > 1) : 1;
	}
	return is;
}

void args_link(struct scan *s, const struct arg *a)
{
	size_t n = s->out->operands;
	struct arg last = goal(s, &n);
	unsigned is;

	/* A copy is made of it, or the file gets another name. */
	if (!symbolic(s)) {
		args_value(s, s->k->keeps ? IMG_T_PATH : IMG_T_WPATH, a,
			"operand");
		return;
	}
	if (a->s[0] == '/' || last.unknown) {
		judge_path(s->k, a, PATH_READ);
		return;
	}
	is = place(s, &last);
	/* What a link says is read from where it stands. */
	for (unsigned in = 0; in < 2; in++) {
		struct arg target = *a;

		n = in ? strlen(last.s)
		       : (size_t)(path_base(last.s) - last.s);
		target.s = judge_print(s->k->j, "%.*s%s%s", (int)n, last.s,
			in ? "/" : "", a->s);
		if (is & 1U << in)
			judge_path(s->k, &target, PATH_READ);
	}
}

void args_made(struct scan *s, bool links)
{
	size_t n = s->out->operands;
	struct arg last = goal(s, &n);
	unsigned is = place(s, &last);

	links &= symbolic(s);
	/* What is not there yet the line may have made a directory. */
	if (!links && is == 1)
		is = 3;
	for (size_t i = 0; i < n && (links || copies(s)); i++) {
		const struct arg *a = &s->out->operand[i];
		size_t end = strlen(a->s), from;
		if (strpbrk(a->s, SHELL_REL_S SHELL_ANY_S))
			continue;
		/* rsync takes what is in x/, others x itself. */
		if (is & 1 || str_ends(a->s, "/"))
			remember(s->k, last.s, a->s, !links);
		while (end && a->s[end - 1] == '/')
			end--;
		for (from = end; from && a->s[from - 1] != '/';)
			from--;
		if (is & 2 && end > from)
			remember(s->k,
				judge_print(s->k->j, "%s/%.*s", last.s,
					(int)(end - from), a->s + from),
				a->s, !links);
	}
}
