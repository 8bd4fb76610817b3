/* shell_plain_name.c - names of variables and functions, and what is known
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_plain_in.h"

#include <string.h>

#include "base/str.h"

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
