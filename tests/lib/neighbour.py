#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two guarded programs of one uid, in two sessions and two projects, at the same time.

    neighbour.py host               holds a secret in its files, memory, descriptors, sockets
    neighbour.py try FILE [proof]   tries to get at it; FILE tells where it is; proof:
                                    unguarded, at the first program and its files alone

The second prints a line for each way that leads there; its last line tells how many
ways it tried. The first ends when its FIFO is opened, and tells whether all is as it was.
"""
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
SECRET = b"the neighbour's secret"
KEY = 0x6e656967
TRACE_ATTACH, TRACE_SEIZE = 16, 0x4206
SYS = {"vm_readv": 310, "vm_writev": 311, "kcmp": 312, "pidfd_open": 434, "pidfd_getfd": 438,
       "pidfd_send": 424, "robust": 274, "move_pages": 279, "madvise": 440, "setns": 308,
       "add_key": 248, "shmget": 29, "msgget": 68, "semget": 64, "mq_open": 240,
       "sched_setaffinity": 203}


def listening(family, name):
    try:
        s = socket.socket(family)
        s.bind(name)
        s.listen()
        return s
    except OSError:
        return None


def host():
    keep = ctypes.create_string_buffer(SECRET)
    with open("secret", "wb") as f:
        f.write(SECRET)
    fd = os.open("secret", os.O_RDWR)
    there = {"pid": os.getpid(), "parent": os.getppid(), "at": ctypes.addressof(keep),
             "size": len(SECRET), "fd": fd, "dir": os.getcwd(), "port": 0}
    kept = [listening(socket.AF_UNIX, n) for n in ("socket", "\0neighbour")]
    tcp = listening(socket.AF_INET, ("127.0.0.1", 0))
    if tcp:
        there["port"] = tcp.getsockname()[1]
    libc.syscall(SYS["shmget"], KEY, 4096, 0o1666)
    libc.syscall(SYS["msgget"], KEY, 0o1666)
    libc.syscall(SYS["semget"], KEY, 1, 0o1666)
    libc.syscall(SYS["mq_open"], b"neighbour", os.O_CREAT | os.O_RDWR, 0o666, None)
    before = (os.stat("secret"), sorted(os.listdir(".")), os.getpriority(os.PRIO_PROCESS, 0),
              resource.getrlimit(resource.RLIMIT_CORE), os.sched_getaffinity(0))
    with open("up", "w") as f:
        json.dump(there, f)
    os.rename("up", "ready")
    open("end", "rb").close()
    os.unlink("ready")
    after = (os.stat("secret"), sorted(os.listdir(".")), os.getpriority(os.PRIO_PROCESS, 0),
             resource.getrlimit(resource.RLIMIT_CORE), os.sched_getaffinity(0))
    for s in filter(None, [*kept, tcp]):
        s.setblocking(False)
        try:
            s.accept()
            print("somebody came")
        except BlockingIOError:
            pass
    well = before == after and keep.value == SECRET and os.pread(fd, 99, 0) == SECRET
    print("as it was" if well else f"changed: {before} {after}")


count = 0


def tries(what, act):
    """act: a number from 0, a text or bytes are success; what: "" tells nothing of it."""
    global count
    count += 1
    try:
        said = act()
    except (OSError, ValueError):
        return
    if what and said is not None and said is not False and not (isinstance(said, int) and said < 0):
        print(f"GOT {what} {said}", flush=True)


def read(path):
    with open(path, "rb") as f:
        return f.read(64)


def write(path, data=b"x"):
    with open(path, "r+b", 0) as f:
        return f.write(data)


def call(name, *args):
    return libc.syscall(SYS[name], *args)


def memory(pid, at, size, writes):
    here = ctypes.create_string_buffer(size)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(here), size)
    far = (ctypes.c_void_p * 2)(at, size)
    return call("vm_writev" if writes else "vm_readv", pid, local, 1, far, 1, 0)


def at_offset(path, at, flags):
    fd = os.open(path, flags)
    return os.pread(fd, 8, at) if flags == os.O_RDONLY else os.pwrite(fd, b"x", at)


def processes(pid, t):
    proc = f"/proc/{pid}"
    for name in "environ", "auxv", "maps", "io", "stack", "syscall", "pagemap":
        tries(f"read {name} of {pid}", lambda: read(f"{proc}/{name}"))
    for name in "exe", "cwd", "root", "ns/net", "ns/mnt", f"fd/{t['fd']}":
        tries(f"opened {name} of {pid}", lambda: os.open(f"{proc}/{name}", os.O_RDONLY))
    for name in "clear_refs", "oom_score_adj", "coredump_filter", "timerslack_ns", "comm", \
                "attr/current", "loginuid", "projid_map", "uid_map":
        tries(f"wrote {name} of {pid}", lambda: write(f"{proc}/{name}", b"1"))
    tries(f"where a descriptor of {pid} leads", lambda: os.readlink(f"{proc}/fd/{t['fd']}"))
    tries(f"listed mapped files of {pid}", lambda: len(os.listdir(f"{proc}/map_files")))
    tries(f"read the memory of {pid}", lambda: at_offset(f"{proc}/mem", t["at"], os.O_RDONLY))
    tries(f"wrote the memory of {pid}", lambda: at_offset(f"{proc}/mem", t["at"], os.O_RDWR))
    for writes in False, True:
        tries(f"process_vm {writes} of {pid}", lambda: memory(pid, t["at"], t["size"], writes))
    for how in TRACE_SEIZE, TRACE_ATTACH:
        tries(f"traced {pid}", lambda: libc.ptrace(how, pid, 0, 0))
    tries(f"compared with {pid}", lambda: call("kcmp", pid, os.getpid(), 0, t["fd"], 0))
    tries(f"robust list of {pid}", lambda: call("robust", pid, ctypes.create_string_buffer(8),
                                                ctypes.create_string_buffer(8)))
    tries(f"pages of {pid}", lambda: call("move_pages", pid, 1,
                                          (ctypes.c_void_p * 1)(t["at"] & ~4095), None,
                                          (ctypes.c_int * 1)(), 0))
    handle = call("pidfd_open", pid, 0)
    if handle >= 0:
        tries(f"a descriptor of {pid}", lambda: call("pidfd_getfd", handle, t["fd"], 0))
        tries(f"advised {pid}", lambda: call("madvise", handle, (ctypes.c_void_p * 2)(t["at"], 8),
                                             1, 20, 0))
        tries(f"joined the network of {pid}", lambda: call("setns", handle, 0x40000000))
        os.close(handle)
    tries(f"limited {pid}", lambda: len(resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))))
    tries(f"priority of {pid}", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19) or 0)
    tries(f"processors of {pid}", lambda: os.sched_setaffinity(pid, [0]) or 0)


def signals(pid):
    handle = call("pidfd_open", pid, 0)
    tries(f"stopped {pid} by handle", lambda: call("pidfd_send", handle, signal.SIGSTOP, 0, 0))
    for sig in signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL:
        tries(f"sent {sig} to {pid}", lambda: os.kill(pid, sig) or 0)


def others_in(path):
    """Names but those that every command is shown."""
    return " ".join(set(os.listdir(path)) - {"told", "cache"}) or None


def files(t):
    tops = [t["dir"], f"/proc/self/root{t['dir']}", f"/proc/{t['pid']}/cwd",
            f"/proc/{t['pid']}/root{t['dir']}", f"/proc/{t['parent']}/root{t['dir']}",
            f"/proc/{os.getppid()}/root{t['dir']}"]
    for top in tops:
        tries(f"read {top}", lambda: read(top + "/secret"))
        tries(f"wrote {top}", lambda: write(top + "/secret"))
        # The name may be one of the program's own /tmp: the first one tells.
        tries("", lambda: os.open(top + "/planted", os.O_CREAT | os.O_WRONLY))
        tries(f"linked from {top}", lambda: os.link(top + "/secret", "stolen") or 0)
        tries(f"moved from {top}", lambda: os.rename(top + "/secret", "stolen") or 0)
        tries(f"moved into {top}", lambda: os.rename("mine", top + "/mine") or 0)
        tries(f"removed in {top}", lambda: os.unlink(top + "/secret") or 0)
        tries(f"mode in {top}", lambda: os.chmod(top + "/secret", 0o666) or 0)
        tries(f"time in {top}", lambda: os.utime(top + "/secret", (1, 1)) or 0)
        tries(f"locked in {top}", lambda: fcntl.flock(os.open(top + "/secret", os.O_RDONLY),
                                                      fcntl.LOCK_EX) or 0)
        tries(f"woke {top}", lambda: os.open(top + "/end", os.O_WRONLY | os.O_NONBLOCK))
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
            tries(f"connected in {top}", lambda: socket.socket(socket.AF_UNIX, kind).connect(
                top + "/socket") or 0)


def places(t):
    base, home = f"/run/wardbox/{os.getuid()}", os.environ["HOME"]
    for path in (f"{base}/sessions", base, "/var/log/wardbox", f"/var/log/wardbox/{os.getuid()}",
                 f"{home}/.local/state/wardbox", f"{home}/.local/state/wardbox/undo-{os.getuid()}"):
        for root in "", f"/proc/{t['pid']}/root", f"/proc/{t['parent']}/root":
            tries(f"listed {root}{path}", lambda: others_in(root + path))
        tries(f"made a file in {path}", lambda: os.open(path + "/planted",
                                                        os.O_CREAT | os.O_WRONLY))


def others(t):
    tries("the loopback", lambda: socket.create_connection(("127.0.0.1", t["port"]), 1).fileno())
    tries("the loopback, 6", lambda: socket.create_connection(("::1", t["port"]), 1).fileno())
    tries("the abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\0neighbour") or 0)
    tries("the shared memory", lambda: call("shmget", KEY, 0, 0))
    tries("the messages", lambda: call("msgget", KEY, 0))
    tries("the semaphores", lambda: call("semget", KEY, 0, 0))
    tries("the queue", lambda: call("mq_open", b"neighbour", os.O_RDWR, 0, None))


def machine(t):
    tries("a key for others", lambda: call("add_key", b"user", b"neighbour", b"x", 1, -4))
    try:
        with open(f"/proc/{t['pid']}/cgroup") as f:
            group = f.read().strip().rpartition("::")[2]
    except OSError:
        group = "/"
    for name in "cgroup.kill", "cgroup.freeze", "cgroup.procs", "memory.max":
        # Opened and not written, because a word there ends all that is in it.
        tries(f"opened {name}", lambda: os.open(f"/sys/fs/cgroup{group}/{name}", os.O_WRONLY))


def main():
    if sys.argv[1] == "host":
        return host()
    with open(sys.argv[2]) as f:
        t = json.load(f)
    with open("mine", "w") as f:
        f.write("mine")
    proof = sys.argv[3:] == ["proof"]
    pids = [t["pid"]] if proof else [t["pid"], t["parent"]]
    for pid in pids:
        processes(pid, t)
    # files() wakes a neighbour that nothing guards, and it ends.
    others(t)
    files(t)
    # The machine's own: out of bounds where nothing guards it.
    if not proof:
        places(t)
        machine(t)
    for pid in pids:
        signals(pid)
    if proof:
        return
    # Beside it all that is its own works.
    assert read("mine") == b"mine" and (t["bare"] or listening(socket.AF_UNIX, "own"))
    print(count, "ways")


main()
