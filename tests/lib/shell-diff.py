#!/usr/bin/env python3
# shell-diff.py - our reading of shell text against that of the shells here
# SPDX-License-Identifier: MIT
#
#	tests/lib/shell-diff.py FILE...
#
# Each file is read whole, and each of its lines, by dash -n, busybox sh -n and
# bash -n, and by shell_parse in the same dialect. Reported: WEAK, what we
# accept and the shell rejects (must not be); HARD, what we call a syntax error
# of dash or ash and they accept (must not be: such a reading is not counted);
# FIX, what is not stable when printed. Run it over the test suites of shells,
# which are not kept here.
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHELLS = [("dash",), ("busybox", "sh"), ("bash",)]
READER = r"""
#include <stdio.h>
#include <stdlib.h>
#include "shell_print.h"
static char text[1 << 20];
int main(int argc, char **argv)
{
	enum shell_dialect d = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	struct arena b = ARENA_INIT(SHELL_MAX_ARENA);
	struct buf one = BUF_INIT(1 << 20), two = BUF_INIT(1 << 20);
	size_t n = fread(text, 1, sizeof(text), stdin);
	struct shell_ast ast;
	int err = shell_parse(&a, text, n, d, &ast, NULL);
	if (err)
		return err == -22 ? 22 : 95;
	shell_print(&ast, &one);
	if (one.err || one.len > SHELL_MAX_TEXT)
		return 0;
	if (shell_parse(&b, buf_str(&one), one.len, d, &ast, NULL))
		return 3;
	shell_print(&ast, &two);
	return one.len == two.len && !memcmp(buf_str(&one), buf_str(&two), one.len) ? 0 : 3;
}
"""


def build(where):
    source = os.path.join(where, "reader.c")
    with open(source, "w") as f:
        f.write("#include <string.h>\n" + READER)
    core = os.path.join(TOP, "libcore")
    names = [n for n in sorted(os.listdir(core)) if n.endswith(".c") and (
        n.startswith("shell_") and not n.startswith("shell_call")
        or n in ("arena.c", "buf.c", "buf_fmt.c", "num.c", "str.c", "utf8.c", "diag.c"))]
    out = os.path.join(where, "reader")
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-funsigned-char", "-O1", "-w",
                    "-iquote", core, source] + [os.path.join(core, n) for n in names]
                   + ["-o", out], check=True)
    return out


def compare(reader, where, text):
    path = os.path.join(where, "text")
    with open(path, "wb") as f:
        f.write(text)
    bad = 0
    for i, shell in enumerate(SHELLS):
        real = subprocess.run(list(shell) + ["-n", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours = subprocess.run([reader, str(i)], input=text).returncode
        what = None
        if ours == 0 and real.returncode:
            what = "WEAK"
        elif ours == 22 and not real.returncode and i < 2:
            what = "HARD"
        elif ours not in (0, 22, 95):
            what = "FIX"
        if what:
            bad += 1
            print(what, shell[0], repr(text[:200]))
    return bad


def main():
    with tempfile.TemporaryDirectory() as where:
        reader = build(where)
        texts = set()
        for name in sys.argv[1:]:
            with open(name, "rb") as f:
                whole = f.read()
            texts.add(whole)
            texts.update(whole.splitlines())
        bad = sum(compare(reader, where, t) for t in sorted(texts) if b"\0" not in t)
        print(len(texts), "texts,", bad, "differences")
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
