#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A supervisor that starts a server when somebody connects, as systemd does.

    activate.py SOCKET TIMES COMMAND...

Listens on SOCKET, prints "ready", and waits for a connection; then COMMAND gets the
socket as descriptor 3. So TIMES times, one after the other.
"""
import os
import select
import socket
import sys

path, times, *command = sys.argv[1:]
os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
s = socket.socket(socket.AF_UNIX)
os.umask(0o177)
s.bind(path)
s.listen(128)
print("ready", flush=True)
for _ in range(int(times)):
    select.select([s], [], [])
    pid = os.fork()
    if not pid:
        os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        os.umask(0o22)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1",
                          LISTEN_FDNAMES="wardbox-serve.socket")
        os.execvp(command[0], command)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
