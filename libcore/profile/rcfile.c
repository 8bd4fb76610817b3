/* rcfile.c - the commands of a shell's startup file, as far as text tells
 * SPDX-License-Identifier: MIT
 */
#include "profile/rcfile.h"

#include <errno.h>
#include <string.h>

#include "profile/rc_in.h"
#include "base/str.h"

unsigned rc_line(const char *text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/* Notes "<<WORD" and leaves l->at behind the word. */
static void note_heredoc(struct rc_state *r)
{
	struct rc_lex *l = &r->lex;
	struct rc_heredoc *h = &r->heredoc[r->heredocs];
	size_t mark = r->text.len;

	h->tabs = rc_peek(l, 0) == '-';
	l->at += h->tabs;
	rc_skip_blank(l);
	if (!rc_word_read(l) || r->text.err)
		return;
	if (r->heredocs < RC_HEREDOCS && r->text.len - mark < sizeof h->end) {
		h->len = r->text.len - mark;
		memcpy(h->end, r->text.data + mark, h->len);
		r->heredocs++;
	}
	r->text.len = mark;
}

/* l->at stands at the start of the line behind the operator's. */
static void skip_heredoc(struct rc_state *r, const struct rc_heredoc *h)
{
	struct rc_lex *l = &r->lex;
	size_t from = l->at, end_at;

	if (!rc_skip_heredoc(l, h->end, h->len, h->tabs, &end_at))
		r->open_heredoc = true;
	else if (r->visitor->heredoc)
		r->visitor->heredoc(r->visitor->ctx, from, end_at);
}

/* A redirection at '<' or '>': no word of the command, but worth knowing when
 * it takes the output away. */
static void read_redirect(struct rc_state *r)
{
	struct rc_lex *l = &r->lex;
	size_t mark = r->text.len;
	char c = l->s[l->at++];

	if (c == '<' && rc_peek(l, 0) == '<' && rc_peek(l, 1) != '<' &&
		l->family != FAMILY_FISH) {
		l->at++;
		note_heredoc(r);
		return;
	}
	if (rc_peek(l, 0) == '(') {
		rc_skip_parens(l);
		return;
	}
	if (c == '>' && !r->stderr_only)
		r->redirected = true;
	while (l->at < l->n && strchr("<>&|!", l->s[l->at]) && l->s[l->at])
		l->at++;
	rc_skip_blank(l);
	rc_word_read(l);
	if (!r->text.err)
		r->text.len = mark;
}

/* Keeps the word just read, text_at its start in the arena. */
static void keep_word(struct rc_state *r, size_t at, size_t text_at)
{
	buf_addc(&r->text, '\0');
	if (!r->text.err && r->count < RC_WORDS) {
		r->word[r->count] = (struct rc_word){
			.len = r->text.len - 1 - text_at,
			.at = at,
			.end = r->lex.at,
			.quoted = r->lex.quoted,
		};
		r->text_at[r->count++] = text_at;
	}
	rc_refresh(r);
}

/* "NAME=(" and "NAME+=(": the elements are words of the command too. */
static bool opens_array(const struct rc_state *r)
{
	const struct rc_word *w = &r->word[r->count - 1];

	return rc_peek(&r->lex, 0) == '(' && w->len && !r->lex.open &&
	       w->text[w->len - 1] == '=' && w->end == r->lex.at;
}

static void read_word(struct rc_state *r)
{
	size_t at = r->lex.at, text_at = r->text.len;

	if (!rc_word_read(&r->lex)) {
		r->lex.at++;
		return;
	}
	/* "2>" and "1>": the digit belongs to the operator. */
	if (r->lex.at - at == 1 && chr_digit(r->lex.s[at]) &&
		(rc_peek(&r->lex, 0) == '>' || rc_peek(&r->lex, 0) == '<')) {
		if (!r->text.err)
			r->text.len = text_at;
		r->stderr_only = r->lex.s[at] != '1';
		read_redirect(r);
		r->stderr_only = false;
		return;
	}
	if (!r->count)
		r->cmd_at = at;
	keep_word(r, at, text_at);
	if (r->count && opens_array(r)) {
		r->word[r->count - 1].array = true;
		r->array = true;
		r->lex.at++;
		return;
	}
	/* A glob's qualifier, or a pattern's group: part of the word. */
	if (r->count > 1 && rc_peek(&r->lex, 0) == '(' &&
		r->lex.family == FAMILY_SH)
		rc_skip_parens(&r->lex);
	if (r->count && str_eq(r->word[r->count - 1].text, "]]"))
		r->test = false;
	if (r->count == 1 || (r->count && r->header))
		rc_reserved(r);
}

/* A newline ends the command and lets the here-documents follow. */
static int read_newline(struct rc_state *r)
{
	int err = r->array ? 0 : rc_end_command(r, '\n');

	r->test = false;
	r->lex.at++;
	for (size_t i = 0; i < r->heredocs; i++)
		skip_heredoc(r, &r->heredoc[i]);
	r->heredocs = 0;
	if (!r->depth && !r->array && !r->chained)
		r->list_at = r->lex.at;
	return err;
}

static int read_operator(struct rc_state *r)
{
	struct rc_lex *l = &r->lex;
	char c = l->s[l->at], next = rc_peek(l, 1);
	char op = c;
	int err;

	if (c == '(' || c == ')')
		return rc_paren(r, c);
	if (c == '&' && next == '>') {
		l->at++;
		read_redirect(r);
		return 0;
	}
	if (c == ';' && next == ';')
		op = 'e';
	else if (c == '&' && next == '&')
		op = 'a';
	else if (c == '|' && next == '|')
		op = 'o';
	l->at += op != c ? 2 : 1;
	if (op == 'e' && (rc_peek(l, 0) == '&' || rc_peek(l, 0) == ';'))
		l->at++;
	err = rc_end_command(r, op);
	return err;
}

static int scan_text(struct rc_state *r)
{
	struct rc_lex *l = &r->lex;

	while (l->at < l->n) {
		char c;
		int err = 0;

		rc_skip_blank(l);
		if (l->at >= l->n)
			break;
		c = l->s[l->at];
		if (c == '\n') {
			err = read_newline(r);
		} else if (c == '#') {
			while (l->at < l->n && l->s[l->at] != '\n')
				l->at++;
		} else if (r->array && c == ')') {
			r->array = false;
			l->at++;
		} else if (r->test && c && strchr("();&|<>", c) &&
			   l->family == FAMILY_SH) {
			/* Within [[ ]] these are the test's own. */
			l->at++;
		} else if (c == '<' || c == '>') {
			read_redirect(r);
		} else if ((c && strchr(";&|", c)) ||
			   ((c == '(' || c == ')') &&
				   l->family != FAMILY_FISH)) {
			err = read_operator(r);
		} else {
			read_word(r);
		}
		if (err)
			return err;
		if (r->text.err == -ENOMEM)
			return -ENOMEM;
		/* A redirection's word is not kept, but was in the arena. */
		rc_refresh(r);
	}
	return rc_end_command(r, '\n');
}

int rc_scan(const struct rc_source *source, const struct rc_visitor *visitor)
{
	autofree struct rc_state *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ENOMEM;
	r->text = BUF_INIT(4 * (size_t)RC_TEXT_MAX);
	r->visitor = visitor;
	r->lex = (struct rc_lex){
		.s = source->text,
		.n = source->len < RC_TEXT_MAX ? source->len : RC_TEXT_MAX,
		.family = source->family,
		.zsh = source->zsh,
		.home = source->home,
		.out = &r->text,
	};
	err = scan_text(r);
	buf_release(&r->text);
	if (err)
		return err;
	if (r->open_heredoc)
		return RC_OPEN_HEREDOC;
	return r->lex.open || r->depth || r->array || r->lost ? RC_OPEN : 0;
}
