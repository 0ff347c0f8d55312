/**
 * Sockets that have not shown a known secret. Their number is limited, and a new one closes the oldest. So
 * a client that shows its secret at once gets in, however many sockets stay silent.
 */
import type { Socket } from 'node:net';

/** Sockets without a whole request, and sockets whose secret is being looked up. */
const maxSilent = 64;
const maxPending = 512;

export class UnauthenticatedSockets {
  /** Oldest first. */
  readonly #silent = new Set<Socket>();
  readonly #pending = new Set<Socket>();
  readonly #heard = new WeakSet<Socket>();

  opened(socket: Socket): void {
    socket.once('close', () => this.remove(socket));
    // Two rounds of the event loop later the socket has been read. So a crowd that connects in one round
    // does not close a socket whose request is already here.
    setImmediate(() => setImmediate(() => this.#markSilent(socket)));
  }

  /** Its request has arrived, whole or all but its body. */
  requestArrived(socket: Socket): void {
    this.#heard.add(socket);
    this.#silent.delete(socket);
    this.#pending.add(socket);
    if (this.#pending.size > maxPending) cutOldest(this.#pending);
  }

  /** The socket has shown a known secret, or has closed. */
  remove(socket: Socket): void {
    this.#silent.delete(socket);
    this.#pending.delete(socket);
  }

  #markSilent(socket: Socket): void {
    if (socket.destroyed || this.#heard.has(socket)) return;
    this.#silent.add(socket);
    if (this.#silent.size > maxSilent) cutOldest(this.#silent);
  }
}

function cutOldest(sockets: Set<Socket>): void {
  const [oldest] = sockets;
  if (oldest === undefined) return;
  sockets.delete(oldest);
  oldest.destroy();
}
