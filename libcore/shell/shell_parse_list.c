/* shell_parse_list.c - pipelines, lists and whole programs
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

/* bash's time [-p] before a pipeline; a program's name elsewhere. */
static void eat_time(struct shell_parser *p, struct shell_node *line)
{
	while (!p->err && p->kw == KW_TIME && shell_is(p, D_BASH)) {
		shell_next(p);
		line->u.pipeline.timed = true;
		if (shell_eat_word(p, KW_P))
			line->u.pipeline.posix_time = true;
		shell_eat_word(p, KW_DASHES);
	}
}

static void eat_bangs(struct shell_parser *p, struct shell_node *line)
{
	while (p->kw == KW_BANG && !p->err) {
		if (line->u.pipeline.bangs && !shell_is(p, D_BASH)) {
			shell_unexpected(p, "a command");
			return;
		}
		line->u.pipeline.bangs++;
		shell_next(p);
	}
}

static struct shell_node *parse_pipeline(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *line = shell_node(p, SHELL_PIPELINE, start), **end;

	if (!line)
		return NULL;
	eat_time(p, line);
	eat_bangs(p, line);
	if (line->u.pipeline.bangs)
		eat_time(p, line);
	end = &line->u.pipeline.first;
	while (!p->err) {
		*end = shell_parse_command(p);
		if (!*end)
			return NULL;
		if (p->tok != TOK_PIPE && p->tok != TOK_PIPEAMP)
			break;
		(*end)->pipe_err = p->tok == TOK_PIPEAMP;
		end = &(*end)->next;
		shell_next(p);
		shell_skip_newlines(p);
	}
	if (p->err)
		return NULL;
	if (!line->u.pipeline.first->next && !line->u.pipeline.bangs &&
		!line->u.pipeline.timed)
		return line->u.pipeline.first;
	line->span = shell_span(p, start);
	if (!p->fixed)
		line->span.len = (uint32_t)(p->tok_at - start);
	return line;
}

static struct shell_node *and_or(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *first = parse_pipeline(p), *node, *last = first;

	if (!first || (p->tok != TOK_AND && p->tok != TOK_OR))
		return first;
	node = shell_node(p, SHELL_ANDOR, start);
	if (!node)
		return NULL;
	node->u.andor.first = first;
	while ((p->tok == TOK_AND || p->tok == TOK_OR) && !p->err) {
		bool is_or = p->tok == TOK_OR;

		shell_next(p);
		shell_skip_newlines(p);
		last->next = parse_pipeline(p);
		last = last->next;
		if (!last)
			return NULL;
		last->after_or = is_or;
	}
	if (!p->fixed)
		node->span.len = (uint32_t)(p->tok_at - start);
	return node;
}

static bool list_ends(const struct shell_parser *p)
{
	return p->tok == TOK_EOF || p->tok == TOK_RP || p->tok == TOK_DSEMI ||
	       (p->kw && p->kw < KW_BANG);
}

/* Appends to the list, which is whole even when an error ends it. */
static void read_list(struct shell_parser *p, struct shell_list *list)
{
	struct shell_item **end = &list->first, *item;
	size_t start = p->tok_at;

	while (!p->err) {
		shell_skip_newlines(p);
		if (list_ends(p))
			break;
		item = shell_new(p, struct shell_item);
		if (!item)
			break;
		item->node = and_or(p);
		if (p->err)
			break;
		*end = item;
		end = &item->next;
		if (p->tok == TOK_AMP)
			item->background = true;
		else if (p->tok == TOK_NL)
			item->newline = true;
		else if (p->tok != TOK_SEMI)
			break;
		shell_next(p);
	}
	list->span = shell_span(p, start);
	if (!p->fixed)
		list->span.len = (uint32_t)(p->tok_at - start);
}

struct shell_list *shell_parse_list(struct shell_parser *p)
{
	struct shell_list *list = shell_new(p, struct shell_list);

	if (!list)
		return NULL;
	if (!shell_enter(p))
		return NULL;
	read_list(p, list);
	shell_leave(p);
	return list;
}

struct shell_list *shell_parse_body(struct shell_parser *p)
{
	struct shell_list *list = shell_parse_list(p);

	if (!p->err && list && !list->first)
		return shell_unexpected(p, "a command");
	return list;
}

