"""A terminal that is handed over to be written to: terminal.py SOCKET. Says `typed` if somebody typed into it instead."""

import os
import pty
import select
import socket
import sys

LIMIT_S = 20


def main():
    _, slave = pty.openpty()
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(LIMIT_S)
        server.bind(sys.argv[1])
        os.chmod(sys.argv[1], 0o777)
        server.listen()
        print("ready", flush=True)
        with server.accept()[0] as peer:
            peer.settimeout(LIMIT_S)
            socket.send_fds(peer, [b"."], [slave])
            # It says when it has done what it could, and waits: with its session the terminal would end.
            if peer.recv(1) and select.select([slave], [], [], 0.2)[0] and os.read(slave, 100):
                print("typed", flush=True)


main()
