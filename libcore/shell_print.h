/* shell_print.h - a tree back to shell text, in one canonical form
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELL_PRINT_H
#define WARDBOX_SHELL_PRINT_H

#include "buf.h"
#include "shell_ast.h"

/* Appends the program: one command per line, every constant that is not plain
 * quoted with '…', no $'…', no braces left to expand, every parameter in
 * ${…}. The text means in its dialect what the tree means, and printing what
 * it parses to gives the same text. Look at out->err afterwards. */
void shell_print(const struct shell_ast *ast, struct buf *out);

#endif
