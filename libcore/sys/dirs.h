/* dirs.h - cd, pushd, popd and dirs done to a saved state, without a shell
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DIRS_H
#define WARDBOX_DIRS_H

#include "base/buf.h"
#include "base/diag.h"
#include "sys/state.h"

enum dirs_verb { DIRS_NONE, DIRS_CD, DIRS_PUSHD, DIRS_POPD, DIRS_LIST };

/* Is the line nothing but one of the four and at most one plain word, so plain
 * that every shell reads it as itself, or one of the stack's places (+N, -N) or
 * of dirs' options (-c -p -v)? Anything quoted, expanded or optional
 * is for a shell: DIRS_NONE. word gets the word, "" when there is none. */
enum dirs_verb dirs_parse(const char *line, char *word, size_t size);

/* Where it would go: absolute, through no link yet. "" where it only lists, or
 * stays. -errno as dirs_apply. */
int dirs_target(const struct state *s, enum dirs_verb verb, const char *word,
	const char *home, char *out, size_t size, struct diag *d);

/* Does it to s. home is the variable's value ("" when unset); said
 * gets what the shell would print. On 0 s->cwd, s->pwd and s->old are
 * new. A refusal leaves s as it was: -errno with d worded as a shell
 * would. */
int dirs_apply(struct state *s, enum dirs_verb verb, const char *word,
	const char *home, struct buf *said, struct diag *d);

/* pwd is the name that the directory goes by, if it is one of its names. NULL:
 * none is known. */
void dirs_name(struct state *s, const char *pwd);

/* A directory that is gone is replaced by its nearest living parent. True when
 * it had to be. */
bool dirs_revive(struct state *s);

#endif
