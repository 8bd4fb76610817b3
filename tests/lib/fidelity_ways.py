# SPDX-License-Identifier: MIT
"""Cases of fidelity.py: pipes and their other ends, callers, their callers."""
import ctypes
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading

PIPE = subprocess.PIPE
NULL = subprocess.DEVNULL
LIMIT = 20
libc = ctypes.CDLL(None)


def start(shell, text, *words, **kw):
    kw.setdefault("stdin", NULL)
    return subprocess.Popen(["sh", "-c", text, *words], executable=shell, **kw)


def drained(fd):
    data = b""
    while part := os.read(fd, 1 << 16):
        data += part
    os.close(fd)
    return data


def fed(fd, *parts):
    for part in parts:
        os.write(fd, part)
    os.close(fd)


# ---- the other ends ---------------------------------------------------------


def no_reader(text, ignored=False):
    """Its reader goes after the first line."""
    def case(shell):
        p = start(shell, text, stdout=PIPE, stderr=PIPE,
                  restore_signals=not ignored)
        p.stdout.readline()
        p.stdout.close()
        return p.stderr.read(), p.wait(LIMIT)
    return case


def one_by_one(shell):
    """A reader of few bytes at a time, of a pipe of one page."""
    r, w = os.pipe()
    fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
    p = start(shell, "seq 3000; echo end >&2; exit 3", stdout=w, stderr=PIPE)
    os.close(w)
    data = b""
    while part := os.read(r, 7):
        data += part
    os.close(r)
    return data, p.stderr.read(), p.wait(LIMIT)


def unblocked(which):
    """The caller's end does not block: it still does not afterwards, and the
    command has lost nothing by it that it would not have lost."""
    def case(shell):
        r, w = os.pipe()
        end = w if which == "stdout" else r
        os.set_blocking(end, False)
        if which == "stdout":
            p = start(shell, "i=0; while [ $i -lt 90 ]; do echo $i; i=$((i+1)); done",
                      stdout=w)
        else:
            os.write(w, b"one\ntwo\n")
            p = start(shell, "read a; echo $a", stdin=r, stdout=NULL)
        code = p.wait(LIMIT)
        left = os.get_blocking(end)
        os.close(w)
        return code, left, drained(r)
    return case


def set_unblocking(shell):
    """What a command does to a description that others have is seen by them
    only where it is theirs: its input."""
    with open("in", "wb") as f:
        f.write(b"a\n")
    fd = os.open("in", os.O_RDONLY)
    p = start(shell, 'exec python3 -c "import os; os.set_blocking(0, False); '
              'os.lseek(0, 1, 0)"', stdin=fd)
    code = p.wait(LIMIT)
    got = os.get_blocking(fd), os.lseek(fd, 0, os.SEEK_CUR)
    os.close(fd)
    return code, got


def closes(number, text):
    """The command lets go of a descriptor and lives on: the other end sees it."""
    def case(shell):
        r, w = os.pipe()
        if number:
            os.dup2(w, number)
        p = subprocess.Popen(["sh", "-c", text], executable=shell,
                             stdin=PIPE if number else r, stdout=PIPE,
                             pass_fds=[number] if number else [])
        if number:
            os.close(number)
            os.close(w)
            got = drained(r)
        else:
            os.close(r)
            got = p.stdout.readline()
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            # Until whoever else has it lets go of it, too.
            try:
                while True:
                    os.write(w, b"x" * 512)
            except BrokenPipeError:
                got += b"broken"
            os.close(w)
            p.kill()
            return got, p.wait(LIMIT)
        alive = p.poll() is None
        p.communicate(b"\n", timeout=LIMIT)
        return got, alive, p.returncode
    return case


