/* shell_parse.c - lists, pipelines and simple commands
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

struct shell_node *shell_node(
	struct shell_parser *p, enum shell_node_type type, size_t start)
{
	struct shell_node *node = shell_new(p, struct shell_node);

	if (!node)
		return NULL;
	node->type = type;
	node->span = shell_span(p, start);
	return node;
}

static const char *token_text(const struct shell_parser *p, int *n)
{
	size_t end = p->pos > p->tok_at + 20 ? p->tok_at + 20 : p->pos;

	*n = (int)(end - p->tok_at);
	return p->text + p->tok_at;
}

void *shell_unexpected(struct shell_parser *p, const char *wanted)
{
	const char *what;
	int n;

	if (p->tok == TOK_EOF)
		return shell_fail(p, -EINVAL, p->tok_at,
			"the command ends too early, %s expected", wanted);
	if (p->tok == TOK_NL)
		return shell_fail(p, -EINVAL, p->tok_at,
			"unexpected newline, %s expected", wanted);
	what = token_text(p, &n);
	return shell_fail(p, -EINVAL, p->tok_at,
		"unexpected \"%.*s\", %s expected", n, what, wanted);
}

bool shell_eat_word(struct shell_parser *p, enum shell_kw kw)
{
	if (p->kw != kw || p->err)
		return false;
	shell_next(p);
	return true;
}

void shell_skip_newlines(struct shell_parser *p)
{
	while (p->tok == TOK_NL)
		shell_next(p);
}

static void add_heredoc(struct shell_parser *p, struct shell_redir *r)
{
	if (p->npending >= SHELL_MAX_HEREDOCS) {
		shell_fail(p, -E2BIG, p->tok_at,
			"more than %d here-documents in a line",
			SHELL_MAX_HEREDOCS);
		return;
	}
	r->literal = r->word->quoted;
	p->pending[p->npending++] = r;
}

/* Reads a redirection, at the operator or at the descriptor before it. A
 * here-document is noted before the next token is read, because that may be the
 * newline after which its body begins. */
struct shell_redir *shell_parse_redir(struct shell_parser *p)
{
	struct shell_redir *r = shell_new(p, struct shell_redir);
	size_t start = p->tok_at;

	if (!r)
		return NULL;
	r->fd = -1;
	if (p->tok == TOK_FD)
		r->fd = p->fd;
	if (p->tok == TOK_FDVAR)
		r->fdvar = p->fdvar;
	if (p->tok != TOK_REDIR)
		shell_next(p);
	r->op = p->redir;
	r->strip = p->strip;
	shell_next(p);
	/* "2>1>x" has no target: what looks like a number before an operator is
	 * a descriptor. */
	if (p->tok != TOK_WORD)
		return shell_unexpected(p, "a file name");
	/* bash takes only the '-' of ">&-cmd", and the rest as a word. */
	if ((r->op == SHELL_R_DUPIN || r->op == SHELL_R_DUPOUT) &&
		p->text[p->tok_at] == '-' && !shell_word_is(p->word, "-") &&
		shell_is(p, D_BASH))
		return shell_fail(p, -ENOTSUP, p->tok_at,
			"a word behind >&-, without a blank");
	r->word = p->word;
	r->span = shell_span(p, start);
	if (p->err)
		return NULL;
	if (r->op == SHELL_R_HERE)
		add_heredoc(p, r);
	else
		shell_braces(p, r->word);
	shell_next(p);
	return r;
}

static bool at_redir(const struct shell_parser *p)
{
	return p->tok == TOK_REDIR || p->tok == TOK_FD || p->tok == TOK_FDVAR;
}

struct shell_redir **shell_parse_redirs(
	struct shell_parser *p, struct shell_redir **end)
{
	while (at_redir(p) && !p->err) {
		*end = shell_parse_redir(p);
		if (!*end)
			break;
		end = &(*end)->next;
	}
	return end;
}

/* The length of NAME= or bash's NAME+= at the beginning of the word's literal,
 * with the '='; or 0. */
static size_t assign_prefix(struct shell_parser *p, struct shell_str s)
{
	size_t name = shell_str_name(s), op = shell_str_assigns(s, name);

	return name && op && (op == 1 || shell_is(p, D_BASH)) ? name + op : 0;
}

bool shell_torn(const struct shell_word *w)
{
	size_t open = 0;

	for (const struct shell_part *q = w->parts; q; q = q->next) {
		if (q->type != SHELL_LIT)
			continue;
		for (size_t i = 0; i < q->text.n; i++) {
			open += q->text.p[i] == '[';
			if (q->text.p[i] == ']' && open && !--open)
				return false;
		}
	}
	return open;
}

