/* shell_print.c - a tree back to shell text, in one canonical form
 * SPDX-License-Identifier: MIT
 */
#include "parts/shell_print.h"

#include <errno.h>
#include <string.h>

static void print_node(struct shell_printer *p, const struct shell_node *node);

static void add(struct shell_printer *p, const char *s)
{
	buf_adds(p->out, s);
}

static void add_str(struct shell_printer *p, struct shell_str s)
{
	buf_add(p->out, s.p, s.n);
}

/* Is the delimiter a line of the body? */
static bool has_line(const char *body, size_t n, const char *delim, size_t len)
{
	for (size_t i = 0; i < n;) {
		const char *nl = memchr(body + i, '\n', n - i);
		size_t end = nl ? (size_t)(nl - body) : n;

		if (end - i == len && memcmp(body + i, delim, len) == 0)
			return true;
		i = end + 1;
	}
	return false;
}

/* The delimiter is in the text already when the body is known: so the body is
 * made first, and the operator's place is kept for the shortest delimiter that
 * no line of the body is. */
static void delimiter(const struct shell_redir *r, struct buf *out, size_t max)
{
	autobuf struct buf body = BUF_INIT(max);
	struct shell_printer in = {.out = &body};

	shell_print_word(&in, r->here, STYLE_HERE);
	if (r->literal && r->here->parts) {
		buf_clear(&body);
		buf_add(&body, r->here->parts->text.p, r->here->parts->text.n);
	}
	buf_adds(out, "EOF");
	while (has_line(body.data, body.len, out->data, out->len) && !out->err)
		buf_addc(out, '_');
	if (body.err)
		out->err = body.err;
}

static void flush(struct shell_printer *p)
{
	unsigned n = p->npending;

	buf_addc(p->out, '\n');
	p->npending = 0;
	for (unsigned i = 0; i < n && !p->out->err; i++) {
		const struct shell_redir *r = p->pending[i];
		char room[64];
		struct buf delim = BUF_FIXED(room);

		delimiter(r, &delim, p->out->max);
		if (r->literal)
			add_str(p, r->here->parts->text);
		else
			shell_print_word(p, r->here, STYLE_HERE);
		buf_add(p->out, delim.data, delim.len);
		buf_addc(p->out, '\n');
		if (delim.err)
			p->out->err = delim.err;
	}
}

static void print_redir(struct shell_printer *p, const struct shell_redir *r)
{
	static const char ops[][4] = {"<", ">", ">>", ">|", "<>", "<&", ">&",
		"&>", "&>>", "<<", "<<<"};
	const struct shell_word *w = r->word;

	if (r->fdvar.n) {
		buf_addc(p->out, '{');
		add_str(p, r->fdvar);
		buf_addc(p->out, '}');
	} else if (r->fd >= 0) {
		buf_addf(p->out, "%d", r->fd);
	}
	add(p, ops[r->op]);
	if (r->op == SHELL_R_HERE) {
		char room[64];
		struct buf delim = BUF_FIXED(room);

		if (!r->here || p->npending >= SHELL_MAX_HEREDOCS) {
			p->out->err = -ENOTSUP;
			return;
		}
		delimiter(r, &delim, p->out->max);
		add(p, r->literal ? "'" : "");
		buf_add(p->out, delim.data, delim.len);
		add(p, r->literal ? "'" : "");
		p->pending[p->npending++] = r;
		return;
	}
	if (w->parts && w->parts->type == SHELL_PROCSUB)
		buf_addc(p->out, ' ');
	/* Several targets are an error that a single text cannot show. */
	if (w->braces)
		p->out->err = -ENOTSUP;
	shell_print_word(p, w, STYLE_WORD);
}

static void print_redirs(struct shell_printer *p, const struct shell_redir *r)
{
	for (; r && !p->out->err; r = r->next) {
		if (p->out->len && p->out->data[p->out->len - 1] != ' ' &&
			p->out->data[p->out->len - 1] != '\n')
			buf_addc(p->out, ' ');
		print_redir(p, r);
	}
}

static void print_assign(struct shell_printer *p, const struct shell_assign *a)
{
	add_str(p, a->name);
	if (a->subscript) {
		buf_addc(p->out, '[');
		shell_print_word(p, a->subscript, STYLE_BRACE);
		buf_addc(p->out, ']');
	}
	add(p, a->append ? "+=" : "=");
	shell_print_word(p, a->value, STYLE_WORD);
}

