/* shell_plain_cmd.c - simple commands, redirections, assignments, and what is known of
 * names
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_plain_in.h"

#include <string.h>

#include "base/str.h"
#include "shell/shell_parse_in.h"

static size_t name_bucket(struct shell_str name)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (uint8_t)name.p[i]) * 16777619U;
	return (h ^ h >> 16) % PLAIN_BUCKETS;
}

const struct plain_var *plain_named(
	const struct plain_names *names, struct shell_str name, bool func)
{
	const struct plain_var *v = names->of[name_bucket(name)];

	while (v && ((v->is == PLAIN_FUNC) != func ||
			    !shell_str_eq(v->name, name)))
		v = v->next;
	return v;
}

void plain_push(
	struct shell_walk *w, struct plain_names *names, struct plain_var v)
{
	const struct plain_var **head = &names->of[name_bucket(v.name)];
	struct plain_var *own = plain_new(w, struct plain_var);

	if (!own)
		return;
	v.next = *head;
	*own = v;
	*head = own;
}

void plain_define(struct shell_walk *w, struct plain_names *names,
	struct shell_str func)
{
	if (!plain_named(names, func, true))
		plain_push(w, names,
			(struct plain_var){.name = func, .is = PLAIN_FUNC});
}

const struct plain_var *plain_find(
	struct shell_walk *w, struct shell_str name, struct plain_var *room)
{
	const struct plain_var *v = plain_named(&w->st.names, name, false);
	int known = -1;

	if (v)
		return v;
	*room = (struct plain_var){.name = name, .is = PLAIN_UNSET};
	if (w->st.bare)
		return room;
	if (w->ops->getvar)
		known = w->ops->getvar(w->ctx, name, &room->value);
	if (known > 0 && !shell_str_has(room->value, PLAIN_MARKS)) {
		room->is = PLAIN_KNOWN;
	} else if (known) {
		room->is = PLAIN_UNKNOWN;
		room->value = SHELL_STR(SHELL_ANY_S);
	}
	room->exported = known != 0;
	return room;
}

void plain_assign(struct shell_walk *w, struct shell_str name,
	const struct shell_val *value, bool exported)
{
	struct plain_var v = {.name = name, .is = PLAIN_UNSET}, room;

	if (value && value->kind != SHELL_UNKNOWN && !value->many) {
		v.is = PLAIN_KNOWN;
		v.value = value->text;
	} else if (value) {
		v.is = PLAIN_UNKNOWN;
		v.value = value->many || !value->text.n
				  ? SHELL_STR(SHELL_ANY_S)
				  : value->text;
	}
	v.exported = exported || w->st.exports ||
		plain_find(w, name, &room)->exported;
	plain_push(w, &w->st.names, v);
}

/* Makes a variable unknown that another way set. */
static void lose_name(struct shell_walk *w, struct plain_state *to,
	const struct plain_var *v)
{
	const struct plain_var *old = plain_named(&to->names, v->name, false);

	if (v->is == PLAIN_FUNC)
		plain_define(w, &to->names, v->name);
	else if (!old || old->is != PLAIN_UNKNOWN || old->value.n > 1 ||
		 old->exported < v->exported)
		plain_push(w, &to->names,
			(struct plain_var){.name = v->name,
				.value = SHELL_STR(SHELL_ANY_S),
				.is = PLAIN_UNKNOWN,
				.exported = v->exported});
}

void plain_merge(struct shell_walk *w, struct plain_state *to,
	const struct plain_state *start)
{
	for (size_t i = 0; i < PLAIN_BUCKETS; i++) {
		const struct plain_var *v = w->st.names.of[i];

		for (; v != start->names.of[i] && !w->err; v = v->next)
			lose_name(w, to, v);
	}
	if (!shell_str_eq(w->st.cwd.text, to->cwd.text))
		to->cwd = plain_val(SHELL_STR(SHELL_ANY_S));
	if (w->st.args != to->args || w->st.nargs != to->nargs)
		to->args = NULL;
}

void plain_join(struct shell_walk *w, const struct plain_state *before)
{
	struct plain_state to = *before;

	plain_merge(w, &to, before);
	w->st = to;
}

