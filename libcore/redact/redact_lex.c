/* redact_lex.c - where a redaction has to end in the text of a shell
 * SPDX-License-Identifier: MIT
 *
 * The quotes, expansions, comments and here-documents of a shell are followed
 * byte by byte, so that the state can be kept between two pieces of a stream.
 * What shells read in different ways, and what is nested too deeply, is not
 * followed: from there on every blank, quote and operator ends a redaction.
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

enum frame {
	FRAME_CODE,   /* the text itself, or "(" of a subshell */
	FRAME_EXPAND, /* "$(", "<(", ">(" */
	FRAME_BACK,   /* "`" */
	FRAME_BRACE,  /* "${" */
	FRAME_DOUBLE,
	FRAME_SINGLE,
	FRAME_ANSI, /* "$'" */
};

/* How much of a here-document has been read. */
enum here {
	HERE_NONE,
	HERE_SIGN, /* "<<" */
	HERE_WORD, /* a part of the word behind it */
	HERE_LINE, /* the rest of the word's line, which is code */
	HERE_BODY,
};

static bool frame_expands(enum frame f)
{
	return f >= FRAME_EXPAND && f <= FRAME_BRACE;
}

static enum frame frame_top(const struct redact_lex *l)
{
	return l->depth ? (enum frame)l->frame[l->depth - 1] : FRAME_CODE;
}

static void frame_push(struct redact_lex *l, enum frame f)
{
	if (l->depth == REDACT_NEST) {
		l->lost = true;
		return;
	}
	l->frame[l->depth++] = (uint8_t)f;
	if (!frame_expands(f))
		return;
	l->nested++;
	l->name_len = 0;
	l->word = false;
}

static void frame_pop(struct redact_lex *l)
{
	const enum frame f = frame_top(l);

	l->depth--;
	if (frame_expands(f))
		l->nested--;
	l->arithmetic = l->depth < l->arithmetic ? 0 : l->arithmetic;
	l->word = f != FRAME_CODE;
	l->name_len = sizeof l->name;
	/* Shells disagree whether the document begins here. */
	l->lost |= l->here && l->here < HERE_BODY && f == FRAME_EXPAND;
}

/* Handles the end of a word of code. In "$(case x in a) ...)" the first ")"
 * ends a pattern; an alias may be the name of anything. */
static void word_end(struct redact_lex *l)
{
	l->name[l->name_len < sizeof l->name ? l->name_len : 0] = '\0';
	l->lost |= str_eq(l->name, "alias") ||
		(l->nested && str_eq(l->name, "case"));
	l->name_len = 0;
	l->word = false;
}

/* Does an expansion begin, in code or in double quotes? */
static bool expansion_begins(struct redact_lex *l, unsigned char c)
{
	if (c == '`')
		frame_push(l, FRAME_BACK);
	else if (c == '(' && l->before == '$')
		frame_push(l, FRAME_EXPAND);
	else if (c == '{' && l->before == '$')
		frame_push(l, FRAME_BRACE);
	else
		return false;
	return true;
}

/* Reads the word behind "<<": true while c belongs to it. */
static bool here_word(struct redact_lex *l, unsigned char c)
{
	if (l->here == HERE_SIGN) {
		if (c == '<') {
			l->here = HERE_NONE; /* "<<<" */
			return true;
		}
		if (redact_blank(c) || (c == '-' && l->before == '<')) {
			l->here_tabs |= c == '-';
			return true;
		}
		l->lost |= l->arithmetic && !(redact_bytes[c] & B_DIGIT);
		l->here = l->arithmetic ? HERE_NONE : HERE_WORD;
		if (l->arithmetic)
			return false;
	}
	if (c == '\'' || c == '"' || c == '\\') {
		l->here_plain = true;
		return true;
	}
	if (c <= ' ' || strchr(";|&<>()", c)) {
		l->here = HERE_LINE;
		l->lost |= !l->here_len;
		return false;
	}
	l->lost |= c == '$' || c == '`' || l->here_len == sizeof l->here_end;
	if (!l->lost)
		l->here_end[l->here_len++] = (char)c;
	return true;
}

/* Reads a byte of a here-document's lines. */
static void here_body(struct redact_lex *l, unsigned char c)
{
	if (c == '\n') {
		if (l->here_at == l->here_len)
			l->here = HERE_NONE;
		l->here_at = 0;
	} else if (l->here_at == 0 && l->here_tabs && c == '\t') {
		return;
	} else if (l->here_at < l->here_len &&
		l->here_end[l->here_at] == (char)c) {
		l->here_at++;
	} else {
		l->here_at = UINT8_MAX;
	}
	if (l->here_plain || l->here == HERE_NONE)
		return;
	if (c == '\\')
		l->escaped = true;
	else if (expansion_begins(l, c))
		l->here_at = UINT8_MAX;
}

