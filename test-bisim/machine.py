"""What runs in a cage: a listener and a process that must not be harmed, and whoever takes the commands.

    machine.py PORT MARK plain              plain bash: a line {"op": "run", "command": …} is answered with {"status", "stdout", "stderr"}
    machine.py PORT MARK exec PROGRAM …     PROGRAM answers the lines

A line {"reached": …} says that somebody connected. Only for use in a sandbox: `plain` runs whatever it is told.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile

LIMIT_S = 20
WORK = os.getcwd()


def say(line):
    os.write(1, (json.dumps(line) + "\n").encode())


def listen(port):
    with socket.create_server(("127.0.0.1", port)) as server:
        ready = os.fork()
        if ready:
            return
        os.setsid()
        while True:
            with server.accept()[0] as peer:
                say({"reached": "tcp"})
                peer.settimeout(0.2)
                try:
                    peer.recv(4096)
                    peer.sendall(b"HTTP/1.0 200 OK\r\n\r\nHOB-REACHED\n")
                except OSError:
                    pass


def keep(mark):
    """Answers when it goes by its name."""
    told, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execvp("sleep", [mark + "-victim", "100000"])
    # Closed by the exec.
    os.close(tell)
    os.read(told, 1)
    os.close(told)


def run(command):
    # Into files: what is left running in the background may hold them, and is not waited for.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(["bash", "-c", command], cwd=WORK, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            status = child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 20).decode("utf-8", "replace"))
    return {"status": status if status >= 0 else 128 - status, "stdout": texts[0], "stderr": texts[1]}


def main():
    port, mark, what, *program = sys.argv[1:]
    listen(int(port))
    keep(mark)
    say({"ready": True})
    if what == "exec":
        os.execv(program[0], program)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = run(asked["command"])
        except Exception as error:  # the cage itself was damaged: say so, and the next one is asked in a new cage
            answer = {"status": 127, "stdout": "", "stderr": repr(error), "broken": True}
        say({**asked, **answer})


main()
