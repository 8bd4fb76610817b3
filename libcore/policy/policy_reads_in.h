/* policy_reads_in.h - between policy_reads.c, which splits words, and the judge
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_READS_IN_H
#define WARDBOX_POLICY_READS_IN_H

#include "policy/policy_judge_in.h"

/* The words of one command, read by the `reads` line of its program. */
struct reading {
	struct judge_cmd *k;
	const struct prog *prog;
	const struct arg *argv;
	size_t argc, i, opt_max;
	const struct policy_image *img; /* the image that has the line; or
					 * NULL */
	struct img_range items;         /* the items of the line; none: no
					 * line */
	struct parsed *out;
	unsigned skip; /* operands before the command */
	unsigned is;    /* bits of enum reads_word */
	bool coded;     /* an option stood for the first operand */
	bool no_options, done;
	bool doubt; /* the word before is an option that may take this word */
	const char *replace; /* the mark for words from elsewhere */
	struct shell_set *env; /* NAME=VALUE words, nenv of them */
	size_t nenv;
};

static inline bool reads_is(const struct reading *r, enum reads_word word)
{
	return r->is & 1U << word;
}

/* Finds the line of the program. */
void reads_begin(struct reading *r);
/* Splits argv into r->out, and judges what options make run. */
void reads_words(struct reading *r);
/* Judges the n words as the inner command. */
void reads_command(struct reading *r, const struct arg *argv, size_t n);
/* Was this option given? */
bool reads_given(const struct parsed *o, const char *name);

#endif
