/**
 * Looks up who answered requests that left the inbox, and which this page did not answer.
 *
 * Promise: each line of the ledger is read once. A request that ended without an answer has no name beside it.
 */
import type { Granter } from '@hob/host';
import { E, type Far } from '@hob/vat/peer';
import { type Answered, answersIn } from './logic/answered.ts';

export class Others {
  readonly #granter: Far<Granter>;
  readonly #answered = new Map<string, Answered>();
  readonly #own = new Set<string>();
  #from = 1;
  #reading: Promise<void> = Promise.resolve();

  constructor(granter: Far<Granter>) {
    this.#granter = granter;
  }

  /** The answer of this page is on its way, until `failed` says that it failed. */
  own(request: string): void {
    this.#own.add(request);
  }

  failed(request: string): void {
    this.#own.delete(request);
  }

  /** Undefined if this page answered it, or nobody did. */
  async of(request: string): Promise<Answered | undefined> {
    if (this.#own.has(request)) return undefined;
    this.#reading = this.#reading.then(() => this.#read());
    await this.#reading;
    return this.#answered.get(request);
  }

  async #read(): Promise<void> {
    const reader = E(this.#granter).ledger();
    for (;;) {
      const page = (await E(reader).lines(this.#from)) as readonly string[];
      const last = page.at(-1);
      if (last === undefined) return;
      for (const [request, answered] of answersIn(page)) this.#answered.set(request, answered);
      this.#from = Number((JSON.parse(last) as { readonly seq: number }).seq) + 1;
    }
  }
}
