/* rc_command.c - commands and compound commands of a startup file
 * SPDX-License-Identifier: MIT
 */
#include "profile/rc_in.h"

#include <string.h>

#include "base/str.h"

struct rc_frame *rc_top(struct rc_state *r)
{
	return r->depth ? &r->frame[r->depth - 1] : NULL;
}

bool rc_top_is(struct rc_state *r, enum rc_frame_kind kind)
{
	return r->depth && r->frame[r->depth - 1].kind == kind;
}

void rc_push(struct rc_state *r, enum rc_frame_kind kind, bool body)
{
	struct rc_frame *f;

	if (r->depth == RC_DEPTH) {
		r->lost = true;
		return;
	}
	f = &r->frame[r->depth++];
	f->kind = (uint8_t)kind;
	f->body = body;
	f->else_seen = false;
	f->cond = r->chain;
	r->chain = (struct rc_cond){0};
	r->chained = false;
}

void rc_pop(struct rc_state *r, int kind)
{
	if (!r->depth || (kind >= 0 && rc_top(r)->kind != kind)) {
		r->lost = true;
		return;
	}
	r->depth--;
	r->chain = (struct rc_cond){0};
	r->chained = false;
}

/* [ -d X ], test -d X, [[ -d X ]]: the operator, with *path set; else 0. */
static char simple_test(const struct rc_state *r, const char **path)
{
	const struct rc_word *w = r->word;
	bool bracket = str_eq(w[0].text, "[") || str_eq(w[0].text, "[[");

	if (!(bracket && r->count == 4) &&
		!(str_eq(w[0].text, "test") && r->count == 3))
		return 0;
	if (w[1].quoted || w[1].len != 2 || w[1].text[0] != '-' ||
		!strchr("defrsx", w[1].text[1]))
		return 0;
	if (w[2].len >= RC_GUARD_MAX || strchr(w[2].text, RC_UNKNOWN))
		return 0;
	*path = w[2].text;
	return w[1].text[1];
}

/* Does the test only ask whether PATH has an entry? ":$PATH:" against a
 * pattern does, [ -z "$PATH" ] does not. */
static bool asks_path(const struct rc_state *r)
{
	bool path = false, list = false;

	for (size_t i = 0; i < r->count; i++) {
		const char *text = r->word[i].text;

		path |= strchr(text, RC_PATH) != NULL;
		list |= strpbrk(text, ":*") != NULL;
	}
	return path && (list || str_eq(r->word[0].text, "contains"));
}

void rc_cond_add(struct rc_state *r, struct rc_cond *cond, bool plain)
{
	const char *path = "";

	if (asks_path(r))
		return;
	cond->op = 0;
	if (++cond->count != 1 || !plain || r->negated || !r->count)
		return;
	cond->op = simple_test(r, &path);
	if (cond->op)
		str_copy(cond->path, sizeof cond->path, path);
}

static void add_frame(const struct rc_frame *f, struct rc_cmd *cmd)
{
	unsigned more = f->cond.count;
	char op = f->cond.op;

	if (f->kind == RC_FUNCTION)
		cmd->in_function = true;
	if (f->kind == RC_IF && !f->body)
		return;
	if (f->kind == RC_LOOP || f->kind == RC_SUBSHELL) {
		more++;
		op = 0;
	} else if (f->else_seen && more) {
		op = 0;
	}
	if (!more)
		return;
	cmd->guards += more;
	cmd->guard_op = op;
	cmd->guard_path = f->cond.path;
}

static int emit_command(struct rc_state *r, char op)
{
	struct rc_cmd cmd = {
		.word = r->word,
		.count = r->count,
		.at = r->cmd_at,
		.end = r->word[r->count - 1].end,
		.list_at = r->list_at,
		.guards = r->chain.count,
		.guard_op = r->chain.op,
		.guard_path = r->chain.path,
		.top = !r->depth && !r->chained && op != '|' && op != '&',
		.zsh = r->lex.zsh,
		.redirected = r->redirected,
	};

	while (r->line_from < r->cmd_at)
		r->line += r->lex.s[r->line_from++] == '\n';
	cmd.line = r->line + 1;
	for (unsigned i = 0; i < r->depth; i++)
		add_frame(&r->frame[i], &cmd);
	if (cmd.guards != 1)
		cmd.guard_op = 0;
	if (!cmd.guard_op)
		cmd.guard_path = NULL;
	return r->visitor->command ? r->visitor->command(r->visitor->ctx, &cmd)
				   : 0;
}