/* Reads "<" or "(", whose meaning depends on what is before. */
static void code_sign(struct redact_lex *l, unsigned char c)
{
	if (c == '(' && (l->before == '<' || l->before == '>')) {
		frame_push(l, FRAME_EXPAND);
	} else if (c == '(') {
		frame_push(l, FRAME_CODE);
		if (l->before == '(' && !l->arithmetic)
			l->arithmetic = l->depth;
	} else if (c == ')' && l->depth) {
		frame_pop(l);
	} else if (c == '<' && l->before == '<') {
		l->lost |= l->here != HERE_NONE;
		l->here = HERE_SIGN;
		l->here_len = l->here_at = 0;
		l->here_tabs = l->here_plain = false;
	} else if (c == '\n') {
		l->comment = false;
		if (l->here == HERE_LINE) {
			l->here = HERE_BODY;
			l->here_depth = l->depth;
		}
	}
}

static void code_byte(struct redact_lex *l, unsigned char c)
{
	if (l->comment && c != '\n')
		return;
	if ((l->here == HERE_SIGN || l->here == HERE_WORD) && here_word(l, c))
		return;
	if (c <= ' ' || strchr(";|&<>()", c))
		word_end(l);
	if (c == '#' && !l->word && !l->arithmetic) {
		l->comment = true;
		return;
	}
	if (expansion_begins(l, c))
		return;
	if (c <= ' ' || strchr(";|&<>()", c)) {
		code_sign(l, c);
		return;
	}
	l->word = true;
	if (c == '\\')
		l->escaped = true;
	else if (c == '"')
		frame_push(l, FRAME_DOUBLE);
	else if (c == '\'')
		frame_push(l, l->before == '$' ? FRAME_ANSI : FRAME_SINGLE);
	else if (l->name_len < sizeof l->name)
		l->name[l->name_len++] = (char)c;
}

/* Reads a byte in quotes or in "${": it may end them, or nest in them. */
static void quoted_byte(struct redact_lex *l, enum frame top, unsigned char c)
{
	static const char ends[] = {[FRAME_BACK] = '`',
		[FRAME_BRACE] = '}',
		[FRAME_DOUBLE] = '"',
		[FRAME_SINGLE] = '\'',
		[FRAME_ANSI] = '\''};

	if (c == (unsigned char)ends[top])
		frame_pop(l);
	else if (c == '\\' && top != FRAME_SINGLE)
		l->escaped = true;
	else if (top != FRAME_DOUBLE && top != FRAME_BRACE)
		return;
	else if (expansion_begins(l, c) || top == FRAME_DOUBLE)
		return;
	else if (c == '"')
		frame_push(l, FRAME_DOUBLE);
	else if (c == '\'' && l->depth > 1 &&
		l->frame[l->depth - 2] == FRAME_DOUBLE)
		l->lost = true; /* a quote of some shells only */
	else if (c == '\'')
		frame_push(l, FRAME_SINGLE);
}

static uint8_t lost_class(unsigned char c)
{
	return (uint8_t)(redact_blank(c) ? LEX_BLANK
			: c && strchr("\n;|&<>(){}`\"'", c) ? LEX_CUT
							    : 0);
}

/* Reads a letter, as most bytes are, which begins and ends nothing: true, and l
 * is behind it. */
static inline bool lex_letter(struct redact_lex *l, unsigned char c)
{
	if (!(redact_bytes[c] & B_ALNUM) || l->here || l->escaped || l->lost)
		return false;
	l->before = c;
	if (frame_top(l) > FRAME_EXPAND || l->comment)
		return true;
	l->word = true;
	if (l->name_len < sizeof l->name)
		l->name[l->name_len++] = (char)c;
	return true;
}

/* The class of the byte; moves the state behind it. */
static uint8_t lex_step(struct redact_lex *l, unsigned char c)
{
	const uint8_t nested = l->nested;
	const enum frame top = frame_top(l);
	const bool code = top <= FRAME_EXPAND, was = l->here == HERE_BODY;
	const bool body = was && l->depth == l->here_depth;
	const bool plain = l->escaped || body || (l->comment && c != '\n');

	if (l->lost)
		return lost_class(c);
	if (l->escaped) {
		l->escaped = false;
		l->word = true;
		l->name_len = sizeof l->name;
		/* Not every shell knows "$'". */
		l->lost |= top == FRAME_ANSI && c == '\'';
		c = 0;
	} else if (body) {
		here_body(l, c);
	} else if (code) {
		code_byte(l, c);
	} else {
		quoted_byte(l, top, c);
	}
	l->before = c;
	return (uint8_t)((l->nested > nested ? l->nested : nested) |
		(!code || plain		  ? 0
			: redact_blank(c)	  ? LEX_BLANK
			: c && strchr("\n;|&<>()", c) ? LEX_CUT
						      : 0));
}

void redact_lex_map(struct redact_lex l, const unsigned char *text,
	size_t from, size_t to, uint8_t *map)
{
	memset(map, l.nested, from);
	for (size_t i = from; i < to; i++) {
		map[i] = lex_letter(&l, text[i]) ? l.nested
						 : lex_step(&l, text[i]);
		/* The sign before the byte is a part of "$(". */
		if (i && (map[i] & LEX_DEPTH) > (map[i - 1] & LEX_DEPTH) &&
			(text[i] == '(' || text[i] == '{'))
			map[i - 1] = map[i];
	}
}

void redact_lex_skip(
	struct redact_lex *l, const unsigned char *text, size_t from, size_t to)
{
	for (; from < to; from++)
		if (!lex_letter(l, text[from]))
			(void)lex_step(l, text[from]);
}
