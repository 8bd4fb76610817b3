#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guarded program of the same uid tries to answer the question that waits, or to
let itself in at the server: by each way that leads there. What it got is printed,
a line each; the last line is "done".

    reach.py WARDBOX QUESTION PORT TERMINAL PID...

PID...: whoever asks, approves, serves. TERMINAL: the approver's.
"""
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys

box, question, port, terminal, *pids = sys.argv[1:]
pids = [int(p) for p in pids]
base = f"/run/wardbox/{os.getuid()}"
libc = ctypes.CDLL(None, use_errno=True)


def got(*words):
    print("GOT", *words)


def tries(what, act):
    try:
        said = act()
    except (OSError, subprocess.SubprocessError, ValueError):
        return
    if said is not False:
        got(what, said)


# Files: the tokens, the keys, the questions, whatever path leads there.
for root in ("", *(f"/proc/{p}/root" for p in pids), *(f"/proc/{p}/cwd/../../../../.."
                                                      for p in pids)):
    for name in ("serve/token", "serve/approver", "serve/keys", "serve/socket",
                 f"questions/{question}.ask"):
        path = f"{root}{base}/{name}"
        tries(f"read {path}", lambda: open(path, "rb").read(4))
        tries(f"wrote {path}", lambda: open(path, "ab").close())
        tries(f"linked {path}", lambda: os.link(path, "stolen"))
        tries(f"renamed {path}", lambda: os.rename(path, path + ".gone"))
        tries(f"mode of {path}", lambda: os.chmod(path, 0o666))
    for name in (f"questions/{question}.answer", "serve/planted", "planted"):
        path = f"{root}{base}/{name}"
        tries(f"made {path}", lambda: open(path, "x").write("yes\n"))
    for name in "/serve", "/questions":
        tries(f"listed {base}{name}", lambda: os.listdir(f"{root}{base}{name}"))
        tries(f"moved {base}{name}", lambda: os.rename(base + name, base + name + "x"))

# Its sockets.
for path in (f"{base}/serve/socket", *(f"/proc/{p}/root{base}/serve/socket" for p in pids)):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
        tries(f"connected to {path}",
              lambda: socket.socket(socket.AF_UNIX, kind).connect(path))
for host in "127.0.0.1", "0.0.0.0", "localhost", "127.1.2.3":
    tries(f"connected to {host}:{port}",
          lambda: socket.create_connection((host, int(port)), 2) and None)

# The processes.
for pid in pids:
    for what in "environ", "mem", "maps":
        path = f"/proc/{pid}/{what}"
        tries(f"looked into {path}", lambda: open(path, "rb").read(1) and None)
    for what in ("root", "cwd", "exe", *(f"fd/{n}" for n in range(64))):
        path = f"/proc/{pid}/{what}"
        tries(f"knows {path}", lambda: os.readlink(path))
        tries(f"opened {path}", lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)))
    tries(f"signalled {pid}", lambda: os.kill(pid, signal.SIGCONT))
    for request in 16, 0x4206:  # PTRACE_ATTACH, PTRACE_SEIZE
        if libc.ptrace(request, pid, None, None) == 0:
            got("traced", pid)
    tries(f"opened the process {pid}",
          lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGCONT))
    for number in 310, 311, 438:  # process_vm_readv, _writev, pidfd_getfd
        data = ctypes.create_string_buffer(64)
        vec = (ctypes.c_size_t * 2)(ctypes.addressof(data), 64)
        if libc.syscall(number, pid, vec, 1, vec, 1, 0) >= 0:
            got("copied from", pid, number)

# The terminal, and typing into one.
for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
    tries("opened the approver's terminal",
          lambda: os.close(os.open(terminal, flags | os.O_NOCTTY | os.O_NONBLOCK)))
for fd in 0, 1, 2:
    tries("typed", lambda: fcntl.ioctl(fd, 0x5412, b"y"))

# What a person starts later by its name.
for path in "/usr/local/bin", "/usr/bin", "/usr/local/sbin", "/bin":
    for name in "approve", "wardbox":
        tries(f"planted {path}/{name}", lambda: open(f"{path}/{name}", "ab").close())

# Its own front doors.
for words in (("approve", "yes", question), ("approve", "always", question),
              ("approve", "show", question), ("approve", "list"),
              ("serve", "list"), ("serve", "stop"), ("serve", "keys"),
              ("serve", "keys", "add", "mine", "approve"), ("serve",),
              ("mcp", "--server", "local"),
              ("exec", "--server", "local", "s", "--", "touch", "by-the-server")):
    p = subprocess.run([box, *words], stdin=subprocess.DEVNULL, timeout=60,
                       capture_output=True, check=False)
    if p.returncode == 0:
        got("let in by", *words, p.stdout[:80])
print("done")