/* bash reads "name[" up to its bracket, with blanks and comments, where it may
 * begin an assignment; a word that ends before is not what bash sees. */
static void refuse_torn(struct shell_parser *p, const struct shell_word *w)
{
	if (shell_torn(w) && shell_is(p, D_BASH))
		shell_fail(p, -ENOTSUP, p->tok_at, "[ without its ]");
}

/* bash's (…) directly behind "name=". */
struct shell_word *shell_parse_array(struct shell_parser *p)
{
	size_t start = p->pos;
	struct shell_word *w = shell_new(p, struct shell_word), **end;
	struct shell_part *part;

	shell_skip(p);
	part = shell_part(p, SHELL_ARRAY, start);
	if (!w || !part || !shell_enter(p))
		return NULL;
	w->parts = part;
	end = &part->u.words;
	shell_next(p);
	while (p->tok == TOK_WORD || p->tok == TOK_NL) {
		if (p->tok == TOK_WORD) {
			refuse_torn(p, p->word);
			shell_braces(p, p->word);
			*end = p->word;
			end = &p->word->next;
		}
		shell_next(p);
	}
	if (p->tok != TOK_RP)
		return shell_unexpected(p, ")");
	shell_leave(p);
	part->span = w->span = shell_span(p, start);
	return w;
}

/* The value of an assignment: the word without its first n bytes. */
static struct shell_word *cut_word(
	struct shell_parser *p, const struct shell_word *w, size_t n)
{
	struct shell_word *out = shell_new(p, struct shell_word);
	struct shell_part *first;

	if (!out)
		return NULL;
	*out = *w;
	first = shell_part(p, SHELL_LIT, w->span.start);
	if (!first)
		return NULL;
	*first = *w->parts;
	first->text.p += n;
	first->text.n -= n;
	out->parts = first->text.n ? first : first->next;
	return out;
}

/* Reads bash's name[sub]=value again, from the bracket on. */
static bool subscript_assign(
	struct shell_parser *p, struct shell_assign *a, size_t name)
{
	size_t kept = p->pos, i = p->tok_at + name;

	const struct shell_str *s = &p->word->parts->text;

	if (name >= s->n || s->p[name] != '[' || !shell_is(p, D_BASH))
		return false;
	if (i >= p->len || p->text[i] != '[')
		return shell_fail(p, -ENOTSUP, i,
			       "line continuation before a subscript") != NULL;
	p->pos = i + 1;
	a->subscript = shell_word(p, MODE_SUBSCRIPT);
	if (shell_eat(p, ']')) {
		a->append = shell_eat(p, '+');
		if (shell_eat(p, '=')) {
			a->value = shell_word(p, MODE_PLAIN);
			return true;
		}
	}
	p->pos = kept;
	a->subscript = NULL;
	refuse_torn(p, p->word);
	return false;
}

/* The current word as an assignment, or NULL. */
static struct shell_assign *parse_assignment(struct shell_parser *p)
{
	struct shell_assign *a;
	struct shell_part *first = p->word->parts;
	size_t name, n;

	if (!first || first->type != SHELL_LIT)
		return NULL;
	name = shell_str_name(first->text);
	if (!name)
		return NULL;
	n = assign_prefix(p, first->text);
	a = shell_new(p, struct shell_assign);
	if (!a)
		return NULL;
	a->name = (struct shell_str){first->text.p, name};
	a->append = n == name + 2;
	if (!n) {
		if (!subscript_assign(p, a, name))
			return NULL;
	} else if (first->text.n == n && !first->next && p->pos < p->len &&
		   p->text[p->pos] == '(' && shell_is(p, D_BASH)) {
		a->value = shell_parse_array(p);
	} else {
		a->value = cut_word(p, p->word, n);
	}
	a->span = shell_span(p, p->tok_at);
	return p->err ? NULL : a;
}

/* declare a=(…): only bash reads an array in an argument, and only there. */
static bool takes_arrays(const struct shell_word *first)
{
	return shell_str_in(shell_word_literal(first),
		" declare typeset local export readonly ");
}

