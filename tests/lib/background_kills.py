#!/usr/bin/env python3
# background_kills.py - commands that leave something running, killed at any moment
# SPDX-License-Identifier: MIT
#
# background_kills.py WARDBOX RUNS [SEED]: each run kills the front, the
# supervisor, the command or the group at a random moment, ends all sessions, and
# looks for what survived. Prints one line per fault.
import os
import random
import subprocess
import sys
import time

BOX, RUNS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else os.getpid()
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
         "stderr": subprocess.DEVNULL}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def survivors(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{pid}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()] and state != "Z":
            found.append(int(pid))
    return found


def kill(shim, what):
    below = children(shim.pid)
    try:
        if what == "group":
            os.killpg(shim.pid, 9)
        elif what == "front":
            os.kill(shim.pid, 9)
        elif what == "supervisor" and below:
            os.kill(below[0], 9)
        elif what == "command" and below and children(below[0]):
            os.kill(children(below[0])[0], 9)
    except ProcessLookupError:
        pass


def end_all(mark):
    """A supervisor may register after its session was ended."""
    until = time.monotonic() + 10
    while True:
        subprocess.run([BOX, "session", "end", "--all"], check=False, **QUIET)
        if not survivors(mark) or time.monotonic() > until:
            return
        time.sleep(0.02)


def once(n):
    mark = f"77.{os.getpid()}{n:04d}"
    nap = f"sleep {mark} >/dev/null 2>&1"
    line = f"{nap} & setsid {nap} & " + random.choice(
        ["", "/bin/true; /bin/true", "sleep 0.01", "sleep 0.1"])
    what = random.choice(["front", "supervisor", "command", "group", "none"])
    shim = subprocess.Popen([BOX, "sh", "-c", line], start_new_session=True, **QUIET)
    time.sleep(random.random() * 0.03)
    kill(shim, what)
    try:
        shim.wait(60)
    except subprocess.TimeoutExpired:
        print(f"seed {SEED} run {n}: hangs after its {what} was killed: {line}")
        shim.kill()
    end_all(mark)
    for pid in survivors(mark):
        print(f"seed {SEED} run {n}: {pid} survived the {what}: {line}")
        os.kill(pid, 9)


random.seed(SEED)
for run in range(RUNS):
    once(run)
