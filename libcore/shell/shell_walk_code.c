/* shell_walk_code.c - shell code in shell code, and the start
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_eval_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static void walk_program(struct shell_walk *w, const struct shell_list *list)
{
	const struct shell_list *program = w->program;
	struct shell_state *tossed = w->tossed;

	w->program = list;
	w->tossed = NULL;
	shell_walk_list(w, list);
	shell_catch(w);
	w->program = program;
	w->tossed = tossed;
}

/* One reading. partial: where it ends in an error, a shell has run what stands
 * before it, and that counts; else the text is refused as a whole. sensitive:
 * in, whether it stands for all shells'; out, whether theirs differ. */
static int walk_reading(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, bool partial, struct diag *d,
	bool *sensitive)
{
	enum shell_dialect kept = w->dialect, inner = w->inner;
	struct shell_def *defs = w->defs;
	bool differs = w->differs;
	struct shell_ast ast;
	int err = shell_parse_marked(w->a, text.p, text.n,
		w->source->nested ? SHELL_NUM : 0, dialect, &ast, d);

	w->dialect = w->inner = dialect;
	/* What all shells read alike may hold what they do not. */
	if (*sensitive && !ast.sensitive)
		w->inner = SHELL_UNION;
	w->differs = ast.sensitive;
	if (ast.list && (!err || partial))
		walk_program(w, ast.list);
	*sensitive = w->differs;
	w->differs = differs;
	w->dialect = kept;
	w->inner = inner;
	/* What would have called them was not read. */
	for (struct shell_def *def = w->defs; err && def != defs;
		def = def->next)
		def->called = true;
	return err;
}

/* All readings of the text, in the state at hand; joined where there are
 * several. In UNION bash's must be a whole one; the other shells may stop at a
 * syntax error, which is no less certain than what they run before it. */
static int walk_text(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct diag *d)
{
	static const enum shell_dialect others[] = {SHELL_POSIX, SHELL_ASH};
	struct shell_state *st = w->st, before, other;
	struct diag none;
	bool sensitive = dialect == SHELL_UNION, second = w->second;
	int err;

	if (dialect != SHELL_UNION)
		return walk_reading(w, text, dialect, false, d, &sensitive);
	shell_fork(w, st, &before);
	err = walk_reading(w, text, SHELL_BASH, false, d, &sensitive);
	if (err || !sensitive)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(others) && !w->err; i++) {
		sensitive = false;
		shell_fork(w, &before, &other);
		w->st = &other;
		w->second = true;
		err = walk_reading(w, text, others[i], true, &none, &sensitive);
		w->second = second;
		w->st = st;
		if (err && err != -EINVAL) {
			if (d)
				*d = none;
			return err;
		}
		shell_join(w, st, &other);
	}
	return 0;
}

/* A source for nested text, whose places are all that of the command. */
static bool enter(struct shell_walk *w, struct shell_source *in,
	struct shell_str text, struct shell_span span)
{
	*in = (struct shell_source){.text = text.p,
		.len = text.n,
		.level = w->source->level + 1,
		.nested = true,
		.span = shell_outer(w, span)};
	if (in->level > SHELL_MAX_LEVELS) {
		shell_risk(w, SHELL_RISK_LEVELS, text, span);
		return false;
	}
	return true;
}

/* Does each number stand where any other would be read alike: part of a plain
 * word, and of no name, descriptor, brace or expansion? */
static bool numbers_stand(struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		size_t from = i, to = i + 1;

		if (s.p[i] != SHELL_NUM)
			continue;
		while (from && (chr_name(s.p[from - 1]) ||
				       s.p[from - 1] == SHELL_NUM))
			from--;
		while (to < s.n && chr_name(s.p[to]))
			to++;
		if ((from && !strchr(" \t\n./-=:,%@+'\"", s.p[from - 1])) ||
			(to < s.n && s.p[to] != SHELL_NUM &&
				!strchr(" \t\n./-:,;&|)'\"", s.p[to])))
			return false;
	}
	return true;
}

void shell_walk_nested(struct shell_walk *w, struct shell_str text,
	enum shell_dialect dialect, struct shell_span span)
{
	const struct shell_source *kept = w->source;
	struct shell_source *in = walk_new(w, struct shell_source);
	int err;

