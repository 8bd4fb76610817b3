#!/usr/bin/env python3
# places.py - days of an agent: undo, sessions, hosts by name, kills
# SPDX-License-Identifier: MIT
#
# Each worker has a project, a session and the policy `agent`. What undo gives
# back is compared byte for byte; what is left of processes, mounts, namespaces,
# control groups, temporary files and journals is counted at the end.

import hashlib, http.server, os, signal, stat, subprocess, sys
import threading, time

from common import (N, WARDBOX, audit, bad, census, count, fault, fill, run,
                    stale_groups, start, tally, was_full)

WORKERS, HERE, PORT = 4, "203.0.113.10", 8099


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def tree(top):
    """What undo promises of a project: names, kinds, modes, times, bytes."""
    found = {}
    for d, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(d, name)
            s = os.lstat(path)
            what = [stat.S_IFMT(s.st_mode), stat.S_IMODE(s.st_mode)]
            if stat.S_ISLNK(s.st_mode):
                what.append(os.readlink(path))
            elif stat.S_ISREG(s.st_mode):
                what += [s.st_mtime_ns, s.st_nlink,
                         hashlib.sha256(open(path, "rb").read()).hexdigest()]
            found[os.path.relpath(path, top)] = tuple(what)
    return found


def differ(token, what, want, have):
    if want == have:
        return
    for path in sorted(set(want) | set(have)):
        if want.get(path) != have.get(path):
            fault(f"{token}: {what}: {path}: {want.get(path)} before, {have.get(path)} now")
            return


EDITS = (
    "echo {t} >>f{a}; rm -f f{b}",
    "mkdir -p d/{t} && cp f* d/{t}/ 2>/dev/null; mv d/{t} d/moved-{t}",
    "sed -i 's/1/one/' f*; ln -sf f{a} link; chmod 600 f{b}",
    "ln f{a} hard-{t}; echo more >>hard-{t}; truncate -s 100000 f{b}",
    "rm -rf d; mkdir d; echo {t} >d/f; touch -d @1 f{a}",
    "git add -A && git -c user.name=s -c user.email=s@s commit -qm {t}; echo {t} >f{a}",
)


class Worker:
    def __init__(self, w):
        self.w, self.top, self.session = w, f"/tmp/soak/p{w}", f"places-{w}"
        os.makedirs(self.top)
        subprocess.run(["git", "init", "-q", self.top], check=True)
        for i in range(8):
            with open(f"{self.top}/f{i}", "w") as f:
                f.write("".join(f"{i} {n}\n" for n in range(100 * i)))

    def run(self, token, want, *argv, **how):
        return run(token, want, *argv, cwd=self.top, **how)

    def sh(self, token, want, text, **how):
        return self.run(token, want, "sh", "-c", text, **how)

    def undo(self, token, *argv):
        return self.run(token, [0], "undo", "-j", *argv)[0] == 0

    def edit(self, token, i):
        before = tree(self.top)
        text = EDITS[i % len(EDITS)].format(t=token, a=i % 8, b=(i + 3) % 8)
        if self.sh(token, range(0, 3), text)[0] > 2:
            return
        after = tree(self.top)
        if after == before:
            return
        if not self.undo(token):
            return
        differ(token, "undo of " + text, before, tree(self.top))
        if i % 3 == 0 and self.undo(token, "redo"):
            differ(token, "redo of " + text, after, tree(self.top))

    def killed(self, token, i):
        before, begin = tree(self.top), time.time()
        text = (f"n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); echo {token} >>f$((n % 8)); "
                f"rm -f f$(((n + 3) % 8)); mkdir -p k/$((n % 50)); done")
        code = self.run(token, [-9], "exec", self.session, "--", "sh", "-c", text,
                        kill=signal.SIGKILL, after=0.2 + i % 7 / 20)[0]
        self.run(token, [0, 1], "session", "stop", self.session)
        if code == 125 or was_full(begin, time.time()):
            return
        if tree(self.top) != before and self.undo(token):
            differ(token, "undo of a killed command", before, tree(self.top))

    def one(self, i):
        token = f"{self.w}-{i}"
        k = (i * 37 + self.w * 11) % 100
        if k < 35:
            kind = "edited and undone"
            self.edit(token, i)
        elif k < 50:
            kind = "plain"
            self.sh(token, [0], f"echo {token}")
        elif k < 62:
            kind = "by name"
            code, out = self.sh(token, [0], f"curl -sS -m 20 http://soak.test:{PORT}/{token}")
            if code == 0 and out.decode() != "/" + token:
                fault(f"{token}: by name came {out!r}")
        elif k < 66:
            kind = "name refused"
            self.sh(token, [6, 7], f"curl -sS -m 20 http://other.test:{PORT}/{token}")
        elif k < 74:
            kind = "left in the background"
            code, out = self.run(token, [0], "exec", self.session, "--", "sh", "-c",
                                 "sleep 3000 >/dev/null 2>&1 & echo up")
            if code == 0:
                self.run(token, [0], "session", "stop", self.session)
        elif k < 80:
            kind = "killed in the midst"
            self.killed(token, i)
        elif k < 85:
            kind = "timed out"
            self.run(token, [124], "exec", "--timeout=0.3s", self.session, "--",
                     "sh", "-c", "sleep 3000 & sleep 3000")
        elif k < 90:
            kind = "denied"
            self.sh(token, [126], "poweroff")
        elif k < 94:
            kind = "terminated"
            self.sh(token, [-15], "exec sleep 3000", kill=signal.SIGTERM, after=0.3)
        elif k < 96:
            kind = "session ended"
            self.run(token, [0, 1], "session", "end", self.session)
        elif k < 98:
            kind = "dry run"
            before = tree(self.top)
            self.run(token, [0], "exec", "--dry-run", self.session,
                     "--", "sh", "-c", "rm -rf d f1; echo x >f2")
            differ(token, "dry run", before, tree(self.top))
        else:
            kind = "pruned"
            self.run(token, [0, 1], "undo", "prune", "--older=60s")
        count(kind)

    def all(self, todo):
        for i in range(todo):
            self.one(i)


