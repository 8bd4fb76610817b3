#!/usr/bin/env python3
"""undo-trees.py - guarded commands change trees at random, and are taken back

    undo-trees.py WARDBOX RUNS SEED [kill | threads]

Stands in a project whose policy says undo=on. With kill the guard is killed in the
midst of the command; with threads three of them change one directory at once. Prints the runs that were not exact; exits 1 when any was.
"""
import ctypes
import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

NAMES = "abcd"
THREADS = sys.argv[4:] == ["threads"]
LIBC = ctypes.CDLL(None, use_errno=True)


def any_path(rng):
    return "/".join(rng.choice(NAMES) for _ in range(rng.randint(1, 3)))


def write(rng, path, flags):
    # A pipe without a reader is an error, and nothing to wait for.
    fd = os.open(path, flags | os.O_NONBLOCK, 0o640)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        os.write(fd, rng.randbytes(rng.choice((1, 50, 5000))))
    os.close(fd)


def set_meta(rng, path):
    what = rng.randint(0, 3)
    if what == 0:
        os.chmod(path, 0o700 | rng.randint(0, 63))
    elif what == 1:
        os.utime(path, (rng.randint(0, 9), rng.randint(0, 9)))
    elif what == 2:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.fchmod(fd, 0o711)
        os.close(fd)
    else:
        os.setxattr(path, "user.x", rng.randbytes(3))


def acts(rng):
    a, b = any_path(rng), any_path(rng)
    yield from (
        lambda: write(rng, a, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        lambda: write(rng, a, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        lambda: write(rng, a, os.O_RDWR),
        lambda: os.truncate(a, rng.randint(0, 100)),
        lambda: os.mkdir(a),
        lambda: os.makedirs(a),
        lambda: os.unlink(a),
        lambda: os.path.isdir(a) and shutil.rmtree(a),
        lambda: os.rename(a, b),
        lambda: os.rename(a, b),
        lambda: LIBC.renameat2(-100, a.encode(), -100, b.encode(), 2),
        lambda: os.link(a, b),
        lambda: os.symlink(rng.choice(("a", "b/c", "not-there")), a),
        lambda: os.mkfifo(a),
        lambda: set_meta(rng, a),
    )


def act(rng, n):
    for _ in range(n):
        try:
            rng.choice(list(acts(rng)))()
        except OSError:
            pass


def act_all(seed, n, count):
    """What the guarded command does: some threads in one directory."""
    threads = [
        threading.Thread(target=act, args=(random.Random(seed * 10 + i), n))
        for i in range(count)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


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


def run_command(wardbox, seed, n, kill):
    count = 3 if THREADS else 1
    cmd = [wardbox, "sh", "-c", f"python3 {__file__} act {seed} {n} {count}; true"]
    with subprocess.Popen(cmd) as p:
        if kill:
            time.sleep(random.Random(seed).uniform(0, 0.3))
            p.send_signal(signal.SIGKILL)


def one_run(wardbox, seed, kill):
    for name in os.listdir("."):
        if name != ".git":
            subprocess.run(["rm", "-rf", name], check=True)
    act(random.Random(-seed), 30)
    before = tree()
    last = last_journal(wardbox)
    run_command(wardbox, seed, 4000 if kill else 40, kill)
    while kill and undo(wardbox, "list")[1].find("running") >= 0:
        pass
    after = tree()
    if last_journal(wardbox) == last:
        return [] if kill or strip(before) == strip(after) else ["no journal"]
    code, said = undo(wardbox)
    if tree() != before:
        # What other threads moved away in the midst of a call is named.
        return [] if code else ["undo", said, diff(before, tree())]
    if kill or code:
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
    if sys.argv[1] == "act":
        act_all(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return 0
    wardbox, runs, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = 0
    for i in range(seed, seed + runs):
        wrong = one_run(wardbox, i, sys.argv[4:] == ["kill"])
        if wrong:
            bad += 1
            print("run", i, *wrong, flush=True)
    print(f"{runs - bad} of {runs} exact")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
