/* drop_options.h - the options of drop, and the plan that they make
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_DROP_OPTIONS_H
#define WARDBOX_DROP_OPTIONS_H

#include "drop.h"

extern const struct cli_spec drop_cli;

/* The index of the command in argv, argc when there is none. Ends the process
 * with 125 and a message on a mistake. */
int drop_options(struct drop *o, int argc, char **argv);

#endif
