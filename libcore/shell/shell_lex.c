/* shell_lex.c - characters and tokens of shell text, and its values
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "shell/shell_walk.h"

bool shell_str_eq(struct shell_str a, struct shell_str b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

bool shell_str_is(struct shell_str s, const char *text)
{
	if (!s.n || s.p[0] != text[0])
		return !s.n && !text[0];
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

bool shell_str_in(struct shell_str s, const char *words)
{
	const char *at = s.n && !memchr(s.p, ' ', s.n)
				 ? memmem(words, strlen(words), s.p, s.n)
				 : NULL;

	while (at && (at[-1] != ' ' || at[s.n] != ' '))
		at = memmem(at + 1, strlen(at + 1), s.p, s.n);
	return at;
}

bool shell_str_has(struct shell_str s, const char *bytes)
{
	while (s.n && *bytes)
		if (memchr(s.p, *bytes++, s.n))
			return true;
	return false;
}

int shell_str_number(struct shell_str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!chr_digit(s.p[i]))
			return -1;
		n = n < SHELL_MAX_NUMBER ? 10 * n + (s.p[i] - '0') : n;
	}
	return s.n ? n : -1;
}

size_t shell_str_name(struct shell_str s)
{
	size_t n = 0;

	while (n < s.n && (n ? chr_name(s.p[n]) : chr_name1(s.p[n])))
		n++;
	return n;
}

size_t shell_str_assigns(struct shell_str s, size_t name)
{
	size_t op = name < s.n && s.p[name] == '+';

	return name + op < s.n && s.p[name + op] == '=' ? op + 1 : 0;
}

bool shell_str_unknown(struct shell_str s, bool rel)
{
	return shell_str_has(s, rel ? SHELL_REL_S SHELL_ANY_S SHELL_NUM_S
				    : SHELL_ANY_S);
}

struct shell_str shell_val_prefix(struct shell_str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] != SHELL_ANY && text.p[n] != SHELL_REL &&
		text.p[n] != SHELL_NUM)
		n++;
	return (struct shell_str){text.p, n};
}

const struct shell_str *shell_val_text(const struct shell_val *v)
{
	return v && v->kind == SHELL_CONST && !v->many ? &v->text : NULL;
}

bool shell_is(struct shell_parser *p, unsigned dialects)
{
	p->ast->sensitive = true;
	return dialects & 1u << p->ast->dialect;
}

FLOATLESS void *shell_fail(
	struct shell_parser *p, int err, size_t at, const char *fmt, ...)
{
	struct buf text = {0};
	unsigned line, col;
	char room[200];
	va_list ap;

	if (p->err)
		return NULL;
	p->err = err;
	text = BUF_FIXED(room);
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	diag_fail(p->diag, err, "%s", text.err ? "cut" : buf_str(&text));
	if (p->fixed)
		at = p->span.start;
	shell_locate(p->ast->text, p->ast->len, at, &line, &col);
	diag_at(p->diag, "", line, col);
	return NULL;
}

void shell_locate(const char *text, size_t len, size_t offset, unsigned *line,
	unsigned *col)
{
	unsigned l = 1, c = 1;

	for (size_t i = 0; i < offset && i < len; i++) {
		c++;
		if (text[i] == '\n') {
			l++;
			c = 1;
		}
	}
	*line = l;
	*col = c;
}

static void drop_continuations(struct shell_parser *p)
{
	while (p->pos + 1 < p->len && p->text[p->pos] == '\\' &&
		p->text[p->pos + 1] == '\n')
		p->pos += 2;
}

int shell_peek(struct shell_parser *p)
{
	if (p->err)
		return -1;
	drop_continuations(p);
	return p->pos < p->len ? (unsigned char)p->text[p->pos] : -1;
}

int shell_peek2(struct shell_parser *p)
{
	size_t kept;
	int c;

	if (shell_peek(p) < 0)
		return -1;
	kept = p->pos++;
	c = shell_peek(p);
	p->pos = kept;
	return c;
}

void shell_skip(struct shell_parser *p)
{
	if (shell_peek(p) >= 0)
		p->pos++;
}

bool shell_eat(struct shell_parser *p, char c)
{
	if (shell_peek(p) != (unsigned char)c)
		return false;
	p->pos++;
	return true;
}

bool shell_eat_in(struct shell_parser *p, char c, unsigned dialects)
{
	return shell_peek(p) == (unsigned char)c && shell_is(p, dialects) &&
	       shell_eat(p, c);
}

static void *got_token(struct shell_parser *p, void *memory)
{
	if (!memory)
		shell_fail(p, -E2BIG, p->pos, "the command is too large");
	return memory;
}

void *shell_zalloc(struct shell_parser *p, size_t n)
{
	return got_token(p, arena_zalloc(p->a, n));
}

char *shell_bytes(struct shell_parser *p, size_t n)
{
	return got_token(p, arena_bytes(p->a, n));
}

struct shell_span shell_span(const struct shell_parser *p, size_t start)
{
	if (p->fixed)
		return p->span;
	return (struct shell_span){(uint32_t)start, (uint32_t)(p->pos - start)};
}

struct shell_str shell_copy(struct shell_parser *p, const char *s, size_t n)
{
	char *to = shell_bytes(p, n ? n : 1);

	if (!to)
		return (struct shell_str){"", 0};
	memcpy(to, s, n);
	return (struct shell_str){to, n};
}

struct shell_part *shell_part(
	struct shell_parser *p, enum shell_part_type type, size_t start)
{
	struct shell_part *part = shell_new(p, struct shell_part);

	if (!part)
		return NULL;
	part->type = type;
	part->span = shell_span(p, start);
	return part;
}

bool shell_enter(struct shell_parser *p)
{
	if (p->depth >= SHELL_MAX_DEPTH) {
		shell_fail(p, -E2BIG, p->pos, "nested deeper than %d levels",
			SHELL_MAX_DEPTH);
		return false;
	}
	p->depth++;
	return true;
}

void shell_leave(struct shell_parser *p)
{
	p->depth--;
}

#define D_ALL (D_POSIX | D_ASH | D_BASH)

/* Operators, each before those that it begins with. ash: "&>" is one operator,
 * "&>>" is "&>" and ">". */
