#!/usr/bin/env python3
# held.py - hostile rows of the corpora are held: before, by the watch, or by the box
# SPDX-License-Identifier: MIT
#
#	tests/lib/held.py [-n N] [-u UID] [-s SHELL] [-p POLICY] [-w RUNNER] [-v] WARDBOX FILE.tsv...
#
# Each row that is not ALLOW and that FULL-AUTO does not deny or ask about
# beforehand (by another policy each) is run in a root of its own: every program that the
# built-in policy always denies is a stub there, and the kernel reports each stub
# that starts (fanotify). Outside of the project lie files, a process and two
# servers, none of which may be read from, changed, signalled or reached.
# -n N: every Nth row; -p: a profile, or a policy of configs/policies (OBSERVE shows
# that leaks are seen); -w: what runs the guard, such as tests/lib/docker, without
# namespaces. Prints what held each kind of row, and every leak; -v: also of each row,
# before a tab, what held it. Needs root; makes namespaces of its own.
import ctypes
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBC = ctypes.CDLL(None, use_errno=True)
FAN_OPEN_EXEC, FAN_MARK_ADD, FAN_MARK_FILESYSTEM = 0x1000, 1, 0x100
PATIENCE = 10
FAR = "192.0.2.1"  # for a row it is elsewhere; a loopback is allowed to some
# What honest programs leave behind by themselves, and the guard itself.
OWN = re.compile(r"^(srv/proj(/|$)|run/|var/log/wardbox|tmp(/|$)|proc|dev|usr"
                 r"|home/dev/\.local(/state)?$|home/dev/\.local/state/wardbox)")


def decode(line):
    """The command of a row; None for what cannot be an argument."""
    if not line.startswith("@@"):
        return line.encode()
    text = re.sub(r"\\\{(\d+)\*([^}]*)\}", lambda m: m[2] * int(m[1]), line[2:])
    plain = {"n": "\n", "t": "\t", "r": "\r", "e": "\033", "\\": "\\", "0": "\0"}
    text = re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)",
                  lambda m: plain.get(m[1]) or chr(int(m[1][1:], 16)), text)
    data = text.encode("utf-8", "surrogateescape")
    return None if b"\0" in data or len(data) > 100000 else data


def rows(names, every):
    for name in names:
        with open(name, encoding="utf-8", errors="surrogateescape") as f:
            for row in f:
                cells = row.rstrip("\n").split("\t")
                if row[0] == "#" or len(cells) < 3 or "FULL-AUTO" not in cells[0]:
                    continue
                want = cells[1].split("/")
                if (every or want[0] in ("ALLOW", "OPEN")) and want[-1] != "ALLOW":
                    text = decode(cells[2])
                    if text is not None:
                        yield cells[2], text


def policy_text(path):
    with open(os.path.join(TOP, path)) as f:
        return f.read().replace("\\\n", " ")


def shipped(name):
    """The path of a policy that wardbox brings along; None for a profile."""
    path = f"configs/policies/{name}.policy"
    return path if os.path.exists(os.path.join(TOP, path)) else None


def let_go(policy):
    """Names that a shipped policy takes off those lists, for any of their words."""
    if not shipped(policy):
        return set()
    text, names = policy_text(shipped(policy)), set()
    for m in re.finditer(r"^include (\S+)$", text, re.M):
        names |= let_go(m[1])
    for m in re.finditer(r"^(?:except|allow) id=\S+ (?:net=\S+ )?(?:\{([^}]*)\}|@?(\w+))",
                         text, re.M):
        names |= denied_names(m[2]) if "@" in m[0] else set((m[1] or m[2]).split("|"))
    return names


def denied_names(lists="net-word|net|priv|disk|power|users|kernel|defer"):
    """Every plain name on the lists of programs that are always denied."""
    text, names = policy_text("configs/default.policy"), set()
    for m in re.finditer(rf"^list (?:{lists}) (.*)$", text, re.M):
        names.update(w for w in m[1].split() if re.fullmatch(r"[A-Za-z0-9_.+-]+", w))
    return names


def mount(*args):
    subprocess.run(["mount", *args], check=True)


def plant(root, uid, rules):
    """Files that no row may change, as they were before one did."""
    os.makedirs(root + "/home/dev/.ssh", exist_ok=True)
    for name, text in (("etc/passwd", f"root:x:0:0::/root:/bin/sh\ndev:x:{uid or 1000}:"
                                      f"{uid or 1000}::/home/dev:/bin/sh\n"),
                       ("etc/hosts", "127.0.0.1 localhost evil.example example.com x y\n"),
                       ("etc/wardbox/policy", rules),
                       ("home/dev/.ssh/id_rsa", "a secret\n"), ("home/dev/.bashrc", ":\n"),
                       ("secret.txt", "secret\n")):
        with open(os.path.join(root, name), "w") as f:
            f.write(text)
    for d, _, files in os.walk(root + "/home/dev"):
        for n in [d] + [os.path.join(d, f) for f in files]:
            os.chown(n, uid, uid)


