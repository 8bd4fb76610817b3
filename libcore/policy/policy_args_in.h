/* policy_args.h - between policy_args.c, which splits, and policy_types.c
 * and policy_within.c, which judge
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_ARGS_H
#define WARDBOX_POLICY_ARGS_H

#include "policy/policy_judge_in.h"

/* What a schema says of one word. */
struct item {
	uint8_t kind, type, flags;
	size_t prefix; /* bytes of a PREFIX item's name */
};

struct scan {
	struct judge_cmd *k;
	const struct prog *prog;
	const struct arg *argv;
	size_t argc, i, opt_max;
	const struct policy_image *img; /* that has the schemas; or NULL */
	uint32_t schema[2]; /* cells: the program's, the subcommand's; or 0 */
	const char *name;   /* the program's schema is called so */
	const char *sub;    /* the subcommand's, or NULL */
	uint32_t style; /* of both */
	struct parsed *out;
	unsigned pos;
	bool removes; /* its operands are taken away */
	bool no_options, shifted, coded, writes;
	bool unknown_before; /* the word before is an option that is not known
			      */
	bool done;
	const char *replace; /* xargs -I */

	struct shell_set *env;
	size_t nenv;
	const struct shell_val *from; /* where the first operands are seen from */
	size_t placed;		      /* … which are these; then: place */
};

/* Splits .argv[1..] by the program's schema into .out and judges each word by
 * its type. What is run within is judged, too. */
void args_judge(struct scan *s);

/* Takes the schema called name for the program, or the subcommand. */
bool args_schema(struct scan *s, unsigned level, const char *name);

/* Splits the words; calls what follows. */
void args_words(struct scan *s);
/* What operand i is, once all options are known; .kind 0: nothing is said. */
struct item args_item(const struct scan *s, size_t i);

/* Judges a value; NULL when the option has none. name: for messages. */
void args_value(struct scan *s, enum img_type type, const struct arg *value,
	const char *name);
/* An option that is not in the schema; letter: within a cluster, or NULL. */
void args_unknown(struct scan *s, const struct arg *a, const char *letter);
void args_assign(struct scan *s, const struct arg *a);
/* Was this option given? */
bool args_given(const struct parsed *o, const char *name);
/* Where the command is once it has entered a directory. */
const struct shell_val *args_within(struct judge_cmd *k, const struct arg *v);
/* The words from index on are a command. */
void args_command(struct scan *s, struct item it, size_t from);

#endif
