/* toplevel.h - wardbox called by its own name, without an applet
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_TOPLEVEL_H
#define WARDBOX_TOPLEVEL_H

#include "cli/cli.h"

/* The list of applets, or what the options ask for; the exit code. */
int toplevel_run(int argc, char **argv);

/* Prints a completion script for shell ("bash", "zsh", "fish"), with what wardbox
 * itself takes; the exit code. */
int completion_print(const char *shell, const struct cli_spec *top);

#endif
