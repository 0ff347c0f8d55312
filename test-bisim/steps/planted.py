"""Becomes a launcher that has something to lose, and then a program: planted.py JSON PROGRAM …

JSON: any of `hostname` (in a UTS namespace of its own), `renames` [SEEN, NAME, MADE] (the same, and later: when the file SEEN is there
the machine is called NAME, and MADE is made), `group` (one more), `key` (in a session keyring of its own), `cgroup` (a folder to be in),
`user` (who it is).
"""

import ctypes
import json
import os
import platform
import socket
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
KEYCTL, ADD_KEY = (219, 217) if platform.machine() == "aarch64" else (250, 248)
NEWUTS, NEWUSER = 0x04000000, 0x10000000
LIMIT_S = 20


def checked(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def own_name(name):
    uid, gid = os.getuid(), os.getgid()
    checked(LIBC.unshare(NEWUTS if uid == 0 else NEWUTS | NEWUSER))
    if uid != 0:
        put("/proc/self/setgroups", "deny")
        put("/proc/self/uid_map", f"{uid} {uid} 1")
        put("/proc/self/gid_map", f"{gid} {gid} 1")
    socket.sethostname(name)


def rename_later(seen, name, made):
    if os.fork() != 0:
        return
    # Not what the program talks over.
    os.closerange(0, 100)
    until = time.monotonic() + LIMIT_S
    while not os.path.exists(seen) and time.monotonic() < until:
        time.sleep(0.02)
    socket.sethostname(name)
    if os.path.exists(seen):
        put(made, "")
    os._exit(0)


def main():
    settings, *program = json.loads(sys.argv[1]), *sys.argv[2:]
    if "cgroup" in settings:
        put(os.path.join(settings["cgroup"], "cgroup.procs"), str(os.getpid()))
    if "key" in settings:
        checked(LIBC.syscall(KEYCTL, 1, None))
        text = settings["key"].encode()
        checked(LIBC.syscall(ADD_KEY, b"user", b"hob-bisim", text, len(text), -3))
    if "group" in settings:
        os.setgroups([settings["group"]])
    if "hostname" in settings:
        own_name(settings["hostname"])
    if "renames" in settings:
        rename_later(*settings["renames"])
    os.execvp(program[0], program)


main()
