/* policy_reads.c - which words of a command are options, values, operands, and a
 * command within
 * SPDX-License-Identifier: MIT
 *
 * Without a `reads` line of its program each word that begins with a dash is an
 * option, and the word behind it may be its value. What stands behind a rule that
 * denies counts in either reading; for one that allows, the line has to say it.
 */
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "policy/policy_reads_in.h"

/* Finds a program's line by the program's name, by the names of its links, or
 * by its name without a version: python3.11, gcc-12. */
static bool line_of(struct reading *r, const char *name)
{
	size_t n = strlen(name), all = n;

	if (img_reads_find(r->img, name, &r->items))
		return true;
	while (n > 1 && (chr_digit(name[n - 1]) || strchr(".-", name[n - 1])))
		n--;
	return n < all && img_reads_find(r->img,
				  judge_text(r->k->j, name, n), &r->items);
}

static void take_word(struct reading *r, const char *word)
{
	/* These facts also mean that a command stands in the words. */
	static const unsigned runs = 1U << READS_MULTI | 1U << READS_LINE |
				     1U << READS_MORE;
	int is = str_index(READS_WORDS, word);

	if (is < 0)
		num_uint(word, 1, 9, &r->skip);
	else
		r->is |= 1U << is;
	if (r->is & runs)
		r->is |= 1U << READS_RUNS;
}

void reads_begin(struct reading *r)
{
	const struct prog *p = r->prog;
	bool found = false;

	if (!r->img || p->where == PROG_LOCAL)
		return;
	found = p->name && line_of(r, p->name);
	for (unsigned i = 0; !found && i < p->count; i++)
		found = line_of(r, p->names[i]);
	for (uint32_t i = 0; i < r->items.count; i++)
		if (!strchr("-+", *img_ref(r->img, r->items, i)))
			take_word(r, img_ref(r->img, r->items, i));
}

bool reads_given(const struct parsed *o, const char *name)
{
	for (size_t i = 0; i < o->opts; i++)
		if (str_eq(o->opt[i].name, name))
			return true;
	return false;
}

/* The type of the option's value, "" for data; NULL when the line does not name
 * the option. cut: getopt_long takes "--upload-pa" for "--upload-pack". */
static const char *value_type(const struct reading *r, const char *name, bool cut)
{
	for (uint32_t i = 0; i < r->items.count; i++) {
		const char *ref = img_ref(r->img, r->items, i);
		size_t n = strcspn(ref, "=");

		if (strchr("-+", *ref) &&
			(cut ? str_after(ref, name) != NULL
			     : strncmp(ref, name, n) == 0 && !name[n]))
			return ref + n + (ref[n] == '=');
	}
	return NULL;
}

static void give_option(struct reading *r, const char *name, const char *value)
{
	r->k->j->work += 2;
	if (r->out->opts < r->opt_max)
		r->out->opt[r->out->opts++] = (struct given_opt){name, value};
	else
		judge_raise(r->k, POLICY_OPEN, "limit", "more than %zu options",
			r->opt_max);
}

static struct arg arg_tail(const struct arg *a, size_t from)
{
	struct arg v = *a;

	v.s += from;
	v.unknown = strchr(v.s, SHELL_ANY) != NULL;
	v.rel = strchr(v.s, SHELL_REL) != NULL;
	return v;
}

/* git -c NAME=VALUE */
static void git_setting(struct reading *r, const struct arg *v)
{
	struct judge *j = r->k->j;
	const size_t n = strcspn(v->s, "=");
	const char *name = judge_text(j, v->s, n);
	const char *value = v->s[n] ? v->s + n + 1 : "true";

	if (v->unknown || v->rel)
		judge_unresolved(r->k, v, "setting");
	else if (!policy_git_runs(j->p, name, value))
		return;
	else if (policy_git_once(j->p, name, value))
		judge_guided(r->k, name);
	else
		judge_raise(r->k, POLICY_DENY, "git-config",
			"the setting %s may run a program", judge_show(j, name));
}