/* The case whose pattern is being read, or NULL. */
static struct rc_frame *in_pattern(struct rc_state *r)
{
	struct rc_frame *f = rc_top(r);

	if (!f || r->lex.family != FAMILY_SH || f->kind != RC_CASE || f->body)
		return NULL;
	return f;
}

/* "for x in a b" and the like end; "case x" waits for its "in". */
static void end_header(struct rc_state *r, char op)
{
	if (r->lex.family == FAMILY_SH && rc_top_is(r, RC_CASE) &&
		!rc_top(r)->body && op == '\n')
		return;
	r->header = false;
	rc_forget(r);
}

static void end_list(struct rc_state *r)
{
	r->chain = (struct rc_cond){0};
	r->chained = false;
	r->negated = false;
	r->after_else = false;
}

/* Applies the operator behind a command to the conditions of the next
 * command. */
static void follow_operator(struct rc_state *r, char op)
{
	struct rc_frame *f = rc_top(r);

	if (op == 'a' || op == 'o') {
		rc_cond_add(r, &r->chain, op == 'a');
		r->chained = true;
		r->negated = false;
		return;
	}
	if (op == '|') {
		r->chained = true;
		return;
	}
	if (r->lex.family == FAMILY_FISH) {
		r->last = r->chain;
		rc_cond_add(r, &r->last, true);
	}
	if (f && f->kind == RC_IF && !f->body) {
		if (!f->cond.count) {
			f->cond = r->chain;
		} else if (r->chain.count) {
			f->cond.op = 0;
			f->cond.count += r->chain.count;
		}
		rc_cond_add(r, &f->cond, true);
		f->body = r->lex.family == FAMILY_FISH;
	}
	end_list(r);
}

static void follow_nothing(struct rc_state *r, char op)
{
	if (op == 'a' || op == 'o') {
		r->chain.count++;
		r->chain.op = 0;
		r->chained = true;
	} else if (op == '|') {
		r->chained = true;
	} else if (op != '\n' || !r->chained) {
		end_list(r);
	}
}

int rc_end_command(struct rc_state *r, char op)
{
	int err = 0;

	if (r->header) {
		end_header(r, op);
		return 0;
	}
	if (in_pattern(r)) {
		rc_forget(r);
		return 0;
	}
	if (r->count) {
		err = emit_command(r, op);
		r->function = false;
		follow_operator(r, op);
	} else {
		follow_nothing(r, op);
	}
	rc_forget(r);
	if (op == 'e' && rc_top_is(r, RC_CASE))
		rc_top(r)->body = false;
	return err;
}

/* "name ()" and "function name ()". */
static bool function_parens(struct rc_state *r)
{
	struct rc_lex ahead = r->lex;

	if (r->count != 1 && !r->function)
		return false;
	ahead.at++;
	rc_skip_blank(&ahead);
	if (rc_peek(&ahead, 0) != ')')
		return false;
	r->lex.at = ahead.at + 1;
	r->function = true;
	r->header = false;
	rc_forget(r);
	return true;
}

static int open_paren(struct rc_state *r)
{
	if (in_pattern(r)) {
		r->lex.at++;
	} else if (function_parens(r)) {
		;
	} else if (r->count || rc_peek(&r->lex, 1) == '(') {
		rc_skip_parens(&r->lex);
	} else {
		rc_push(r, RC_SUBSHELL, true);
		r->lex.at++;
	}
	return 0;
}

int rc_paren(struct rc_state *r, char c)
{
	struct rc_frame *f;
	int err;

	if (r->lex.family == FAMILY_CSH) {
		/* "set path = ( a b )" lists words; the rest are tests. */
		if (c == '(' && !(r->count && str_eq(r->word[0].text, "set")))
			rc_skip_parens(&r->lex);
		else
			r->lex.at++;
		return 0;
	}
	if (c == '(')
		return open_paren(r);
	r->lex.at++;
	f = in_pattern(r);
	if (f) {
		rc_forget(r);
		r->header = false;
		f->body = true;
		return 0;
	}
	err = rc_end_command(r, ';');
	if (rc_top_is(r, RC_SUBSHELL))
		rc_pop(r, RC_SUBSHELL);
	else
		r->lost = true;
	return err;
}
