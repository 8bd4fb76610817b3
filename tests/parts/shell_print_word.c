/* shell_print_word.c - words of the canonical form
 * SPDX-License-Identifier: MIT
 */
#include "parts/shell_print.h"

#include "shell/shell_lex_in.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

static void print_parts(struct shell_printer *p, const struct shell_part *part,
	enum shell_style style);

static void add(struct shell_printer *p, struct shell_str s)
{
	buf_add(p->out, s.p, s.n);
}

/* Unquoted without another meaning, or with the one of a pattern. */
static bool is_plain(char c)
{
	if (chr_name(c))
		return true;
	return c && strchr("./:=@%+,-*?[]!^", c);
}

static bool quoted_style(enum shell_style style)
{
	return style == STYLE_DQ || style == STYLE_HERE ||
	       style == STYLE_BRACE_DQ || style == STYLE_PATTERNDQ ||
	       style == STYLE_REPLACEDQ || style == STYLE_ARITH;
}

static bool is_clean(struct shell_str s)
{
	uint32_t cp;

	for (size_t i = 0, n; i < s.n; i += n) {
		n = utf8_decode(s.p + i, s.n - i, &cp);
		if (!n || (utf8_is_hidden(cp) && cp != '\n' && cp != '\t'))
			return false;
	}
	return true;
}

/* Hidden characters and stray bytes have no other spelling. */
static void print_ansi(struct shell_printer *p, struct shell_str s)
{
	buf_adds(p->out, "$'");
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= ' ' && s.p[i] < 0x7f && s.p[i] != '\'' &&
			s.p[i] != '\\')
			buf_addc(p->out, s.p[i]);
		else
			buf_addf(p->out, "\\%03o", (unsigned char)s.p[i]);
	buf_addc(p->out, '\'');
}

static void print_quoted(struct shell_printer *p, struct shell_str s)
{
	if (!is_clean(s)) {
		print_ansi(p, s);
		return;
	}
	if (!s.n)
		buf_adds(p->out, "''");
	for (size_t i = 0; i < s.n;) {
		size_t n = 0;

		if (s.p[i] == '\'') {
			buf_adds(p->out, "\\'");
			i++;
			continue;
		}
		while (i + n < s.n && s.p[i + n] != '\'')
			n++;
		buf_addc(p->out, '\'');
		buf_add(p->out, s.p + i, n);
		buf_addc(p->out, '\'');
		i += n;
	}
}

static void print_plain(struct shell_printer *p, struct shell_str s)
{
	for (size_t i = 0; i < s.n;) {
		size_t n = 0;

		while (i + n < s.n && is_plain(s.p[i + n]))
			n++;
		buf_add(p->out, s.p + i, n);
		i += n;
		for (n = 0; i + n < s.n && !is_plain(s.p[i + n]);)
			n++;
		if (n)
			print_quoted(p, (struct shell_str){s.p + i, n});
		i += n;
	}
}

/* Where the text stands as it is, but for what begins something. In arithmetic
 * and what is counted like it a $ may be there that begins nothing, and within
 * a pattern no backslash before it. last: nothing follows the text. */
static void print_raw(struct shell_printer *p, struct shell_str s,
	enum shell_style style, bool last)
{
	const bool bare = quoted_style(style) && style != STYLE_DQ &&
		style != STYLE_HERE;
	const char *escaped = style == STYLE_DQ     ? "$`\"\\"
			      : style == STYLE_HERE ? "$`\\"
			      : style == STYLE_REGEX ||
				      style == STYLE_REPLACEDQ ||
				      style == STYLE_PATTERNDQ
				      ? ""
			      : quoted_style(style) ? "$\\"
						    : "$~";

	for (size_t i = 0; i < s.n; i++) {
		const bool alone = bare && s.p[i] == '$' &&
			(i + 1 < s.n ? strchr("/%:,.=+ \t\n", s.p[i + 1]) != NULL
				     : last);

		if (strchr(escaped, s.p[i]) && s.p[i] && !alone)
			buf_addc(p->out, '\\');
		buf_addc(p->out, s.p[i]);
	}
}

static void print_literal(struct shell_printer *p,
	const struct shell_part *part, enum shell_style style)
{
	if (style == STYLE_WORD || style == STYLE_FIRST)
		print_plain(p, part->text);
	else
		print_raw(p, part->text, style, !part->next);
}

static void print_escape(struct shell_printer *p, const struct shell_part *part,
	enum shell_style style)
{
	if (style == STYLE_WORD || style == STYLE_FIRST) {
		print_quoted(p, part->text);
		return;
	}
	buf_addc(p->out, '\\');
	add(p, part->text);
}

