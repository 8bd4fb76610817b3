#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs each case through the real shell and through the shim, and compares
stdout, stderr, how it ended, and what is left behind.

    fidelity.py GROUP REAL SHIM [confined]

REAL and SHIM are executables; argv[0] is the same for both. Prints what
differs; exits 1 when anything does.
"""
import fcntl
import hashlib
import os
import pickle
import pty
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

GROUP, REAL, SHIM = sys.argv[1:4]
CONFINED = sys.argv[4:] == ["confined"]
LIMIT = 20
PIPE = subprocess.PIPE
AT_ONCE = 4  # they mostly wait
groups = {}
pending = []
failed = ran = 0


def group(f):
    groups[f.__name__] = f
    return f


def left_behind(top):
    found = []
    for where, _, files in os.walk(top):
        for name in sorted(files):
            path = os.path.join(where, name)
            st = os.lstat(path)
            with open(path, "rb") as f:
                found.append((os.path.relpath(path, top), st.st_mode, f.read()))
    return sorted(found)


def alone(top, case, shell, args, kw):
    """In a fork, so that both shells are tried at once."""
    r, low = os.pipe()
    w = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(low)
    pid = os.fork()
    if pid == 0:
        os.close(r)
        for other in pending:
            for _, theirs in other[2]:
                os.close(theirs)
        os.chdir(top)
        ended = threading.Timer(2 * LIMIT, os._exit, [1])
        ended.daemon = True
        ended.start()
        try:
            got = case(shell, *args, **kw)
        except subprocess.TimeoutExpired:
            got = "timed out"
        except Exception as e:  # pylint: disable=broad-except
            got = repr(e)
        with os.fdopen(w, "wb") as f:
            f.write(pickle.dumps(got))
        os._exit(0)
    os.close(w)
    return pid, r


def both(name, case, *args, **kw):
    """case(shell, ...) in a directory of its own, for each of the two; their
    results are compared when AT_ONCE others have begun, or at the end."""
    if CONFINED and name in DENIED:
        return
    tops = [tempfile.mkdtemp(dir=os.getcwd()) for _ in (REAL, SHIM)]
    jobs = []
    pending.append((name, tops, jobs))
    for top, shell in zip(tops, (REAL, SHIM)):
        jobs.append(alone(top, case, shell, args, kw))
    if len(pending) >= AT_ONCE:
        compare(*pending.pop(0))


def compare(name, tops, jobs):
    global failed, ran
    seen = []
    for top, (pid, r) in zip(tops, jobs):
        with os.fdopen(r, "rb") as f:
            got = f.read()
        os.waitpid(pid, 0)
        got = pickle.loads(got) if got else "died"
        files = left_behind(top)
        shutil.rmtree(top, ignore_errors=True)
        seen.append((scrub(got, top), scrub(files, top)))
    ran += 1
    if seen[0] != seen[1]:
        failed += 1
        real, shim = (repr(s)[:2000] for s in seen)
        print(f"differs: {name}\n  real: {real}\n  shim: {shim}")


def scrub(x, top):
    if isinstance(x, bytes):
        for name in (SHIM, REAL, top):
            x = x.replace(name.encode(), b"...")
        # sh.1 lists the line of what was left behind.
        x = re.sub(rb"wardbox \w+: ended with the command that left (it|them) running: .*\n"
                   rb"  'wardbox exec.*\n", b"", x)
    if isinstance(x, str):
        x = x.replace(top, "...")
    if isinstance(x, (list, tuple)):
        return tuple(scrub(i, top) for i in x)
    return x


def sh(shell, *args, stdin=b"", name="sh", wait=LIMIT, **kw):
    """Both outputs and the end."""
    kw.setdefault("stdout", PIPE)
    kw.setdefault("stderr", PIPE)
    p = subprocess.Popen([name, *args], executable=shell, stdin=PIPE, **kw)
    try:
        out = p.communicate(stdin, timeout=wait)
    except subprocess.TimeoutExpired:
        p.kill()
        raise
    return (*out, p.returncode)


def c(name, script, *args, **kw):
    both(name, lambda s: sh(s, "-c", script, *args, **kw))


# ---- descriptors ----------------------------------------------------------


@group
def streams():
    c("both outputs", "echo out; echo err >&2; exit 3")
    c("nothing", ":")
    c("one pipe, in order", "for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2;"
      " done", stderr=subprocess.STDOUT)
    c("stdin", "read x; echo got $x; cat | wc -c", stdin=b"a b\n" + bytes(99999))
    c("no newline", "printf abc; printf def >&2")
    c("binary", r"printf '\000\377\200\n\r\000'")
    c("half a megabyte", "head -c 500000 /dev/zero; head -c 500000 /dev/zero >&2")
    c("dev stdout", "echo a >/dev/stdout; echo b >/dev/stderr; echo c >/dev/fd/1")
    c("dev stdin", "cat /dev/stdin", stdin=b"in")
    c("closing all", "exec <&- >&- 2>&-; echo no; sleep 0.1; exit 4")
    c("kinds", "for i in 0 1 2; do [ -p /dev/fd/$i ] && echo p$i; [ -t $i ] && "
      "echo t$i; done; exit 0")

    for which in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
        both("closed " + which, lambda s: sh(
            "/bin/sh", "-c", f'exec 5>list; exec "$0" -c \'for i in 0 1 2 3 4 5 6 7;'
            f' do [ -e /proc/$$/fd/$i ] && echo $i >&5; done; echo x; echo y >&2;'
            f' read z; exit 7\' {which}', s))
    both("3 to 9", lambda s: sh(
        "/bin/sh", "-c", 'echo three >f3; exec 3<f3 4>f4 5>f5 6<f3 7<f3 9>>f9;'
        ' exec "$0" -c \'read a <&3; echo $a >&4; echo five >&5; echo n >&9;'
        ' ls /proc/self/fd\'', s))

    def extra_alias(shell):
        r, w = os.pipe()
        os.dup2(w, 9)
        p = subprocess.Popen(
            ["sh", "-c", "for i in 1 2 3 4 5; do echo o$i; echo s$i >&9; done"],
            executable=shell, stdin=subprocess.DEVNULL, stdout=w, pass_fds=[9])
        os.close(w)
        os.close(9)
        data = b""
        while part := os.read(r, 65536):
            data += part
        os.close(r)
        return data, p.wait(LIMIT)
    both("the pipe again at 9", extra_alias)

    def into_file(shell, flags):
        with open("f", "wb") as f:
            f.write(b"old\n")
        fd = os.open("f", flags)
        r = subprocess.run(["sh", "-c", "echo one; echo two >&2; echo three"],
                           executable=shell, stdout=fd, stderr=fd, timeout=LIMIT)
        end = os.lseek(fd, 0, os.SEEK_CUR)
        os.close(fd)
        return r.returncode, end
    both("a file", into_file, os.O_WRONLY | os.O_TRUNC)
    both("a file, appended to", into_file, os.O_WRONLY | os.O_APPEND)
    both("a file, read and written", into_file, os.O_RDWR)

    def to_socket(shell):
        a, b = socket.socketpair()
        p = subprocess.Popen(
            ["sh", "-c", "echo hi; exec 2>&1; (echo x >/dev/stdout) 2>/dev/null "
             "|| echo no; exit 5"], executable=shell,
            stdin=subprocess.DEVNULL, stdout=b, stderr=subprocess.DEVNULL)
        b.close()
        data = b""
        while part := a.recv(65536):
            data += part
        return data, p.wait(LIMIT)
    both("a socket", to_socket)

    def rest_of_stdin(shell):
        r, w = os.pipe()
        os.write(w, b"one\ntwo\nthree\n")
        os.close(w)
        out = sh2(shell, "read a; echo $a", r)
        rest = os.read(r, 100)
        os.close(r)
        return out, rest
    both("stdin unread is left", rest_of_stdin)

    def rest_of_file(shell):
        with open("in", "wb") as f:
            f.write(b"echo a\nread x; echo $x\nnot a command\necho b\n")
        with open("in", "rb") as f:
            p = subprocess.run(["sh"], executable=shell, stdin=f, stdout=PIPE,
                               stderr=PIPE, timeout=LIMIT)
            return p.stdout, p.stderr, p.returncode
    both("script from a file on stdin", rest_of_file)
    c("reader gone", "yes 2>/dev/null | head -1; exit 2")

    def gone(shell):
        p = subprocess.Popen(["sh", "-c", "yes"], executable=shell, stdout=PIPE,
                             stdin=subprocess.DEVNULL)
        p.stdout.read(10)
        p.stdout.close()
        return p.wait(LIMIT)
    both("yes into a closed pipe", gone)

    def ends(shell):
        p = subprocess.Popen(["sh", "-c", "echo a; exec >&-; read x; exit 3"],
                             executable=shell, stdin=PIPE, stdout=PIPE)
        data = p.stdout.read()
        alive = p.poll() is None
        p.stdin.close()
        return data, alive, p.wait(LIMIT)
    both("the end is seen when the command closes", ends)

    def unread(shell):
        """Who waits before reading must not wait for ever."""
        p = subprocess.Popen(
            ["sh", "-c", "i=0; while [ $i -lt 800 ]; do echo "
             "1234567890123456789012345678901234567890123456789012345678901234; "
             "i=$((i+1)); done"], executable=shell, stdout=PIPE,
            stdin=subprocess.DEVNULL)
        code = p.wait(LIMIT)
        return code, p.stdout.read()
    both("52 KB unread at the end", unread)


def sh2(shell, script, stdin):
    p = subprocess.run(["sh", "-c", script], executable=shell, stdin=stdin,
                       stdout=PIPE, stderr=PIPE, timeout=LIMIT)
    return p.stdout, p.stderr, p.returncode


@group
def much():
    block = os.urandom(1 << 20)

    def through(shell):
        p = subprocess.Popen(["sh", "-c", "cat"], executable=shell, stdin=PIPE,
                             stdout=PIPE)

        def feed():
            for _ in range(100):
                p.stdin.write(block)
            p.stdin.close()
        t = threading.Thread(target=feed)
        t.start()
        digest, size = hashlib.md5(), 0
        while part := p.stdout.read(1 << 16):
            digest.update(part)
            size += len(part)
        t.join()
        return size, digest.hexdigest(), p.wait(LIMIT)
    both("100 MB through", through)
    words = ["x" * 100000] * 9
    both("arguments of a megabyte", lambda s: sh(
        s, "-c", 'echo $#; printf %s "$@" | wc -c', "name", *words))
    both("lines of writers who share a pipe", lambda s: torn(s))


def torn(shell):
    """Lines of several shims into one pipe stay lines."""
    r, w = os.pipe()
    line = "abcdefghij" * 9
    ps = [subprocess.Popen(
        ["sh", "-c", f"i=0; while [ $i -lt 2000 ]; do echo {line}; i=$((i+1));"
         " done"], executable=shell, stdin=subprocess.DEVNULL, stdout=w)
        for _ in range(4)]
    os.close(w)
    data = b""
    while part := os.read(r, 1 << 16):
        data += part
    os.close(r)
    lines = data.split(b"\n")
    return len(lines), set(lines) == {line.encode(), b""}, \
        [p.wait(LIMIT) for p in ps]


# ---- what is handed down ----------------------------------------------------


@group
def state():
    for code in (0, 1, 2, 77, 124, 125, 126, 127, 128, 255):
        c(f"exit {code}", f"exit {code}")
    for s in ("KILL", "TERM", "INT", "HUP", "SEGV", "PIPE", "USR1", "ABRT"):
        c(f"kill -{s} $$", f"echo a; kill -{s} $$; sleep 1; echo b")
    c("not found", "nonexistent-command-x")
    c("not executable", ": >plain; ./plain")
    c("names", 'echo "$0" "$#" "$@" "$-"', "zero", "a b", "", "c")
    for opts in (("-ec",), ("-e", "-c"), ("-c", "-e"), ("-uc",), ("-xc",),
                 ("-c", "--"), ("+e", "-c")):
        both("options " + " ".join(opts), lambda s: sh(
            s, *opts, 'echo "$-" "$0" "$@"; false; echo on', "n", "x"))
    both("a script", lambda s: (
        open("s", "w").write('echo "$0" "$@"; cat; exit 6\n'),
        sh(s, "./s", "a", "b", stdin=b"in"))[1])
    both("no such script", lambda s: sh(s, "./none"))
    both("stdin script", lambda s: sh(s, stdin=b"echo a; echo b >&2; exit 9\n"))
    both("-s with words", lambda s: sh(s, "-s", "x", "y", stdin=b'echo "$@"\n'))
    both("syntax error", lambda s: sh(s, "-c", "echo (")) if not CONFINED else None
    c("umask", "umask; : >f", preexec_fn=lambda: os.umask(0o027))
    c("nice", "nice", preexec_fn=lambda: os.nice(5))
    c("limits", "ulimit -n; ulimit -Hn; ulimit -s; ulimit -c",
      preexec_fn=lambda: (
          resource.setrlimit(resource.RLIMIT_NOFILE, (40, 60)),
          resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
      )) if not CONFINED else None
    c("few files", "echo a; ls . ", preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (24, 24))) if not CONFINED else None
    c("groups", "id")
    c("locale", "echo $LANG $LC_ALL; locale 2>/dev/null",
      env={**os.environ, "LANG": "de_DE.UTF-8"})
    if not CONFINED:
        c("environment", "env | grep -v -e ^WARDBOX -e ^_= -e ^PWD= -e ^OLDPWD"
          " | sort", env={"A": "b", "PATH": os.environ["PATH"], "X.y": "z"})
        c("no environment", "echo hi; echo $PATH", env={})

    def deleted(shell):
        os.mkdir("gone")
        return sh(shell, "-c", "echo a; ls; cat /proc/self/cwd 2>/dev/null; "
                  "exit 3", preexec_fn=lambda: (os.chdir("gone"),
                                                os.rmdir("../gone")))
    if not CONFINED:
        both("directory deleted", deleted)
    masks = r"grep -E 'Sig(Blk|Ign)' /proc/self/status; trap"
    c("signal mask", masks)

    def ignoring():
        for s in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE,
                  signal.SIGTSTP):
            signal.signal(s, signal.SIG_IGN)
    c("signals ignored", masks + "; exit 3", preexec_fn=ignoring,
      restore_signals=False)
    c("signals blocked", masks, preexec_fn=lambda: signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2}))
    both("an alarm that was set before", lambda s: sh(
        s, "-c", "echo a; exec sleep 5", preexec_fn=lambda: signal.alarm(1)))
    c("no terminal", "echo $-; (: </dev/tty) 2>/dev/null; echo $?",
      start_new_session=True)


# ---- corners ----------------------------------------------------------------


# What every profile that confines denies, whatever it grants.
DENIED = {"a word that is no UTF-8", "$0 of a script, of its child",
          "PATH unset", "PATH empty", "here-document of 200 KB",
          "a script with CRLF", "jobs in a script", "a group of its own"}

@group
def corners():
    bash = os.path.basename(SHIM) == "bash"
    for n in range(1, 8):
        which = " ".join(f"{i}{'<' if i == 0 else '>'}&-"
                         for i in range(3) if n >> i & 1)
        both("closed " + which, lambda s, w=which: sh(
            "/bin/sh", "-c", f'exec 5>list; exec "$0" -c \'echo x; echo y >&2;'
            f' read z; echo $? >&5; exit 7\' {w}', s))
    c("stdin at its end", "read x; echo $?; cat; exit 2")
    both("no words, stdin at its end", sh)
    both("-s -- words", lambda s: sh(s, "-s", "--", "-x", "", "y", stdin=b'echo "$#" "$@"\n'))
    both("a lone -", lambda s: sh(s, "-", stdin=b"echo in $#\n"))
    both("a lone --", lambda s: sh(s, "--", stdin=b"echo in $#\n"))
    both("+x", lambda s: sh(s, "+x", "-c", 'echo "$-"; false; echo on'))
    both("-o errexit", lambda s: sh(s, "-o", "errexit", "-c", "false; echo on"))
    both("+o errexit", lambda s: sh(s, "-e", "+o", "errexit", "-c", "false; echo on"))
    both("-c without a word", lambda s: sh(s, "-c"))
    both("-c with an empty one", lambda s: sh(s, "-c", ""))
    both("an unknown option", lambda s: sh(s, "-Z", "-c", ":")[1:])
    both("empty words", lambda s: sh(s, "-c", 'echo "$#" "[$0]" "[$1]" "[$3]"', "", "", "x", ""))
    both("no argv[0]", lambda s: sh(s, "-c", 'echo "[$0]"', name=""))
    both("a strange argv[0]", lambda s: sh(s, "-c", 'echo "[$0]"', name="no/such name"))
    c("one word of 128 KB", 'echo ${#1}', "n", "x" * 131071)
    both("a word that is no UTF-8", lambda s: sh(
        s, "-c", b"printf '%s' '\xff\xfe'; printf '%s' \"$1\"", "n", b"\x80a"))
    both("$0 of a script, of its child", lambda s: (
        open("s", "w").write(f'echo "$0"; "{s}" -c \'echo "$0"\' in; . ./t\n'),
        open("t", "w").write('echo "$0"\n'), sh(s, "./s"))[2])
    c("umask 777", ": >f; echo $?; umask", preexec_fn=lambda: os.umask(0o777))
    c("PATH unset", "echo $PATH; unset PATH; ls; echo $?")
    c("PATH empty", "PATH=; ls; echo $?; /bin/echo on")
    c("here-document of 200 KB", "wc -c <<X\n" + "line of text\n" * 9500 + "X\n")
    c("a long line in", "read x; echo ${#x}", stdin=b"a" * 300000 + b"\n")
    c("descriptors by name", "exec 7<<X\nseven\nX\ncat /dev/fd/7; cat <&7; echo $?")
    both("the script is /dev/stdin", lambda s: sh(
        s, "/dev/stdin", "a", stdin=b'echo "$0" "$@"\n'))
    both("a script that is a directory", lambda s: sh(s, "."))
    both("a script with CRLF", lambda s: (
        open("s", "w").write("echo a\r\n:\n"), sh(s, "./s"))[1])
    both("a script that changes itself", lambda s: (
        open("s", "w").write("echo one\necho 'echo three' >>s\necho two\n"), sh(s, "./s"))[1])
    both("a script without an end of line", lambda s: (
        open("s", "w").write("echo last"), sh(s, "./s"))[1])
    both("a script of no bytes", lambda s: (open("s", "w").close(), sh(s, "./s"))[1])
    c("traps at the end", "trap 'echo bye; exit 9' EXIT; trap 'echo term; exit 3' TERM; kill -TERM $$; sleep 5")
    c("killed in a pipe", "(kill -KILL $(exec sh -c 'echo $PPID')) 2>/dev/null; echo on | cat; exit 6")
    c("jobs in a script", "set -m; sleep 0.1 & wait $!; echo $?; sleep 1 & kill %1; wait %1; echo $?")
    c("many children", "i=0; while [ $i -lt 60 ]; do : & i=$((i+1)); done; wait; echo $?")
    for name in ("INT", "CHLD", "PIPE", "HUP"):
        number = getattr(signal, "SIG" + name)
        c(f"SIG{name} ignored by who started us",
          "(exit 3); echo $?; : & wait; echo $?; kill -INT $$; yes 2>/dev/null | head -1; echo $?",
          preexec_fn=lambda n=number: signal.signal(n, signal.SIG_IGN), restore_signals=False)
    c("a group of its own", "echo a; kill -TERM 0; echo b", start_new_session=True)
    c("times", "ulimit -t 100; ulimit -t; ulimit -f 100; ulimit -f; ulimit -v 900000; echo $?")
    c("time of the last change", "touch -d @1 f; [ f -ot . ]; echo $?")

    def fifo(shell):
        os.mkfifo("f")
        t = threading.Thread(target=lambda: open("f", "w").write('echo "$0" fifo; exit 4\n'))
        t.start()
        got = sh(shell, "./f")
        t.join()
        os.unlink("f")
        return got
    both("a script that is a FIFO", fifo)
    if not CONFINED:
        c("sixteen files", "echo a; echo b >&2; exit 3", preexec_fn=lambda:
          resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)))
        c("little memory", "echo a; exit 3", preexec_fn=lambda:
          resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20)))
        c("no file may grow", "echo a; exit 3", preexec_fn=lambda:
          resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    if bash:
        c("pipefail", "set -o pipefail; false | true; echo $?")
        c("another name", "exec -a other bash -c 'echo $0'")
        c("a coprocess", "coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x")
        c("wait for any", "(exit 3) & wait -n; echo $?")
        c("read with a limit", "read -t 0.1 x < <(sleep 1); echo $(( $? > 128 ))")
        c("substituted processes", "cat <(echo a) <(echo b); echo c > >(cat); wait; diff <(seq 9) <(seq 9)")
        c("arrays, [[, (( ", 'a=(1 2 "3 4"); [[ ${#a[@]} -eq 3 && $((2**5)) == 32 ]] && echo "${a[2]}"')
        both("bash options", lambda s: sh(s, "--norc", "--noprofile", "-O", "extglob", "-c", "shopt extglob"))
        both("as sh", lambda s: sh(s, "--posix", "-c", 'echo "$-"; shopt -o posix'))


# ---- signals and processes ---------------------------------------------------


TRAPS = "n=0; " + "".join(f"trap 'echo {s}; n=$((n+1))' {s};" for s in
                          ("INT", "TERM", "USR1", "HUP", "QUIT", "WINCH", "ALRM"))


def signalled(shell, number, where, script, times=1):
    p = subprocess.Popen(["sh", "-c", script], executable=shell, stdout=PIPE,
                         stderr=PIPE, start_new_session=True)
    p.stdout.readline()
    time.sleep(0.15)
    seen = b""
    for _ in range(times):
        (os.killpg if where == "group" else os.kill)(p.pid, number)
        # Two that are pending are one: the next after this one was seen.
        seen += p.stdout.readline()
    return seen + p.communicate(timeout=LIMIT)[0], p.returncode


@group
def signals():
    # Until two were seen, and somewhat longer: a third would be one too many.
    wait = ("i=0; while [ $n -lt 2 ] && [ $i -lt 200 ]; do sleep 0.07; i=$((i+1)); "
            "done; for i in 1 2 3 4; do sleep 0.07; done; echo end")
    for name in ("INT", "TERM", "USR1", "HUP", "WINCH"):
        number = getattr(signal, "SIG" + name)
        for where in ("process", "group"):
            both(f"{name} to the {where}, trapped", signalled, number, where,
                 f"{TRAPS} echo go; {wait}", 2)
            if name != "WINCH":
                both(f"{name} to the {where}", signalled, number, where,
                     "echo go; exec sleep 5")
    both("KILL", signalled, signal.SIGKILL, "process", "echo go; exec sleep 5")

    def stopped(shell, where, number):
        p = subprocess.Popen(["sh", "-c", "echo go; read x; echo end; exit 4"],
                             executable=shell, stdin=PIPE, stdout=PIPE,
                             preexec_fn=lambda: os.setpgid(0, 0))
        p.stdout.readline()
        send = os.killpg if where == "group" else os.kill
        send(p.pid, number)
        _, status = os.waitpid(p.pid, os.WUNTRACED)
        seen = os.WIFSTOPPED(status) and os.WSTOPSIG(status)
        send(p.pid, signal.SIGCONT)
        return seen, p.communicate(b"\n", timeout=LIMIT)[0], p.returncode
    both("TSTP to the group, CONT", stopped, "group", signal.SIGTSTP)
    both("TSTP to the process, CONT", stopped, "process", signal.SIGTSTP)
    both("STOP to the group, CONT", stopped, "group", signal.SIGSTOP)

    def stops_itself(shell):
        p = subprocess.Popen(["sh", "-c", "kill -STOP $$; echo on"],
                             executable=shell, stdout=PIPE)
        _, status = os.waitpid(p.pid, os.WUNTRACED)
        os.kill(p.pid, signal.SIGCONT)
        return os.WIFSTOPPED(status), p.communicate(timeout=LIMIT)[0]
    both("stops itself", stops_itself)

    def killed_outright(shell):
        p = subprocess.Popen(["sh", "-c", "echo $PPID; exec sleep 30"],
                             executable=shell, stdout=PIPE)
        p.stdout.readline()
        p.kill()
        p.wait()
        return p.stdout.read()  # ends when the last holder has
    both("its end is the command's", killed_outright)
    # A stop that one of its own ends, while many run: nobody wakes the shim.
    for name, script in (
            ("continued", "(kill -STOP $$; kill -CONT $$); exit 3"),
            # As often as it takes: the first may come before the stop.
            ("continued later",
             "(while sleep 0.1; kill -CONT $$; do :; done) 2>/dev/null & "
             "kill -STOP $$; exit 3"),
            ("continued by a program",
             "(while sleep 0.1; env kill -CONT $$; do :; done) 2>/dev/null & "
             "kill -STOP $$; exit 3"),
            ("killed", "(sleep 0.1; kill -KILL $$) & kill -STOP $$; exit 3")):
        both(f"stopped, and {name} by its own", many_ends, script)
    both("timeout", lambda s: sh(
        "/usr/bin/timeout", "2", s, "-c", "echo a; exec sleep 5",
        name="timeout"))
    both("nohup", lambda s: sh(
        "/usr/bin/nohup", s, "-c", "kill -HUP $$; echo alive", name="nohup"))
    if not CONFINED:
        background()


def many_ends(shell, script):
    ps = [subprocess.Popen(["sh", "-c", script], executable=shell,
                           stdin=subprocess.DEVNULL) for _ in range(50)]
    try:
        return [p.wait(LIMIT) for p in ps]
    finally:
        for p in ps:
            p.kill()


def background():
    def late(shell):
        r, w = os.pipe()
        p = subprocess.Popen(
            ["sh", "-c", f"(read x <&{r}; echo late) & echo now"],
            executable=shell, stdout=PIPE, pass_fds=[r])
        p.wait(LIMIT)
        first = os.read(p.stdout.fileno(), 100)
        os.write(w, b"\n")
        os.close(r)
        os.close(w)
        return first, p.stdout.read(), p.returncode
    both("a background child's output comes later", late)

    def apart(shell):
        t = time.time()
        p = subprocess.run(["sh", "-c", "sleep 15 >/dev/null 2>&1 & echo $?"],
                           executable=shell, stdout=PIPE, timeout=LIMIT)
        return p.stdout, p.returncode, time.time() - t < 12
    both("one without the pipe is not waited for", apart)
    both("one that is killed with its group", lambda s: killed_group(s))


def killed_group(shell):
    p = subprocess.Popen(["sh", "-c", "sleep 30 & echo go; wait"],
                         executable=shell, stdout=PIPE, start_new_session=True)
    p.stdout.readline()
    os.killpg(p.pid, signal.SIGKILL)
    return p.stdout.read(), p.wait(LIMIT)


# ---- terminals -----------------------------------------------------------------


class Terminal:
    """An interactive bash on a terminal: the user."""

    def __init__(self, bin_dir):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="OUT> ", TERM="dumb",
                              PATH=bin_dir + ":" + os.environ["PATH"])
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile",
                                   "--noediting"])
        self.size(30, 200)
        self.until("OUT> ")
        self.type("bind 'set enable-bracketed-paste off' 2>/dev/null\n")
        self.until("OUT> ")

    def size(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def type_all(self, text):
        data = text.encode()
        while data:
            data = data[os.write(self.fd, data):]

    def until(self, pattern, wait=LIMIT):
        end, out = time.time() + wait, ""
        while time.time() < end:
            ready, _, _ = select.select([self.fd], [], [], 0.05)
            if ready:
                try:
                    out += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
            if re.search(pattern, out):
                return out
        return out + f"<<no {pattern}>>"

    def pause(self, seconds):
        return self.until("\0never", seconds).split("<<no")[0]

    def close(self):
        os.close(self.fd)
        for _ in range(100):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


STATUS = 'echo "st=$?"\n'


def on_terminal(shell, scene):
    os.mkdir("bin")
    os.symlink(shell, "bin/" + os.path.basename(shell))
    t = Terminal(os.path.abspath("bin"))
    try:
        seen = scene(t)
        t.type("stty -a | md5sum\n")
        modes = re.findall("[0-9a-f]{32}", t.until("[0-9a-f]{32}"))
    finally:
        t.close()
        shutil.rmtree("bin")
    return re.sub(r"\b\d{3,}\b", "N", re.sub("  +", " ", seen)), modes


def take(t, steps):
    """Each step when what it waits for was seen; all that was."""
    seen = ""
    for wait, then in steps:
        seen += t.until(wait)
        time.sleep(0.15)
        if callable(then):
            then(t)
        else:
            t.type(then)
    return seen


def line(text, *steps):
    """Types text, then each step when what it waits for was seen, and at last
    a question for the status."""
    def scene(t):
        t.type(text + "\n")
        seen = take(t, steps) + t.until("OUT> $")
        t.type(STATUS)
        return seen + t.until(r"st=\d+\s+OUT> $")
    return scene


def still_there(seconds):
    """The seconds that programs called sleep in this directory were to wait, once
    there are none or some time has passed."""
    for _ in range(60):
        left = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                if words[:2] == [b"sleep", seconds.encode()] and \
                        os.readlink(f"/proc/{pid}/cwd") == os.getcwd():
                    left.append(int(pid))
            except OSError:
                pass
        if not left:
            break
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left)


def timed_out(name, start, end=""):
    """timeout's signals: to the process, and to its group in the background."""
    plain = line(f"{start} timeout -k 3 -s {name} 0.4 sh -c 'sleep 8.5; echo no'{end}")

    def scene(t):
        return plain(t) + f" {still_there('8.5')} left"
    return scene


