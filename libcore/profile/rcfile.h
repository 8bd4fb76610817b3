/* rcfile.h - the commands of a shell's startup file, as far as text tells
 * SPDX-License-Identifier: MIT
 *
 * Tolerant where a parser must be strict: a startup file is the user's, may be
 * broken and is only looked at. Reads sh (with what bash, zsh and ksh add),
 * fish and csh. Pure; linear in the text; every table has a maximum, and what
 * does not fit is reported as unknown rather than guessed.
 */
#ifndef WARDBOX_RCFILE_H
#define WARDBOX_RCFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/shellkind.h"

enum {
	RC_TEXT_MAX = 1 << 20, /* bytes of a file that is looked at */
	RC_WORDS = 96,         /* of one command; the rest is dropped */
	RC_DEPTH = 64,
	RC_GUARD_MAX = 1024,
};

/* In the text of a word: the value of PATH, and whatever cannot be known
 * without running the file. No other control byte of these is ever there. */
enum { RC_PATH = 1, RC_UNKNOWN = 2 };

struct rc_word {
	const char *text; /* quotes undone, ~ and $HOME replaced; NUL-ended */
	size_t len;
	size_t at, end; /* in the file */
	bool quoted;    /* some of it was */
	bool array;     /* "NAME=(": the elements are the words behind it */
};

/* One simple command. */
struct rc_cmd {
	const struct rc_word *word;
	size_t count; /* at least 1 */
	unsigned line;
	size_t at, end; /* in the file: first word to behind the last */
	size_t list_at; /* where the outermost command that holds it begins */
	/* Conditions that must hold for it to run; one that only asks what PATH
	 * holds is not counted. */
	unsigned guards;
	char guard_op; /* with guards == 1: 'd' for [ -d path ], … ; or 0 */
	const char *guard_path;
	bool in_function;
	bool zsh;
	bool top;        /* in no compound command, and the first of its list */
	bool redirected; /* its output goes elsewhere */
};

struct rc_source {
	bool zsh; /* the array path is tied to PATH */
	const char *text;
	size_t len;
	enum shell_family family; /* SH, FISH or CSH */
	const char *home;         /* or NULL */
};

struct rc_visitor {
	/* Not 0 ends the scan. May be NULL, as the others. */
	int (*command)(void *ctx, const struct rc_cmd *cmd);
	/* The body of a here-document that has its end. */
	void (*heredoc)(void *ctx, size_t from, size_t to);
	void *ctx;
};

/* Results of a scan besides 0. */
enum { RC_OPEN = 1, RC_OPEN_HEREDOC = 2 };

/* 0; RC_OPEN when the text ends within quotes or a compound command,
 * RC_OPEN_HEREDOC within a here-document; -ENOMEM; or what the visitor
 * returned. */
int rc_scan(const struct rc_source *source, const struct rc_visitor *visitor);

/* Offset to line number, from 1. */
unsigned rc_line(const char *text, size_t at);

#endif
