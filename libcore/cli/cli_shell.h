/* cli_shell.h - a request for a shell: what it will read is what is judged
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_CLI_SHELL_H
#define WARDBOX_CLI_SHELL_H

#include "guard/guard.h"

/* The dialect in which the shell at path reads; an unknown shell is read in
 * every way. */
enum policy_dialect cli_shell_dialect(const char *path);

/* Completes q, whose path, argv, cwd and pty are filled in, for a real shell: a
 * text that can be read beforehand is judged as that text, kept in text or in
 * argv; for a terminal or a pipe every program that the shell starts is
 * judged. */
void cli_shell_call(struct guard_request *q, struct buf *text);

#endif
