/* rc_word_in.h - words of a startup file; the inner half of rcfile
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_RC_WORD_IN_H
#define WARDBOX_RC_WORD_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "profile/shellkind.h"

struct rc_lex {
	const char *s;
	size_t n, at;
	enum shell_family family;
	const char *home;
	bool zsh;
	struct buf *out; /* where the word's text goes */
	unsigned nested; /* substitutions within substitutions */
	bool quoted;
	bool open; /* the text ended within a quote or a substitution */
};

/* The byte at at + ahead, or NUL behind the end. */
char rc_peek(const struct rc_lex *l, size_t ahead);

/* Reads one word at l->at; false when none begins there. Its text is appended
 * to out. */
bool rc_word_read(struct rc_lex *l);

/* Skips from an opening parenthesis at l->at to behind the one that closes
 * it. */
void rc_skip_parens(struct rc_lex *l);

/* Skips from the start of a line to behind the line that is just word, which
 * begins at *end_at; false when there is no such line. */
bool rc_skip_heredoc(struct rc_lex *l, const char *word, size_t n, bool tabs,
	size_t *end_at);

/* Blanks and continued lines. */
void rc_skip_blank(struct rc_lex *l);

#endif
