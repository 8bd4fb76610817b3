/* dirs.h - cd, pushd, popd and dirs done to a saved state, without a shell
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DIRS_H
#define WARDBOX_DIRS_H

#include "base/buf.h"
#include "base/diag.h"
#include "sys/state.h"

enum dirs_verb { DIRS_NONE, DIRS_CD, DIRS_PUSHD, DIRS_POPD, DIRS_LIST };

/* Is the line only one of the four commands with at most one plain word, so
 * plain that every shell reads it literally, or with a place of the stack (+N,
 * -N) or an option of dirs (-c -p -v)? Anything quoted, expanded or optional
 * needs a shell: DIRS_NONE. word gets the word, "" when there is none. */
enum dirs_verb dirs_parse(const char *line, char *word, size_t size);

/* The target of the command: absolute, with links unresolved. "" where it only
 * lists, or stays. -errno as dirs_apply. */
int dirs_target(const struct state *s, enum dirs_verb verb, const char *word,
	const char *home, char *out, size_t size, struct diag *d);

/* Carries the command out on s. home is the variable's value ("" when unset);
 * said gets what the shell would print. On 0 s->cwd, s->pwd and s->old are new.
 * A refusal leaves s unchanged: -errno with d worded as a shell would. */
int dirs_apply(struct state *s, enum dirs_verb verb, const char *word,
	const char *home, struct buf *said, struct diag *d);

/* Sets the logical name to pwd, if that is one of the directory's names. NULL:
 * none is known. */
void dirs_name(struct state *s, const char *pwd);

/* Replaces a directory that is gone by its nearest existing parent. True when
 * that was needed. */
bool dirs_revive(struct state *s);

#endif
