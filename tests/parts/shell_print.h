/* shell_print.h - a tree back to shell text, in one canonical form
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_PRINT_H
#define WARDBOX_SHELL_PRINT_H

#include "base/buf.h"
#include "shell/shell_parse_in.h"

/* Appends the program: one command per line, every constant that is not plain
 * quoted with '…', no $'…' but for control characters, no braces left to
 * expand, every parameter in ${…}, no comments. The text means in its dialect
 * what the tree means, and printing what it parses to gives the same text.
 * Look at out->err afterwards: -ENOTSUP when there is no such text.
 *
 * It is for reading and for tests. What is run is the text as it was given:
 * line numbers in messages, $LINENO, set -v, set -x and what a line's end means
 * to options that were just set would all be others. */
void shell_print(const struct shell_ast *ast, struct buf *out);

struct shell_printer {
	struct buf *out;
	const struct shell_redir *pending[SHELL_MAX_HEREDOCS];
	unsigned npending;
};

/* How the text of a part is written where it stands. */
enum shell_style {
	STYLE_WORD,      /* a word of a command */
	STYLE_FIRST,     /* its first word: must be no keyword, no assignment */
	STYLE_DQ,        /* inside "…" */
	STYLE_HERE,      /* a here-document's body */
	STYLE_BRACE,     /* inside ${…}, subscripts */
	STYLE_BRACE_DQ,  /* the same inside "…" */
	STYLE_PATTERNDQ, /* the same behind # and % */
	STYLE_REPLACEDQ, /* the same behind / */
	STYLE_ARITH,
	STYLE_COND, /* in [[ ]]: parentheses belong to patterns */
	STYLE_REGEX,
};

void shell_print_word(struct shell_printer *p, const struct shell_word *w,
	enum shell_style style);
/* What stands in w and behind it, each with a space or, the first, before in
 * front of it. */
void shell_print_words(struct shell_printer *p, const struct shell_word *w,
	enum shell_style style, const char *before);
void shell_print_list(struct shell_printer *p, const struct shell_list *list);

#endif