def let_go_lock(shell):
    """A lock ends with the last who has the descriptor."""
    fd = os.open("lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    p = subprocess.Popen(["sh", "-c", f"exec {fd}>&-; echo go; read x"],
                         executable=shell, stdin=PIPE, stdout=PIPE, pass_fds=[fd])
    os.close(fd)
    p.stdout.readline()
    again = os.open("lock", os.O_RDWR)
    fcntl.flock(again, fcntl.LOCK_EX)
    alive = p.poll() is None
    p.communicate(b"\n", timeout=LIMIT)
    return alive, p.returncode


def high(number):
    """A descriptor of that number is the command's."""
    def case(shell):
        r, w = os.pipe()
        os.dup2(w, number)
        os.close(w)
        p = start(shell, f"echo by name >/dev/fd/{number}; exec python3 -c "
                  f"'import os; os.write({number}, b\"and so\")'", pass_fds=[number])
        os.close(number)
        return drained(r), p.wait(LIMIT)
    return case


def many_descriptors(shell):
    """A hundred pipes are handed down, in order."""
    ends = [os.pipe() for _ in range(100)]
    p = start(shell, "exec python3 -c 'import os, sys; [os.write(int(a), b\"%s\\n\" % "
              "a.encode()) for a in sys.argv[1:]]' \"$@\"", "n",
              *[str(w) for _, w in ends], pass_fds=[w for _, w in ends])
    for _, w in ends:
        os.close(w)
    got = [drained(r) == b"%d\n" % w for r, w in ends]
    return got.count(True), p.wait(LIMIT)


def inetd(kind):
    """All three are one connection."""
    def case(shell):
        if kind == "tcp":
            s = socket.create_server(("127.0.0.1", 0))
            ours = socket.create_connection(s.getsockname())
            theirs = s.accept()[0]
            s.close()
        else:
            ours, theirs = socket.socketpair(type=kind)
        p = subprocess.Popen(
            ["sh", "-c", 'read a; echo "got $a"; echo err >&2; read b; echo "then $b"; '
             "cat; exit 5"], executable=shell, stdin=theirs, stdout=theirs, stderr=theirs)
        theirs.close()
        ours.sendall(b"one\ntwo\nthe rest\n")
        ours.shutdown(socket.SHUT_WR)
        data = b""
        while part := ours.recv(9999):
            data += part
        return data, p.wait(LIMIT)
    return case


def socket_out(kind):
    """stdout is a socket of another kind than a stream."""
    def case(shell):
        ours, theirs = socket.socketpair(type=kind)
        p = start(shell, "echo one; echo two", stdout=theirs)
        theirs.close()
        code = p.wait(LIMIT)
        ours.setblocking(False)
        return code, ours.recv(99), ours.recv(99)
    return case


def whole_lines(shell):
    """Two writers of one pipe, one of them the caller: a write stays whole."""
    r, w = os.pipe()
    p = start(shell, "i=0; while [ $i -lt 500 ]; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;"
              " i=$((i+1)); done", stdout=w)
    got = []
    t = threading.Thread(target=lambda: got.append(drained(r)))
    t.start()
    for _ in range(500):
        os.write(w, b"b" * 34 + b"\n")
    os.close(w)
    t.join()
    return p.wait(LIMIT), sorted(set(got[0].split(b"\n"))), len(got[0])


def appended(shell):
    """Several at once append to a log; nothing is written over."""
    with open("log", "ab") as f:
        ps = [start(shell, f"i=0; while [ $i -lt 300 ]; do echo {n}; i=$((i+1)); done",
                    stdout=f, stderr=f) for n in range(4)]
    codes = [p.wait(LIMIT) for p in ps]
    with open("log", "rb") as f:
        seen = f.read().split()
    os.unlink("log")
    return codes, sorted((n, seen.count(n)) for n in set(seen))


def middle(shell):
    """Where a file's offset stood it is written to, and moves on."""
    with open("f", "wb") as f:
        f.write(b"0123456789" * 3)
    fd = os.open("f", os.O_RDWR)
    os.lseek(fd, 10, os.SEEK_SET)
    p = start(shell, "printf AB; printf C >&2; head -c 2", stdin=fd, stdout=fd, stderr=fd)
    code = p.wait(LIMIT)
    at = os.lseek(fd, 0, os.SEEK_CUR)
    os.close(fd)
    return code, at


