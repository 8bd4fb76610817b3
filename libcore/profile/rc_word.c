/* rc_word.c - words of a startup file; the inner half of rcfile
 * SPDX-License-Identifier: MIT
 */
#include "profile/rc_word_in.h"

#include <string.h>

#include "profile/rcfile.h"
#include "base/str.h"

enum { NESTED_MAX = 16 };

char rc_peek(const struct rc_lex *l, size_t ahead)
{
	return l->n - l->at > ahead ? l->s[l->at + ahead] : '\0';
}

void rc_skip_blank(struct rc_lex *l)
{
	for (;;) {
		char c = rc_peek(l, 0);

		if (c == '\\' && rc_peek(l, 1) == '\n')
			l->at += 2;
		else if (l->at < l->n && (c == ' ' || c == '\t' || c == '\r'))
			l->at++;
		else
			return;
	}
}

static void put_byte(struct rc_lex *l, char c)
{
	/* A NUL or one of our two signs in the file is nothing we know. */
	buf_addc(l->out, c == '\0' || c == RC_PATH ? (char)RC_UNKNOWN : c);
}

static void put_sign(struct rc_lex *l, bool is_path)
{
	buf_addc(l->out, is_path ? RC_PATH : RC_UNKNOWN);
}

static void put_home(struct rc_lex *l)
{
	if (l->home)
		buf_adds(l->out, l->home);
	else
		put_byte(l, RC_UNKNOWN);
}

/* Steps over the end of a quote, unless the text ended before it. */
static void end_quote(struct rc_lex *l)
{
	if (l->at++ < l->n)
		return;
	l->at = l->n;
	l->open = true;
}

/* Skips the quoted text that begins at l->at, with both quotes. */
static void skip_quoted(struct rc_lex *l)
{
	char quote = l->s[l->at++];
	bool escapes = quote != '\'' || l->family == FAMILY_FISH;

	while (l->at < l->n && l->s[l->at] != quote) {
		if (quote == '"' && l->s[l->at] == '$' &&
			rc_peek(l, 1) == '(' && l->nested < NESTED_MAX) {
			l->at++;
			rc_skip_parens(l);
			continue;
		}
		if (escapes && l->s[l->at] == '\\' && l->at + 1 < l->n)
			l->at++;
		l->at++;
	}
	end_quote(l);
}

/* At "<<": the length of the word that ends the here-document, its start in
 * *word; 0 when it is none that is known. */
static size_t heredoc_word(struct rc_lex *l, const char **word, bool *tabs)
{
	size_t n = 0;

	l->at += 2;
	*tabs = rc_peek(l, 0) == '-';
	l->at += *tabs;
	while (rc_peek(l, 0) == ' ' || rc_peek(l, 0) == '\t')
		l->at++;
	while (rc_peek(l, 0) == '\'' || rc_peek(l, 0) == '"' ||
		rc_peek(l, 0) == '\\')
		l->at++;
	*word = l->s + l->at;
	while (chr_name(rc_peek(l, n)))
		n++;
	l->at += n;
	while (rc_peek(l, 0) == '\'' || rc_peek(l, 0) == '"')
		l->at++;
	return n;
}

bool rc_skip_heredoc(struct rc_lex *l, const char *word, size_t n, bool tabs,
	size_t *end_at)
{
	while (l->at < l->n) {
		const char *line = l->s + l->at;
		size_t len = str_line(line, l->n - l->at);

		*end_at = l->at;
		l->at += len + (l->at + len < l->n);
		while (tabs && len && *line == '\t') {
			line++;
			len--;
		}
		if (len && line[len - 1] == '\r')
			len--;
		if (len == n && memcmp(line, word, n) == 0)
			return true;
	}
	return false;
}

static void skip_comment(struct rc_lex *l)
{
	while (l->at < l->n && l->s[l->at] != '\n')
		l->at++;
}

