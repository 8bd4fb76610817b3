/* shell_walk_cmd.c - simple commands: words, assignments, redirections
 * SPDX-License-Identifier: MIT
 */
#include "shell_eval.h"

#include <errno.h>
#include <string.h>

#include "str.h"

static bool is_dup(const struct shell_val *v)
{
	const struct shell_str *s = v->alts;

	for (; s < v->alts + v->n; s++)
		for (size_t i = 0; i < s->n; i++)
			if (!chr_digit(s->p[i]) && s->p[i] != SHELL_NUM &&
				!(s->p[i] == '-' && i + 1 == s->n))
				return false;
	/* "" alone is a file that is not there. */
	return !v->many && v->alts->n;
}

static void report_open(struct shell_walk *w, const struct shell_redir *r,
	const struct shell_val *path)
{
	struct shell_open o = {.op = r->op,
		.fd = r->fd,
		.path = *path,
		.reads = r->op == SHELL_R_IN || r->op == SHELL_R_RDWR ||
			 r->op == SHELL_R_DUPIN,
		.span = shell_outer(w, r->span)};
	int err;

	o.writes = r->op == SHELL_R_RDWR || !o.reads;
	if (w->quiet || w->err || !w->ops->open)
		return;
	err = w->ops->open(w->ctx, w, &o, w->st->cwd);
	if (err)
		shell_stop(w, err);
}

/* What standard input is from now on. */
static void set_input(struct shell_walk *w, const struct shell_redir *r,
	enum shell_input input, const struct shell_val *text)
{
	if (r->fd > 0 || r->fdvar.n)
		return;
	w->st->input = input;
	w->st->input_text = text;
}

static void walk_here(struct shell_walk *w, const struct shell_redir *r)
{
	const struct shell_val *text;

	/* A line that ends in an error has bodies that were never read. */
	if (r->op == SHELL_R_HERE && !r->here)
		return;
	text = r->op == SHELL_R_HERESTR
		       ? shell_expand_one(w, r->word)
		       : shell_expand_quoted(w, r->here->parts, r->here->span);
	set_input(w, r, SHELL_IN_TEXT, text);
}

/* A file that is another descriptor: what is read from it is unseen. */
static bool is_descriptor(const struct shell_val *path)
{
	for (unsigned i = 0; i < path->n; i++) {
		struct shell_str s = path->alts[i];

		if ((s.n >= 6 && memcmp(s.p, "/proc/", 6) == 0) ||
			(s.n >= 8 && memcmp(s.p, "/dev/fd/", 8) == 0) ||
			shell_str_is(s, "/dev/stdin"))
			return true;
	}
	return false;
}

/* Would it, or may it, run a command when it is expanded? */
static bool may_run(struct shell_str s)
{
	return s.n && (memchr(s.p, '$', s.n) || memchr(s.p, '`', s.n) ||
			      shell_str_unknown(s, false));
}

static void walk_target(struct shell_walk *w, const struct shell_redir *r,
	const struct shell_word *word)
{
	const struct shell_val *path = shell_expand_path(w, word);
	bool dup = r->op == SHELL_R_DUPIN || r->op == SHELL_R_DUPOUT;

	if (dup && is_dup(path)) {
		if (r->op == SHELL_R_DUPIN && !shell_str_is(path->alts[0], "0"))
			set_input(w, r, SHELL_IN_UNKNOWN, NULL);
		return;
	}
	/* What is no descriptor bash expands once more. */
	for (unsigned i = 0; dup && i < path->n; i++)
		if (w->dialect == SHELL_BASH && may_run(path->alts[i]))
			shell_risk(w, SHELL_RISK_CODE, path->alts[i], r->span);
	report_open(w, r, path);
	if ((r->op == SHELL_R_IN || r->op == SHELL_R_RDWR) &&
		is_descriptor(path))
		set_input(w, r, SHELL_IN_UNKNOWN, NULL);
	else if (r->op == SHELL_R_IN || r->op == SHELL_R_RDWR)
		set_input(w, r, SHELL_IN_FILE, path);
	else if (r->fd == 0 || r->op == SHELL_R_DUPIN)
		set_input(w, r, SHELL_IN_UNKNOWN, NULL);
}