def fifo_out(shell):
    """Opened by name: the reader sees the end of the last writer."""
    os.mkfifo("p")
    p = start("/bin/sh", 'exec "$0" -c "echo a; exec >&-; read x" >p', shell,
              stdin=PIPE)
    data = drained(os.open("p", os.O_RDONLY))
    alive = p.poll() is None
    p.communicate(b"\n", timeout=LIMIT)
    os.unlink("p")
    return data, alive, p.returncode


def by_name(shell):
    """What it is given it may open by name, too, wherever that lies."""
    got = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as far:
        for flags in os.O_TRUNC, os.O_APPEND:
            with open(far + "/in", "wb") as f:
                f.write(b"in\n")
            fds = [os.open(far + "/in", os.O_RDONLY)]
            fds += [os.open(f"{far}/{n}", os.O_WRONLY | os.O_CREAT | flags) for n in (1, 2)]
            p = start(shell, "cat /dev/stdin; echo out >/dev/stdout; echo err >>/dev/stderr; "
                      "exit 4", stdin=fds[0], stdout=fds[1],
                      stderr=fds[2])
            got.append(p.wait(LIMIT))
            for fd in fds:
                os.close(fd)
            for n in ("in", 1, 2):
                with open(f"{far}/{n}", "rb") as f:
                    got.append(f.read())
    return got


def queue_left(shell):
    """What its child did not read of the caller's pipe is there for the next."""
    r, w = os.pipe()
    fed(w, b"x" * 5000 + b"\nsecond\n")
    first = start(shell, "exec head -c 5001", stdin=r, stdout=PIPE)
    n = len(first.communicate(timeout=LIMIT)[0])
    second = start(shell, "cat", stdin=r, stdout=PIPE)
    os.close(r)
    return n, second.communicate(timeout=LIMIT)[0]


# ---- callers ------------------------------------------------------------------


def of_python(shell):
    """subprocess, as people use it."""
    got = []
    run = subprocess.run

    def call(text, **kw):
        try:
            p = run(text, shell=True, executable=shell, timeout=LIMIT, **kw)
            got.append((p.returncode, p.stdout, p.stderr))
        except subprocess.SubprocessError as e:
            got.append((type(e).__name__, getattr(e, "stdout", 0)))
    call("echo a; echo b >&2", capture_output=True)
    call("echo a; echo b >&2", stdout=PIPE, stderr=subprocess.STDOUT)
    call("exit 3", check=True)
    call("cat", input=b"x" * 200000, stdout=PIPE)
    call("kill -TERM $$")
    call("echo $A", env={"A": "1"}, stdout=PIPE)
    call("pwd", cwd="/", stdout=PIPE)
    call("umask", umask=0o77, stdout=PIPE)
    call("exec 2>&1; ls /nonexistent; exit 4", stdout=PIPE, text=True)
    call("head -n 1", input=b"line\n" * 50000, stdout=PIPE)
    call("ps -o pgid= -p $$ | tr -d ' ' >g; read a <g; rm g; [ $a != $$ ]; :",
         process_group=0) if sys.version_info >= (3, 11) else None
    try:
        run("echo early; exec sleep 60", shell=True, executable=shell, timeout=1,
            stdout=PIPE)
    except subprocess.TimeoutExpired as e:
        got.append(e.stdout)
    for act in ("terminate", "kill"):
        p = subprocess.Popen("echo go; exec sleep 60", shell=True, executable=shell,
                             stdout=PIPE)
        p.stdout.readline()
        getattr(p, act)()
        got.append(p.wait(LIMIT))
        p.stdout.close()
    p = subprocess.Popen("echo go; sleep 60 & wait", shell=True, executable=shell,
                         stdout=PIPE, start_new_session=True)
    p.stdout.readline()
    os.killpg(p.pid, signal.SIGTERM)
    got.append((p.stdout.read(), p.wait(LIMIT)))
    return got


