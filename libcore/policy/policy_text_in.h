/* policy_text_in.h - a policy file as lines of words
 * SPDX-License-Identifier: MIT
 *
 *	verb {attribute=value} word... [: "reason" ["what to do instead"]]
 *
 * '\' at the end of a line joins the next, '#' before a word begins a comment,
 * quotes take everything as it is ('…') or with \" \\ \n \t \xHH ("…").
 */
#ifndef WARDBOX_POLICY_TEXT_IN_H
#define WARDBOX_POLICY_TEXT_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum {
	POLICY_TEXT_MAX = 1 << 20,
	POLICY_WORDS_MAX = 512,
	POLICY_LINE_MAX = 16384, /* bytes of one joined line */
	POLICY_LISTS_MAX = 1024, /* of one image, because a name is sought in
				  * all of them */
};

struct policy_word {
	const char *s; /* ended by NUL, in the line's buffer */
	uint32_t line, col;
	bool quoted; /* a part was quoted: pattern signs are literal */
};

struct policy_line {
	const char *file;
	uint32_t line; /* where it begins */
	bool indented;
	size_t count;
	struct policy_word word[POLICY_WORDS_MAX];
	struct policy_word text, alt; /* s is NULL when there is none */
	char bytes[POLICY_LINE_MAX];
};

struct policy_text {
	const char *file; /* for messages */
	const char *at, *end;
	const char *bol; /* begin of the current line */
	uint32_t line;
};

void policy_text_init(
	struct policy_text *t, const char *file, const char *s, size_t n);

/* Reads the next line that has words. 1, 0 at the end, -EINVAL with d at the
 * place. */
int policy_text_next(
	struct policy_text *t, struct policy_line *line, struct diag *d);

/* Fills d with the place of a word. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int policy_text_bad(struct diag *d,
	const struct policy_line *line, const struct policy_word *w,
	const char *fmt, ...);

#endif