static void print_simple(struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_word *w = node->u.simple.words;
	const struct shell_assign *a = node->u.simple.assigns;

	for (; a; a = a->next) {
		print_assign(p, a);
		if (a->next || w)
			buf_addc(p->out, ' ');
	}
	shell_print_words(p, w, STYLE_FIRST, "");
}

/* Ends the command before: ';' unless something else did. */
static void end_item(struct shell_printer *p, const struct shell_item *item)
{
	if (item->background)
		add(p, " &");
	if (p->npending)
		flush(p);
	else
		add(p, item->background ? " " : "; ");
}

void shell_print_list(struct shell_printer *p, const struct shell_list *list)
{
	const struct shell_item *item = list ? list->first : NULL;
	struct shell_printer in = {.out = p->out};

	/* A substitution's here-documents are its own. */
	for (; item && !p->out->err; item = item->next) {
		print_node(&in, item->node);
		end_item(&in, item);
	}
}

/* The same within a compound command: here-documents of its line wait. */
static void print_body(struct shell_printer *p, const struct shell_list *list)
{
	const struct shell_item *item = list ? list->first : NULL;

	for (; item && !p->out->err; item = item->next) {
		print_node(p, item->node);
		end_item(p, item);
	}
}

static void print_if(struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_list *other = node->u.cond_if.other;

	add(p, node->u.cond_if.elif ? "elif " : "if ");
	print_body(p, node->u.cond_if.test);
	add(p, "then ");
	print_body(p, node->u.cond_if.then);
	if (other && other->first && other->first->node->type == SHELL_IF &&
		other->first->node->u.cond_if.elif) {
		print_if(p, other->first->node);
		return;
	}
	if (other) {
		add(p, "else ");
		print_body(p, other);
	}
	add(p, "fi");
}

static void print_do(struct shell_printer *p, const struct shell_list *body)
{
	add(p, "do ");
	print_body(p, body);
	add(p, "done");
}

static void print_for(struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_word *w = node->u.loop.words;

	add(p, node->type == SHELL_SELECT ? "select " : "for ");
	add_str(p, node->u.loop.name);
	if (node->u.loop.has_in)
		add(p, " in");
	shell_print_words(p, w, STYLE_WORD, " ");
	add(p, "; ");
	print_do(p, node->u.loop.body);
}

static void print_forarith(
	struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_word *const words[] = {node->u.forarith.init,
		node->u.forarith.test, node->u.forarith.step};

	for (unsigned i = 0; i < 3; i++) {
		add(p, i ? ";" : "for ((");
		if (words[i])
			shell_print_word(p, words[i], STYLE_ARITH);
	}
	add(p, ")); ");
	print_do(p, node->u.forarith.body);
}

static void print_case(struct shell_printer *p, const struct shell_node *node)
{
	static const char ends[][6] = {";; ", ";& ", ";;& "};
	const struct shell_case_item *item = node->u.select.items;

	add(p, "case ");
	shell_print_word(p, node->u.select.subject, STYLE_WORD);
	add(p, " in ");
	for (; item && !p->out->err; item = item->next) {
		const struct shell_word *w = item->patterns;

		for (; w; w = w->next) {
			add(p, w == item->patterns ? "(" : "|");
			shell_print_word(p, w, STYLE_WORD);
		}
		add(p, ") ");
		if (item->body && item->body->first)
			for (const struct shell_item *i = item->body->first; i;
				i = i->next) {
				print_node(p, i->node);
				if (i->next)
					end_item(p, i);
				else if (i->background)
					add(p, " &");
			}
		if (p->npending)
			flush(p);
		else
			buf_addc(p->out, ' ');
		add(p, ends[item->end]);
	}
	add(p, "esac");
}

static void print_cond(struct shell_printer *p, const struct shell_cond *c)
{
	if (!c) {
		p->out->err = -ENOTSUP;
		return;
	}
	switch (c->type) {
	case SHELL_COND_WORD:
		shell_print_word(p, c->left, STYLE_COND);
		break;
	case SHELL_COND_UNARY:
		add_str(p, c->op);
		buf_addc(p->out, ' ');
		shell_print_word(p, c->left, STYLE_COND);
		break;
	case SHELL_COND_BINARY:
		shell_print_word(p, c->left, STYLE_COND);
		buf_addc(p->out, ' ');
		add_str(p, c->op);
		buf_addc(p->out, ' ');
		shell_print_word(p, c->right,
			c->op.n == 2 && c->op.p[1] == '~' ? STYLE_REGEX
							  : STYLE_COND);
		break;
	case SHELL_COND_NOT:
		add(p, "! ");
		print_cond(p, c->a);
		break;
	case SHELL_COND_AND:
	case SHELL_COND_OR:
		print_cond(p, c->a);
		add(p, c->type == SHELL_COND_AND ? " && " : " || ");
		print_cond(p, c->b);
		break;
	case SHELL_COND_PAREN:
		add(p, "( ");
		print_cond(p, c->a);
		add(p, " )");
		break;
	}
}

