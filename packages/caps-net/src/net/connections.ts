/** The open connections of a cap: so many at once, and none after it is closed. */
import type { Socket } from 'node:net';
import { refusal } from '../base/errors.ts';

export class Connections {
  readonly #most: number;
  readonly #open: (signal: AbortSignal) => Promise<Socket>;
  readonly #closing = new AbortController();
  readonly #sockets = new Set<Socket>();
  #opening = 0;

  constructor(most: number, open: (signal: AbortSignal) => Promise<Socket>) {
    this.#most = most;
    this.#open = open;
  }

  /** Errors: `limit`, `unavailable`, and those of the connection. */
  async connect(signal: AbortSignal): Promise<Socket> {
    if (this.#closing.signal.aborted) throw refusal('unavailable');
    if (this.#sockets.size + this.#opening >= this.#most)
      throw refusal('limit', `${this.#most} connections of this cap are open`);
    this.#opening += 1;
    try {
      const socket = await this.#open(AbortSignal.any([signal, this.#closing.signal]));
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.#closing.signal.aborted) socket.destroy();
      return socket;
    } finally {
      this.#opening -= 1;
    }
  }

  /** Resolves when the last one is closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(
      [...this.#sockets].map((socket) => {
        const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
        socket.destroy();
        return closed;
      }),
    );
  }
}