void plain_inherit(struct shell_walk *w, bool clean)
{
	const struct plain_names all = w->st.names;

	w->st.names = (struct plain_names){0};
	w->st.bare |= clean;
	for (size_t i = 0; i < PLAIN_BUCKETS && !clean; i++) {
		const struct plain_var *v = all.of[i];

		for (; v; v = v->next)
			if (v->is != PLAIN_FUNC && v->exported &&
				!plain_named(&w->st.names, v->name, false))
				plain_push(w, &w->st.names, *v);
	}
}

/* Does an operator stand there that assigns, as in x=1, x+=1, x++? */
static bool assigns_here(struct shell_str s, size_t i)
{
	size_t k = i;

	if (i + 1 < s.n && s.p[i] == s.p[i + 1] && strchr("+-", s.p[i]))
		return true;
	while (k < s.n && s.p[k] && strchr("*/%+-<>&^|", s.p[k]))
		k++;
	return k < s.n && s.p[k] == '=' &&
	       !(k + 1 < s.n && s.p[k + 1] == '=') &&
	       !(k == i + 1 && strchr("<>", s.p[i]));
}

void plain_calculate(
	struct shell_walk *w, struct shell_str s, struct shell_span span)
{
	for (size_t i = 0, n; i < s.n && !w->err; i += n ? n : 1) {
		struct shell_str rest = {s.p + i, s.n - i};
		size_t at;

		n = shell_str_name(rest);
		if (!n || (i && chr_digit(s.p[i - 1])))
			continue;
		at = i + n;
		if (at < s.n && s.p[at] == '[')
			while (at < s.n && s.p[at++] != ']')
				;
		while (at < s.n && strchr(PLAIN_BLANKS, s.p[at]))
			at++;
		if (assigns_here(s, at) ||
			(i > 1 && s.p[i - 1] == s.p[i - 2] &&
				strchr("+-", s.p[i - 1])))
			plain_set(w, &(struct shell_set){.name = {rest.p, n},
					.value = plain_val(
						SHELL_STR(SHELL_NUM_S)),
					.span = plain_span(w, span)}, false);
	}
}

void plain_arith(struct shell_walk *w, const struct shell_part *parts,
	struct shell_span span)
{
	plain_calculate(w, plain_quoted(w, parts, span).text, span);
}

static void find_node(struct shell_walk *w, const struct shell_node *n)
{
	const struct shell_case_item *item;

	for (; n; n = n->next) {
		enum shell_node_type type = n->type;

		if (type == SHELL_FUNC) {
			plain_define(w, &w->later, n->u.func.name);
			find_node(w, n->u.func.body);
		} else if (type == SHELL_ANDOR) {
			find_node(w, n->u.andor.first);
		} else if (type == SHELL_PIPELINE) {
			find_node(w, n->u.pipeline.first);
		} else if (type == SHELL_GROUP) {
			plain_find_funcs(w, n->u.group.body);
		} else if (type == SHELL_IF) {
			plain_find_funcs(w, n->u.cond_if.then);
			plain_find_funcs(w, n->u.cond_if.other);
		} else if (type == SHELL_FOR) {
			plain_find_funcs(w, n->u.loop.body);
		} else if (type == SHELL_WHILE || type == SHELL_UNTIL) {
			plain_find_funcs(w, n->u.wait.body);
		} else if (type == SHELL_CASE) {
			for (item = n->u.select.items; item; item = item->next)
				plain_find_funcs(w, item->body);
		}
	}
}

void plain_find_funcs(struct shell_walk *w, const struct shell_list *list)
{
	for (const struct shell_item *i = list ? list->first : NULL; i;
		i = i->next)
		find_node(w, i->node);
}

void plain_subscript(
	struct shell_walk *w, struct shell_str s, struct shell_span span)
{
	bool in = false;

	for (size_t i = 0; i < s.n; i++) {
		in |= s.p[i] == '[';
		if (in && (s.p[i] == '`' || (s.p[i] == '$' && i + 1 < s.n &&
						    strchr("({", s.p[i + 1])))) {
			plain_risk(w, SHELL_RISK_CODE, s, span);
			return;
		}
	}
}

void plain_set(struct shell_walk *w, const struct shell_set *set, bool exported)
{
	plain_subscript(w, set->value.text, set->span);
	if (!w->err && w->ops->set)
		w->err = w->ops->set(w->ctx, w, set);
	if (!set->prefix)
		plain_assign(
			w, set->name, set->unset ? NULL : &set->value, exported);
}