bool shell_redirs_fail(const struct shell_redir *r)
{
	while (r && (r->op == SHELL_R_HERE || r->op == SHELL_R_HERESTR ||
			    shell_word_is(r->word, "/dev/null")))
		r = r->next;
	return r;
}

/* What the words assign, ${x:=y}, stays where the shell itself opens the file,
 * and not where a child does. */
static void walk_redir(struct shell_walk *w, const struct shell_redir *r)
{
	struct shell_state *st = w->st, before = shell_fork(w, st);

	if (r->op == SHELL_R_HERE || r->op == SHELL_R_HERESTR)
		walk_here(w, r);
	else if (!r->word->braces)
		walk_target(w, r, r->word);
	else
		for (const struct shell_word *word = r->word->braces; word;
			word = word->next)
			walk_target(w, r, word);
	before.input = st->input;
	before.input_text = st->input_text;
	shell_join(w, st, &before);
}

void shell_walk_redirs(struct shell_walk *w, const struct shell_redir *r)
{
	for (; r && !w->err; r = r->next) {
		walk_redir(w, r);
		if (r->fdvar.n)
			shell_assign_var(w, SHELL_SET_FD, r->fdvar,
				&shell_val_num, false, r->span);
	}
}

/* [index]=value: the index is expanded once more. */
static void check_index(struct shell_walk *w, const struct shell_val *v,
	struct shell_span span)
{
	for (unsigned i = 0; i < v->n; i++) {
		struct shell_str s = v->alts[i];

		s.n -= s.n != 0;
		while (s.n && (s.p[s.n - 1] != ']' ||
				      (s.p[s.n] != '=' && s.p[s.n] != '+')))
			s.n--;
		if (s.n && s.p[0] == '[' && may_run(s))
			shell_risk(w, SHELL_RISK_SUBSCRIPT, s, span);
	}
}

static const struct shell_val *array_value(struct shell_walk *w,
	const struct shell_word *words, struct shell_args *elems)
{
	const struct shell_val *any = NULL;

	for (; words && !w->err; words = words->next) {
		if (words->parts && words->parts->type == SHELL_LIT)
			check_index(w, shell_expand_one(w, words), words->span);
		shell_expand(w, words, elems);
	}
	for (size_t i = 0; i < elems->n; i++)
		elems->v[i] = shell_val_present(w, &elems->v[i]);
	for (size_t i = 0; i < elems->n; i++)
		any = any ? shell_val_union(w, any, &elems->v[i])
			  : &elems->v[i];
	return any;
}

static void assign_array(struct shell_walk *w, const struct shell_assign *a,
	const struct shell_part *part)
{
	struct shell_var *v = shell_var_find(w->st, a->name);
	const struct shell_val *old = a->append && v ? v->value : NULL, *any;
	struct shell_args elems = {0};
	bool known = true;

	for (unsigned i = 0; a->append && v && v->elems && i < v->nelems; i++) {
		struct shell_val *slot = shell_args_add(w, &elems);

		if (slot)
			*slot = v->elems[i];
	}
	known = !a->append || !v || v->elems || !v->value;
	any = array_value(w, part->u.words, &elems);
	if (old && any)
		any = shell_val_union(w, old, any);
	/* [index]=value elements are texts like any other here; what they say
	 * of the index is not kept. */
	for (const struct shell_word *e = part->u.words; e; e = e->next) {
		struct shell_str s;

		if (e->parts && e->parts->type == SHELL_LIT) {
			s = e->parts->text;
			known &= !(s.n && s.p[0] == '[');
		}
	}
	if (!known)
		any = &shell_val_any;
	shell_assign_var(w, SHELL_SET_PLAIN, a->name, any, false, a->span);
	v = shell_var_own(w, a->name);
	if (!v)
		return;
	v->array = true;
	v->elems = !known ? NULL : elems.n ? elems.v : &shell_val_empty;
	v->nelems = known ? (unsigned)elems.n : 0;
}