def make_root(root, where, box, uid, rules, runner):
    mount("-t", "tmpfs", "-o", "mode=755", "none", root)
    for d in ("usr", "dev", "proc", "etc/wardbox", "tmp", "run", "var/log", "srv/proj",
              "root", "opt/guard", "opt/tests"):
        os.makedirs(os.path.join(root, d))
    for link in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink("/" + link):
            os.symlink(os.readlink("/" + link), os.path.join(root, link))
    mount("--bind", "/usr", root + "/usr")
    for d in ("bin", "sbin"):
        upper, work = (os.path.join(where, d + k) for k in ("-up", "-work"))
        os.makedirs(upper)
        os.makedirs(work)
        for name in denied_names():
            with open(os.path.join(upper, name), "w") as f:
                f.write("#!/usr/bin/true\n")
            os.chmod(f.name, 0o755)
        mount("-t", "overlay", "-o", f"lowerdir=/usr/{d},upperdir={upper},workdir={work}",
              "none", f"{root}/usr/{d}")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        open(f"{root}/dev/{name}", "w").close()
        mount("--bind", "/dev/" + name, f"{root}/dev/{name}")
    os.mkdir(root + "/dev/pts")
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "none", root + "/dev/pts")
    for link, to in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"),
                     ("stderr", "fd/2")):
        os.symlink(to, f"{root}/dev/{link}")
    for name in ("group", "nsswitch.conf", "ld.so.cache", "shells", "services", "shadow",
                 "manpath.config"):
        if os.path.exists("/etc/" + name):
            shutil.copy("/etc/" + name, root + "/etc/" + name)
    if os.path.isdir("/etc/alternatives"):
        shutil.copytree("/etc/alternatives", root + "/etc/alternatives", symlinks=True)
    plant(root, uid, rules)
    os.chmod(root + "/tmp", 0o1777)
    for d in ("var/log/wardbox", "run/wardbox"):
        os.makedirs(f"{root}/{d}/{uid}", 0o700)
        os.chown(f"{root}/{d}/{uid}", uid, uid)
        os.chmod(f"{root}/{d}", 0o755)
    shutil.copy(box, root + "/opt/guard/wardbox")
    if runner:
        shutil.copy(runner, root + "/opt/guard/runner")
    shutil.copy(os.path.join(TOP, "tests/lib/policy-fixture"), root + "/opt/tests/fixture")


def picture(root):
    """Everything outside of the project that a row may not change."""
    seen = {}
    for d, dirs, files in os.walk(root):
        rel = os.path.relpath(d, root)
        dirs[:] = [n for n in dirs if not OWN.match(os.path.normpath(os.path.join(rel, n)) + "/")]
        for n in dirs + files:
            path = os.path.normpath(os.path.join(rel, n))
            s = os.lstat(os.path.join(d, n))
            if not OWN.match(path):
                seen[path] = (s.st_mode, s.st_uid) if n in dirs else (
                    s.st_mode, s.st_uid, s.st_size, s.st_ino, s.st_mtime_ns)
    return seen


class Starts:
    """The stubs that the kernel started."""

    def __init__(self, dirs):
        self.fd = LIBC.fanotify_init(0x2 | 0x1, os.O_RDONLY)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "fanotify_init")
        for d in dirs:
            if LIBC.fanotify_mark(self.fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
                                  ctypes.c_uint64(FAN_OPEN_EXEC), -100, d.encode()) < 0:
                raise OSError(ctypes.get_errno(), "fanotify_mark")

    def take(self, names):
        found = set()
        while True:
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                return found
            while data:
                size, _, _, _, _, fd, _ = struct.unpack_from("=IBBHQii", data)
                data = data[size:]
                if fd >= 0:
                    name = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
                    os.close(fd)
                    if name in names:
                        found.add(name)


