#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types at wardbox envrun --repl as a person does, and checks what is seen.

    repl.py WARDBOX
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

os.environ.update(TERM="xterm", LC_ALL="C.UTF-8", NO_COLOR="1")
signal.alarm(90)  # what hangs is a failure, not a wait
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["wardbox", "envrun", "--repl"])


def until(pattern, wait=10):
    end, out = time.time() + wait, ""
    while time.time() < end and not re.search(pattern, out):
        if select.select([fd], [], [], 0.05)[0]:
            try:
                out += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    if not re.search(pattern, out):
        sys.exit(f"no {pattern!r} in {out!r}")
    return out


def type_(text):
    os.write(fd, text if isinstance(text, bytes) else text.encode())


def resize(columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def check(keys, printed, prompt="> "):
    """The keys, Enter; a line of its own holds what is printed."""
    type_(keys)
    type_("\r")
    until(rf"\n{printed}\r\n(.|\r|\n)*{prompt}\x1b\[K")


LEFT, RIGHT, UP, DOWN = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
until("> ")
MODES = termios.tcgetattr(fd)
check("echo hello", "hello")
check("echo ac" + LEFT + "b", "abc")
check("cho up" + "\x01e", "up")
check("echo a\x01\x0b" + "echo killed", "killed")
check("nonsense\x15echo cleared", "cleared")
check("echo one two three\x17\x17four", "one four")
check("echo ab" + LEFT + LEFT + RIGHT + "-\x05!", "a-b!")
check("echo xy" + LEFT + "\x1b[3~z", "xz")
check("echo ä€" + LEFT + LEFT + "ö\x05\x7f", "öä")
check(UP, "öä")
check(UP + UP + DOWN, "öä")
check("fresh" + UP + DOWN + "\x15echo back", "back")
check("\x12kill", "killed")
check("\x12echo\x12\x05x", "backx")
check("echo no\x03echo yes", "yes")
check("\x0cecho drawn", "drawn")
check("echo " + "w" * 300 + "\x01\x05 end", "w{300} end")
check("echo tab\\\tbed", r"tab\tbed")

# What is typed ahead is the command's, and then the next line's.
check("sleep 0.5\recho ahead", "ahead")
check("sleep 0.3; read x; echo got $x\rmine", "got mine")
check("sleep 0.5\rread y; echo second $y\rthree", "second three")
check("sleep 0.5; (exit 3)\r\x1b[A\x1b[Aecho never\x15echo cut\x1b", "cut")

# Any width, and one that changes in the middle of a key.
for columns in (1, 2, 7, 9, 0, 10000, 65535, 80):
    resize(columns)
    check(f"echo 漢字é\u0301 {columns}" + LEFT * 3 + RIGHT + "\x01\x05\x7f" + str(columns)[-1],
          f"漢字é\u0301 {columns}", "> " if columns > 8 else "")
type_("echo ac\x1b[")
time.sleep(0.1)
resize(40)
time.sleep(0.1)
check("Db", "abc")

# Bytes that are no text, and a paste that is long.
type_(b"echo \x00\xff\xfe\xe2\x82\x7f\x7f\x80\x80\x7f-\xc3\xa9\x7fe\r")
until(r"echo \?\?\?-e(.|\r|\n)*\n[^>]*-e(.|\r|\n)*> \x1b\[K")
check(b"echo \x00\xff\xfe\xe2\x82\x7f\x7f\x7f\x7f-\xc3\xa9\x7fe", "-e")
LONG = "x" * 8000
type_("echo " + LONG[:4000])
type_(LONG[4000:] + " | wc -c\r")
until(r"\n8001\r\n(.|\r|\n)*> \x1b\[K", 30)
begun = time.time()
for i in range(18):
    type_("y" * 4000)
    until("y", 5)
type_("\r")
until("was not read")
if time.time() - begun > 20:
    sys.exit("a long line takes too long")
check("\x15echo short", "short")

type_("exit\r")
until("\n")
_, status = os.waitpid(pid, 0)
if status:
    sys.exit(f"ended with {status}")

# Whatever ends it, the terminal is given back.
for number in (signal.SIGTERM, signal.SIGHUP):
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        for i in range(3):
            os.dup2(slave, i)
        os.execv(sys.argv[1], ["wardbox", "envrun", "--repl"])
    fd = master
    until("> ")
    type_("half a li")
    until("li")
    os.kill(pid, number)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != number:
        sys.exit(f"{number}: ended with {status}")
    if termios.tcgetattr(slave) != before:
        sys.exit(f"{number}: the terminal is not what it was")
print("all as typed")