/* NAME=VALUE before the command. */
static void take_assignment(struct reading *r, const struct arg *a)
{
	struct judge *j = r->k->j;
	size_t n = strcspn(a->s, "=");
	const char *name = judge_text(j, a->s, n);
	struct shell_str *text = arena_new(j->arena, struct shell_str);
	struct shell_set *one;

	if (!text)
		return;
	*text = (struct shell_str){a->s + n + 1, strlen(a->s + n + 1)};
	judge_setenv(r->k, name, text, false);
	if (!r->env)
		r->env = arena_zalloc(j->arena, (r->argc + 1) * sizeof(*r->env));
	if (!r->env || strpbrk(name, SHELL_REL_S SHELL_ANY_S))
		return;
	one = &r->env[r->nenv++];
	one->name = (struct shell_str){name, n};
	one->value = (struct shell_val){.text = *text};
	if (a->rel)
		one->value.kind = SHELL_BOUNDED;
	if (a->unknown)
		one->value.kind = SHELL_UNKNOWN;
}

/* Makes the mark for words from elsewhere unknown text. */
static void replace_mark(struct reading *r, struct arg *a, const char *what)
{
	const size_t n = strlen(what);
	const char *c = a->s;
	char *to;

	if (!n || !str_find(a->s, what))
		return;
	to = arena_bytes(r->k->j->arena, strlen(a->s) + 1);
	if (!to)
		return;
	a->s = to;
	a->unknown = true;
	while (*c) {
		bool hit = strncmp(c, what, n) == 0;

		*to++ = hit ? SHELL_ANY : *c;
		c += hit ? n : 1;
	}
	*to = 0;
}

/* The file that find puts in place of "{}": a name below the starting point, or
 * the starting point itself. Each of several starting points is judged by
 * itself. */
static void found_file(struct reading *r, struct arg *a)
{
	const struct parsed *o = r->out;
	const char *start = ".";

	if (!str_eq(a->s, "{}")) {
		replace_mark(r, a, "{}");
		return;
	}
	if (o->operands && !o->operand[0].unknown && !o->operand[0].many)
		start = o->operand[0].s;
	*a = (struct arg){.rel = true, .glob = true,
		.s = judge_print(r->k->j, "%s/" SHELL_REL_S, start)};
}

/* Takes the words from `from` on, up to ";" or "+" with until, as a command. */
static void take_command(struct reading *r, size_t from, bool until)
{
	size_t n = from < r->argc ? r->argc - from : 0, end = n;
	struct arg *argv =
		arena_zalloc(r->k->j->arena, (n + 2) * sizeof(*argv));

	if (!argv)
		return;
	for (size_t i = 0; i < end; i++) {
		const struct arg *a = &r->argv[from + i];

		if (until && (str_eq(a->s, ";") || str_eq(a->s, "+"))) {
			end = i;
			break;
		}
		argv[i] = *a;
		if (until)
			found_file(r, &argv[i]);
		else if (r->replace)
			replace_mark(r, &argv[i], r->replace);
	}
	if (reads_is(r, READS_MORE) && !r->replace && end > 0)
		argv[end++] = (struct arg){
			.s = SHELL_ANY_S, .many = true, .unknown = true};
	if (until) {
		r->i = from + end;
		reads_command(r, argv, end);
		return;
	}
	r->out->cmd = argv;
	r->out->cmd_count = end;
	r->done = true;
}

/* Takes an option that the line names; attached is its value, or NULL. */
static void take_known(struct reading *r, const char *name, const char *type,
	const struct arg *attached)
{
	const int is = str_index(READS_TYPES, type);
	const bool takes = is != READS_CMD && is != READS_NONE;
	struct arg value = {.s = ""};
	bool has = takes && attached;

	if (has) {
		value = *attached;
	} else if (takes && r->i + 1 < r->argc) {
		value = r->argv[++r->i];
		has = true;
		r->out->unresolved |= value.many;
	}
	if (is != READS_FIRST || !reads_given(r->out, name))
		give_option(r, name, has ? value.s : NULL);
	switch (is) {
	case READS_SH:
		judge_sh(r->k, &value, NULL, 0, SHELL_UNION);
		break;
	case READS_CMD:
		take_command(r, attached ? r->i : r->i + 1, true);
		break;
	case READS_REPL:
		r->replace = *value.s ? value.s : "{}";
		break;
	case READS_SET:
		git_setting(r, &value);
		break;
	case READS_NONE: /* command -v */
		r->is &= ~(1U << READS_RUNS);
		r->k->data = r->out->wrapper = true;
		break;
	case READS_CODE:
		r->coded = true;
		break;
	case READS_STR:
		break;
	default:
		judge_path_guess(r->k, &value);
	}
}