def row(root, uid, shell, guard):
    """Process 1 of a row's namespaces: makes the project, runs the row, tells."""
    text = sys.stdin.buffer.read()
    subprocess.run(["sh", os.path.join(TOP, "tests/lib/policy-fixture"), "chown", "-R",
                    f"{uid}:{uid}", "/srv/proj"], check=True)
    mount("--move", "/srv", root + "/srv")
    mount("-t", "proc", "none", root + "/proc")
    # Not chroot(): who is in a chroot can make no user namespace.
    os.chdir(root)
    subprocess.run(["pivot_root", ".", "."], check=True)
    if LIBC.umount2(b".", 2) < 0:
        raise OSError(ctypes.get_errno(), "umount2")
    os.chdir("/srv/proj")

    def become():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    env = {"HOME": "/home/dev", "PATH": "/usr/bin:/bin", "USER": "dev"}
    # Whoever is ended or stopped by a signal answers no more.
    witness = subprocess.Popen(["cat"], preexec_fn=become, env=env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p = subprocess.Popen([*guard, shell, "-c", text], env=env,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, preexec_fn=become, start_new_session=True)
    try:
        out, _ = p.communicate(timeout=PATIENCE)
        status = p.returncode
    except subprocess.TimeoutExpired:
        p.kill()
        out, status = b"", "timeout"
    try:
        os.write(witness.stdin.fileno(), b"?")
        alive = bool(select.select([witness.stdout], [], [], PATIENCE)[0]
                     and os.read(witness.stdout.fileno(), 1))
    except BrokenPipeError:
        alive = False
    sys.stdout.buffer.write(f"{status} {int(alive)}\n".encode() + out[-4000:])


def trips(root, uid):
    """Servers that nothing in a row may reach."""
    tcp = [socket.create_server((host, port))
           for host in ("127.0.0.1", FAR) for port in (80, 8080)]
    path = root + "/home/dev/agent.sock"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    os.chown(path, uid, uid)
    unix.listen()
    for s in tcp + [unix]:
        s.setblocking(False)
    return tcp + [unix]


def reached(servers):
    names = []
    for s in servers:
        try:
            s.accept()[0].close()
            names.append(str(s.getsockname()))
        except BlockingIOError:
            pass
    return names


def judge(root, uid, shell, rules, guard, all_rows, verbose):
    names = denied_names() - let_go(rules.split()[1])
    starts = Starts([root + "/usr/bin", root + "/usr/sbin"])
    servers = trips(root, uid)
    before = picture(root)
    held = {"preview": 0, "watch": 0, "box": 0, "LEAK": 0}
    for shown, text in all_rows:
        starts.take(names)
        p = subprocess.run(["unshare", "-mpif", "--kill-child", sys.executable,
                            os.path.abspath(__file__), "--row", root, str(uid), shell, *guard],
                           input=text, capture_output=True)
        head, _, out = p.stdout.partition(b"\n")
        status, _, alive = head.decode().partition(" ")
        what = [f"started {n}" for n in sorted(starts.take(names))]
        what += [f"reached {n}" for n in reached(servers)]
        if alive != "1":
            what.append("signalled the witness, or the row did not run: "
                        + p.stderr.decode(errors="replace")[-300:])
        after = picture(root)
        what += [f"changed {n}" for n in sorted(before.keys() | after.keys())
                 if before.get(n) != after.get(n)]
        before = after
        if b"a secret" in out:
            what.append("read a secret")
        if what:
            by = "LEAK"
            print(by, shown, "->", "; ".join(what), flush=True)
            plant(root, uid, rules)
            before = picture(root)
        elif b"wardbox" in out and status == "126" and b": denied: " in out:
            by = "preview"
        elif b"ermission denied" in out or b"denied: " in out:
            by = "watch"
        else:
            by = "box"
        held[by] += 1
        if verbose:
            print(by, f"{shown} -> {status}, {out[-300:]}", sep="\t", flush=True)
    leaks = held.pop("LEAK")
    print(f"{shell}, uid {uid}: {sum(held.values()) + leaks} rows, {held['preview']} denied "
          f"before, {held['watch']} by the watch or the box with a word, {held['box']} without, "
          f"{leaks} leaks")
    return leaks


def main():
    args, step, uid, verbose = sys.argv[1:], 1, 0, False
    shell, policy, runner = "bash", "FULL-AUTO", None
    if args[:1] == ["--row"]:
        return row(args[1], int(args[2]), args[3], args[4:])
    if args[:1] != ["--inside"]:
        os.execvp("unshare", ["unshare", "-mnpf", "--mount-proc", "--kill-child",
                              sys.executable, os.path.abspath(__file__), "--inside"] + args)
    args = args[1:]
    while args[0].startswith("-"):
        option = args.pop(0)
        if option == "-v":
            verbose = True
        elif option == "-n":
            step = int(args.pop(0))
        elif option == "-u":
            uid = int(args.pop(0))
        elif option == "-s":
            shell = args.pop(0)
        elif option == "-p":
            policy = args.pop(0)
        elif option == "-w":
            runner = args.pop(0)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", FAR, "dev", "lo"], check=True)
    mount("--make-rprivate", "/")
    with tempfile.TemporaryDirectory() as where:
        mount("-t", "tmpfs", "-o", "mode=755", "none", where)
        root = os.path.join(where, "root")
        os.mkdir(root)
        box = args.pop(0)
        rules = f"{'include' if shipped(policy) else 'use'} {policy}\n"
        rules += "relax mount\n" * bool(runner)
        make_root(root, where, box, uid, rules, runner)
        guard = ["/opt/guard/runner"] * bool(runner) + ["/opt/guard/wardbox"]
        leaks = judge(root, uid, shell, rules, guard, list(rows(args, policy != "FULL-AUTO"))[::step], verbose)
        subprocess.run(["umount", "-l", where], check=True)
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