static bool is_constant(const struct shell_part *part)
{
	for (; part; part = part->next)
		if (part->type != SHELL_LIT && part->type != SHELL_ESC)
			return false;
	return true;
}

static void print_dq(struct shell_printer *p, const struct shell_part *part,
	enum shell_style style)
{
	bool constant = is_constant(part->u.parts) && !part->locale &&
			!quoted_style(style);
	const size_t start = p->out->len;

	if (constant) {
		if (!part->u.parts)
			buf_adds(p->out, "''");
		for (part = part->u.parts; part; part = part->next)
			print_quoted(p, part->text);
		return;
	}
	buf_adds(p->out, part->locale ? "$\"" : "\"");
	print_parts(p, part->u.parts, STYLE_DQ);
	buf_addc(p->out, '"');
	/* Backquotes come out as brackets, which are not read there. */
	if (style == STYLE_ARITH && !p->out->err &&
		strpbrk(buf_str(p->out) + start, "()[]"))
		p->out->err = -ENOTSUP;
}

static enum shell_style inner_style(
	const struct shell_param *param, enum shell_style style)
{
	bool quoted = quoted_style(style);

	switch (param->op) {
	case SHELL_OP_SLICE:
		return STYLE_ARITH;
	case SHELL_OP_PREFIX:
	case SHELL_OP_SUFFIX:
	case SHELL_OP_CASE:
		return quoted ? STYLE_PATTERNDQ : STYLE_BRACE;
	case SHELL_OP_REPLACE:
		return quoted ? STYLE_REPLACEDQ : STYLE_BRACE;
	case SHELL_OP_NONE:
	case SHELL_OP_DEFAULT:
	case SHELL_OP_ASSIGN:
	case SHELL_OP_ERROR:
	case SHELL_OP_ALT:
	case SHELL_OP_TRANSFORM:
	case SHELL_OP_NAMES:
	case SHELL_OP_BAD:
		break;
	}
	return quoted ? STYLE_BRACE_DQ : STYLE_BRACE;
}

static void print_op(struct shell_printer *p, const struct shell_param *param)
{
	char mark = 0;

	switch (param->op) {
	case SHELL_OP_NONE:
	case SHELL_OP_BAD:
		return;
	case SHELL_OP_DEFAULT:
		mark = '-';
		break;
	case SHELL_OP_ASSIGN:
		mark = '=';
		break;
	case SHELL_OP_ERROR:
		mark = '?';
		break;
	case SHELL_OP_ALT:
		mark = '+';
		break;
	case SHELL_OP_REPLACE:
		mark = '/';
		break;
	case SHELL_OP_SLICE:
		mark = ':';
		break;
	case SHELL_OP_TRANSFORM:
		buf_addc(p->out, '@');
		mark = param->mark;
		break;
	case SHELL_OP_PREFIX:
	case SHELL_OP_SUFFIX:
	case SHELL_OP_CASE:
	case SHELL_OP_NAMES:
		mark = param->mark;
		break;
	}
	if (param->colon)
		buf_addc(p->out, ':');
	buf_addc(p->out, mark);
	if (param->doubled)
		buf_addc(p->out, mark);
}

static void print_param(struct shell_printer *p,
	const struct shell_param *param, enum shell_style style)
{
	enum shell_style inner = inner_style(param, style);

	buf_adds(p->out, param->length     ? "${#"
			 : param->indirect ? "${!"
					   : "${");
	add(p, param->name);
	if (param->subscript) {
		buf_addc(p->out, '[');
		shell_print_word(p, param->subscript, STYLE_BRACE);
		buf_addc(p->out, ']');
	}
	print_op(p, param);
	/* "${x:-1}" is another thing than "${x: -1}": blanks are kept. */
	if (param->word)
		shell_print_word(p, param->word, inner);
	if (param->word2) {
		buf_addc(p->out, param->op == SHELL_OP_SLICE ? ':' : '/');
		shell_print_word(p, param->word2,
			inner == STYLE_REPLACEDQ ? STYLE_PATTERNDQ : inner);
	}
	buf_addc(p->out, '}');
}

static void print_sub(struct shell_printer *p, const char *open,
	const struct shell_list *list)
{
	buf_adds(p->out, open);
	shell_print_list(p, list);
	buf_addc(p->out, ')');
}

/* The first word that there is: "{,}" is none. */
static const struct shell_word *made(const struct shell_word *w)
{
	if (w->braces)
		for (w = w->braces; w && !w->parts;)
			w = w->next;
	return w;
}

