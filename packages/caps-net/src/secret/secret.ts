/**
 * A secret that caps use and nobody reads.
 *
 * Promise: the value is read again for each use, so a rotation needs no new grant. Each value that was read in this
 * process stays known, and is blanked out of answers also after it was replaced. The object has no method that a
 * session could call: it is not a capability, and a driver refuses it (`pass` takes data and references only).
 */
import { refusal } from '../base/errors.ts';
import { FormTable } from './form-table.ts';
import { wrongWithSecret } from './rules.ts';

/** Values that were replaced and are still blanked. */
const MOST_KNOWN = 64;

/** A secret for the caps of this package, made by `makeSecret`. It shows nothing of itself. */
export class Secret {
  readonly #read: () => string | undefined;
  readonly #known: string[] = [];
  #table = new FormTable([]);

  constructor(read: () => string | undefined) {
    this.#read = read;
  }

  /** The value of now. Errors: `E_SECRET`. */
  use(): string {
    const value = this.#read();
    if (value === undefined) throw refusal('E_SECRET', 'it is not stored: whoever granted this can store it');
    if (this.#known.at(-1) !== value) this.#learn(value);
    return value;
  }

  /** All forms of all values that were used. */
  get table(): FormTable {
    return this.#table;
  }

  #learn(value: string): void {
    const wrong = wrongWithSecret(value);
    if (wrong !== undefined) throw refusal('E_SECRET', wrong);
    this.#known.push(value);
    if (this.#known.length > MOST_KNOWN) this.#known.shift();
    this.#table = new FormTable(this.#known);
  }
}

/**
 * A secret for the caps of this package. `read` returns the value of now, as a store has it; undefined if there is none.
 */
export function makeSecret(read: () => string | undefined): Secret {
  if (typeof read !== 'function') throw refusal('invalid', 'makeSecret takes a function that returns the value of now');
  return new Secret(read);
}
