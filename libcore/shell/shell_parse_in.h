/* shell_parse_in.h - shell text to a tree
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_PARSE_IN_H
#define WARDBOX_SHELL_PARSE_IN_H

#include "base/arena.h"
#include "base/diag.h"
#include "shell/shell_ast_in.h"

enum {
	SHELL_MAX_TEXT = 64 * 1024,
	SHELL_MAX_ARENA = 1024 * 1024,
	SHELL_MAX_DEPTH = 64,
	SHELL_MAX_COMMANDS = 4096,
	SHELL_MAX_HEREDOCS = 16, /* here-documents with bodies still to come */
	SHELL_MAX_BRACES = 64,
};

/* Reads text as the dialect does; SHELL_UNION is read as SHELL_BASH here,
 * because one tree is one reading (shell_walk.h judges all of them). On any
 * result *ast holds what was complete before the error, because a shell runs
 * that much. 0; -EINVAL: this shell finds a syntax error there, too; -EILSEQ: a
 * byte that has no place in a command (NUL, a control character, a character
 * that hides or turns text, broken UTF-8); -E2BIG: a limit was passed;
 * -ENOTSUP: the shells disagree, or the construct is not modelled; -ENOMEM. The
 * diag has line and column. */
int shell_parse(struct arena *a, const char *text, size_t len,
	enum shell_dialect dialect, struct shell_ast *ast, struct diag *d);

/* The same for text in which the byte `mark` may stand as a plain one. */
int shell_parse_marked(struct arena *a, const char *text, size_t len,
	char mark, enum shell_dialect dialect, struct shell_ast *ast,
	struct diag *d);

/* Line and column (from 1, in bytes) of an offset. */
void shell_locate(const char *text, size_t len, size_t offset, unsigned *line,
	unsigned *col);

/* The text of a word that is plain, quoted or not (in the arena when it has
 * several parts); else .p is NULL. */
struct shell_str shell_word_text(struct arena *a, const struct shell_word *w);

/* The text of a word that is one unquoted literal, which is never empty; else,
 * and for NULL, "". */
struct shell_str shell_word_literal(const struct shell_word *w);
bool shell_word_is(const struct shell_word *w, const char *text);

#endif