void shell_print_words(struct shell_printer *p, const struct shell_word *w,
	enum shell_style style, const char *before)
{
	/* Without it the next word would be the command's, and an assignment. */
	if (w && style == STYLE_FIRST && !made(w))
		p->out->err = -ENOTSUP;
	for (; w; w = w->next) {
		if (!made(w))
			continue;
		buf_adds(p->out, before);
		/* What braces make is neither reserved nor an assignment, and
		 * quotes would take a '~' its meaning. */
		if (w->braces && style == STYLE_FIRST &&
			made(w)->parts->type != SHELL_TILDE)
			buf_adds(p->out, "''");
		shell_print_word(p, w, style);
		before = " ";
		style = STYLE_WORD;
	}
}

static void print_array(struct shell_printer *p, const struct shell_word *w)
{
	buf_addc(p->out, '(');
	shell_print_words(p, w, STYLE_WORD, "");
	buf_addc(p->out, ')');
}

/* A '$' that stands for itself must not meet a new "$(". */
static bool meets(const struct shell_part *part, enum shell_style style)
{
	return part->type == SHELL_LIT && part->text.n && part->next &&
	       part->next->type == SHELL_CMDSUB &&
	       part->text.p[part->text.n - 1] == '$' &&
	       (style == STYLE_REGEX || style == STYLE_REPLACEDQ ||
		       style == STYLE_PATTERNDQ);
}

static void print_part(struct shell_printer *p, const struct shell_part *part,
	enum shell_style style)
{
	switch (part->type) {
	case SHELL_LIT:
		print_literal(p, part, style);
		break;
	case SHELL_ESC:
		print_escape(p, part, style);
		break;
	case SHELL_SQ:
	case SHELL_ANSI:
		print_quoted(p, part->text);
		break;
	case SHELL_DQ:
		print_dq(p, part, style);
		break;
	case SHELL_TILDE:
		buf_addc(p->out, '~');
		add(p, part->text);
		break;
	case SHELL_PARAM:
		print_param(p, part->u.param, style);
		break;
	case SHELL_CMDSUB:
		print_sub(p, "$( ", part->u.body);
		break;
	case SHELL_PROCSUB:
		print_sub(p, part->output ? ">( " : "<( ", part->u.body);
		break;
	case SHELL_ARITHSUB:
		buf_adds(p->out, part->bracket ? "$[" : "$((");
		print_parts(p, part->u.parts, STYLE_ARITH);
		buf_adds(p->out, part->bracket ? "]" : "))");
		break;
	case SHELL_ARRAY:
		print_array(p, part->u.words);
		break;
	case SHELL_RANGE:
		p->out->err = -ENOTSUP;
		break;
	}
}

static void print_parts(struct shell_printer *p, const struct shell_part *part,
	enum shell_style style)
{
	for (; part && !p->out->err; part = part->next) {
		if (meets(part, style))
			p->out->err = -ENOTSUP;
		print_part(p, part, style);
	}
}

/* Where braces stood a word behind "coproc x" is not reserved, nor does a '['
 * begin a subscript; as plain text it would. */
static void print_made(struct shell_printer *p, const struct shell_word *w,
	enum shell_style style)
{
	size_t start = p->out->len;
	struct shell_part lit = {.type = SHELL_LIT};
	struct shell_word plain = {.parts = &lit};

	print_parts(p, w->parts, style);
	if (p->out->err)
		return;
	lit.text = (struct shell_str){
		p->out->data + start, p->out->len - start};
	if (shell_torn(w) || (style != STYLE_FIRST && shell_keyword(&plain)))
		p->out->err = -ENOTSUP;
}

void shell_print_word(struct shell_printer *p, const struct shell_word *w,
	enum shell_style style)
{
	enum shell_kw kw = style == STYLE_FIRST ? shell_keyword(w) : KW_NONE;

	if (kw && kw <= KW_COND_END) {
		print_quoted(p, w->parts->text);
		return;
	}
	if (!w->braces) {
		print_parts(p, w->parts, style);
		return;
	}
	/* "{a=1,b}" runs a command named "a=1"; printed, it would assign. */
	w = w->braces;
	if (style == STYLE_FIRST && w->parts && w->parts->type == SHELL_LIT &&
		memchr(w->parts->text.p, '=', w->parts->text.n))
		p->out->err = -ENOTSUP;
	for (const char *before = ""; w; w = w->next) {
		if (!w->parts)
			continue;
		buf_adds(p->out, before);
		print_made(p, w, style);
		before = " ";
		style = STYLE_WORD;
	}
}