/* The next word, which may be the option's value. */
static const char *next_word(const struct reading *r)
{
	return r->i + 1 < r->argc ? r->argv[r->i + 1].s : NULL;
}

/* Takes "-abc": letters, until one has a value. */
static void take_cluster(struct reading *r, const struct arg *a)
{
	for (const char *c = a->s + 1; *c; c++) {
		char *name = arena_bytes(r->k->j->arena, 3);
		struct arg rest = arg_tail(a, (size_t)(c - a->s) + 1);
		const char *type;

		if (!name)
			return;
		name[0] = a->s[0];
		name[1] = *c;
		name[2] = 0;
		type = value_type(r, name, false);
		/* A shell's -o takes the next word, and more letters can follow
		 * it. */
		if (type && reads_is(r, READS_SHELL))
			take_known(r, name, type, NULL);
		else if (type) {
			take_known(r, name, type, *rest.s ? &rest : NULL);
			return;
		} else
			give_option(r, name, *rest.s ? rest.s : next_word(r));
		/* -I/usr/include */
		if (c == a->s + 1 && strchr(rest.s, '/'))
			judge_path_guess(r->k, &rest);
	}
	r->doubt = !r->items.count;
}

static void take_option(struct reading *r, const struct arg *a)
{
	const bool dashes = str_after(a->s, "--");
	const bool whole = reads_is(r, READS_WHOLE);
	const size_t n = strcspn(a->s, dashes ? "=" : "=:");
	const char *name = judge_text(r->k->j, a->s, n), *type;
	struct arg value = arg_tail(a, n + (a->s[n] != 0));

	if (strchr(SHELL_ANY_S SHELL_REL_S, a->s[1])) {
		r->out->unresolved = r->doubt = true;
		return;
	}
	type = value_type(r, name, false);
	if (!type && dashes && n > 3)
		type = value_type(r, name, true);
	if (type && (n > 2 || !a->s[2])) {
		take_known(r, name, type, a->s[n] ? &value : NULL);
		return;
	}
	if (dashes || whole || n > 2)
		give_option(r, name, a->s[n] ? value.s : next_word(r));
	if (!dashes && !whole) {
		take_cluster(r, a);
		return;
	}
	if (a->s[n] || a->s[0] != '/')
		judge_path_guess(r->k, a->s[n] ? &value : a);
	r->doubt = !a->s[n] && !r->items.count;
}

static void take_operand(struct reading *r, const struct arg *a)
{
	struct parsed *o = r->out;

	if (reads_is(r, READS_ASSIGNS) && !o->operands &&
		(strchr(a->s, '=') || str_eq(a->s, "-"))) {
		if (a->s[1])
			take_assignment(r, a);
		return;
	}
	/* Words behind a shell's script are the script's options. */
	if (reads_is(r, READS_SHELL) && !a->unknown && !a->many)
		r->no_options = true;
	if (reads_is(r, READS_RUNS) && o->operands == r->skip) {
		take_command(r, r->i, false);
		return;
	}
	o->doubtful[o->operands] = r->doubt;
	o->operand[o->operands++] = *a;
}

static bool is_option(const struct reading *r, const struct arg *a)
{
	if (r->no_options || !a->s[0] || !a->s[1])
		return false;
	/* msbuild /t:Build is an option, /srv/x is none. */
	return a->s[0] == '-' ||
	       (a->s[0] == '+' && reads_is(r, READS_SHELL)) ||
	       (a->s[0] == '/' && reads_is(r, READS_SLASH) &&
		       strcspn(a->s + 1, ":=") <= strcspn(a->s + 1, "/"));
}

void reads_words(struct reading *r)
{
	for (r->i = 1; r->i < r->argc && !r->done; r->i++) {
		const struct arg *a = &r->argv[r->i];

		/* src/?.c may stand for no word or for many, but not for an
		 * option. */
		r->out->unresolved |= a->many &&
			strchr("-+" SHELL_REL_S SHELL_ANY_S, a->s[0]);
		if (!r->no_options &&
			(str_eq(a->s, "--") || (str_eq(a->s, "-") &&
						       reads_is(r, READS_SHELL)))) {
			r->no_options = true;
		} else if (is_option(r, a)) {
			r->doubt = false;
			take_option(r, a);
		} else {
			take_operand(r, a);
			r->doubt = false;
		}
	}
}
