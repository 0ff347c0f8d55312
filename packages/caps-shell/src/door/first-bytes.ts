/** Reads the first bytes of a connection, as many as somebody asks for, and leaves the rest to whoever comes next. */
import type { Socket } from 'node:net';

export class FirstBytes {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** All bytes that have come and are not used. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  use(count: number): void {
    this.#bytes = this.#bytes.subarray(count);
  }

  /** Resolves when `ask` returns a value for the bytes so far. Rejects if the connection ends before. */
  async until<T>(ask: (bytes: Buffer) => T | undefined): Promise<T> {
    for (;;) {
      const found = this.#bytes.length === 0 ? undefined : ask(this.#bytes);
      if (found !== undefined) return found;
      this.#bytes = Buffer.concat([this.#bytes, await this.#next()]);
    }
  }

  #next(): Promise<Buffer> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        socket.pause().off('data', come).off('end', end).off('close', end);
        then();
      };
      const come = (chunk: Buffer): void => settle(() => resolve(chunk));
      const end = (): void => settle(() => reject(new Error('the connection ended')));
      if (socket.destroyed || socket.readableEnded) return end();
      socket.on('data', come).once('end', end).once('close', end).resume();
    });
  }
}