def conversation(shell):
    """Line by line, both ways, as with a language server."""
    p = subprocess.Popen(["sh", "-c", 'while read x; do echo "$x$x"; done; exit 6'],
                         executable=shell, stdin=PIPE, stdout=PIPE)
    got = []
    for i in range(200):
        p.stdin.write(b"%d\n" % i)
        p.stdin.flush()
        got.append(p.stdout.readline())
    p.stdin.close()
    return got, p.stdout.read(), p.wait(LIMIT)


def by_spawn(shell):
    """posix_spawn with its attributes, and vfork's callers."""
    r, w = os.pipe()
    pid = os.posix_spawn(
        shell, ["sh", "-c", "echo out; grep SigBlk /proc/self/status; echo err >&2"],
        {"PATH": os.environ["PATH"]},
        file_actions=[(os.POSIX_SPAWN_DUP2, w, 1), (os.POSIX_SPAWN_DUP2, w, 2)],
        setsigmask=[signal.SIGUSR1], setsigdef=[signal.SIGPIPE], setpgroup=0)
    os.close(w)
    got = drained(r)
    return got, os.waitpid(pid, 0)[1]


def waited(shell):
    """What wait tells of it: stopped, ended; its times."""
    p = start(shell, "echo go; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; "
              "kill -STOP $$; exit 7", stdout=PIPE)
    p.stdout.readline()
    status = os.waitpid(p.pid, os.WUNTRACED)[1]
    stopped = os.WIFSTOPPED(status) and os.WSTOPSIG(status)
    os.kill(p.pid, signal.SIGCONT)
    _, status, used = os.wait4(p.pid, 0)
    return stopped, status, used.ru_utime + used.ru_stime > 0


