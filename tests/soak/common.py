# common.py - what the parts of the soak share
# SPDX-License-Identifier: MIT

import glob, os, signal, subprocess, sys, threading, time

WARDBOX, N = os.path.abspath(sys.argv[1]), int(sys.argv[2])
LOG = "/var/log"
FILLER = LOG + "/filler"

FULL = (-9, -15, 1, 7)
bad, lock = [], threading.Lock()
tally = {}
full = []      # [from, to] of each time the disk was full


def fault(what):
    with lock:
        bad.append(what)
        if len(bad) < 40:
            print("#", what, flush=True)


def count(what):
    with lock:
        tally[what] = tally.get(what, 0) + 1


def was_full(start, end):
    return any(start <= b and end >= a for a, b in list(full))


def start(*argv, cwd=None):
    return subprocess.Popen([WARDBOX, *argv], stdin=subprocess.DEVNULL, cwd=cwd,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def outlived(p):
    """Waits for the process that outlives a killed shim and records the end: it
    is called when the command has run for 8 ms (SECURITY.md), however long
    after its start that is on a machine under load."""
    while p.poll() is None:
        with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
            if len(f.read().split()) > 1:
                return
        time.sleep(0.01)


def run(token, want, *argv, kill=None, after=0.0, cwd=None):
    begin = time.time()
    p = start(*argv, cwd=cwd)
    if kill is not None:
        time.sleep(after)
        if kill == signal.SIGKILL:
            outlived(p)
        p.send_signal(kill)
    try:
        out, err = p.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        fault(f"{token}: hangs: {argv}")
    code = p.returncode
    if code == 125 and was_full(begin, time.time()):
        count("refused while the disk was full")
        time.sleep(0.2)
        return 125, out
    if code in FULL and was_full(begin, time.time()):
        # Output that cannot be recorded ends what makes it, a connection that
        # cannot be recorded is refused, and undo needs room.
        count("ended by the full disk")
        return 125, out
    if code not in want:
        fault(f"{token}: {code}, not {want}: {argv} {err.decode(errors='replace')}")
    return code, out


def fill(stop):
    while not stop.wait(max(2, min(30, N / 500))):
        span = [time.time(), float("inf")]
        full.append(span)
        with open(FILLER, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
        stop.wait(1.5)
        os.unlink(FILLER)
        # What began while it was full ends a little later.
        span[1] = time.time() + 0.5
        count("disk full")


def stale_groups():
    """Control groups without a process in them, of runs that are over: where
    ours are made, which is the own group's directory and those above it."""
    for line in open("/proc/self/cgroup"):
        _, names, path = line.rstrip("\n").split(":", 2)
        base = "/sys/fs/cgroup/" + (names or "unified")
        base = base if os.path.isdir(base) else "/sys/fs/cgroup"
        path = path.strip("/")
        while True:
            for d in glob.glob(os.path.join(base, path, "wardbox-*")):
                try:
                    idle = not open(d + "/cgroup.procs").read()
                    if idle and os.stat(d).st_mtime + 4 < time.time():
                        yield d
                except OSError:
                    pass
            if not path:
                break
            path = os.path.dirname(path)


def census():
    tmp = sorted(os.path.join(d, f) for d, _, fs in os.walk("/tmp") for f in fs
                 if not d.startswith("/tmp/soak"))
    run_files = sum(len(fs) for _, _, fs in os.walk("/run/wardbox"))
    others = [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
    return tmp, run_files, others, len(os.listdir("/proc/self/fd"))


def audit(*argv):
    return subprocess.run([WARDBOX, "audit", *argv], capture_output=True)


def facts(pid):
    with open(f"/proc/{pid}/status") as f:
        rss = next(int(l.split()[1]) for l in f if l.startswith("VmRSS"))
    return rss, len(os.listdir(f"/proc/{pid}/fd"))

