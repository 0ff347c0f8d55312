/** The relays of a front door: how many there are at once, and one for each socket. */
import type { Duplex as Stream } from 'node:stream';

/**
 * Connections to other machines at once. Strangers have at most 512 of them (`unauthenticated-sockets.ts`), and the
 * sessions of one host have at most 256 by default. So a host that is flooded keeps no other host out. This does not hold
 * if a host is opened with a limit of about 1,500 connections or more (`state/most.ts`).
 */
const maxRelays = 2048;

export class RelayPlaces {
  readonly #most: number;
  /** The sockets of callers whose request is relayed. */
  readonly #sockets = new Set<Stream>();

  constructor(most: number = maxRelays) {
    this.#most = most;
  }

  /** Takes a place until the socket of the caller closes. Returns false if there is none. */
  take(socket: Stream): boolean {
    // One request for each socket. Otherwise a stranger could open any number of relays with one socket. Each answer
    // ends its connection, so no honest caller sends a second request.
    if (this.#sockets.has(socket)) {
      socket.destroy();
      return false;
    }
    if (this.#sockets.size >= this.#most) return false;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return true;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
