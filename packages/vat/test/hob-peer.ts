/** A peer that speaks `hob.1` by hand, and says whatever a test wants. */
import type { Duplex } from '../src/captp/session/duplex.ts';

type Operation = readonly unknown[];

export class HobPeer {
  readonly said: Operation[] = [];
  readonly bytes: Uint8Array[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #duplex: Duplex;
  readonly #waiting = new Set<() => void>();

  constructor(duplex: Duplex) {
    this.#duplex = duplex;
    duplex.onFrame((frame) => {
      if (typeof frame === 'string') this.said.push(...(JSON.parse(frame) as Operation[]));
      else this.bytes.push(frame);
      this.#wake();
    });
    duplex.onClose((why) => {
      this.closed = why;
      this.#wake();
    });
  }

  say(...operations: readonly Operation[]): void {
    this.#duplex.send(JSON.stringify(operations));
  }

  raw(frame: string | Uint8Array): void {
    this.#duplex.send(frame);
  }

  leave(): void {
    this.#duplex.close(1000, 'done');
  }

  /**
   * The answer to question `id`: JSON, or `CODE: text`; `closed …` where the connection closed
   * instead.
   */
  async answer(id: number): Promise<string> {
    const said = await this.until(([name, question]) => question === id && (name === 'return' || name === 'fail'));
    if (said === undefined) return `closed ${this.closed?.code} ${this.closed?.reason}`;
    return said[0] === 'return' ? JSON.stringify(said[2]) : `${String(said[2])}: ${String(said[3])}`;
  }

  async until(found: (said: Operation) => boolean): Promise<Operation | undefined> {
    for (;;) {
      const said = this.said.find(found);
      if (said !== undefined || this.closed !== undefined) return said;
      await new Promise<void>((wake) => this.#waiting.add(wake));
    }
  }

  /** How the connection was closed. */
  async end(): Promise<string> {
    await this.until(() => false);
    return `${this.closed?.code} ${this.closed?.reason}`;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