/* name[x]=value: one element more that any index may give. */
static void assign_element(struct shell_walk *w, const struct shell_assign *a)
{
	struct shell_var *v = shell_var_find(w->st, a->name);
	const struct shell_val *value = shell_expand_one(w, a->value);

	shell_check_subscript(w, a->subscript);
	if (a->append)
		value = &shell_val_any;
	if (v && v->value)
		value = shell_val_union(w, v->value, value);
	shell_assign_var(w, SHELL_SET_PLAIN, a->name, value, false, a->span);
	v = shell_var_own(w, a->name);
	if (v)
		v->array = true;
}

static const struct shell_val *assigned_value(
	struct shell_walk *w, const struct shell_assign *a)
{
	const struct shell_val *value = shell_expand_one(w, a->value), *old;
	struct shell_str none = {"", 0};
	bool unset;

	if (!a->append)
		return value;
	old = shell_param_value(w, a->name, &unset);
	if (!old || unset || old->n > 1 || value->n > 1)
		return old ? &shell_val_any : value;
	return shell_val_str(
		w, shell_str_join(w, old->alts[0], value->alts[0], none));
}

static void walk_assign(struct shell_walk *w, const struct shell_assign *a)
{
	const struct shell_part *part = a->value->parts;

	if (a->subscript)
		assign_element(w, a);
	else if (part && part->type == SHELL_ARRAY)
		assign_array(w, a, part);
	else
		shell_assign_var(w, SHELL_SET_PLAIN, a->name,
			assigned_value(w, a), false, a->span);
}

/* Before a command: for it alone, unless the builtin keeps them. */
static void prefix_assigns(struct shell_walk *w, const struct shell_assign *a,
	struct shell_args *vals)
{
	for (; a && !w->err; a = a->next) {
		const struct shell_part *part = a->value->parts;
		struct shell_args elems = {0};
		const struct shell_val *value = &shell_val_any;
		struct shell_val *slot;

		if (part && part->type == SHELL_ARRAY)
			array_value(w, part->u.words, &elems);
		else
			value = assigned_value(w, a);
		slot = shell_args_add(w, vals);
		if (slot)
			*slot = *value;
	}
}

static struct shell_set *make_sets(struct shell_walk *w,
	const struct shell_assign *a, const struct shell_args *vals)
{
	struct shell_set *sets =
		walk_zalloc(w, (vals->n ? vals->n : 1) * sizeof(*sets));

	if (!sets)
		return NULL;
	for (size_t i = 0; i < vals->n; i++, a = a->next) {
		sets[i] = (struct shell_set){.how = SHELL_SET_PREFIX,
			.name = a->name,
			.value = vals->v[i],
			.exported = true,
			.span = shell_outer(w, a->span)};
		if (!w->quiet && !w->err && w->ops->set) {
			int err = w->ops->set(w->ctx, w, &sets[i]);

			if (err)
				shell_stop(w, err);
		}
	}
	return sets;
}

