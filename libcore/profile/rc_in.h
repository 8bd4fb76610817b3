/* rc_in.h - where in a startup file the scan stands; within rcfile only
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_RC_IN_H
#define WARDBOX_RC_IN_H

#include <errno.h>
#include <stdint.h>

#include "profile/rc_word_in.h"
#include "profile/rcfile.h"

enum { RC_HEREDOCS = 8 };

enum rc_frame_kind {
	RC_IF,
	RC_LOOP,
	RC_CASE,
	RC_BRACE,
	RC_FUNCTION,
	RC_SUBSHELL,
};

/* The conditions under which a command runs. */
struct rc_cond {
	unsigned count; /* tests that are not about PATH */
	char op; /* the one test, when count is 1 and it is [ -op path ] */
	char path[RC_GUARD_MAX];
};

struct rc_frame {
	uint8_t kind;
	bool body; /* behind then, do; of a case: behind the pattern's ')' */
	bool else_seen;
	struct rc_cond cond;
};

struct rc_heredoc {
	char end[64];
	size_t len;
	bool tabs;
};

/* The large members stand last, so that the others are near the beginning of
 * the struct. */
struct rc_state {
	const struct rc_visitor *visitor;
	size_t count; /* of words */
	size_t cmd_at, list_at;
	size_t line_from; /* lines were counted up to here */
	unsigned line;
	unsigned depth;
	bool chained;  /* this command stands behind && or || */
	bool header;   /* within "for x in", "case x in" */
	bool function; /* a function's name was read, not its body */
	bool array, test;
	bool negated;    /* "!" or "not" before the command */
	bool after_else; /* "else" was just read: an "if" continues it */
	bool redirected, stderr_only;
	bool open_heredoc;
	bool lost; /* deeper than the table */
	size_t heredocs;
	struct rc_lex lex;
	struct buf text;
	struct rc_cond chain; /* what && and || before this command ask */
	struct rc_cond
		last;  /* the same, of the command before: fish's and, or */
	struct rc_heredoc heredoc[RC_HEREDOCS + 1];
	struct rc_frame frame[RC_DEPTH];
	size_t text_at[RC_WORDS];
	struct rc_word word[RC_WORDS];
};

/* Points the words at the arena again, which moves as it grows. */
static inline void rc_refresh(struct rc_state *r)
{
	for (size_t i = 0; i < r->count; i++)
		r->word[i].text = r->text.data + r->text_at[i];
}

/* Forgets the words read so far. */
static inline void rc_forget(struct rc_state *r)
{
	r->count = 0;
	r->redirected = false;
	if (!r->text.err || r->text.err == -ENOBUFS)
		buf_clear(&r->text);
}

/* Looks at the last word read: takes it away when it is a reserved word in its
 * place, and follows it. */
void rc_reserved(struct rc_state *r);

/* Opens and closes a compound command; closing what is not open is noted. */
void rc_push(struct rc_state *r, enum rc_frame_kind kind, bool body);
void rc_pop(struct rc_state *r, int kind); /* -1: whatever is open */
struct rc_frame *rc_top(struct rc_state *r);
bool rc_top_is(struct rc_state *r, enum rc_frame_kind kind);

/* Adds the command in r->word to a condition. */
void rc_cond_add(struct rc_state *r, struct rc_cond *cond, bool plain);

/* Ends the command, if any: ';' '\n' '&' '|', 'a' for &&, 'o' for ||, 'e' for
 * ;; - the visitor's answer. */
int rc_end_command(struct rc_state *r, char op);

/* A parenthesis that is no array's. */
int rc_paren(struct rc_state *r, char c);

#endif
