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

import shell_reader

SHELLS = [("dash",), ("busybox", "sh"), ("bash",)]


def compare(reader, where, text):
    path = os.path.join(where, "text")
    with open(path, "wb") as f:
        f.write(text)
    bad = 0
    for i, shell in enumerate(SHELLS):
        real = subprocess.run(list(shell) + ["-n", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours = subprocess.run([reader, str(i)], input=text,
                              stdout=subprocess.DEVNULL).returncode
        what = None
        if ours in (0, shell_reader.UNSHOWN) and real.returncode:
            what = "WEAK"
        elif ours == shell_reader.SYNTAX and not real.returncode and i < 2:
            what = "HARD"
        elif ours == shell_reader.UNSTABLE or ours < 0:
            what = "FIX"
        if what:
            bad += 1
            print(what, shell[0], repr(text[:200]))
    return bad


def main():
    with tempfile.TemporaryDirectory() as where:
        reader = shell_reader.build(where)
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