static void array_argument(struct shell_parser *p, struct shell_word *arg)
{
	struct shell_str s = shell_word_literal(arg);
	struct shell_word *array;
	bool array_next = p->pos < p->len && p->text[p->pos] == '(' && s.n &&
			  assign_prefix(p, s) == s.n;

	refuse_torn(p, arg);
	if (!array_next || !shell_is(p, D_BASH))
		return;
	array = shell_parse_array(p);
	if (array)
		arg->parts->next = array->parts;
}

static void count_command(struct shell_parser *p)
{
	if (++p->ast->commands > SHELL_MAX_COMMANDS)
		shell_fail(p, -E2BIG, p->tok_at, "more than %d commands",
			SHELL_MAX_COMMANDS);
}

static struct shell_node *parse_simple(struct shell_parser *p)
{
	size_t start = p->tok_at, end = start;
	struct shell_node *node = shell_node(p, SHELL_SIMPLE, start);
	struct shell_assign **assigns, *a;
	struct shell_word **words, *w;
	struct shell_redir **redirs;
	bool arrays = false;

	if (!node)
		return NULL;
	redirs = &node->redirs;
	assigns = &node->u.simple.assigns;
	words = &node->u.simple.words;
	while (!p->err) {
		if (at_redir(p)) {
			redirs = shell_parse_redirs(p, redirs);
			continue;
		}
		w = p->word;
		if (p->tok != TOK_WORD || !w)
			break;
		a = node->u.simple.words ? NULL : parse_assignment(p);
		if (a) {
			*assigns = a;
			assigns = &a->next;
		} else {
			if (!node->u.simple.words)
				arrays = takes_arrays(w);
			else if (arrays)
				array_argument(p, w);
			shell_braces(p, w);
			*words = w;
			words = &w->next;
		}
		end = p->pos;
		shell_next(p);
	}
	if (!node->u.simple.words && !node->u.simple.assigns && !node->redirs)
		return shell_unexpected(p, "a command");
	for (struct shell_redir *r = node->redirs; r && !p->fixed; r = r->next)
		if (r->span.start + r->span.len > end)
			end = r->span.start + r->span.len;
	if (!p->fixed)
		node->span.len = (uint32_t)(end - start);
	count_command(p);
	return node;
}

struct shell_str shell_func_name(
	struct shell_parser *p, const struct shell_word *w)
{
	struct shell_str name = shell_word_literal(w);

	/* bash takes nearly any name for a function. */
	if (!name.n ||
		(str_is_name(name.p, name.n) &&
			!shell_str_in(name,
				" break continue eval exec exit export local "
				"readonly return set shift times trap unset ")) ||
		shell_is(p, D_BASH))
		return name;
	return SHELL_STR("");
}

/* Reads name() at a word followed by '(': dash and ash take any command as a
 * body, bash only a compound one. */
static struct shell_node *parse_function(struct shell_parser *p, size_t start)
{
	struct shell_node *node = shell_node(p, SHELL_FUNC, start);

	if (!node)
		return NULL;
	node->u.func.name = shell_func_name(p, p->word);
	if (!node->u.func.name.n)
		return shell_fail(p, -EINVAL, start, "bad function name");
	shell_next(p);
	shell_next(p);
	if (p->tok != TOK_RP)
		return shell_unexpected(p, ")");
	shell_next(p);
	shell_skip_newlines(p);
	if (!shell_enter(p))
		return NULL;
	node->u.func.body = shell_parse_compound(p);
	if (!node->u.func.body && !p->err) {
		if (shell_is(p, D_BASH))
			return shell_unexpected(p, "a function's body");
		node->u.func.body = shell_parse_command(p);
	}
	shell_leave(p);
	return node;
}

/* "name (" begins a function; "name= (" and "name[?(" do not. */
static bool paren_follows(struct shell_parser *p)
{
	size_t kept = p->pos;
	struct shell_str s = shell_word_literal(p->word);
	int c = shell_peek(p);

	while (c == ' ' || c == '\t') {
		p->pos++;
		c = shell_peek(p);
	}
	p->pos = kept;
	return c == '(' && !shell_torn(p->word) &&
	       !assign_prefix(p, s);
}

struct shell_node *shell_parse_command(struct shell_parser *p)
{
	size_t start = p->tok_at;
	struct shell_node *node = shell_parse_compound(p);

	if (node || p->err)
		return node;
	if (p->kw && (p->kw <= KW_BANG ||
			     (p->kw == KW_COND_END && shell_is(p, D_BASH))))
		return shell_unexpected(p, "a command");
	if (p->tok == TOK_WORD && paren_follows(p))
		return parse_function(p, start);
	return parse_simple(p);
}
