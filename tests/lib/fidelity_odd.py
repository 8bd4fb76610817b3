# SPDX-License-Identifier: MIT
"""Cases of fidelity.py: odd inputs, odd callers, what the kernel hands down."""
import ctypes
import fcntl
import os
import pty
import resource
import signal
import socket
import subprocess
import tempfile
import termios
import threading
import time

PIPE = subprocess.PIPE
libc = ctypes.CDLL(None)


def call(shell, *args, name="sh", **kw):
    """Like sh(), with the stdin that kw says."""
    kw.setdefault("stdout", PIPE)
    kw.setdefault("stderr", PIPE)
    p = subprocess.Popen([name, *args], executable=shell, **kw)
    return (*p.communicate(timeout=20), p.returncode)


def script(text, *before):
    """A case: the script text in a file s, which the words behind name."""
    def case(shell):
        with open("s", "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return call(shell, *before, "./s", stdin=subprocess.DEVNULL)
    return case


def piped(text, *args):
    def case(shell):
        p = subprocess.Popen(["sh", *args], executable=shell, stdin=PIPE,
                             stdout=PIPE, stderr=PIPE)
        out = p.communicate(text, timeout=20)
        return (*out, p.returncode)
    return case


def taken(pipe):
    """Waits until what was written was read: all at once is another case."""
    end = time.time() + 20
    while time.time() < end:
        left = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
        if left == b"\0" * 4:
            break
        time.sleep(0.02)


def slowly(*parts):
    def case(shell):
        p = subprocess.Popen(["sh"], executable=shell, stdin=PIPE, stdout=PIPE,
                             stderr=PIPE)
        for part in parts:
            p.stdin.write(part)
            p.stdin.flush()
            taken(p.stdin)
        out = p.communicate(timeout=20)
        return (*out, p.returncode)
    return case


def over_socket(shell):
    ours, theirs = socket.socketpair()
    p = subprocess.Popen(["sh"], executable=shell, stdin=theirs, stdout=PIPE,
                         stderr=PIPE)
    theirs.close()
    ours.sendall(b"echo one\nread x\nthe rest\necho $x; exit 4\n")
    ours.shutdown(socket.SHUT_WR)
    out = p.communicate(timeout=20)
    return (*out, p.returncode)


def strange_terminal(shell):
    """A terminal that is not the session's own."""
    leader, follower = pty.openpty()
    got = call(shell, "-c", "[ -t 0 ]; echo $?; stty size; read x; echo $x",
               stdin=follower,
               start_new_session=True,
               preexec_fn=lambda: os.write(leader, b"typed\n"))
    os.close(leader)
    os.close(follower)
    return got


def with_fd(how, script_text, *args):
    """stdin is what how() opens."""
    def case(shell):
        fd = how()
        try:
            return call(shell, "-c", script_text, *args, stdin=fd)
        finally:
            os.close(fd)
    return case


def file_of(text, flags=os.O_RDONLY):
    def how():
        with open("in", "wb") as f:
            f.write(text)
        return os.open("in", flags)
    return how


def shared_file(parts):
    """Several readers of one open file, the last of them a real cat."""
    def case(shell):
        fd = file_of(b"".join(b"line %d\n" % i for i in range(3000)))()
        got = [call(shell, "-c", p, stdin=fd) for p in parts]
        got.append(os.lseek(fd, 0, os.SEEK_CUR))
        os.close(fd)
        return got
    return case


def shared_pipe(parts):
    def case(shell):
        r, w = os.pipe()
        os.write(w, b"".join(b"line %d\n" % i for i in range(60)))
        os.close(w)
        got = [call(shell, "-c", p, stdin=r) for p in parts]
        with os.fdopen(r, "rb") as f:
            got.append(f.read())
        return got
    return case


def interpreted(line, mode=0o755):
    """A script with that first line, executed by its own name."""
    def case(shell):
        os.mkdir("d")
        os.symlink(shell, "d/" + os.path.basename(shell))
        with open("s", "w") as f:
            f.write(line.replace("SHELL", os.path.realpath(".") + "/d/" + os.path.basename(shell)) +
                    'echo "$-" "$#" "$@"; false; echo on\n')
        os.chmod("s", mode)
        try:
            p = subprocess.run(["./s", "a b", ""], capture_output=True,
                               timeout=20, check=False)
            return p.stdout, p.stderr, p.returncode
        finally:
            os.unlink("d/" + os.path.basename(shell))
    return case


def environment(pairs, text):
    """With an environment that no dict can hold."""
    def case(shell):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(w, 1)
            os.dup2(w, 2)
            argv = (ctypes.c_char_p * 4)(b"sh", b"-c", text.encode(), None)
            env = (ctypes.c_char_p * (len(pairs) + 1))(*pairs, None)
            libc.execve(shell.encode(), argv, env)
            os._exit(99)
        os.close(w)
        with os.fdopen(r, "rb") as f:
            out = f.read()
        return out, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return case


def sharing_pid(shell):
    """Whoever started it waits for exactly one child, and its group is ours."""
    p = subprocess.Popen(["sh", "-c", "echo go; read x; exit 7"],
                         executable=shell, stdin=PIPE, stdout=PIPE)
    p.stdout.readline()
    same = (os.getpgid(p.pid) == os.getpgrp(), os.getsid(p.pid) == os.getsid(0))
    p.communicate(b"\n", timeout=20)
    return same, p.returncode


def feeder(shell):
    """Its writer sees the reader end."""
    r, w = os.pipe()
    p = subprocess.Popen(["sh", "-c", "read x; echo $x"], executable=shell,
                         stdin=r, stdout=PIPE)
    os.close(r)
    os.write(w, b"first\n")
    out = p.communicate(timeout=20)[0]
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        os.write(w, b"second\n")
        broken = False
    except BrokenPipeError:
        broken = True
    return out, broken, p.returncode


def cases(f, confined, bash):
    both, c = f.both, f.c
    # What no line may hold, and what the policy takes out of an environment.
    f.DENIED |= {"piped, with CRLF", "piped, with a NUL", "piped, Latin-1",
                 "piped, with a mark of its bytes", "piped, broken",
                 "a file with a NUL", "a file with a mark of its bytes",
                 "a file that looks like a program", "-n before a file",
                 "IFS, PS4, ENV of the caller's", "deep"}

    # What stdin is.
    both("a script from a socket", over_socket)
    both("a terminal of another session", strange_terminal)
    both("stdin is a directory", lambda s: call(
        s, stdin=os.open(".", os.O_RDONLY)))
    both("stdin is for writing alone", with_fd(
        file_of(b"x\n", os.O_WRONLY), "read x; echo $?; echo w >&0; echo $?"))
    both("stdin is read and written", with_fd(
        file_of(b"one\ntwo\n", os.O_RDWR), "read x; echo $x; echo tri >&0; cat"))
    both("stdin is /dev/zero", with_fd(lambda: os.open("/dev/zero", os.O_RDONLY),
                                       "head -c 9 | od -An -c"))
    both("stdin is /dev/null, and is the script", lambda s: call(
        s, stdin=subprocess.DEVNULL))
    both("readers of one file take turns", shared_file(
        ["read a; echo $a", "read a; read b; echo $b", "head -n 1 >/dev/null; cat | wc -l"]))
    both("a script's rest is its child's", shared_file(["exec sed -n 2p"]))
    both("readers of one pipe take turns", shared_pipe(
        ["read a; echo $a", "read a; echo $a; exit 3", ":"]))
    both("a writer sees its reader end", feeder)
    both("a subshell's end of a file", lambda s: (
        file_of(b"echo a\nexit 3\nleft over\n")(), call(
            "/bin/sh", "-c", '("$0"; echo $?; cat) <in', s))[1])

    # What the script is made of.
    both("piped, with CRLF", piped(b"echo a\r\necho b\r\n"))
    both("piped, with a NUL", piped(b"echo a\0b\necho c\n"))
    both("piped, with a mark of its bytes", piped(b"\xef\xbb\xbfecho a\necho b\n"))
    both("piped, Latin-1", piped(b"echo '\xe4\xf6'; printf '%s' \"\xff\"\n"))
    both("piped, and read by what it starts", piped(b"cat\nline\nlast"))
    both("piped, with words", piped(b'echo "$0" "$#" "$@"\n', "-s", "--", "a", "-b", ""))
    both("piped, a line of 200 KB", piped(b"x='" + b"a" * 200000 + b"'; echo ${#x}\n"))
    both("piped in parts", slowly(b"echo a; ec", b"ho b\nread x\n", b"in", b"put\necho $x\n"))
    both("piped, a here-document in parts", slowly(b"cat <<E\none\n", b"two\nE\n", b"exit 5\n"))
    both("piped, no end of line", piped(b"echo a; exit 6"))
    both("piped, broken", piped(b"if true; then echo a\n"))
    both("a file with a NUL", script(b"echo a\necho \0b\n"))
    both("a file with a mark of its bytes", script(b"\xef\xbb\xbfecho a\n"))
    both("a file that looks like a program", script(b"\x7fELF\x02\x01\x01 echo a\n"))
    both("a lone - before a file", script("echo $0 $#\n", "-"))
    both("-e before a file", script("false; echo on\n", "-e"))
    both("-x and +x before a file", script("echo a\n", "-x", "+x"))
    both("-n before a file", script("echo a; nonsense (\n", "-n"))
    both("-s before a file", script("echo never\n", "-s"))
    both("-u, an unset name", lambda s: call(s, "-u", "-c", "echo $none; echo on"))
    both("-v", lambda s: call(s, "-v", "-c", "echo a\necho b"))
    both("-o posix", lambda s: call(s, "-o", "posix", "-c", "echo a")[0::2])
    both("-c, then options", lambda s: call(s, "-c", "-e", "false; echo on"))
    both("many -c", lambda s: call(s, "-c", "-c", "echo a $0"))
    both("-ce with a name", lambda s: call(s, "-ce", 'echo "$0"', "name", "x"))

    # By its own name.
    both("#! with an option", interpreted("#!SHELL -e\n"))
    both("#! without one", interpreted("#!SHELL\n"))
    both("#! with blanks", interpreted("#! \tSHELL  -u \n"))
    both("#! with CR", interpreted("#!SHELL\r\n"))
    both("#! with --", interpreted("#!SHELL --\n"))
    both("no #!, from a shell", lambda s: (
        open("s", "w").write("echo bare $#\n"), os.chmod("s", 0o755),
        call(s, "-c", "./s a b; echo $?"))[2])
    both("names of one", lambda s: [call(s, "-c", 'echo "$0 $-"', name=n, env={
        "PATH": os.environ["PATH"], "HOME": os.getcwd()}) for n in
        ("-sh", "-", "/x/sh", "sh.real", "./sh")])

    # What it is called with.
    env = [b"PATH=/usr/bin:/bin"]
    both("three thousand variables", environment(
        env + [b"V%d=%d" % (i, i) for i in range(3000)],
        "set | grep -c '^V[0-9]'; echo $V2999; env | grep -c ^V"))
    both("a name twice", environment(env + [b"A=1", b"A=2"], "echo $A; env | grep ^A="))
    both("names that are none", environment(
        env + [b"A.B=1", b"1A=2", b"A B=3", b"\xff=4"],
        "env | grep -a -c -E '^(A.B|1A|A B)='"))
    both("values of any bytes", environment(
        env + [b"A=\xff\xfe\n\t\x01", b"B="], "printf %s \"$A$B\" | od -An -tx1; env -0 | grep -az '^[AB]=' | od -An -tx1"))
    both("a variable of 100 KB", environment(env + [b"A=" + b"x" * 100000], "echo ${#A}"))
    both("IFS, PS4, ENV of the caller's", environment(
        env + [b"IFS=:", b"PS4=* ", b"ENV=/dev/null"], "x=a:b; echo $x; set -x; : $x"))
    c("codes", "for i in 0 1 127 128 255 256 257 -1; do (exit $i) 2>/dev/null; echo $?; done; exit 255")
    for name in ("SEGV", "ABRT", "BUS", "FPE", "ALRM", "USR1", "SYS", "TRAP"):
        c("ends by " + name, f"ulimit -c 0; kill -{name} $$")
    both("its group and session", sharing_pid)

    # What the kernel hands down.
    c("a stack without end", "ulimit -s; (ulimit -s 512; echo a)", preexec_fn=lambda:
      resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2))
    c("files of a page", "echo a; (head -c 9999 /dev/zero >f) 2>/dev/null; echo $?; wc -c <f",
      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY)))
    c("a signal that waits", "trap 'echo usr; exit 3' USR1; echo a; kill -USR1 $$; echo b",
      preexec_fn=lambda: (signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]),
                          os.kill(os.getpid(), signal.SIGUSR2))[0] and None)
    c("masks", "grep -E '^Sig(Blk|Ign)' /proc/self/status", restore_signals=False,
      preexec_fn=lambda: (signal.pthread_sigmask(signal.SIG_BLOCK, [
          signal.SIGUSR1, signal.SIGRTMIN + 3, signal.SIGALRM]),
          signal.signal(signal.SIGTTOU, signal.SIG_IGN)) and None)
    c("SIGPIPE ignored", "yes 2>/dev/null | head -n 1; echo $?",
      restore_signals=False,
      preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN) and None)
    c("how it is chosen to die", "cat /proc/self/oom_score_adj", preexec_fn=lambda:
      open("/proc/self/oom_score_adj", "w").write("500") and None)
    c("its personality", "cat /proc/self/personality", preexec_fn=lambda:
      libc.personality(0x0040000) and None)
    c("its processors", "nproc; grep Cpus_allowed_list /proc/self/status",
      preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    c("its slack", "cat /proc/self/timerslack_ns", preexec_fn=lambda:
      libc.prctl(29, 123456) and None)
    c("its class", "cut -d' ' -f41 /proc/self/stat", preexec_fn=lambda:
      os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
    c("a lock on a descriptor", "flock -n 9; echo $?; flock -n f true; echo $?",
      pass_fds=(), preexec_fn=lambda: (
          os.dup2(os.open("f", os.O_CREAT | os.O_RDWR), 9), fcntl.flock(9, fcntl.LOCK_EX))
      and None, close_fds=False)
    c("stdout does not wait", "i=0; while [ $i -lt 9 ]; do echo $i; i=$((i+1)); done", stdout=PIPE)
    both("a FIFO, read and written", lambda s: (
        os.mkfifo("p"), [fd := os.open("p", os.O_RDWR)],
        call(s, "-c", "echo through; read x; echo got >&2; exit 3", stdin=fd, stdout=fd),
        os.close(fd), os.unlink("p"))[2])
    both("stderr is stdin", lambda s: (lambda a, b: (
        call(s, "-c", "echo out; echo err >&2", stdin=b, stderr=b), b.close(),
        a.recv(99))[0::2])(*socket.socketpair()))
    c("deep", "f() { [ $1 -eq 0 ] || f $(($1 - 1)); }; f 800; echo $?")
    c("its own descriptors", "ls -l /proc/self/fd | wc -l; ls /proc/$$/fd")
    if not confined:
        c("what the kernel knows of it", "grep -E '^(Umask|Uid|Gid|Groups|Cap|NoNew|Seccomp|Cpus|Mems"
          "|Sig(Blk|Ign)|THP|Speculation)' /proc/self/status; cat /proc/self/limits "
          "/proc/self/cgroup /proc/self/loginuid; ls -l /proc/self/ns | sed 's/.*-> //'")
        c("no new privileges", "grep NoNew /proc/self/status", preexec_fn=lambda:
          libc.prctl(38, 1, 0, 0, 0) and None)
        c("a pid namespace", "exec unshare -pf --mount-proc sh -c 'echo $$; wait; exit 4'")
        both("first of a pid namespace", lambda s: call(
            "/usr/bin/unshare", "-pf", "--mount-proc", s, "-c",
            "sleep 0.05 & echo a; exit 3", name="unshare"))
        c("all limits", "ulimit -a")
    if bash:
        rc = "echo rc\nPS1=\n"
        both("--rcfile and -i -c", lambda s: (open("rc", "w").write(rc), call(
            s, "--rcfile", "rc", "-i", "-c", "echo $-; exit 3", name="bash",
            stdin=subprocess.DEVNULL, start_new_session=True)[0::2])[1])
        both("--init-file on a pipe", lambda s: (open("rc", "w").write(rc), call(
            s, "--init-file", "rc", "-i", name="bash", start_new_session=True,
            stdin=file_of(b"echo in\nexit 4\n")())[0::2])[1])
        both("--init-file, and no complaint", lambda s: b"denied" in call(
            s, "--init-file", "/dev/null", "-i", name="bash", start_new_session=True,
            stdin=file_of(b"echo in\n")())[1])
        both("--login -c", lambda s: (open(".bash_profile", "w").write("echo prof\n"), call(
            s, "--login", "-c", "shopt login_shell", name="bash",
            env={**os.environ, "HOME": os.getcwd()}))[1])
        both("BASH_ENV", lambda s: (open("be", "w").write("echo be\n"), call(
            s, "-c", "echo a", name="bash", env={**os.environ, "BASH_ENV": "be"}))[1]
            ) if not confined else None
        both("a function of the environment", environment(
            env + [b"BASH_FUNC_f%%=() { echo fun; }"], "f")) if not confined else None
        both("--dump-strings, --help's end", lambda s: call(s, "-D", "-c", 'echo $"a"'))
        c("a here-string", "cat <<<'a b'; read -r x <<<\"c d\"; echo $x")
        c("an array as words", 'x=("a b" c); printf "<%s>" "${x[@]}"')
