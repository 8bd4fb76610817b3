/* shell_field.h - one argument under construction
 * SPDX-License-Identifier: MIT
 *
 * A field grows as a set of texts. Inside it three more bytes stand for the
 * unquoted pattern characters, so that a quoted '*' stays a star; finishing
 * turns them into what a match may be.
 */
#ifndef WARDBOX_SHELL_FIELD_H
#define WARDBOX_SHELL_FIELD_H

#include "shell/shell_eval_in.h"

struct shell_field {
	struct shell_walk *w;
	struct shell_args *out; /* NULL: one value, no splitting */
	struct shell_val *one;
	bool patterns; /* unquoted * ? [ are such */
	unsigned n;
	bool active; /* quotes or text make it an argument, even an empty one */
	bool many, tainted, quoted, vanishes;
	bool unsure; /* bash may leave the whole word unsplit */
	bool mixed;  /* there is more in the word than one expansion */
	bool inner; /* in the word of a ${x:-…}: its own blanks split as well */
	struct shell_span span;
	struct shell_str alts[SHELL_MAX_ALTS]; /* n of them */
};

void shell_field_reset(struct shell_field *f);
/* To the arguments, or the one value; and begins the next. */
void shell_field_finish(struct shell_field *f);
/* Known text behind every alternative. */
void shell_field_text(struct shell_field *f, struct shell_str s);
/* Text of the source: bytes that have a meaning here become unknown, and
 * unquoted pattern characters become marks. */
void shell_field_source(struct shell_field *f, struct shell_str s, bool quoted);
/* Every alternative so far with every one of v behind it. */
void shell_field_product(struct shell_field *f, const struct shell_val *v);
/* One known text, split at blanks; its pattern characters are alive. */
void shell_field_split(struct shell_field *f, struct shell_str s);
/* What an expansion gave. */
void shell_field_value(
	struct shell_field *f, const struct shell_val *v, bool quoted);
bool shell_has_pattern(struct shell_str s);

#endif
