#!/usr/bin/env python3
"""undo-trees.py - guarded commands change trees at random, and are taken back

    undo-trees.py WARDBOX ACTS RUNS SEED [kill | threads]

Stands in a project whose policy says undo=on; ACTS is the program undo_acts. With
kill the guard, the command or the undo is killed in the midst; with threads three
of them change one directory at once. Prints the runs that were not exact; exits 1
when any was.
"""
import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

ACTS = sys.argv[2]
HOW = sys.argv[5] if len(sys.argv) > 5 else ""


def tree():
    out, inodes = [], {}
    for at, dirs, files in os.walk("."):
        dirs.sort()
        if at == "." and ".git" in dirs:
            dirs.remove(".git")
        for name in sorted(dirs + files):
            path = os.path.join(at, name)
            st = os.lstat(path)
            one = [path, oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns]
            if not stat.S_ISDIR(st.st_mode):
                first = inodes.setdefault(st.st_ino, path)
                one += [st.st_size, st.st_nlink, first]
            if stat.S_ISLNK(st.st_mode):
                one.append(os.readlink(path))
            elif not stat.S_ISFIFO(st.st_mode):
                one.append(
                    [(k, os.getxattr(path, k)) for k in sorted(os.listxattr(path))]
                )
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    one.append(hashlib.sha256(f.read()).hexdigest())
            out.append(one)
    return out


def undo(wardbox, *args):
    done = subprocess.run(
        [wardbox, "undo", *args], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def act(seed, n, threads=1):
    subprocess.run([ACTS, str(seed), str(n), str(threads)], check=True)


def children(pid):
    """A process and all below it, the innermost last."""
    found = [pid]
    for p in found:
        try:
            with open(f"/proc/{p}/task/{p}/children", encoding="ascii") as f:
                found += [int(c) for c in f.read().split()]
        except OSError:
            pass
    return found


def run_command(wardbox, seed):
    threads = 3 if HOW == "threads" else 1
    n = 4000 if HOW == "kill" else 40
    cmd = [wardbox, "sh", "-c", f"{ACTS} {seed} {n} {threads}; true"]
    with subprocess.Popen(cmd, stderr=subprocess.DEVNULL) as p:
        if HOW == "kill":
            rng = random.Random(seed)
            time.sleep(rng.uniform(0, 0.2))
            try:
                os.kill(rng.choice(children(p.pid)), signal.SIGKILL)
            except OSError:
                pass


def killed_undo(wardbox, seed):
    """An undo that is killed; what it did is taken back first."""
    with subprocess.Popen([wardbox, "undo"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        time.sleep(random.Random(seed).uniform(0, 0.05))
        p.send_signal(signal.SIGKILL)
    if "cut off: 'wardbox undo redo'" in undo(wardbox, "--dry-run")[1]:
        return undo(wardbox, "redo")
    return 0, ""


def one_run(wardbox, seed):
    for name in os.listdir("."):
        if name != ".git":
            subprocess.run(["rm", "-rf", name], check=True)
    act(seed + 10**9, 40)
    before = tree()
    last = last_journal(wardbox)
    run_command(wardbox, seed)
    while HOW == "kill" and undo(wardbox, "list")[1].find("running") >= 0:
        pass
    after = tree()
    if last_journal(wardbox) == last:
        return [] if strip(before) == strip(after) else ["no journal"]
    if HOW == "kill" and seed % 2:
        code, said = killed_undo(wardbox, seed)
        if not code and tree() == before:
            return []
        if code or tree() != after:
            return ["killed", code, said, diff(after, tree())]
    code, said = undo(wardbox)
    if tree() != before:
        # What other threads moved away in the midst of a call is named.
        return [] if code and HOW else ["undo", said, diff(before, tree())]
    if HOW == "kill" or code:
        return []
    code, said = undo(wardbox, "redo")
    if code or tree() != after:
        return ["redo", code, said, diff(after, tree())]
    return []


def strip(rows):
    """Without the times of directories, for which alone no journal is kept."""
    return [r if len(r) > 6 else r[:4] for r in rows]


def diff(want, got):
    return [("-", r) for r in want if r not in got] + [
        ("+", r) for r in got if r not in want
    ]


def last_journal(wardbox):
    code, said = undo(wardbox, "list", "--all")
    return 0 if code else said.count("\n")


def main():
    wardbox, runs, seed = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
    bad = 0
    for i in range(seed, seed + runs):
        wrong = one_run(wardbox, i)
        if wrong:
            bad += 1
            print("run", i, *wrong, flush=True)
        if i % 20 == 0:
            undo(wardbox, "prune")
    print(f"{runs - bad} of {runs} exact")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