static void print_pipeline(
	struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_node *part = node->u.pipeline.first;

	if (node->u.pipeline.timed)
		add(p, node->u.pipeline.posix_time ? "time -p -- "
						   : "time -- ");
	for (unsigned i = 0; i < node->u.pipeline.bangs; i++)
		add(p, "! ");
	for (; part; part = part->next) {
		print_node(p, part);
		if (part->next)
			add(p, part->pipe_err ? " |& " : " | ");
	}
}

static void print_func(struct shell_printer *p, const struct shell_node *node)
{
	if (node->u.func.keyword)
		add(p, "function ");
	add_str(p, node->u.func.name);
	/* ash needs the parentheses where the body has its own. */
	add(p, "() ");
	print_node(p, node->u.func.body);
}

static void print_group(struct shell_printer *p, const struct shell_node *node)
{
	bool sub = node->type == SHELL_SUBSHELL;

	add(p, sub ? "( " : "{ ");
	print_body(p, node->u.group.body);
	add(p, sub ? ")" : "}");
}

static void print_wait(struct shell_printer *p, const struct shell_node *node)
{
	add(p, node->type == SHELL_WHILE ? "while " : "until ");
	print_body(p, node->u.wait.test);
	print_do(p, node->u.wait.body);
}

static void print_andor(struct shell_printer *p, const struct shell_node *node)
{
	const struct shell_node *part = node->u.andor.first;

	print_node(p, part);
	for (part = part->next; part; part = part->next) {
		add(p, part->after_or ? " || " : " && ");
		print_node(p, part);
	}
}

static void print_coproc(struct shell_printer *p, const struct shell_node *node)
{
	add(p, "coproc ");
	add_str(p, node->u.coproc.name);
	add(p, node->u.coproc.name.n ? " " : "");
	print_node(p, node->u.coproc.body);
}

static void print_inside(struct shell_printer *p, const struct shell_node *node)
{
	switch (node->type) {
	case SHELL_SIMPLE:
		print_simple(p, node);
		break;
	case SHELL_PIPELINE:
		print_pipeline(p, node);
		break;
	case SHELL_ANDOR:
		print_andor(p, node);
		break;
	case SHELL_SUBSHELL:
	case SHELL_GROUP:
		print_group(p, node);
		break;
	case SHELL_IF:
		print_if(p, node);
		break;
	case SHELL_FOR:
	case SHELL_SELECT:
		print_for(p, node);
		break;
	case SHELL_FORARITH:
		print_forarith(p, node);
		break;
	case SHELL_WHILE:
	case SHELL_UNTIL:
		print_wait(p, node);
		break;
	case SHELL_CASE:
		print_case(p, node);
		break;
	case SHELL_FUNC:
		print_func(p, node);
		break;
	case SHELL_COND:
		add(p, "[[ ");
		print_cond(p, node->u.cond);
		add(p, " ]]");
		break;
	case SHELL_ARITH:
		add(p, "((");
		if (node->u.arith)
			shell_print_word(p, node->u.arith, STYLE_ARITH);
		add(p, "))");
		break;
	case SHELL_COPROC:
		print_coproc(p, node);
		break;
	}
}

static void print_node(struct shell_printer *p, const struct shell_node *node)
{
	if (!node || p->out->err) {
		if (!p->out->err)
			p->out->err = -ENOTSUP;
		return;
	}
	print_inside(p, node);
	print_redirs(p, node->redirs);
}

void shell_print(const struct shell_ast *ast, struct buf *out)
{
	const struct shell_item *item = ast->list ? ast->list->first : NULL;
	struct shell_printer p = {.out = out};

	for (; item && !out->err; item = item->next) {
		print_node(&p, item->node);
		if (item->background)
			add(&p, " &");
		flush(&p);
	}
}