static bool is_ascii(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

/* The words, with name=value of a declaration kept whole. */
static void expand_words(struct shell_walk *w, const struct shell_word *word,
	struct shell_args *args)
{
	struct shell_str s;
	bool decl = word && shell_word_literal(word, &s) && shell_is_decl(s);

	for (; word && !w->err; word = word->next) {
		const struct shell_part *part = word->parts;
		struct shell_val *slot;

		if (decl && !word->braces && part && part->type == SHELL_LIT &&
			part->text.n && chr_name1(part->text.p[0]) &&
			memchr(part->text.p, '=', part->text.n)) {
			slot = shell_args_add(w, args);
			if (slot) {
				*slot = *shell_expand_one(w, word);
				slot->span = word->span;
				slot->array = part->next &&
					part->next->type == SHELL_ARRAY;
			}
			continue;
		}
		shell_expand(w, word, args);
	}
}

/* Every ${…} of it is walked, for what a declaration's array holds. */
static void walk_arrays(struct shell_walk *w, const struct shell_word *word)
{
	struct shell_args elems = {0};

	for (; word; word = word->next)
		for (const struct shell_part *p = word->parts; p; p = p->next)
			if (p->type == SHELL_ARRAY)
				array_value(w, p->u.words, &elems);
}

static bool judge_name(struct shell_walk *w, const struct shell_val *v)
{
	bool ok = true;

	if (v->many || v->vanishes || v->glob ||
		(v->kind != SHELL_CONST && v->kind != SHELL_SET)) {
		shell_risk(w, SHELL_RISK_DYNAMIC, v->alts[0], v->span);
		return false;
	}
	for (unsigned i = 0; i < v->n; i++) {
		if (is_ascii(v->alts[i]))
			continue;
		shell_risk(w, SHELL_RISK_NONASCII, v->alts[i], v->span);
		ok = false;
	}
	return ok;
}

static void report_command(struct shell_walk *w, const struct shell_node *node,
	const struct shell_args *args, const struct shell_set *sets,
	size_t nsets, enum shell_resolve resolve)
{
	const struct shell_state *st = w->st;
	const struct shell_cmd *outer = w->cmd;
	struct shell_cmd cmd = {.argv = args->v,
		.argc = args->n,
		.sets = sets,
		.nsets = nsets,
		.resolve = resolve,
		.cwd = st->cwd,
		.input = st->input,
		.input_text = st->input_text,
		.piped_out = st->piped_out,
		.background = st->background,
		.in_function = w->calls > 0,
		.uncalled = w->uncalled,
		.level = w->source->level,
		.dialect = w->dialect,
		.second = w->second,
		.span = shell_outer(w, node->span),
		.text = w->source->text,
		.text_len = w->source->len,
		.at = node->span};
	int err;

	if (w->quiet || w->err)
		return;
	w->cmd = &cmd;
	err = w->ops->command(w->ctx, w, &cmd);
	w->cmd = outer;
	if (err)
		shell_stop(w, err);
}

/* The builtin behind `command` and `builtin`; argc when there is none. */
static size_t behind_command(const struct shell_args *args, bool *peeled)
{
	size_t i = 0;

	while (i + 1 < args->n) {
		const struct shell_str *s = shell_val_text(&args->v[i]);
		const struct shell_str *next = shell_val_text(&args->v[i + 1]);

		if (!s || (!shell_str_is(*s, "command") &&
				  !shell_str_is(*s, "builtin")))
			break;
		*peeled = true;
		i++;
		while (next && (shell_str_is(*next, "-p") ||
				       shell_str_is(*next, "--"))) {
			if (++i >= args->n)
				return args->n;
			next = shell_val_text(&args->v[i]);
		}
		if (next && next->n && next->p[0] == '-')
			return args->n;
	}
	return i;
}

/* What the command does to the shell. */
static void take_effect(struct shell_walk *w, const struct shell_args *args,
	const struct shell_set *sets, size_t nsets, const struct shell_func *f)
{
	struct shell_saved *saved = NULL;
	bool peeled = false;
	size_t first = behind_command(args, &peeled);
	const struct shell_str *name =
		first < args->n ? shell_val_text(&args->v[first]) : NULL;

	bool builtin =
		name && shell_is_builtin(*name) && (!f || peeled || f->maybe);

	if (!builtin && (!f || peeled))
		return;
	/* Prefix assignments hold while it runs; afterwards the shells differ
	 * on whether they stay. */
	for (size_t i = 0; i < nsets; i++) {
		shell_save_var(w, &saved, sets[i].name);
		shell_assign_quiet(w, &sets[i]);
		if (shell_str_is(sets[i].name, "IFS") &&
			(f || shell_is_special(*name)))
			w->st->own_ifs = true;
	}
	if (f && !peeled)
		shell_walk_call(w, f, args);
	if (builtin)
		shell_builtin(w, args, first);
	shell_merge_saved(w, saved);
}

static enum shell_resolve resolve(struct shell_walk *w,
	const struct shell_val *v, const struct shell_func **f)
{
	const struct shell_str *name = shell_val_text(v);

	*f = NULL;
	if (!name) {
		/* One of several names: none of them may change the shell. */
		for (unsigned i = 0; i < v->n; i++)
			if (shell_func_find(w->st, v->alts[i]) ||
				shell_is_builtin(v->alts[i]))
				shell_risk(w, SHELL_RISK_DYNAMIC, v->alts[i],
					v->span);
		return SHELL_IS_PROGRAM;
	}
	*f = shell_func_find(w->st, *name);
	if (*f && !(*f)->ndefs)
		*f = NULL;
	if (*f)
		return (*f)->maybe ? SHELL_IS_EITHER : SHELL_IS_FUNCTION;
	return shell_is_builtin(*name) ? SHELL_IS_BUILTIN : SHELL_IS_PROGRAM;
}

/* m[k]=v where that is no assignment, but a pattern for a command's name: what
 * it may match has the '=' in it, as no program's name in PATH has. */
static bool no_program(const struct shell_walk *w, const struct shell_val *v)
{
	for (unsigned i = 0; i < v->n; i++)
		if (!memchr(v->alts[i].p, '=', v->alts[i].n) ||
			memchr(v->alts[i].p, '/', v->alts[i].n) ||
			shell_str_unknown(v->alts[i], false))
			return false;
	return w->second;
}

static void run_command(struct shell_walk *w, const struct shell_node *node,
	const struct shell_args *args, const struct shell_set *sets,
	size_t nsets)
{
	const struct shell_func *f = NULL;
	enum shell_resolve is = SHELL_IS_PROGRAM;
	bool known;

	if (no_program(w, &args->v[0]))
		return;
	known = judge_name(w, &args->v[0]);

	if (known)
		is = resolve(w, &args->v[0], &f);
	report_command(w, node, args, sets, nsets, is);
	if (known)
		take_effect(w, args, sets, nsets, f);
}

void shell_walk_simple(struct shell_walk *w, const struct shell_node *node)
{
	struct shell_state *st = w->st;
	enum shell_input input = st->input;
	const struct shell_val *text = st->input_text;
	const struct shell_assign *a = node->u.simple.assigns;
	struct shell_args args = {0}, vals = {0};
	const struct shell_set *sets = NULL;
	struct shell_state before;
	bool keep;

	if (!shell_step(w))
		return;
	expand_words(w, node->u.simple.words, &args);
	walk_arrays(w, node->u.simple.words);
	shell_walk_redirs(w, node->redirs);
	before = shell_fork(w, st);
	if (!args.n) {
		for (; a && !w->err; a = a->next)
			walk_assign(w, a);
	} else {
		prefix_assigns(w, a, &vals);
		sets = make_sets(w, a, &vals);
		if (!w->err)
			run_command(w, node, &args, sets, vals.n);
	}
	/* With a redirection that fails, or a readonly name, it does not run. */
	if (vals.n || shell_redirs_fail(node->redirs))
		shell_may_fail(w, &before);
	/* exec without a command keeps its redirections. */
	keep = args.n == 1 && shell_val_text(&args.v[0]) &&
	       shell_str_is(args.v[0].alts[0], "exec");
	if (!keep) {
		st->input = input;
		st->input_text = text;
	}
}
