# shell_reader.py - shell_parse and shell_print as a program, for shell-*.py
# SPDX-License-Identifier: MIT
import glob
import os
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYNTAX, UNREADABLE, UNSTABLE, UNSHOWN = 22, 95, 3, 4
READER = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "parts/shell_print.h"
static char text[1 << 20];
int main(int argc, char **argv)
{
	enum shell_dialect d = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	struct arena b = ARENA_INIT(SHELL_MAX_ARENA);
	struct buf one = BUF_INIT(1 << 20), two = BUF_INIT(1 << 20);
	size_t n = 0;
	ssize_t more;
	struct shell_ast ast;
	int err;
	while ((more = read(0, text + n, sizeof(text) - n)) > 0)
		n += (size_t)more;
	err = shell_parse(&a, text, n, d, &ast, NULL);
	if (err)
		return err == -22 ? 22 : 95;
	shell_print(&ast, &one);
	if (one.err || one.len > SHELL_MAX_TEXT)
		return 4;
	if (shell_parse(&b, buf_str(&one), one.len, d, &ast, NULL))
		return 3;
	shell_print(&ast, &two);
	if (one.len != two.len || memcmp(buf_str(&one), buf_str(&two), one.len))
		return 3;
	return write(1, buf_str(&one), one.len) < 0;
}
"""


def build(where):
    """Its path: READER DIALECT reads a text and writes its canonical form."""
    source = os.path.join(where, "reader.c")
    with open(source, "w") as f:
        f.write(READER)
    core = os.path.join(TOP, "libcore")
    names = glob.glob(core + "/shell/shell_*.c") + glob.glob(
        TOP + "/tests/parts/shell_print*.c") + [
        os.path.join(core, "base", n + ".c")
        for n in ("arena", "buf", "buf_fmt", "num", "str", "utf8", "diag")]
    out = os.path.join(where, "reader")
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-funsigned-char", "-O1", "-w",
                    "-iquote", core, "-iquote", os.path.join(TOP, "tests"), source] + names
                   + ["-o", out], check=True)
    return out