static const struct operator {
	char text[4];
	/* means: the kind of redirection, or of a case's end */
	unsigned char tok, means, dialects;
} operators[] = {
	{"&&", TOK_AND, 0, D_ALL},
	{"&>>", TOK_REDIR, SHELL_R_BOTHAPP, D_BASH},
	{"&>", TOK_REDIR, SHELL_R_BOTH, D_BASH | D_ASH},
	{"&", TOK_AMP, 0, D_ALL},
	{";;&", TOK_DSEMI, SHELL_CASE_NEXT, D_BASH},
	{";;", TOK_DSEMI, SHELL_CASE_BREAK, D_ALL},
	{";&", TOK_DSEMI, SHELL_CASE_FALL, D_BASH},
	{";", TOK_SEMI, 0, D_ALL},
	{"||", TOK_OR, 0, D_ALL},
	{"|&", TOK_PIPEAMP, 0, D_BASH},
	{"|", TOK_PIPE, 0, D_ALL},
	{"<<<", TOK_REDIR, SHELL_R_HERESTR, D_BASH},
	{"<<-", TOK_REDIR, SHELL_R_HERE, D_ALL},
	{"<<", TOK_REDIR, SHELL_R_HERE, D_ALL},
	{"<&", TOK_REDIR, SHELL_R_DUPIN, D_ALL},
	{"<>", TOK_REDIR, SHELL_R_RDWR, D_ALL},
	{"<", TOK_REDIR, SHELL_R_IN, D_ALL},
	{">&", TOK_REDIR, SHELL_R_DUPOUT, D_ALL},
	{">>", TOK_REDIR, SHELL_R_APPEND, D_ALL},
	{">|", TOK_REDIR, SHELL_R_CLOBBER, D_ALL},
	{">", TOK_REDIR, SHELL_R_OUT, D_ALL},
	{"(", TOK_LP, 0, D_ALL},
	{")", TOK_RP, 0, D_ALL},
};

/* Reads an operator, which begins with c. */
static void lex_operator(struct shell_parser *p, int c)
{
	const size_t start = p->pos;

	for (const struct operator *o = operators;; o++) {
		const char *text = o->text;

		if (*text != c)
			continue;
		p->pos = start;
		while (*text && shell_eat(p, *text))
			text++;
		if (*text ||
			(o->dialects != D_ALL && !shell_is(p, o->dialects)))
			continue;
		p->tok = (enum shell_tok)o->tok;
		p->redir = (enum shell_redir_op)o->means;
		p->case_end = (enum shell_case_end)o->means;
		p->strip = o->text[2] == '-';
		return;
	}
}

