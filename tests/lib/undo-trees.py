#!/usr/bin/env python3
"""undo-trees.py - guarded commands change trees at random, and are taken back

    undo-trees.py WARDBOX ACTS RUNS SEED [kill | threads]

Stands in a project whose policy says undo=on; ACTS is the program undo_acts. Each
tree gets some commands, all of which are taken back and then done again, one by
one. With kill the guard, the command or the undo is killed in the midst; with
threads three of them change one directory at once. Prints the trees that were not
exact; exits 1 when any was. STATE names a file from which a runner that was ended
goes on.
"""
import glob
import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

WARDBOX, ACTS, RUNS, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
HOW = sys.argv[5] if len(sys.argv) > 5 else ""
STATE = os.environ.get("STATE")
CHAIN = 1 if HOW else 8


def file_of(path, st):
    one = [st.st_size, st.st_nlink]
    if stat.S_ISLNK(st.st_mode):
        one.append(os.readlink(path))
    elif not stat.S_ISFIFO(st.st_mode):
        one.append([(k, os.getxattr(path, k)) for k in sorted(os.listxattr(path))])
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            one.append(hashlib.sha256(f.read()).hexdigest())
    return one


def tree(at=".", inodes=None):
    """Each name below: path, mode, owner, group, time, and of what is no directory
    more."""
    out, inodes = [], {} if inodes is None else inodes
    for name in sorted(os.listdir(at)):
        if name == ".git":
            continue
        path = at + "/" + name
        st = os.lstat(path)
        one = [path, oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns]
        out.append(one)
        if stat.S_ISDIR(st.st_mode):
            one.append([(k, os.getxattr(path, k)) for k in sorted(os.listxattr(path))])
            out += tree(path, inodes)
        else:
            one.append(inodes.setdefault(st.st_ino, path))
            one += file_of(path, st)
    return out


def undo(*args):
    done = subprocess.run(
        [WARDBOX, "undo", *args], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


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


def run_command(seed):
    threads = 3 if HOW == "threads" else 1
    n = 4000 if HOW == "kill" else (3, 12, 40, 120)[seed % 4]
    cmd = [WARDBOX, "sh", "-c", f"{ACTS} {seed} {n} {threads}; true"]
    with subprocess.Popen(cmd, stderr=subprocess.DEVNULL) as p:
        if HOW == "kill":
            rng = random.Random(seed)
            time.sleep(rng.uniform(0, 0.2))
            try:
                os.kill(rng.choice(children(p.pid)), signal.SIGKILL)
            except OSError:
                pass
    while HOW == "kill" and undo("list")[1].find("running") >= 0:
        pass


def journals():
    """The numbers of the store's journals."""
    return {
        p
        for at in ("/var/log/wardbox", os.path.expanduser("~/.local/state/wardbox"))
        for p in glob.glob(at + "/undo-*/[1-9]*")
    }


def killed_undo(seed, states):
    """An undo that is killed; what it did is taken back first. None: it was
    done."""
    with subprocess.Popen([WARDBOX, "undo"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        time.sleep(random.Random(seed).uniform(0, 0.05))
        p.send_signal(signal.SIGKILL)
    said = 0, ""
    if "cut off: 'wardbox undo redo'" in undo("--dry-run")[1]:
        said = undo("redo")
        if "nothing is left" in said[1]:
            said = 0, ""
    if not said[0] and tree() == states[max(0, len(states) - 2)]:
        return None
    return wrong_by("killed", said, states[-1])


def wrong_by(word, said, want, alike=list):
    """What an undo or redo left other than it should be; [] for nothing."""
    is_now = tree()
    if not said[0] and alike(is_now) == alike(want):
        return []
    return [word, *said, diff(want, is_now)]


def clear():
    for name in os.listdir("."):
        if os.path.isdir(name) and not os.path.islink(name):
            if name != ".git":
                shutil.rmtree(name)
        else:
            os.unlink(name)


def one_tree(first, n):
    """What was wrong with one of n runs, or nothing."""
    clear()
    subprocess.run([ACTS, str(first + 10**9), "40", "1"], check=True)
    states, store, alike = [tree()], journals(), list
    for seed in range(first, first + n):
        run_command(seed)
        is_now, more = tree(), journals()
        if more != store:
            states.append(is_now)
        elif strip(states[-1]) != strip(is_now):
            return ["run", seed, "no journal"]
        elif states[-1] != is_now:
            # Those do not come back then.
            alike = strip
        store, states[-1] = more, is_now
    wrong = killed_undo(first, states) if HOW == "kill" and first % 2 else []
    for want in [] if wrong is None else states[-2::-1]:
        said = undo()
        wrong = wrong or wrong_by("undo", said, want, alike)
        # What other threads moved away in the midst of a call is named.
        if wrong and said[0] and HOW:
            return []
    for want in [] if HOW == "kill" else states[1:]:
        wrong = wrong or wrong_by("redo", undo("redo"), want, alike)
    undo("prune")
    return wrong


def strip(rows):
    """Without the times of directories, for which alone no journal is kept."""
    return [r if len(r) > 6 else r[:4] for r in rows]


def diff(want, got):
    return [("-", r) for r in want if r not in got] + [
        ("+", r) for r in got if r not in want
    ]


def main():
    at, exact, bad = SEED, 0, 0
    if STATE and os.path.exists(STATE):
        with open(STATE, encoding="ascii") as f:
            at, exact, bad = (int(n) for n in f.read().split())
    while at < SEED + RUNS:
        n = min(CHAIN, SEED + RUNS - at)
        wrong = one_tree(at, n)
        at += n
        if wrong:
            bad += 1
            print("tree of run", at - n, *wrong, flush=True)
        else:
            exact += n
        if STATE:
            with open(STATE + "~", "w", encoding="ascii") as f:
                print(at, exact, bad, file=f)
            os.replace(STATE + "~", STATE)
    print(f"{exact} of {RUNS} exact")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
