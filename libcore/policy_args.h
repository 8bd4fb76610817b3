/* policy_args.h - between policy_args.c, which splits, and policy_types.c,
 * which judges
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_ARGS_H
#define WARDBOX_POLICY_ARGS_H

#include "policy_judge.h"

struct scan {
	struct judge_cmd *k;
	const struct prog *prog;
	const struct arg *argv;
	size_t argc, i, opt_max;
	const struct img_schema
		*schema[2]; /* the program's, the subcommand's */
	const struct policy_image *img[2];
	uint32_t style; /* of both */
	struct parsed *out;
	unsigned pos;
	bool no_options, shifted, coded, writes;
	bool unknown_before; /* the word before is an option that is not known
			      */
	bool done;
	const char *replace; /* xargs -I */
	struct shell_set *env;
	size_t nenv;
};

/* The schema called name, in any layer. */
const struct img_schema *args_schema(const struct judge *j, const char *name,
	const struct policy_image **img);

/* Splits the words; calls what follows. */
void args_words(struct scan *s);
/* What operand i is, once all options are known; NULL: nothing is said. */
const struct img_item *args_item(const struct scan *s, size_t i);

/* Bytes of a PREFIX item's name. */
size_t args_prefix(const struct scan *s, const struct img_item *it);

/* Judges a value; NULL when the option has none. name: for messages. */
void args_value(struct scan *s, enum img_type type, const struct arg *value,
	const char *name);
/* An option that is not in the schema; letter: within a cluster, or NULL. */
void args_unknown(struct scan *s, const struct arg *a, const char *letter);
void args_assign(struct scan *s, const struct arg *a);
/* The words from index on are a command. */
void args_command(struct scan *s, const struct img_item *it, size_t from);

#endif
