# SPDX-License-Identifier: MIT
"""Cases of fidelity.py: a person at a terminal, and what people do there."""
import hashlib
import os
import select
import threading
import time


def cases(f, confined):
    def at(name, text, *steps):
        f.terminal(name, f.line(text, *steps))

    # The terminal by other names than 0, 1 and 2.
    at("3 is the terminal", "sh -c 'echo a >&3; echo b >&3; echo c; echo d >&4' 3>&1 4>/dev/tty")
    at("3 is the keyboard", "sh -c 'echo go; read x <&3; echo [$x]' 3<&0", ("go\r", "typed\n"))
    at("modes by 3", "sh -c 'stty -echo <&3; stty -a | grep -o -e -echo; stty size <&3;"
       " stty echo <&3' 3<>/dev/tty")
    at("0 is /dev/tty", "sh -c 'echo a; echo b; read x; echo [$x]' </dev/tty", ("\nb\r", "in\n"))
    at("1 is /dev/tty", "sh -c 'echo a; echo b >&2; stty -a <&1 | md5sum' >/dev/tty")
    at("a dialog", "x=$(sh -c 'echo shown; read y; echo shown too; echo result $y >&3' 3>&1 1>&2);"
       " echo $x", ("shown\r", "in\n"))
    at("opens it itself", "sh -c 'exec </dev/tty; read x; echo [$x]; echo out >/dev/tty'",
       ("tty'", "in\n"))
    at("a question beside a pipe", "echo piped | sh -c 'read a; echo go; read b </dev/tty; echo $a $b'",
       ("go\r", "typed\n"))
    at("is it one", "sh -c 'for i in 0 1 2 3 4; do [ -t $i ]; echo $?; done' 3>&1 4</dev/null")

    # Keys.
    at("a password", "sh -c 'stty -echo; printf pw:; read p; stty echo; echo; echo [$p]'",
       ("pw:$", "secret\n"))
    at("a password by python", "sh -c 'python3 -c \"import getpass; print(len(getpass.getpass()))\"'",
       ("word: $", "secret\n"))
    at("a line that is edited", "sh -c 'echo go; read -r x; echo \"[$x]\"'",
       ("go\r", "wrong\x15abc\x7fd efg\x17h\x16\x03i\n"))
    at("one key", "sh -c 'stty -icanon -echo min 1; echo go; k=$(head -c 1); stty icanon echo; echo [$k]'",
       ("go\r", "k"))
    at("the end twice in a line", "sh -c 'cat; echo; echo end'", ("end'", "abc\x04\x04"))
    at("Ctrl-S, Ctrl-Q", "sh -c 'echo go; read x; echo one; echo two; read y; echo three'",
       ("go\r", "\x13a\n\x11b\n"))
    at("other keys for it", "stty intr ^X erase ^H; sh -c 'echo go; sleep 60'; stty sane",
       ("go\r", "\x18"))
    at("keys that are set within", "sh -c 'stty intr ^X; echo go; sleep 60'; stty sane",
       ("go\r", "\x18"))
    at("all its modes", "stty -ixon -echoctl erase ^H eol ^B; sh -c 'stty -a' | md5sum; "
       "sh -c 'stty -g'; stty sane; sh -c 'stty -g'")

    # Jobs.
    at("Ctrl-C ends a loop", "for i in 1 2 3; do sh -c 'echo go; sleep 60'; done", ("go\r", "\x03"))
    at("Ctrl-C that is dealt with does not", "for i in 1 2; do sh -c 'trap \"exit 0\" INT; echo go$0; "
       "sleep 60' $i; done", ("go1\r", "\x03"), ("go2\r", "\x03"))
    at("Ctrl-C in a shim's shim", "stty -echo; sh -c 'sh -c \"echo go; sleep 60\"; echo inner $?'", ("go\r", "\x03"))
    at("Ctrl-Z in a shim's shim", "stty -echo; sh -c 'sh -c \"echo go; read x; echo [\\$x]\"; echo inner $?'; fg",
       ("go\r", "\x1a"), ("sh -c[^\n]*\n", "in\n"))
    at("Ctrl-\\ in a shim's shim", "stty -echo; ulimit -c 0; sh -c 'sh -c \"echo go; sleep 60\"; echo inner $?'",
       ("go\r", "\x1c"))
    at("sizes of a shim's shim", "sh -c 'sh -c \"stty rows 31; stty size\"; stty size'; stty size")
    at("stopped, resized, in front", "sh -c 'echo go; read x; stty size'; fg",
       ("go\r", "\x1a"), ("sh -c[^\n]*\n", lambda t: (t.size(35, 150), t.type("\n"))))
    stop = "until [ $(ps -o s= $!) = T ]; do :; done; jobs; fg"
    at("reads behind", "sh -c 'read x; echo [$x]' & " + stop, ("Stopped", "in\n"))
    at("writes behind", f"stty tostop; sh -c 'echo out' & {stop}; stty -tostop")
    at("jobs of its own", "sh -c 'set -m; sleep 60 & kill %1; wait; cat </dev/null & fg; echo on'")
    at("a pipeline of two", "sh -c 'echo go >&2; sleep 60' | sh -c 'cat; echo end'", ("go\r", "\x03"))
    at("both in front", "sh -c 'echo go; read x; echo [$x]' | cat", ("go\r", "in\n"))
    at("stops itself", "sh -c 'kill -STOP $$; echo on'; echo; fg")
    at("a session of its own", "setsid -w sh -c 'echo a; (: </dev/tty) 2>/dev/null; echo $?'")
    at("the terminal of another", "script -qec \"sh -c 'tty >/dev/null; stty size; read x; echo [\\$x]'\" "
       "/dev/null", ("\\d+ \\d+\r", "in\n"))
    at("python's on it", "python3 -c 'import subprocess as s; print(s.call(\"read x; echo [$x]; exit 3\", "
       "shell=True, executable=\"'$(command -v sh)'\"))'", ("'\r?\n", "in\n"))

    at("stops with who started it", "/bin/dash -c 'sh -c \"echo go; read x; echo [\\$x]\"; echo code $?'; fg",
       ("go\r", "\x1a"), ("Stopped", "in\n"))
    at("ends with who started it", "/bin/dash -c 'sh -c \"echo go; exec sleep 60\"; echo code $?'",
       ("go\r", "\x03"))
    f.terminal("a session within another shell's", within)
    at("no terminal of its session", "setsid -w sh -c 'echo go; read x; echo [$x]; [ -t 0 ]; echo $?'",
       ("go\r", "in\n"))

    # Much.
    f.terminal("half a megabyte out", much_out)
    f.terminal("a hundred kilobytes typed", much_in)
    f.terminal("two hundred keys, one at a time", key_by_key)
    f.both("hangs up", lambda s: hangs_up(f, s))
    f.both("hangs up at once", lambda s: logged_in(f, s, ""))
    f.both("hangs up, a job in front", lambda s: logged_in(
        f, s, "(trap exit HUP; echo u''p; while :; do sleep 0.05; done)"))
    f.both("hangs up, whatever is ignored", lambda s: logged_in(
        f, s, "trap '' HUP; echo u''p; while read x; do :; done; echo $? >h; exit 3"))


