#!/usr/bin/env python3
"""Compare auto-shebang with the shell script it is compatible with.

usage: auto-shebang-diff.py ORIGINAL BINARY [CASES [SEED]]

ORIGINAL is the script of mandersogit/auto-shebang 1.0, which is no part of this
tree; SHELL_UNDER=PATH runs it by another shell than its first line's. Random
trees, scripts, variables and command lines; stdout, stderr and code must be the
same bytes. What the original is known to do wrong is left out (see
tests/cli/auto-shebang.bats).
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

NAMES = ["auto-py", "auto-py", "auto-py", "auto-x.y", "py", "auto-", "a b", ""]
DIRS = ["a", "b", "bin", "tools", "c d", "e:f", "\u00e4", "*", "$HOME", "s"]
SUFFIXES = ["primary", "secondary", "tertiary", "custom", "x"]
BOOLS = ["yes", "no", "yes", "no", "maybe", "", "YES", "1", "yes\x0b", "'yes'"]
ENTRIES = [".", "bin", "tools", "..", "../bin", "./bin", "~", "~/bin", "~x",
           "$V", "${V}", "$V/bin", "${V}x", "$UNSET", "$1", "$$", "$", "${",
           "${}", "${a-b}", "${1a}", "$(id)", "`id`", "$V$W", "~/$V", "/",
           "ROOT/abs", "ROOT/bin", "//", "a", "*", "bin/", "$V:bin", "$_0",
           "c\x0bd", "$E", "${E}", "x$", "${V", "}$V{", "$A_1b", "$Vb"]
VALUES = ["", "bin", ".", "ROOT/abs", "/", "a b", "$W", "..", "tools:bin",
          "x", "`id`", "*", "./bin"]


def entries(r):
    n = r.choice([0, 1, 1, 2, 2, 3, 5])
    return r.choice(["", ":", ""]) + ":".join(
        r.choice(ENTRIES) for _ in range(n)) + r.choice(["", "", ":", "::"])


def suffixes(r):
    n = r.choice([0, 1, 2, 3])
    return r.choice([":", "", "::"]) + ":".join(
        r.choice(SUFFIXES + [""]) for _ in range(n))


def directive(r):
    key = r.choice(["follow-symlinks", "symlink-priority", "probe-dirs",
                    "probe-dirs", "suffixes", "trust-env",
                    "unsafe-expand-probe-dirs", "unsafe-expand-probe-dirs",
                    "unknown", "Probe-Dirs", "probe-dirs ", ""])
    good = r.random() < 0.9
    if key == "probe-dirs":
        value = entries(r)
    elif key == "suffixes":
        value = suffixes(r)
    elif key == "symlink-priority":
        value = r.choice(["real-first", "symlink-first"]) if good else "first"
    elif key == "unsafe-expand-probe-dirs":
        value = "yes" if good else r.choice(BOOLS)
    else:
        value = r.choice(["yes", "no"]) if good else r.choice(BOOLS)
    return (r.choice(["# ", "// ", "", "x", "auto-shebang ", "--"])
            + r.choice(["auto-shebang-"] * 8 + ["auto-shebang", "auto-shebang--"])
            + key + r.choice(["="] * 9 + ["", " =", "=="]) + value
            + r.choice([""] * 6 + [" ", "\t# tail", " auto-shebang-suffixes=x",
                                   "\r", "\r\r", " \r", "\x0c"]))


def script_text(r):
    lines = []
    for _ in range(r.choice([0, 0, 0, 1, 1, 2, 4])):
        lines.append(directive(r))
    for _ in range(r.choice([0, 1, 2, 27, 28, 29, 30])):
        at = r.randrange(len(lines) + 1) if r.random() < 0.3 else 0
        lines.insert(at, r.choice(["", "print(1)", "x" * 100, "\x00\x00",
                                   "auto-\x00shebang-probe-dirs=tools"]))
    if r.random() < 0.5:
        lines.insert(0, "#!/usr/bin/env auto-py")
    text = r.choice(["\n"] * 5 + ["\r\n"]).join(lines)
    return text + r.choice(["\n", "\n", ""])


def put(r, path, root):
    """A thing that may serve as a candidate."""
    kind = r.choice(["link", "link", "link", "link", "link", "plain", "dir", "dangling",
                     "noexec", "self", "sh", "loop", "relative"])
    try:
        if kind == "link":
            os.symlink(root + "/interp", path)
        elif kind == "plain":
            shutil.copy(root + "/interp", path)
        elif kind == "dir":
            os.mkdir(path)
        elif kind == "dangling":
            os.symlink(root + "/nowhere", path)
        elif kind == "noexec":
            with open(path, "w") as f:
                f.write("x")
            os.chmod(path, 0o644)
        elif kind == "self":
            os.symlink(root + "/self", path)
        elif kind == "sh":
            with open(path, "w") as f:
                f.write('echo by-sh "$@"\n')
            os.chmod(path, 0o755)
        elif kind == "loop":
            os.symlink(os.path.basename(path), path)
        else:
            os.symlink("../interp", path)
    except OSError:
        pass


def build(r, root, name):
    with open(root + "/interp", "w") as f:
        f.write('#!/bin/sh\necho "interp $0"\nfor a; do echo "<$a>"; done\n'
                "exit 7\n")
    os.chmod(root + "/interp", 0o755)
    dirs = [root]
    for _ in range(r.randrange(2, 9)):
        d = r.choice(dirs[-3:]) + "/" + r.choice(DIRS)
        os.makedirs(d, exist_ok=True)
        if d not in dirs:
            dirs.append(d)
    for d in ("/abs", "/bin", "/home/bin"):
        if r.random() < 0.5:
            os.makedirs(root + d, exist_ok=True)
            dirs.append(root + d)
    if r.random() < 0.3:
        link = r.choice(dirs) + "/ldir"
        if not os.path.lexists(link):
            os.symlink(r.choice(dirs), link)
            dirs.append(link)
    for _ in range(r.choice([0, 1, 2, 3, 6, 9])):
        where = r.choice(dirs + [root, root])
        if r.random() < 0.5:
            where += "/" + r.choice(["bin", "bin", "bin", "tools", "x"])
            os.makedirs(where, exist_ok=True)
        file = name + r.choice(["", "", "", "-" + r.choice(SUFFIXES)])
        if file:
            put(r, where + "/" + file, root)
    return dirs


def make_script(r, dirs):
    d = r.choice(dirs)
    path = d + "/" + r.choice(["s.py", "s s", "t", "s=1", "\u00fc.py"])
    if os.path.lexists(path):
        return path
    with open(path, "wb") as f:
        f.write(script_text(r).encode())
    kind = r.random()
    if kind < 0.3:
        for i in range(r.choice([1, 1, 2, 3, 39, 40, 41])):
            link = r.choice(dirs) + "/l%d" % i
            if os.path.lexists(link):
                break
            os.symlink(r.choice([path, os.path.relpath(
                path, os.path.realpath(os.path.dirname(link)))]), link)
            path = link
    elif kind < 0.33:
        path = d + "/loop"
        if not os.path.lexists(path):
            os.symlink("loop", path)
    elif kind < 0.36:
        path = d + "/absent"
    elif kind < 0.38:
        path = d + "/no/dir"
    elif kind < 0.40:
        path = d
    elif kind < 0.41:
        path = d + "/"
    return path


def spell(r, path, cwd):
    kind = r.random()
    if kind < 0.4:
        return path
    rel = os.path.relpath(path, cwd)
    if rel.startswith("-"):
        rel = "./" + rel
    if kind < 0.7:
        return rel
    if kind < 0.8:
        return "./" + rel
    if kind < 0.85:
        return path[0] + path[1:].replace("/", "//")
    if kind < 0.9:
        return os.path.dirname(rel) + "/./" + os.path.basename(rel) \
            if "/" in rel else rel
    if kind < 0.92:
        return ""
    if kind < 0.93:
        return path + "/"
    return path


def variables(r, root, dirs):
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    if r.random() < 0.9:
        env["HOME"] = r.choice([root + "/home", root, "", "home", root + "/$V"])
    for v in ("V", "W", "E", "A_1b", "_0"):
        if r.random() < 0.6:
            env[v] = r.choice(VALUES).replace("ROOT", root)
    if r.random() < 0.3:
        env["AUTO_SHEBANG_DEBUG"] = r.choice(["1", "1", "1", "0", "yes", ""])
    if r.random() < 0.1:
        env["AUTO_SHEBANG_PROBE_DIRS"] = entries(r).replace("ROOT", root)
    if r.random() < 0.1:
        env["AUTO_SHEBANG_SUFFIXES"] = suffixes(r)
    for v in ("FOLLOW_SYMLINKS", "UNSAFE_EXPAND_PROBE_DIRS"):
        if r.random() < 0.15:
            env["AUTO_SHEBANG_" + v] = r.choice("111100") if r.random() < 0.9 \
                else r.choice(["yes", "2", "", "01"])
    if r.random() < 0.1:
        env["AUTO_SHEBANG_SYMLINK_PRIORITY"] = r.choice(
            ["real-first", "symlink-first", "", "x"])
    for v in ("OVERRIDE", "FALLBACK"):
        if r.random() < 0.07:
            env["AUTO_SHEBANG_%s_EXE" % v] = r.choice(
                [root + "/interp", root + "/nope", root, dirs[-1],
                 root + "/./interp", root + "/interp/x", ""])
    return env


def command(r, side, name, script):
    tool = side + "/auto-shebang"
    kind = r.random()
    if kind < 0.25 and name.startswith("auto-") and "/" not in name:
        return [side + "/" + name, script] + r.choice(
            [[], ["x"], ["--help", "a b"], ["", "--", "-n"]])
    debug = r.choice([[]] * 5 + [["--debug"], ["--debug", "--debug"]])
    if kind < 0.97:
        verb = r.choice(["--resolve", "--resolve", "--check"])
        return [tool] + debug + [verb, name, script] + r.choice(
            [[], [], ["extra", "--debug"]])
    return [tool] + debug + r.choice(
        [["--resolve"], ["--check", "x"], ["--bogus"], ["word"], ["-x"],
         ["--version"], ["--resolve", "--debug", script], ["--check", "", ""]])


def run(argv, env, cwd):
    p = subprocess.run(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=60)
    return p.returncode, p.stdout, p.stderr


def one(seed, sides):
    r = random.Random(seed)
    root = tempfile.mkdtemp(prefix="asd")
    try:
        name = r.choice(NAMES)
        dirs = build(r, root, name)
        script = make_script(r, dirs)
        with_root = []
        for d, _, files in os.walk(root):
            with_root += [os.path.join(d, f) for f in files]
        for f in with_root:
            if not os.path.islink(f) and os.path.isfile(f):
                with open(f, "rb") as h:
                    data = h.read()
                if b"ROOT" in data:
                    with open(f, "wb") as h:
                        h.write(data.replace(b"ROOT", root.encode()))
        cwd = r.choice(dirs)
        if os.geteuid() != 0 and r.random() < 0.5:
            for path in r.sample(dirs[1:] + with_root, k=min(
                    2, len(dirs) - 1)):
                mode = r.choice([0, 0o600, 0o300, 0o100, 0o500])
                if os.path.exists(path) and not os.path.islink(path):
                    os.chmod(path, mode)
            if not os.access(cwd, os.X_OK):
                cwd = root
        env = variables(r, root, dirs)
        script = spell(r, script, os.path.realpath(cwd))
        state = r.getstate()
        got = []
        for side in sides:
            self = root + "/self"
            if os.path.lexists(self):
                os.unlink(self)
            os.symlink(side + "/auto-shebang", self)
            for n in set(NAMES):
                if n and not os.path.lexists(side + "/" + n):
                    os.symlink("auto-shebang", side + "/" + n)
            r.setstate(state)
            argv = command(r, side, name, script)
            code, out, err = run(argv, env, cwd)
            got.append((code, out.replace(side.encode(), b"SIDE"),
                        err.replace(side.encode(), b"SIDE")))
        if got[0] == got[1]:
            return True, got[0]
        print("seed %d cwd %r\n  argv %r\n  env %r" % (seed, cwd, argv, env))
        for label, g in zip(("original", "binary"), got):
            print("  %s: code %d\n    out %r\n    err %s" % (
                label, g[0], g[1], g[2].decode(errors="replace")))
        return False, got[0]
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", root], check=False,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", root], check=False)


def main():
    original, binary = map(os.path.abspath, sys.argv[1:3])
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    top = tempfile.mkdtemp(prefix="asd-sides")
    sides = [top + "/one", top + "/two"]
    for side in sides:
        os.mkdir(side)
    shell = os.environ.get("SHELL_UNDER")
    text = open(original, "rb").read()
    if shell:
        text = b"#!" + shell.encode() + text[text.index(b"\n"):]
    with open(sides[0] + "/auto-shebang", "wb") as f:
        f.write(text)
    os.chmod(sides[0] + "/auto-shebang", 0o755)
    shutil.copy(binary, sides[1] + "/auto-shebang")
    codes = {}
    bad = 0
    for i in range(seed, seed + cases):
        same, result = one(i, sides)
        codes[result[0]] = codes.get(result[0], 0) + 1
        bad += not same
        if bad >= 10:
            break
    shutil.rmtree(top)
    print("%d cases, %d differ; codes %s" % (i - seed + 1, bad,
                                             sorted(codes.items())))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