/* Not every bash reads "$(time {", though it reads "$(:; time {". */
static void check_timed(struct shell_parser *p, const struct shell_list *list)
{
	const struct shell_node *node = list->first ? list->first->node : NULL;

	if (node && node->type == SHELL_ANDOR)
		node = node->u.andor.first;
	if (node && node->type == SHELL_PIPELINE && node->u.pipeline.timed &&
		node->u.pipeline.first->type != SHELL_SIMPLE)
		shell_fail(p, -ENOTSUP, p->tok_at,
			"time before a compound command in a substitution");
}

struct shell_list *shell_parse_sub(struct shell_parser *p)
{
	struct shell_parser kept = *p;
	struct shell_list *list = shell_new(p, struct shell_list);
	bool timed;

	if (!list)
		return NULL;
	/* Entered before the first token, which may be a substitution again. */
	if (!shell_enter(p))
		return NULL;
	p->npending = 0;
	p->outer_pending = kept.outer_pending + kept.npending;
	p->cond = 0;
	shell_next(p);
	timed = p->kw == KW_TIME;
	read_list(p, list);
	if (timed && !p->err)
		check_timed(p, list);
	if (p->tok != TOK_RP)
		shell_unexpected(p, ")");
	if (p->npending)
		shell_fail(
			p, -ENOTSUP, p->pos, "here-document without its end");
	kept.pos = p->pos;
	kept.err = p->err;
	*p = kept;
	return list;
}

struct shell_list *shell_parse_nested(
	struct shell_parser *p, struct shell_str text, struct shell_span span)
{
	struct shell_parser in = *p;
	struct shell_list *list = shell_new(p, struct shell_list);

	if (!list)
		return NULL;
	if (!shell_enter(&in)) {
		p->err = in.err;
		return NULL;
	}
	in.text = text.p;
	in.len = text.n;
	in.pos = 0;
	in.npending = 0;
	in.outer_pending = 0;
	in.cond = 0;
	in.fixed = true;
	in.span = p->fixed ? p->span : span;
	if (p->npending && shell_str_has(text, "\n"))
		return shell_fail(p, -ENOTSUP, p->pos,
			"newline in a substitution while a here-document "
			"waits");
	shell_next(&in);
	read_list(&in, list);
	if (in.tok != TOK_EOF)
		shell_unexpected(&in, "the end of the backquote");
	p->err = in.err;
	return list;
}

/* Refuses bytes that no honest command has: they hide text from a reader, or
 * end it early for a program. */
static int check_bytes(
	const char *text, size_t len, char mark, struct diag *d)
{
	size_t i = 0;
	unsigned line, col;

	while (i < len) {
		unsigned char c = (unsigned char)text[i];
		uint32_t cp = c;
		size_t n = 1;

		if (c >= 0x80)
			n = utf8_decode(text + i, len - i, &cp);
		if (n && (c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f) ||
				 (c >= 0x80 && !utf8_is_hidden(cp)) ||
				 (mark && text[i] == mark))) {
			i += n;
			continue;
		}
		shell_locate(text, len, i, &line, &col);
		if (n)
			diag_fail(d, -EILSEQ,
				"the character U+%04X has no place in a "
				"command",
				(unsigned)cp);
		else
			diag_fail(d, -EILSEQ, "this is not UTF-8");
		diag_at(d, "", line, col);
		return -EILSEQ;
	}
	return 0;
}

int shell_parse(struct arena *a, const char *text, size_t len,
	enum shell_dialect dialect, struct shell_ast *ast, struct diag *d)
{
	return shell_parse_marked(a, text, len, 0, dialect, ast, d);
}

int shell_parse_marked(struct arena *a, const char *text, size_t len,
	char mark, enum shell_dialect dialect, struct shell_ast *ast,
	struct diag *d)
{
	struct shell_parser p = {
		.a = a, .text = text, .len = len, .ast = ast, .diag = d};
	int err;

	*ast = (struct shell_ast){.text = text,
		.len = len,
		.dialect = dialect == SHELL_UNION ? SHELL_BASH : dialect};
	if (len > SHELL_MAX_TEXT)
		return diag_fail(
			d, -E2BIG, "longer than %d bytes", SHELL_MAX_TEXT);
	err = check_bytes(text, len, mark, d);
	if (err)
		return err;
	ast->list = arena_new(a, struct shell_list);
	if (!ast->list)
		return diag_fail(d, -ENOMEM, "out of memory");
	shell_next(&p);
	read_list(&p, ast->list);
	if (p.tok != TOK_EOF)
		shell_unexpected(&p, "the end of the command");
	return p.err;
}