static const char keywords[][9] = {"then", "else", "elif", "fi", "do", "done",
	"esac", "in", "}", "!", "{", "[[", "case", "coproc", "for", "function",
	"if", "select", "time", "until", "while", "]]", "-p", "--"};

/* The low five bits of their first characters. */
#define KW_FIRST \
	(1u << ('t' & 31) | 1u << ('e' & 31) | 1u << ('f' & 31) | \
		1u << ('d' & 31) | 1u << ('i' & 31) | 1u << ('}' & 31) | \
		1u << ('!' & 31) | 1u << ('{' & 31) | 1u << ('c' & 31) | \
		1u << ('s' & 31) | 1u << ('u' & 31) | 1u << ('w' & 31) | \
		1u << ('-' & 31))

enum shell_kw shell_keyword(const struct shell_word *w)
{
	struct shell_str s = shell_word_literal(w);

	if (!s.n || s.n >= sizeof(*keywords) ||
		!(KW_FIRST >> (s.p[0] & 31) & 1))
		return KW_NONE;
	for (unsigned i = 0; i < ARRAY_SIZE(keywords); i++)
		if (keywords[i][0] == s.p[0] && !keywords[i][s.n] &&
			memcmp(keywords[i], s.p, s.n) == 0)
			return (enum shell_kw)(i + 1);
	return KW_NONE;
}

const char *shell_keyword_text(enum shell_kw kw)
{
	return keywords[kw - 1];
}

/* bash takes {name[…]}> as an array element that keeps the descriptor, and
 * expands the subscript. */
static void refuse_element(struct shell_parser *p)
{
	const struct shell_part *part = p->word->parts;

	if (part && part->type == SHELL_LIT && part->text.n > 2 &&
		part->text.p[0] == '{' && chr_name1(part->text.p[1]) &&
		shell_str_has(part->text, "[") &&
		p->text[p->pos - 1] == '}' && shell_is(p, D_BASH))
		shell_fail(p, -ENOTSUP, p->tok_at, "{name[...]} before < or >");
}

/* A word, or the number or {name} that stands directly before < or >. */
static void lex_word(struct shell_parser *p)
{
	struct shell_str s;
	int c, fd;

	p->tok = TOK_WORD;
	p->word = shell_word(p, MODE_PLAIN);
	p->kw = shell_keyword(p->word);
	c = shell_peek(p);
	if (p->err || p->cond || (c != '<' && c != '>'))
		return;
	refuse_element(p);
	s = shell_word_literal(p->word);
	if (!s.n)
		return;
	if (s.n > 2 && s.p[0] == '{' && s.p[s.n - 1] == '}' &&
		str_is_name(s.p + 1, s.n - 2) && shell_is(p, D_BASH)) {
		p->tok = TOK_FDVAR;
		p->fdvar = (struct shell_str){s.p + 1, s.n - 2};
		return;
	}
	fd = shell_str_number(s);
	/* dash takes one digit, the others any number. */
	if (fd < 0 || (s.n > 1 && shell_is(p, D_POSIX)))
		return;
	if (s.n > 4) {
		shell_fail(p, -ENOTSUP, p->tok_at, "descriptor too large");
		return;
	}
	p->tok = TOK_FD;
	p->fd = fd;
}

static void skip_blanks(struct shell_parser *p)
{
	int c = shell_peek(p);

	while (c == ' ' || c == '\t') {
		p->pos++;
		c = shell_peek(p);
	}
	/* A backslash at a comment's end continues nothing. */
	if (c == '#')
		while (p->pos < p->len && p->text[p->pos] != '\n')
			p->pos++;
}

void shell_next(struct shell_parser *p)
{
	int c;

	skip_blanks(p);
	c = shell_peek(p);
	p->tok_at = p->pos;
	p->kw = KW_NONE;
	if (c < 0) {
		p->tok = TOK_EOF;
		if (p->npending && !p->err)
			shell_fail(p, -ENOTSUP, p->pos,
				"here-document without its end");
		return;
	}
	if (c == '\n') {
		p->pos++;
		p->tok = TOK_NL;
		if (p->npending)
			shell_read_heredocs(p);
		else if (p->outer_pending)
			shell_fail(p, -ENOTSUP, p->pos,
				"newline in a substitution while a "
				"here-document waits");
		return;
	}
	if ((c == '<' || c == '>') && !p->cond && shell_peek2(p) == '(' &&
		shell_is(p, D_BASH | D_ASH))
		lex_word(p);
	else if (strchr("&;|<>()", c))
		lex_operator(p, c);
	else
		lex_word(p);
}