def within(t):
    """Its jobs' keys are no matter of who waits for it."""
    t.type("/bin/dash -c 'sh -i; echo code $?'\n")
    seen = t.until("OUT> $")
    for key in "\x03", "\x1a":
        t.type("/bin/dash -c 'echo go; exec sleep 60'\n")
        seen += t.until("\ngo\r")
        t.type(key)
        seen += t.until("OUT> $")
    t.type("\x03")
    seen += t.until("OUT> $")
    t.type("fg\n")
    seen += t.until('sleep 60"?\\r')
    time.sleep(0.15)
    t.type("\x03")
    seen += t.until("OUT> $")
    t.type("exit 3\n")
    return seen + t.until("code 3\r\nOUT> $")


def much_out(t):
    t.type("sh -c 'seq 80000; echo the; echo end'\n")
    seen = t.until("the\r\nend\r\n", 60).split("the\r\nend")[0]
    return hashlib.md5(seen.encode()).hexdigest()


def much_in(t):
    lines = "".join(f"{i} and more of a line that is typed\n" for i in range(2500))
    t.type("stty -echo; sh -c 'echo go; cat >f'; stty echo; md5sum f; rm f; echo end\n")
    t.until("go\r")
    typing = threading.Thread(target=lambda: t.type_all(lines + "\x04"))
    typing.start()
    seen = t.until("f\r\nend\r\n", 60)
    typing.join()
    return seen.split("end")[0]


def key_by_key(t):
    t.type("sh -c 'stty -icanon -echo; echo go; while k=$(head -c 1); [ \"$k\" != q ]; do "
           "printf \"<%s>\" \"$k\"; done; stty icanon echo'\n")
    seen = t.until("go\r")
    for i in range(60):
        t.type("abcdef"[i % 6])
        seen += t.until(">")
    t.type("q")
    return seen + t.until("OUT> $")


def hangs_up(f, shell):
    """The terminal goes: HUP comes, and the rest of it still runs."""
    os.mkdir("bin")
    os.symlink(shell, "bin/" + os.path.basename(shell))
    os.mkfifo("p")
    t = f.Terminal(os.path.abspath("bin"))
    t.type("sh -c 'trap \"trap : HUP; echo hup >p; exit 3\" HUP; echo go; while :; do read x || sleep 0.1; done'\n")
    t.until("go\r")
    # A writer never waits for its reader: the second HUP would disturb it.
    fifo = os.open("p", os.O_RDWR)
    t.close()
    got = os.read(fifo, 9) if select.select([fifo], [], [], 20)[0] else b""
    os.close(fifo)
    os.unlink("p")
    f.shutil.rmtree("bin")
    return got


def logged_in(f, shell, text):
    """An interactive shell leads the session of a terminal that goes."""
    pid, fd = f.pty.fork()
    if pid == 0:
        os.environ.update(PS1="> ", TERM="dumb", HOME=os.getcwd(), HISTFILE="/dev/null")
        os.execv(shell, ["sh", "-i"])
    seen = b""
    while not seen.endswith((b"> ", b"# ", b"$ ")):
        seen += os.read(fd, 100)
    os.write(fd, text.encode() + b"\n")
    while text and b"up\r" not in seen:
        seen += os.read(fd, 1000)
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
