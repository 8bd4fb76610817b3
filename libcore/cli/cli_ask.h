/* cli_ask.h - the person at the terminal, who answers questions
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_CLI_ASK_H
#define WARDBOX_CLI_ASK_H

#include "guard/guard.h"

/* Asks one question at a time, on /dev/tty. If this process is not in front of
 * its terminal, there is nobody. Keys that were typed before are no answer. */
const struct guard_answerer *cli_person(void);

/* The signal by which the person answered: SIGINT, or 0. */
int cli_ask_stopped(void);

/* Adds the rule, its place unless it stands in no file, and its reason. */
void cli_ask_rule(struct buf *out, const struct policy_verdict *v);

#endif