static void skip_parens(struct rc_lex *l)
{
	unsigned depth = 0;
	const char *word = NULL;
	size_t word_len = 0, end_at;
	bool tabs = false;

	while (l->at < l->n) {
		char c = l->s[l->at];

		if (c == '\'' || c == '"' || c == '`') {
			skip_quoted(l);
			continue;
		}
		if (c == '#' && l->at && strchr(" \t\n;", l->s[l->at - 1])) {
			skip_comment(l);
			continue;
		}
		if (c == '<' && rc_peek(l, 1) == '<' && rc_peek(l, 2) != '<' &&
			!chr_digit(rc_peek(l, 2)) && l->family == FAMILY_SH) {
			word_len = heredoc_word(l, &word, &tabs);
			continue;
		}
		if (c == '\n' && word_len) {
			l->at++;
			l->open |= !rc_skip_heredoc(
				l, word, word_len, tabs, &end_at);
			word_len = 0;
			continue;
		}
		if (c == '\\' && l->at + 1 < l->n)
			l->at++;
		depth += c == '(';
		l->at++;
		if (c == ')' && --depth == 0)
			return;
	}
	l->open = true;
}

void rc_skip_parens(struct rc_lex *l)
{
	l->nested++;
	skip_parens(l);
	l->nested--;
}

/* Skips from the '{' of "${" to behind its '}'. */
static void skip_braces(struct rc_lex *l)
{
	unsigned depth = 0;

	while (l->at < l->n) {
		char c = l->s[l->at];

		if (c == '\'' || c == '"' || c == '`') {
			skip_quoted(l);
			continue;
		}
		if (c == '\\' && l->at + 1 < l->n)
			l->at++;
		depth += c == '{';
		l->at++;
		if (c == '}' && --depth == 0)
			return;
	}
	l->open = true;
}

static bool name_is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(s, name, n) == 0;
}

static bool is_path_name(const struct rc_lex *l, const char *s, size_t n)
{
	bool tied = l->zsh || l->family != FAMILY_SH;

	return name_is(s, n, "PATH") || (tied && name_is(s, n, "path")) ||
	       name_is(s, n, "fish_user_paths");
}

static void read_part(struct rc_lex *l, bool in_double, unsigned nested);

/* At "${": known are HOME, PATH, and PATH's default and alternative forms,
 * whose word counts as read. */
static void read_braced(struct rc_lex *l, bool in_double, unsigned nested)
{
	size_t from = l->at + 2, end = from;
	bool is_home, is_path;

	while (end < l->n && chr_name(l->s[end]))
		end++;
	is_home = name_is(l->s + from, end - from, "HOME");
	is_path = is_path_name(l, l->s + from, end - from);
	if (is_home && end < l->n && l->s[end] == '}') {
		l->at = end + 1;
		put_home(l);
		return;
	}
	if (is_path && nested < NESTED_MAX && end < l->n) {
		const char *op = l->s + end;
		bool colon = *op == ':';
		char kind = end + colon < l->n ? op[colon] : '\0';

		if (kind == '+') {
			l->at = end + colon + 1;
			while (l->at < l->n && l->s[l->at] != '}')
				read_part(l, in_double, nested + 1);
			end_quote(l);
			return;
		}
		l->at++;
		skip_braces(l);
		put_sign(l, *op == '}' || (kind && strchr("-=?", kind)));
		return;
	}
	l->at++;
	skip_braces(l);
	put_byte(l, RC_UNKNOWN);
}

/* $'…', in which a backslash escapes the quote. */
static void skip_ansi(struct rc_lex *l)
{
	l->at += 2;
	while (l->at < l->n && l->s[l->at] != '\'')
		l->at += l->s[l->at] == '\\' ? 2 : 1;
	end_quote(l);
}

static void read_dollar(struct rc_lex *l, bool in_double, unsigned nested)
{
	char next = rc_peek(l, 1);
	size_t from = l->at + 1, end = from;

	if (next == '{' && l->family != FAMILY_FISH) {
		read_braced(l, in_double, nested);
		return;
	}
	if (next == '(') {
		l->at++;
		rc_skip_parens(l);
		put_byte(l, RC_UNKNOWN);
		return;
	}
	if (next == '\'' && !in_double && l->family == FAMILY_SH) {
		skip_ansi(l);
		put_byte(l, RC_UNKNOWN);
		l->quoted = true;
		return;
	}
	while (end < l->n && chr_name(l->s[end]))
		end++;
	if (end == from) {
		/* $?, $-, $1 and their like; else a letter. */
		l->at++;
		if (next && strchr("?-$!#@*", next)) {
			l->at++;
			put_byte(l, RC_UNKNOWN);
		} else {
			put_byte(l, '$');
		}
		return;
	}
	l->at = end;
	if (chr_digit(l->s[from])) {
		l->at = from + 1;
		put_byte(l, RC_UNKNOWN);
	} else if (name_is(l->s + from, end - from, "HOME")) {
		put_home(l);
	} else {
		put_sign(l, is_path_name(l, l->s + from, end - from));
	}
}