def prompt_scene(start):
    def scene(t):
        t.type(f"{start}\n")
        t.until("[#$>] $")
        t.type("PS1='IN$ '; echo $-\n")
        seen = t.until(r"IN\$ $")
        for text in ("tty >/dev/null && echo yes\n", "stty size\n"):
            t.type(text)
            seen += t.until(r"IN\$ $")
        t.type("echo go; sleep 20\n")
        seen += t.until("\ngo\r")
        time.sleep(0.3)
        t.type("\x1a")
        seen += t.until(r"IN\$ $")
        t.type("jobs\n")
        seen += t.until(r"IN\$ $")
        t.type("fg\n")
        seen += t.until("sleep 20\r")
        time.sleep(0.3)
        t.type("\x03")
        seen += t.until(r"IN\$ $")
        t.size(40, 120)
        time.sleep(0.1)
        t.type("stty size; cat\n")
        seen += t.until(r"40 120\r")
        time.sleep(0.2)
        t.type("abc\n\x04")
        seen += t.until(r"IN\$ $")
        t.type("exit 7\n")
        seen += t.until("OUT> $")
        t.type(STATUS)
        return seen + t.until(r"st=\d+\s+OUT> $")
    return scene


def terminal(name, scene):
    both(name, lambda s: on_terminal(s, scene))


