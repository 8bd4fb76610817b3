#!/usr/bin/env python3
# shell-trace.py - does the printed form of a line do what the line does?
# SPDX-License-Identifier: MIT
#
#	tests/lib/shell-trace.py [-n N] FILE.tsv...
#
# Each line of the corpora that a shell's dialect can read is printed by
# shell_print, and both texts are run by dash, busybox sh and bash: as nobody,
# in a root of their own where every program is a stub that writes down its
# arguments, in namespaces without a network. What the stubs saw, what came out
# and the exit status must be the same. -n N: every Nth line. Needs root.
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import shell_reader

SHELLS = [["/real/dash"], ["/real/busybox", "sh"], ["/real/bash"]]
NOBODY = 65534
STUB = "#!/real/dash\nprintf '%s\\037' \"$0\" \"$@\" >>/trace/all\necho >>/trace/all\n"


def decode(line):
    """The command column of a corpus row; None for what no shell is given."""
    if not line.startswith("@@"):
        return line.encode()
    if "\\{" in line or "\\0" in line:
        return None
    plain = {"n": "\n", "t": "\t", "r": "\r", "e": "\033", "\\": "\\"}
    text = re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)",
                  lambda m: plain.get(m[1]) or chr(int(m[1][1:], 16)), line[2:])
    return text.encode()


def make_root(root, texts):
    for d in ("real", "bin", "usr", "dev", "trace", "srv", "home", "tmp"):
        os.makedirs(os.path.join(root, d))
    os.symlink("../bin", os.path.join(root, "usr/bin"))
    os.mknod(os.path.join(root, "dev/null"), 0o666 | 0o020000, os.makedev(1, 3))
    os.chmod(os.path.join(root, "dev/null"), 0o666)
    for name in ("dash", "busybox", "bash"):
        path = shutil.which(name)
        shutil.copy(path, os.path.join(root, "real", name))
        libs = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        for lib in re.findall(r"(/\S+)", libs):
            if lib.endswith(":") or not os.path.exists(lib):
                continue
            to = root + lib
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(lib, to)
    words = {"sh", "ls", "x", "y"}
    for t in texts:
        words.update(re.findall(rb"[A-Za-z][A-Za-z0-9_.+-]*", t))
    stub = os.path.join(root, "bin/.stub")
    with open(stub, "w") as f:
        f.write(STUB)
    os.chmod(stub, 0o755)
    for w in words:
        w = w.decode() if isinstance(w, bytes) else w
        to = os.path.join(root, "bin", w)
        if len(w) < 64 and not os.path.lexists(to):
            os.symlink(".stub", to)


def fresh(root):
    for d in ("trace", "srv", "tmp", "home"):
        path = os.path.join(root, d)
        shutil.rmtree(path)
        os.mkdir(path)
        os.chown(path, NOBODY, NOBODY)
    proj = os.path.join(root, "srv/proj")
    for d in ("src", "docs", "build"):
        os.makedirs(os.path.join(proj, d))
    for f in ("README.md", "package.json", "src/main.c", "docs/a.md", "docs/b.md", "../secret.txt"):
        with open(os.path.join(proj, f), "w") as out:
            out.write("a b\nc\n")
    for d, dirs, files in os.walk(os.path.join(root, "srv")):
        for n in [d] + [os.path.join(d, f) for f in files]:
            os.chown(n, NOBODY, NOBODY)


def confine(root):
    def enter():
        os.chroot(root)
        os.chdir("/srv/proj")
        resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        resource.setrlimit(resource.RLIMIT_NPROC, (64, 64))
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.setsid()
    return enter


def run(root, shell, text):
    fresh(root)
    env = {"PATH": "/bin", "HOME": "/home", "USER": "dev"}
    p = subprocess.Popen(shell + ["-c", text], env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         preexec_fn=confine(root))
    try:
        out, _ = p.communicate(timeout=3)
        status = p.returncode
    except subprocess.TimeoutExpired:
        out, status = b"", "timeout"
    if b"&" in text or b">(" in text or b"|" in text or b"<(" in text:
        time.sleep(0.03)
    # We are process 1 here: nobody is left but the line's own.
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            break
    try:
        with open(os.path.join(root, "trace/all"), "rb") as f:
            seen = sorted(f.read().split(b"\n"))
    except FileNotFoundError:
        seen = []
    # Descriptors and processes have the numbers that are free.
    plain = re.compile(rb"(?<=/dev/fd/)\d+|\d{3,}")
    return ([plain.sub(b"N", s) for s in seen],
            sorted(plain.sub(b"N", out).split(b"\n")), status)


def inside(where, names, step):
    printer, texts = shell_reader.build(where), {}
    for name in names:
        with open(name, encoding="utf-8", errors="surrogateescape") as f:
            for row in f:
                cells = row.rstrip("\n").split("\t")
                text = decode(cells[2]) if len(cells) > 2 and row[0] != "#" else None
                if text is not None and b"\0" not in text:
                    texts[text] = True
    texts = list(texts)[::step]
    root = os.path.join(where, "root")
    make_root(root, texts)
    count = bad = 0
    for text in texts:
        for dialect, shell in enumerate(SHELLS):
            p = subprocess.run([printer, str(dialect)], input=text, capture_output=True)
            if p.returncode:
                continue
            count += 1
            # What runs side by side may be cut off at another place.
            for _ in range(4):
                a, b = run(root, shell, text), run(root, shell, p.stdout)
                if a == b:
                    break
            else:
                bad += 1
                print("DIFFERS", shell[0], repr(text), "->", repr(p.stdout))
                print("   ", a)
                print("   ", b, flush=True)
    print(count, "lines run twice,", bad, "differences")
    return 1 if bad else 0


def main():
    args, step = sys.argv[1:], 1
    # All processes of the namespace are killed after each run: it must be ours.
    if args[:1] != ["--inside"] or os.getpid() != 1:
        os.execvp("unshare", ["unshare", "-mpnif", "--kill-child", sys.executable,
                              os.path.abspath(__file__), "--inside"] + args)
    args = args[1:]
    if args[:1] == ["-n"]:
        step, args = int(args[1]), args[2:]
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        return inside(where, [os.path.abspath(a) for a in args], step)


if __name__ == "__main__":
    sys.exit(main())
