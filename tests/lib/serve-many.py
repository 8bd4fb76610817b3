#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many commands through one wardbox envrun --serve-stdin: nothing grows.

    serve-many.py WARDBOX COMMANDS DIR...

Descriptors, processes, memory and the files below each DIR (the log may grow)
are the same after all of them as after the first hundred.
"""
import json
import os
import subprocess
import sys

box, count, dirs = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
p = subprocess.Popen([box, "envrun", "--serve-stdin"], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE)
COMMANDS = (b":\n", b"true\n", b"echo out; echo err >&2\n", b"export A=$$\n",
            b"cd .\n", b"exit 3\n", b"(exit 4) & wait\n")


def ask(line):
    p.stdin.write(line)
    p.stdin.flush()
    return json.loads(p.stdout.readline())


def status(key):
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
        return int(next(l for l in f if l.startswith(key)).split()[1])


def children():
    with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as f:
        return len(f.read().split())


def look():
    return {
        "descriptors": len(os.listdir(f"/proc/{p.pid}/fd")),
        "children": children(),
        "files": sum(len(files) for d in dirs for _, _, files in os.walk(d)),
        "anonymous memory": status("RssAnon:"),
    }


for i in range(100):
    ask(COMMANDS[i % len(COMMANDS)])
first = look()
for i in range(count - 100):
    got = ask(COMMANDS[i % len(COMMANDS)])
    if got["exit_code"] not in (0, 3):
        sys.exit(f"command {i}: {got}")
last = look()
p.stdin.close()
print(p.wait(), first, last)
grown = last.pop("anonymous memory") - first.pop("anonymous memory")
sys.exit(first != last or grown > 64)