def mounts():
    return sorted(l.split(" ", 4)[4] for l in open("/proc/self/mountinfo"))


def journals():
    size = 0
    for top in ("/tmp/soak", "/run/wardbox", "/var/log"):
        for d, _, files in os.walk(top):
            if "undo" in d:
                size += sum(os.lstat(os.path.join(d, f)).st_size for f in files)
    return size


def settle(before):
    for _ in range(100):
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
    return census()


def main():
    server = http.server.ThreadingHTTPServer((HERE, PORT), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    workers = [Worker(w) for w in range(WORKERS)]
    before, mounted, stop = census(), mounts(), threading.Event()
    begin = time.time()
    threads = [threading.Thread(target=w.all, args=(N // WORKERS,)) for w in workers]
    filler = threading.Thread(target=fill, args=(stop,))
    for t in threads + [filler]:
        t.start()
    for t in threads:
        t.join()
    stop.set()
    filler.join()
    for w in workers:
        w.run("end", [0, 1], "session", "end", "--all")
    after = settle(before)
    time.sleep(5)
    start("sh", "-c", "cat /dev/null").wait()
    for w in workers:
        w.run("end", [0, 1], "session", "end", "--all")
        w.run("end", [0, 1], "undo", "prune")
    after = settle(before)
    verify = audit("verify", "--links")
    if verify.returncode != 4 or b"intact" not in verify.stdout:
        fault(f"verify: {verify.returncode} {verify.stdout.decode()}")
    for group in stale_groups():
        fault(f"control group left: {group}")
    for p in after[2] if len(after[2]) > len(before[2]) else ():
        with open(f"/proc/{p}/cmdline") as f:
            fault(f"process left: {p} {f.read()}")
    if mounts() != mounted:
        fault(f"mounts left: {set(mounts()) - set(mounted)}")
    if after[0] != before[0]:
        fault(f"files in /tmp: {after[0][:5]}")
    if after[3] > before[3]:
        fault(f"own descriptors: {before[3]} before, {after[3]} after")
    if journals() > 1 << 20:
        fault(f"journals hold {journals()} bytes after all were pruned")
    print("#", ", ".join(f"{v} {k}" for k, v in sorted(tally.items())))
    print(f"# {time.time() - begin:.0f} s, journals: {journals()} bytes,"
          f" state base: {after[1]} files")
    print("1..1")
    print(("not ok" if bad else "ok"), f"1 - {N} commands of agents, {len(bad)} faults")
    return 1 if bad else 0


sys.exit(main())
