#!/usr/bin/env python3
# log.py - eight shims at once, and everything that can go wrong in between
# SPDX-License-Identifier: MIT
#
# A command that runs leaves its token in a file of its worker: what is in there
# must be in the log, and what the shim said did not run must not be in there.

import json, os, signal, subprocess, sys, threading, time

from common import (N, WARDBOX, audit, bad, census, count, facts, fault, fill,
                    run, stale_groups, start, tally, was_full)

WORKERS = 8


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
