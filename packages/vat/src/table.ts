/**
 * Tables: keyed collections that turns share, one row per key.
 *
 * Promise: what a failed turn wrote is gone, row by row; a value is data or references, copied and frozen when it is set.
 * A table is passed by reference and is near only in the vat that made it.
 */
import { CapError } from './errors.ts';
import type { Account } from './meter.ts';
import { ByReference } from './reference.ts';
import { SortedKeys } from './sorted-keys.ts';
import { current, type Home, type Turn, turnFor, type Undo } from './turn.ts';
import type { Table } from './types.ts';
import { keepArgs } from './values.ts';

interface Row {
  readonly value: unknown;
  readonly bytes: number;
  /** The session that wrote it pays for it. */
  readonly payer: Account;
}

class Rows extends ByReference implements Table<unknown> {
  readonly #home: Home;
  readonly #id: number;
  readonly #rows = new Map<string, Row>();
  readonly #keys = new SortedKeys();

  constructor(home: Home) {
    super();
    this.#home = home;
    this.#id = home.nextId();
    Object.freeze(this);
  }

  get label(): string {
    return `table#${this.#id}`;
  }

  get size(): number {
    this.#turn();
    return this.#rows.size;
  }

  get(key: string): unknown {
    this.#turn();
    return this.#rows.get(key)?.value;
  }

  has(key: string): boolean {
    this.#turn();
    return this.#rows.has(key);
  }

  set(key: string, value: unknown): void {
    const turn = this.#turn();
    if (typeof key !== 'string') throw new CapError('invalid', 'a table key is a string');
    const kept = keepArgs([value]);
    const before = this.#rows.get(key);
    const row: Row = { value: kept.args[0], bytes: kept.bytes + key.length, payer: turn.account };
    row.payer.charge('rows', 1);
    try {
      row.payer.charge('portraitBytes', row.bytes);
    } catch (error) {
      row.payer.refund('rows', 1);
      throw error;
    }
    this.#put(key, row);
    giveBack(before);
    turn.undos.push(new RowChange(this, key, before));
  }

  delete(key: string): boolean {
    const turn = this.#turn();
    const before = this.#rows.get(key);
    if (before === undefined) return false;
    this.#remove(key);
    giveBack(before);
    turn.undos.push(new RowChange(this, key, before));
    return true;
  }

  /** Rows at and after `from`, at most `limit`. Rows changed while it runs are seen as they are when it comes to them. */
  *entries(from = '', limit = Number.POSITIVE_INFINITY): Generator<readonly [string, unknown]> {
    this.#turn();
    let left = limit;
    let key = this.#keys.from(from, false);
    while (key !== undefined && left > 0) {
      yield Object.freeze([key, this.#rows.get(key)?.value] as const);
      this.#turn();
      left -= 1;
      key = this.#keys.from(key, true);
    }
  }

  /** For the journal. */
  static restore(table: Rows, key: string, row: Row | undefined): void {
    giveBack(table.#rows.get(key));
    if (row === undefined) return table.#remove(key);
    // Given back before, without a limit: it had been paid for.
    row.payer.refund('rows', -1);
    row.payer.refund('portraitBytes', -row.bytes);
    table.#put(key, row);
  }

  #put(key: string, row: Row): void {
    if (!this.#rows.has(key)) this.#keys.add(key);
    this.#rows.set(key, row);
  }

  #remove(key: string): void {
    if (this.#rows.delete(key)) this.#keys.delete(key);
  }

  #turn(): Turn {
    const turn = current ?? turnFor('a table');
    if (turn.home !== this.#home)
      throw new CapError('not-callable', `${this.label} is in another vat: ask an actor there for the rows`);
    return turn;
  }
}
Object.freeze(Rows.prototype);

function giveBack(row: Row | undefined): void {
  if (row === undefined) return;
  row.payer.refund('rows', 1);
  row.payer.refund('portraitBytes', row.bytes);
}

class RowChange implements Undo {
  readonly #table: Rows;
  readonly #key: string;
  readonly #before: Row | undefined;
  constructor(table: Rows, key: string, before: Row | undefined) {
    this.#table = table;
    this.#key = key;
    this.#before = before;
  }
  get changed(): string {
    return this.#table.label;
  }
  undo(): void {
    Rows.restore(this.#table, this.#key, this.#before);
  }
}

/**
 * A new table in the running turn's vat. Keys are strings, values data or references. `entries(from, limit)` walks the keys
 * in the order of their UTF-8 bytes. Hand it to a portrait, or it is gone with the turn. Errors: `not-callable` outside a
 * turn and in another vat, `invalid` for what cannot be kept, `limit`.
 */
export function table<V>(): Table<V> {
  return new Rows(turnFor('table').home) as unknown as Table<V>;
}