def dumped(shell):
    """A core is told of, and made once."""
    p = start(shell, "kill -SEGV $$", stdout=NULL, stderr=NULL, preexec_fn=lambda:
              resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    return os.waitpid(p.pid, 0)[1]


def queued(shell):
    """Signals with a value, of real time, each of them, in order."""
    p = start(shell, "exec python3 -c 'import signal as s; both = {36, 37}; "
              "s.pthread_sigmask(s.SIG_BLOCK, both); print(\"go\", flush=True); "
              "print(sorted(s.sigwaitinfo(both).si_signo for _ in range(6)))'", stdout=PIPE)
    p.stdout.readline()
    for i in range(6):
        libc.sigqueue(p.pid, 36 + i % 2, ctypes.c_void_p(i))
    out = p.communicate(timeout=LIMIT)[0]
    return out, p.returncode


def ignored(number):
    """Who started us ignores it: so does the command, whoever sends it."""
    def case(shell):
        p = start(shell, "echo go; read x; echo on; exit 3", stdin=PIPE, stdout=PIPE,
                  preexec_fn=lambda: signal.signal(number, signal.SIG_IGN) and None,
                  restore_signals=False)
        p.stdout.readline()
        os.kill(p.pid, number)
        os.kill(p.pid, number)
        return p.communicate(b"\n", timeout=LIMIT)[0], p.returncode
    return case


def blocked(shell):
    """A signal that the caller blocked waits until it is let through."""
    p = start(shell, "echo go; read x; exec python3 -c \"import signal as s; "
              "print(s.SIGUSR1 in s.sigpending(), flush=True); "
              "s.pthread_sigmask(s.SIG_UNBLOCK, [s.SIGUSR1])\"", stdin=PIPE, stdout=PIPE,
              preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
              and None)
    p.stdout.readline()
    os.kill(p.pid, signal.SIGUSR1)
    # What passes one signal on reads them in order.
    os.kill(p.pid, signal.SIGWINCH)
    out = p.communicate(b"\n", timeout=LIMIT)[0]
    return out, p.returncode


def childless(shell):
    """Who ignores SIGCHLD gets no status of it, and no zombie."""
    def inner():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        p = os.posix_spawn(shell, ["sh", "-c", ": | :; (exit 3); echo $?; exit 4"],
                           os.environ)
        try:
            os.waitpid(p, 0)
        except ChildProcessError:
            os.write(1, b"none\n")
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        inner()
        os._exit(0)
    os.close(w)
    got = drained(r)
    os.waitpid(pid, 0)
    return got


def signalled_then_closed(shell):
    """A signal, and then its reader goes: it ends by the signal."""
    got = set()
    for _ in range(20):
        p = start(shell, "exec yes", stdout=PIPE)
        p.stdout.read(1000)
        p.terminate()
        p.stdout.close()
        got.add(p.wait(LIMIT))
    return got


def signals_at_start(shell):
    """TERM comes as soon as it was started: it ends by it."""
    got = set()
    for _ in range(20):
        p = start(shell, "sleep 60", stdout=NULL, stderr=NULL)
        p.terminate()
        got.add(p.wait(LIMIT))
    return got


def ends_at_once(shell):
    """Fifty at once, each with its own code."""
    ps = [start(shell, f"exit {n}") for n in range(50)]
    return [p.wait(LIMIT) for p in ps]


def left_running(shell):
    """What it leaves behind outlives it, with its output, and its caller."""
    r, w = os.pipe()
    os.mkfifo("p")
    p = start(shell, "(trap '' HUP; read x <p; echo late $x) & echo now", stdout=w,
              start_new_session=True)
    os.close(w)
    code = p.wait(LIMIT)
    with open("p", "w") as f:
        f.write("call\n")
    got = drained(r)
    os.unlink("p")
    return code, got


def cases(f, confined):
    both = f.both

    both("SIGPIPE at the second line", no_reader("echo a; exec yes"))
    both("a shell's own write to nobody", no_reader(
        "trap 'echo end >&2' EXIT; echo a; while echo b; do :; done"))
    both("EPIPE where SIGPIPE is ignored", no_reader(
        "trap '' PIPE; echo a; while echo b; do :; done 2>/dev/null; echo now >&2; exit 5"))
    both("a reader of seven bytes at a time", one_by_one)
    both("stdout does not block its caller", unblocked("stdout"))
    both("stdin does not block its caller", unblocked("stdin"))
    both("what it does to its input's description", set_unblocking)
    both("closes 9", closes(9, "echo nine >&9; exec 9>&-; read x; exit 3"))
    both("closes stdin", closes(0, "exec <&-; echo closed; exec sleep 60"))
    both("lets go of a lock", let_go_lock)
    for n in (63, 200, 201, 255, 900):
        both(f"descriptor {n}", high(n))
    both("a hundred descriptors", many_descriptors)
    both("inetd", inetd("tcp"))
    both("inetd on a local socket", inetd(socket.SOCK_STREAM))
    both("datagrams", socket_out(socket.SOCK_DGRAM))
    both("packets of a socket", socket_out(socket.SOCK_SEQPACKET))
    both("a caller writes to the same pipe", whole_lines)
    both("four append to one log", appended)
    both("the middle of a file", middle)
    both("a FIFO by name", fifo_out)
    both("its files by name", by_name)
    both("the rest of a pipe is the next one's", queue_left)

    both("python's subprocess", of_python)
    both("a conversation", conversation)
    both("posix_spawn", by_spawn)
    both("what wait tells", waited)
    both("a core that is not", dumped)
    both("signals of real time", queued)
    for name in ("TERM", "USR1", "HUP", "INT", "QUIT", "ALRM"):
        both(f"SIG{name} ignored, and sent", ignored(getattr(signal, "SIG" + name)))
    both("a signal that is blocked", blocked)
    both("SIGCHLD ignored by the caller", childless)
    both("TERM, and no reader", signalled_then_closed)
    both("TERM at once", signals_at_start)
    both("fifty at once", ends_at_once)
    if not confined:
        both("left running", left_running)
