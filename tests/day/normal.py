# normal.py - what two runs of an action may differ in, and where they differ first
# SPDX-License-Identifier: MIT
import hashlib
import os
import re
import stat

# What holds times, so that its content differs from run to run.
DATED = re.compile(r"(\.(pyc|pyz|tar|gz|tgz|xz|bz2|zst|zip|whl|jar|db|sqlite|a)|^index)$")
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# README.md names what is taken out; nothing else may be.
NORMAL = [(re.compile(p, re.M), to) for p, to in (
    # pids
    (r"^(\[\d+\][ +-]*)\d+(?=\r?$)", r"\1PID"),
    (r"\b(pid|PID|[Pp]rocess|LWP)([ =:]+)\d+", r"\1\2PID"),
    (r"(process group \()-?\d+", r"\1PID"),
    (r"(line \d+:|\(node:|^==|/proc/|bash: \[) *\d+\b", r"\1 PID"),
    # times
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z| ?[+-]\d\d:?\d\d)?", "TIME"),
    (r"\b(?:\w{3},? )?(?:\d+ )?" + MONTH + r" +\d+ (?:\d\d:\d\d(?::\d\d)?)?(?: \d{4})?"
     r"(?: [+-]\d{4})?", "TIME"),
    (r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b", "TIME"),
    (r"\b\d+m\d+[.,]\d+s", "TIME"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds?|us|ns|minutes?)\b", "TIME"),
    (r"(duration_ms|elapsed|user|system|real)([ :=]+)[\d.]+", r"\1\2TIME"),
    (r"\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b", "TIME"), (r"(?m)^0\.\d{3}$", "TIME"),
    # temporary names, and the directory that they are in
    (r"(?:/run/wardbox/|/run/user/)[^\s:'\"]*?/tmp[^\s/:'\"]*|(?<![\w.])/tmp(?:/claude)?"
     r"(?![\w.-])", "$TMP"),
    (r"\btmp\.[A-Za-z0-9]{6,12}", "TEMP"), (r"\btmp[a-z0-9_]{8}\b", "TEMP"),
    (r"\bcc[A-Za-z0-9]{6}(?=\.[os]|\b)", "TEMP"), (r"\b(\w+[.-])[A-Za-z0-9]{6,10}\.tmp", r"\1TEMP"),
    # ports
    (r"\b(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)([: ]+)\d{4,5}", r"\1\2PORT"),
    (r"\b(port[ =:]+)\d{4,5}", r"\1PORT"),
)]
# An object's name in git is a hash of times.
HASH = re.compile(r"\b[0-9a-f]{40}\b|\b(?=[a-f]*\d)[0-9a-f]{7,12}\b")


def picture(tops):
    """The files left behind: kind, mode and content of each."""
    seen = {}
    for d, dirs, files in (entry for top in tops for entry in os.walk(top)):
        dirs[:] = [n for n in dirs if not re.search(r"\.git/(.*/)?(objects|logs)$", f"{d}/{n}")]
        for path in (os.path.join(d, n) for n in dirs + files):
            mode, text = os.lstat(path).st_mode, ""
            if stat.S_ISLNK(mode):
                text = os.readlink(path)
            elif stat.S_ISREG(mode) and DATED.search(os.path.basename(path)):
                text = "dated"
            elif stat.S_ISREG(mode):
                with open(path, "rb") as f:
                    data = f.read()
                text = data.decode(errors="replace")
                if b"\0" in data or len(data) > 20000:
                    text = hashlib.sha256(data).hexdigest()[:16]
            seen[path] = f"{mode:o} {text}"
    return seen


def normal(text, git):
    for pattern, to in NORMAL:
        text = pattern.sub(to, text)
    return HASH.sub("HASH", text) if git else text


def first_difference(want, got, git):
    """None where both are the same; else the first thing that differs."""
    if want["code"] != got["code"]:
        said = [n for what in ("err", "out") for n in got[what].splitlines()
                if n not in want[what]]
        told = ([n for n in said if n.startswith("wardbox ")] + said + [""])[0]
        return f"exit {want['code']} became {got['code']}: {told}"
    for what in ("err", "out"):
        a, b = (normal(r[what], git).split("\n") for r in (want, got))
        if a != b:
            n = next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            x, y = ((lines + ["(end)"])[n] for lines in (a, b))
            return f"{what}: {x!r} became {y!r}"
    a, b = ({normal(k, git): normal(v, git or ".git" in k) for k, v in r["files"].items()}
            for r in (want, got))
    for path in sorted(a.keys() | b.keys()):
        x, y = a.get(path, "nothing"), b.get(path, "nothing")
        if x != y:
            return f"file {path}: {x[:80]!r} became {y[:80]!r}"
    return None