struct shell_val plain_normal(struct shell_walk *w, struct shell_val path)
{
	struct shell_str s = path.text;
	char *to = arena_bytes(w->a, s.n + 1);
	size_t n = 0;

	if (!to) {
		plain_stop(w, -E2BIG);
		return path;
	}
	for (size_t i = 0, len; i < s.n; i += len + 1) {
		const char *slash = memchr(s.p + i, '/', s.n - i);

		len = slash ? (size_t)(slash - s.p) - i : s.n - i;
		if (len == 2 && s.p[i] == '.' && s.p[i + 1] == '.') {
			while (n && to[--n] != '/')
				;
		} else if (len && !(len == 1 && s.p[i] == '.')) {
			to[n++] = '/';
			memcpy(to + n, s.p + i, len);
			n += len;
		}
	}
	if (!n)
		to[n++] = '/';
	path.text = (struct shell_str){to, n};
	return path;
}

static bool is_dup(const struct shell_val *v)
{
	for (size_t i = 0; i < v->text.n; i++)
		if (!chr_digit(v->text.p[i]) && v->text.p[i] != SHELL_NUM &&
			!(v->text.p[i] == '-' && i + 1 == v->text.n))
			return false;
	return !v->many;
}

/* Is the file another descriptor? What is read from that is not seen. */
static bool is_descriptor(struct shell_str s)
{
	return (s.n >= 6 && memcmp(s.p, "/proc/", 6) == 0) ||
	       (s.n >= 8 && memcmp(s.p, "/dev/fd/", 8) == 0) ||
	       shell_str_is(s, "/dev/stdin");
}

/* Sets what standard input is from here on. */
static void set_input(struct shell_walk *w, const struct shell_redir *r,
	enum shell_input input, const struct shell_val *text)
{
	struct shell_val *kept = plain_new(w, struct shell_val);

	if (r->fd > 0 || r->fdvar.n || !kept)
		return;
	if (text)
		*kept = *text;
	w->st.input = input;
	w->st.input_text = text ? kept : NULL;
}

static void walk_target(struct shell_walk *w, const struct shell_redir *r,
	const struct shell_word *word)
{
	struct shell_val path = plain_target(w, word);
	bool dup = r->op == SHELL_R_DUPIN || r->op == SHELL_R_DUPOUT;
	bool in = r->op == SHELL_R_IN || r->op == SHELL_R_RDWR;
	struct shell_open o = {.path = path,
		.reads = in || r->op == SHELL_R_DUPIN,
		.span = plain_span(w, r->span)};

	if (dup && is_dup(&path)) {
		if (r->op == SHELL_R_DUPIN && !shell_str_is(path.text, "0"))
			set_input(w, r, SHELL_IN_UNKNOWN, NULL);
		return;
	}
	o.writes = r->op == SHELL_R_RDWR || !o.reads;
	if (!w->err && w->ops->open)
		w->err = w->ops->open(w->ctx, w, &o, &w->st.cwd);
	if (in && !is_descriptor(path.text))
		set_input(w, r, SHELL_IN_FILE, &path);
	else if (in || r->fd == 0 || r->op == SHELL_R_DUPIN)
		set_input(w, r, SHELL_IN_UNKNOWN, NULL);
}

static void walk_here(struct shell_walk *w, const struct shell_redir *r)
{
	struct shell_val text;

	/* If a line ends in an error, some bodies were never read. */
	if (r->op == SHELL_R_HERE && !r->here)
		return;
	text = r->op == SHELL_R_HERESTR
		       ? plain_one(w, r->word)
		       : plain_quoted(w, r->here->parts, r->here->span);
	set_input(w, r, SHELL_IN_TEXT, &text);
}

void plain_redirs(struct shell_walk *w, const struct shell_redir *r)
{
	for (; r && !w->err; r = r->next) {
		const struct shell_word *b = r->word->braces;

		if (r->op == SHELL_R_HERE || r->op == SHELL_R_HERESTR)
			walk_here(w, r);
		else if (!b)
			walk_target(w, r, r->word);
		else
			for (; b; b = b->next)
				walk_target(w, r, b);
		if (r->fdvar.n)
			plain_set(w, &(struct shell_set){.name = r->fdvar,
					.value = plain_val(
						SHELL_STR(SHELL_NUM_S)),
					.span = plain_span(w, r->span)}, false);
	}
}

