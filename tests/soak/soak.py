#!/usr/bin/env python3
# soak.py - eight shims at once, and everything that can go wrong in between
# SPDX-License-Identifier: MIT
#
# A command that runs leaves its token in a file of its worker: what is in there
# must be in the log, and what the shim said did not run must not be in there.

import glob, json, os, signal, subprocess, sys, threading, time

WARDBOX, N = os.path.abspath(sys.argv[1]), int(sys.argv[2])
WORKERS, LOG = 8, "/var/log"
FILLER = LOG + "/filler"

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


def start(*argv):
    return subprocess.Popen([WARDBOX, *argv], stdin=subprocess.DEVNULL,
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


def run(token, want, *argv, kill=None, after=0.0):
    begin = time.time()
    p = start(*argv)
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
    if code == -9 and was_full(begin, time.time()):
        # Output that cannot be recorded ends what makes it.
        count("ended by the full disk")
        return 125, out
    if code not in want:
        fault(f"{token}: {code}, not {want}: {argv} {err.decode(errors='replace')}")
    return code, out


def one(w, i):
    token = f"{w}-{i}"
    mark = f"echo {token} >>ran.{w}"
    k = (i * 37 + w * 11) % 100
    if k < 60:
        kind, code = "runs", run(token, [0], "sh", "-c", mark)[0]
    elif k < 68:
        kind = "pipes"
        code, out = run(token, [0], "sh", "-c", f"seq 1 500 | grep 7 | wc -l; {mark}")
        if code == 0 and out.strip() != b"95":
            fault(f"{token}: the pipe gave {out!r}")
    elif k < 77:
        kind, code = "denied", run(token, [126], "sh", "-c", f"{mark}; nc {token}")[0]
    elif k < 82:
        kind = "timed out"
        code = run(token, [124], "envrun", "--session", f"soak-{w}", "--timeout=0.5s",
                   "--", f"{mark}; sleep 60")[0]
    elif k < 86:
        kind = "terminated"
        code = run(token, [-15], "sh", "-c", f"{mark}; sleep 60",
                   kill=signal.SIGTERM, after=0.5)[0]
    elif k < 88:
        kind = "shim killed"
        # What outlives it records the end.
        code = run(token, [-9], "sh", "-c", f"{mark}; exec sleep 60",
                   kill=signal.SIGKILL, after=0.5)[0]
    elif k < 92:
        kind = "fails"
        code = run(token, [3], "sh", "-c", f"{mark}; exit 3")[0]
    elif k < 94:
        kind = "loud"
        code, out = run(token, [0], "sh", "-c", f"{mark}; seq 1 20000")
        if code == 0 and len(out) != 108894:
            fault(f"{token}: {len(out)} bytes of 108894")
    elif k < 97:
        kind = "leaves a child"
        code = run(token, [0], "sh", "-c", f"sleep 0.3 >/dev/null 2>&1 & {mark}")[0]
    elif k < 99:
        kind = "kills itself"
        code = run(token, [-9, 137], "sh", "-c", f"{mark}; kill -9 $$")[0]
    else:
        kind, code = "rotates", 0
        p = start("audit", "rotate")
        out, err = p.communicate()
        if p.returncode and not was_full(0, time.time()):
            fault(f"{token}: rotate: {p.returncode} {err.decode()}")
    if code != 125:
        count(kind)


def worker(w, todo):
    for i in range(todo):
        one(w, i)


def facts(pid):
    with open(f"/proc/{pid}/status") as f:
        rss = next(int(l.split()[1]) for l in f if l.startswith("VmRSS"))
    return rss, len(os.listdir(f"/proc/{pid}/fd"))


def serve(todo, samples):
    p = subprocess.Popen([WARDBOX, "envrun", "--session", "served", "--serve-stdin"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(todo):
        p.stdin.write(b"export N=%d; echo $N\n" % i)
        p.stdin.flush()
        line = p.stdout.readline()
        if not line:
            fault(f"served: ended at {i}")
            return
        answer = json.loads(line)
        if answer["exit_code"] != 125 and answer["stdout"].strip() != str(i):
            fault(f"served: {i}: {answer}")
        if i % max(1, todo // 20) == 0:
            samples.append(facts(p.pid))
        count("served")
    p.stdin.close()
    p.wait()


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


def judge():
    begun, ended, started = {}, set(), {}
    dump = audit("dump", "-t", "start,end", "-o", "json")
    for line in dump.stdout.splitlines():
        r = json.loads(line)
        if r["type"] == "end":
            ended.add(r["exec"])
            continue
        text = " ".join(r["argv"])
        if "echo " in text and ">>ran." in text:
            token = text.split("echo ", 1)[1].split(" ", 1)[0]
            started[token] = r["seq"]
        begun[r["seq"]] = r
    ran = 0
    for w in range(WORKERS):
        if not os.path.exists(f"ran.{w}"):
            continue
        for token in open(f"ran.{w}").read().split():
            ran += 1
            seq = started.get(token)
            if seq is None:
                fault(f"{token} ran and has no start record")
            elif begun[seq]["decision"] == "deny":
                fault(f"{token} ran and was denied")
            elif seq not in ended:
                fault(f"{token} ran and has no end record")
    verify = audit("verify", "--links")
    if verify.returncode != 4 or b"intact" not in verify.stdout:
        fault(f"verify: {verify.returncode} {verify.stdout.decode()} {verify.stderr.decode()}")
    print("#", verify.stdout.decode().splitlines()[0])
    print(f"# {len(begun)} start records, {len(ended)} end records, {ran} commands left their token")


def main():
    before, samples, stop = census(), [], threading.Event()
    begin = time.time()
    served = N // 20
    threads = [threading.Thread(target=worker, args=(w, (N - served) // WORKERS))
               for w in range(WORKERS)]
    threads.append(threading.Thread(target=serve, args=(served, samples)))
    filler = threading.Thread(target=fill, args=(stop,))
    for t in threads + [filler]:
        t.start()
    for t in threads:
        t.join()
    stop.set()
    filler.join()
    # What a killed shim left has a moment to end; then nothing may be left.
    for _ in range(50):
        while True:
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    break
            except ChildProcessError:
                break
        after = census()
        if len(after[2]) <= len(before[2]):
            break
        time.sleep(0.1)
    # The next command sweeps what a killed shim left of control groups.
    time.sleep(5)
    start("sh", "-c", "cat /dev/null").wait()
    judge()
    for group in stale_groups():
        fault(f"control group left: {group}")
    if after[0] != before[0]:
        fault(f"files in /tmp: {after[0][:5]}")
    if len(after[2]) > len(before[2]):
        for p in after[2]:
            with open(f"/proc/{p}/cmdline") as f:
                fault(f"process left: {p} {f.read()}")
    if after[3] > before[3]:
        fault(f"own descriptors: {before[3]} before, {after[3]} after")
    if after[1] > 64:
        fault(f"{after[1]} files are left in the state base")
    if samples:
        early, late = samples[len(samples) // 4], samples[-1]
        print(f"# served: RSS {early[0]} KiB at a quarter, {late[0]} at the end;"
              f" descriptors {early[1]} and {late[1]}")
        if late[0] > early[0] + 256 or late[1] > early[1]:
            fault(f"the served session grows: {samples}")
    print("#", ", ".join(f"{v} {k}" for k, v in sorted(tally.items())))
    print(f"# {time.time() - begin:.0f} s, state base: {after[1]} files")
    print("1..1")
    print(("not ok" if bad else "ok"), f"1 - {N} commands, {len(bad)} faults")
    return 1 if bad else 0


sys.exit(main())
