/**
 * Limits the sockets that are in a TLS handshake.
 *
 * Promise: at most 256 are open at once, and a new one closes the oldest. Without this limit a stranger who
 * opens thousands of connections and says nothing takes every descriptor of the process for 5 s, the time
 * limit of a handshake, and then the host can open no file. The returned function closes those that are open:
 * the server does not know them as connections, and its end would wait for them.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const maxHandshakes = 256;

export function limitHandshakes(server: Server): () => void {
  /** Oldest first. */
  const open = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    open.set(peer, socket);
    socket.once('close', () => {
      if (open.get(peer) === socket) open.delete(peer);
    });
    const [oldest] = open;
    if (open.size > maxHandshakes && oldest !== undefined) {
      open.delete(oldest[0]);
      oldest[1].destroy();
    }
  });
  server.on('secureConnection', (socket: Socket) => open.delete(peerOf(socket)));
  return () => {
    for (const socket of open.values()) socket.destroy();
  };
}

/** The same for a connection and for the TLS socket over it. */
const peerOf = ({ localAddress, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${remoteAddress} ${remotePort}`;