/* Expands the words of a command; NAME=VALUE words of a declaration are one
 * text each. */
static void command_words(struct shell_walk *w, const struct shell_word *word,
	struct plain_args *args)
{
	bool declares = plain_declares(shell_word_literal(word));

	for (; word && !w->err; word = word->next) {
		const struct shell_part *part = word->parts;

		if (declares && !word->braces && part &&
			part->type == SHELL_LIT && chr_name1(part->text.p[0]) &&
			shell_str_has(part->text, "=")) {
			plain_add(w, args, plain_one(w, word));
		} else {
			struct shell_word alone = *word;

			alone.next = NULL;
			plain_words(w, &alone, args);
		}
	}
}

static size_t walk_assigns(struct shell_walk *w, const struct shell_assign *a,
	bool prefix, const struct shell_set **sets)
{
	struct shell_set *all = NULL;
	size_t n = 0;

	for (const struct shell_assign *at = a; at; at = at->next)
		n++;
	if (n)
		all = plain_zalloc(w, n * sizeof *all);
	*sets = all;
	for (size_t i = 0; all && i < n && !w->err; i++, a = a->next) {
		all[i] = (struct shell_set){.name = a->name,
			.value = plain_one(w, a->value),
			.prefix = prefix,
			.span = plain_span(w, a->span)};
		if (a->subscript)
			plain_one(w, a->subscript);
		if (a->append || a->subscript)
			all[i].value = plain_val(SHELL_STR(SHELL_ANY_S));
		plain_set(w, &all[i], false);
	}
	return all ? n : 0;
}

static bool is_function(const struct shell_walk *w, struct shell_str name)
{
	return plain_named(&w->st.names, name, true) ||
	       (w->bodies && plain_named(&w->later, name, true));
}

static void run_command(struct shell_walk *w, const struct shell_node *node,
	const struct plain_args *args, const struct shell_set *sets,
	size_t nsets)
{
	const struct shell_cmd *outer = w->cmd;
	const struct shell_str *name = shell_val_text(&args->v[0]);
	const struct shell_val cwd = w->st.cwd;
	struct shell_cmd cmd = {.argv = args->v,
		.argc = args->n,
		.sets = sets,
		.nsets = nsets,
		.cwd = &cwd,
		.input = w->st.input,
		.input_text = w->st.input_text,
		.span = plain_span(w, node->span)};

	if (name && is_function(w, *name))
		cmd.resolve = SHELL_IS_FUNCTION;
	else if (name && plain_is_builtin(*name))
		cmd.resolve = SHELL_IS_BUILTIN;
	w->cmd = &cmd;
	if (!w->err)
		w->err = w->ops->command(w->ctx, w, &cmd);
	w->cmd = outer;
	if (cmd.resolve != SHELL_IS_BUILTIN)
		return;
	/* x=1 eval 'code': the code sees x, and some shells keep it. */
	for (size_t i = 0; i < nsets && plain_keeps(*name); i++)
		plain_assign(w, sets[i].name, &sets[i].value, true);
	plain_builtin(w, args->v, args->n, node->span);
	for (size_t i = 0; i < nsets && plain_keeps(*name); i++)
		plain_assign(w, sets[i].name,
			&(struct shell_val){.kind = SHELL_UNKNOWN}, false);
}

void plain_simple(struct shell_walk *w, const struct shell_node *node)
{
	const struct shell_word *word = node->u.simple.words;
	enum shell_input input = w->st.input;
	const struct shell_val *text = w->st.input_text;
	const struct shell_set *sets;
	struct plain_args args = {0};
	size_t nsets;

	command_words(w, word, &args);
	plain_redirs(w, node->redirs);
	nsets = walk_assigns(w, node->u.simple.assigns, args.n > 0, &sets);
	if (args.n && !w->err)
		run_command(w, node, &args, sets, nsets);
	/* exec <file holds for all that follows. */
	if (args.n == 1 && shell_val_text(&args.v[0]) &&
		shell_str_is(args.v[0].text, "exec"))
		return;
	w->st.input = input;
	w->st.input_text = text;
}