	if (!in)
		return;
	if (shell_str_has(text, SHELL_REL_S SHELL_ANY_S) ||
		!numbers_stand(text)) {
		shell_risk(w, SHELL_RISK_CODE, text, span);
		return;
	}
	/* A reading of its own costs as much as some commands. */
	w->steps += 8 * SHELL_STEP;
	if (!shell_step(w) || !enter(w, in, text, span))
		return;
	w->source = in;
	err = walk_text(w, text, dialect, NULL);
	w->source = kept;
	if (err)
		shell_risk(w, SHELL_RISK_UNPARSABLE, text, span);
}

void shell_walk_code(struct shell_walk *w, const struct shell_val *text,
	struct shell_span span)
{
	struct shell_state *st = w->st, before, after;

	if (text->n == 1 && !text->many) {
		shell_walk_nested(w, text->alts[0], w->inner, span);
		return;
	}
	if (text->many) {
		shell_risk(w, SHELL_RISK_CODE, text->alts[0], span);
		return;
	}
	shell_fork(w, st, &before);
	shell_fork(w, st, &after);
	after.dead = true;
	for (unsigned i = 0; i < text->n && !w->err; i++) {
		shell_fork(w, &before, st);
		shell_walk_nested(w, text->alts[i], w->inner, span);
		shell_join(w, &after, st);
	}
	shell_fork(w, &after, st);
}

void shell_builtin_source(struct shell_walk *w, struct shell_call *c)
{
	const struct shell_val *path;
	struct shell_str text;
	struct shell_frame frame = {.up = w->func ? w->func->up : NULL};
	struct shell_frame *kept = w->func;

	/* What it declares local is so in the function that reads it. */
	if (kept)
		frame.locals = kept->locals;
	if (c->at < c->n && shell_val_text(&c->v[c->at]) &&
		shell_str_is(c->v[c->at].alts[0], "--"))
		c->at++;
	if (c->at >= c->n)
		return;
	path = &c->v[c->at];
	if (!shell_val_text(path) || !w->ops->source ||
		w->ops->source(w->ctx, w, path, w->st->cwd, &text)) {
		shell_risk(w, SHELL_RISK_SOURCE, path->alts[0], c->span);
		return;
	}
	if (c->at + 1 < c->n)
		shell_forget_args(w->st);
	w->func = &frame;
	shell_walk_nested(w, text, w->inner, c->span);
	w->func = kept;
	if (frame.any)
		shell_join(w, w->st, &frame.acc);
	if (kept)
		kept->locals = frame.locals;
}

int shell_walk(struct arena *a, const char *text, size_t len,
	const struct shell_walk_opts *opts, const struct shell_walk_ops *ops,
	void *ctx, struct diag *d)
{
	struct shell_source source = {.text = text, .len = len};
	struct shell_state st = {.input = SHELL_IN_INHERIT};
	struct shell_walk w = {.a = a,
		.ops = ops,
		.ctx = ctx,
		.diag = d,
		.dialect = opts->dialect,
		.inner = opts->dialect,
		.source = &source,
		.st = &st};
	struct diag none;
	int err;

	if (!d)
		w.diag = d = &none;
	*d = (struct diag){0};
	st.cwd = &shell_val_any;
	if (opts->cwd)
		st.cwd = shell_val_str(
			&w, (struct shell_str){opts->cwd, strlen(opts->cwd)});
	st.fail = w.start = st.cwd;
	st.args = opts->args;
	st.nargs = opts->nargs;
	err = walk_text(&w, (struct shell_str){text, len}, opts->dialect, d);
	if (!err)
		shell_walk_traps(&w);
	w.source = &source;
	if (!err)
		shell_walk_uncalled(&w);
	return w.err ? w.err : err;
}

const char *shell_risk_text(enum shell_risk risk)
{
	return str_nth("the command's name is computed\0"
		       "a variable's name is computed\0"
		       "shell code is computed\0"
		       "the sourced file cannot be judged\0"
		       "an alias changes what later names mean\0"
		       "words are split by an IFS of its own\0"
		       "a subscript would run a command\0"
		       "arithmetic over unknown text\0"
		       "a variable is named by another one\0"
		       "text is expanded as a prompt\0"
		       "a shell option changes how it reads\0"
		       "a function takes a builtin's name\0"
		       "a name is tied to another program\0"
		       "the command's name is not ASCII\0"
		       "functions call too deep\0"
		       "shell code nested too deep\0"
		       "nested shell code cannot be read\0"
		       "more than can be kept track of\0",
		risk);
}
