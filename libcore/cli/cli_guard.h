/* cli_guard.h - what front ends of the guard share: facts, questions, endings
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_CLI_GUARD_H
#define WARDBOX_CLI_GUARD_H

#include "guard/guard.h"

/* Fills the facts that only a front end may read: the environment, the wished
 * profile, and how to ask a person. */
void cli_guard_facts(struct guard_caller *who);

/* Moves the command's words out of this process's visible arguments, so that a
 * command that searches programs by their words (pgrep -f, ps | grep) does not
 * find its guard. Without memory for them the words stay. */
void cli_hide_words(char **words);

/* True if a person sits at our controlling terminal: the command then gets a
 * new terminal that behaves the same. A terminal that does not control our
 * session has no job control, and a new one would add it: false. */
bool cli_guard_on_terminal(void);

/* Ends this process as the command did: by its exit code or by its signal. When
 * nothing ran, one line says why, with code 125, 126 or 127. */
__attribute__((noreturn)) void cli_guard_exit(const struct guard_outcome *r);

/* Says on stderr how a run ended: why nothing ran, or with WARDBOX_DEBUG=1 how
 * it was decided. */
void cli_guard_tell(const struct guard_outcome *r);

#endif