static void read_single(struct rc_lex *l)
{
	l->at++;
	while (l->at < l->n && l->s[l->at] != '\'') {
		char next = rc_peek(l, 1);

		if (l->s[l->at] == '\\' &&
			((l->family == FAMILY_FISH &&
				 (next == '\\' || next == '\'')) ||
				(l->family == FAMILY_CSH && next == '!')))
			l->at++;
		if (l->at < l->n)
			put_byte(l, l->s[l->at++]);
	}
	end_quote(l);
}

static void read_double(struct rc_lex *l, unsigned nested)
{
	const char *escaped = l->family == FAMILY_SH     ? "$`\"\\"
			      : l->family == FAMILY_FISH ? "$\"\\"
							 : "!";

	l->at++;
	while (l->at < l->n && l->s[l->at] != '"') {
		char c = l->s[l->at], next = rc_peek(l, 1);

		if (c == '\\' && next == '\n') {
			l->at += 2;
		} else if (c == '\\' && next && strchr(escaped, next)) {
			put_byte(l, next);
			l->at += 2;
		} else if (c == '$' || (c == '`' && l->family != FAMILY_FISH)) {
			read_part(l, true, nested);
		} else {
			put_byte(l, c);
			l->at++;
		}
	}
	end_quote(l);
}

/* The next piece of a word, whatever it is; always moves on. */
static void read_part(struct rc_lex *l, bool in_double, unsigned nested)
{
	char c = l->s[l->at];

	if (c == '\\' && l->at + 1 < l->n) {
		l->quoted = true;
		if (l->s[l->at + 1] != '\n')
			put_byte(l, l->s[l->at + 1]);
		l->at += 2;
	} else if (c == '\'' && !in_double) {
		l->quoted = true;
		read_single(l);
	} else if (c == '"' && !in_double) {
		l->quoted = true;
		if (nested < NESTED_MAX)
			read_double(l, nested + 1);
		else
			skip_quoted(l);
	} else if (c == '`' && l->family != FAMILY_FISH) {
		skip_quoted(l);
		put_byte(l, RC_UNKNOWN);
	} else if (c == '$') {
		read_dollar(l, in_double, nested);
	} else {
		put_byte(l, c);
		l->at++;
	}
}

static bool ends_word(const struct rc_lex *l, char c)
{
	if (c == '\0')
		return l->at >= l->n;
	if (strchr(" \t\r\n;&|<>", c))
		return true;
	return (c == '(' || c == ')') && l->family != FAMILY_FISH;
}

/* An unquoted '~' that stands for the home: first in the word, or behind the
 * '=' or a ':' of an assignment. */
static bool tilde_is_home(
	const struct rc_lex *l, size_t word_at, size_t text_at)
{
	char next = rc_peek(l, 1);
	char before = l->at > word_at ? l->s[l->at - 1] : '\0';

	if (l->s[l->at] != '~' ||
		!(next == '/' || next == ':' || ends_word(l, next) || !next))
		return false;
	if (!before)
		return true;
	if (before != '=' && before != ':')
		return false;
	return l->family == FAMILY_SH && !l->out->err &&
	       memchr(l->out->data + text_at, '=', l->out->len - text_at);
}

bool rc_word_read(struct rc_lex *l)
{
	size_t word_at = l->at, text_at = l->out->len;

	l->quoted = false;
	while (l->at < l->n && !ends_word(l, l->s[l->at])) {
		char c = l->s[l->at];

		if (tilde_is_home(l, word_at, text_at)) {
			l->at++;
			put_home(l);
		} else if (c == '(' && l->family == FAMILY_FISH) {
			rc_skip_parens(l);
			put_byte(l, RC_UNKNOWN);
		} else if (c == '\0') {
			put_byte(l, RC_UNKNOWN);
			l->at++;
		} else {
			read_part(l, false, 0);
		}
	}
	return l->at > word_at;
}