@group
def terminals():
    go = "echo go; sleep 1.5; echo x; sleep 0.4; echo end; exit 3"
    terminal("a command", line("sh -c 'echo hi; echo err >&2; tty >/dev/null; "
                               "echo $?; exit 3'"))
    terminal("sizes", line("sh -c 'stty size'; stty rows 33 cols 166; "
                           "sh -c 'stty size'"))
    terminal("modes that are set stay set", line(
        "sh -c 'stty -echoctl -ixon'; stty -a | grep -o -e -echoctl -e -ixon"))
    terminal("Ctrl-C", line("sh -c 'echo go; sleep 20; echo no'",
                            ("go\r", "\x03")))
    terminal("Ctrl-C, trapped", line(
        "sh -c 'trap \"echo got\" INT; echo go; sleep 3; sleep 0.1; echo end'",
        ("go\r", "\x03")))
    terminal("Ctrl-\\", line("ulimit -c 0; sh -c 'echo go; sleep 20'",
                             ("go\r", "\x1c")))
    terminal("Ctrl-D", line("sh -c 'cat; echo end'", ("end'", "abc\n\x04")))
    terminal("typed ahead", line("sleep 0.4; sh -c 'read a; echo [$a]; cat'",
                                 ("cat'", "one\ntwo\n\x04")))
    terminal("typed ahead for the next one", line(
        "sh -c 'echo go; sleep 0.5'; read a; echo [$a]", ("go\r", "three\n")))
    terminal("Ctrl-Z, fg", line(f"sh -c '{go}'; echo; fg", ("go\r", "\x1a")))
    terminal("Ctrl-Z, bg", line(f"sh -c '{go}'; bg; wait %1", ("go\r", "\x1a")))
    terminal("kill -9 in raw mode", line("sh -c 'stty raw -echo; kill -9 $$'; "
                                         "stty sane"))
    terminal("TERM in the background", line(
        "sh -c 'exec sleep 20' & p=$!; sleep 0.4; kill -TERM $p; wait $p"))
    for name in ("TERM", "HUP", "QUIT", "INT", "USR1", "ALRM", "CONT", "KILL"):
        terminal(f"timeout -s {name}", timed_out(name, "ulimit -c 0;"))
        terminal(f"timeout -s {name}, in the background", timed_out(
            name, "ulimit -c 0; set +m;", " & wait $!"))
        terminal(f"timeout -s {name}, into a pipe", timed_out(
            name, "ulimit -c 0;", " </dev/null | cat"))
    terminal("WINCH", line(
        "sh -c 'trap \"stty size\" WINCH; echo go; sleep 1.5; sleep 0.1; "
        "echo end'", ("go\r", lambda t: t.size(41, 199))))
    terminal("only stdout redirected", line("sh -c 'echo a; [ -t 0 ]; echo $?;"
                                            " [ -t 2 ]; echo $?' | cat"))
    terminal("only stderr redirected", line("sh -c 'echo a; echo b >&2' 2>err; "
                                            "cat err"))
    if not CONFINED:
        terminal("output after the end", line(
            "sh -c '(sleep 0.3; echo late; sleep 1; : >f) & echo now'; "
            "until [ -e f ]; do sleep 0.1; done; rm f"))


@group
def prompts():
    name = os.path.basename(SHIM)
    start = {"sh": "sh -i", "dash": "dash -i", "ash": "ash -i",
             "bash": "bash --norc --noprofile --noediting -i"}[name]
    terminal("a session of " + name, prompt_scene(start))


@group
def odd():
    from fidelity_odd import cases  # pylint: disable=import-outside-toplevel
    cases(sys.modules[__name__], CONFINED, os.path.basename(SHIM) == "bash")


@group
def keys():
    from fidelity_keys import cases  # pylint: disable=import-outside-toplevel
    cases(sys.modules[__name__], CONFINED)


@group
def ways():
    # pylint: disable=import-outside-toplevel
    import fidelity_tools
    import fidelity_ways
    me = sys.modules[__name__]
    fidelity_ways.cases(me, CONFINED)
    fidelity_tools.cases(me, CONFINED, os.path.basename(SHIM) == "bash")


sys.dont_write_bytecode = True
groups[GROUP]()
while pending:
    compare(*pending.pop(0))
print(f"{GROUP}: {ran} cases, {failed} differ")
sys.exit(1 if failed else 0)
