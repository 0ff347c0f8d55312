/**
 * Tables: keyed collections that turns share, one row per key.
 *
 * Promise: a failed turn's writes are undone row by row. A value is data or references, copied and frozen
 * when it is set. A table is passed by reference, and is near only in the vat that made it.
 */
import { CapError } from '../core/errors.ts';
import { type Account, type Charge, chargeUntilCollected } from '../core/meter.ts';
import { ByReference, sealed } from '../core/reference.ts';
import { SortedKeys } from '../core/sorted-keys.ts';
import type { Table } from '../core/types.ts';
import { numbersKey, rowsKey } from '../durable/keys.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { current, type Home, type Turn, turnFor, type Undo } from '../turn/turn.ts';
import { again, keepArgs } from '../turn/values.ts';

const longestKey = 65_536;

interface TableRow {
  readonly value: unknown;
  readonly bytes: number;
  /** True when the value holds bytes, which cannot be frozen. */
  readonly mutable: boolean;
  /** The account of the session that wrote the row. */
  readonly payer: Account;
}

class Rows extends ByReference implements Table<unknown> {
  readonly #home: Home;
  readonly #id: number;
  readonly #rows = new Map<string, TableRow>();
  readonly #keys = new SortedKeys();
  /** The charges that limited accounts get back once nobody holds the table. */
  readonly #dues = new Map<Account, readonly [rows: Charge, bytes: Charge]>();

  /** Rows in a store are read at the first use. */
  readonly #store: { unread: boolean };

  constructor(home: Home, id: number, unread: boolean) {
    super();
    this.#home = home;
    this.#id = id;
    this.#store = { unread };
    Object.freeze(this);
  }

  /** The table's vat and number in the store; undefined for a table in memory and for any other object. */
  static nameOf(x: object): readonly [home: Home, id: number] | undefined {
    return #rows in x && x.#home.objectStore !== undefined ? [x.#home, x.#id] : undefined;
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
    return valueIn(this.#rows.get(key));
  }

  has(key: string): boolean {
    this.#turn();
    return this.#rows.has(key);
  }

  set(key: string, value: unknown): void {
    const turn = this.#turn();
    if (typeof key !== 'string') throw new CapError('invalid', 'a table key is a string');
    // Two different keys that are not valid Unicode can have the same UTF-8 form, which is what a store
    // keeps.
    if (this.#home.objectStore !== undefined && (!key.isWellFormed() || key.length > longestKey))
      throw new CapError('invalid', `a key of a durable table is Unicode text of at most ${longestKey} characters`);
    const kept = keepArgs([value]);
    const before = this.#rows.get(key);
    const row: TableRow = {
      value: kept.args[0],
      bytes: kept.bytes + key.length,
      mutable: kept.mutable,
      payer: turn.account,
    };
    // Refunded first, so that a session with a full budget can still overwrite its own row.
    this.#giveBack(before);
    try {
      this.#pay(row);
    } catch (error) {
      this.#payAgain(before);
      throw error;
    }
    this.#put(key, row);
    turn.undos.push(new RowChange(this, key, before));
  }

  delete(key: string): boolean {
    const turn = this.#turn();
    const before = this.#rows.get(key);
    if (before === undefined) return false;
    this.#remove(key);
    this.#giveBack(before);
    turn.undos.push(new RowChange(this, key, before));
    return true;
  }

  /**
   * Rows from `from` on, at most `limit`. Rows that change during the walk are seen in their state when it
   * reaches them.
   */
  *entries(from = '', limit = Number.POSITIVE_INFINITY): Generator<readonly [string, unknown]> {
    this.#turn();
    const next = this.#keys.walk(from);
    for (let left = limit; left > 0; left -= 1) {
      const key = next();
      if (key === undefined) return;
      yield [key, valueIn(this.#rows.get(key))];
      this.#turn();
    }
  }

  /** Call when a commit failed: the rows are read from the store again at the next use. */
  static unread(x: object): void {
    if (!(#rows in x)) return;
    const table = x;
    for (const [key, row] of table.#rows) {
      table.#giveBack(row);
      table.#keys.delete(key);
    }
    table.#rows.clear();
    table.#store.unread = true;
  }

  /** Restores a row, for the journal. */
  static restore(table: Rows, key: string, row: TableRow | undefined): void {
    table.#giveBack(table.#rows.get(key));
    if (row === undefined) return table.#remove(key);
    table.#payAgain(row);
    table.#put(key, row);
  }

  #pay({ payer, bytes }: TableRow): void {
    payer.charge('rows', 1);
    try {
      payer.charge('portraitBytes', bytes);
    } catch (error) {
      payer.refund('rows', 1);
      throw error;
    }
    this.#owe(payer, 1, bytes);
  }

  /** Charges without checking the limit: the row had been paid for before. */
  #payAgain(row: TableRow | undefined): void {
    if (row === undefined) return;
    row.payer.refund('rows', -1);
    row.payer.refund('portraitBytes', -row.bytes);
    this.#owe(row.payer, 1, row.bytes);
  }

  #giveBack(row: TableRow | undefined): void {
    if (row === undefined) return;
    row.payer.refund('rows', 1);
    row.payer.refund('portraitBytes', row.bytes);
    this.#owe(row.payer, -1, -row.bytes);
  }

  #owe(payer: Account, rows: number, bytes: number): void {
    if (!payer.bounds('rows') && !payer.bounds('portraitBytes')) return;
    let dues = this.#dues.get(payer);
    if (dues === undefined) {
      dues = [
        { account: payer, budget: 'rows', amount: 0 },
        { account: payer, budget: 'portraitBytes', amount: 0 },
      ];
      this.#dues.set(payer, dues);
      for (const charge of dues) chargeUntilCollected(this, charge);
    }
    dues[0].amount += rows;
    dues[1].amount += bytes;
  }

  #read(): void {
    const { objectStore, account } = this.#home;
    const prefix = rowsKey(this.#home.name, this.#id);
    // Reads everything before it changes anything: a half-read table would look complete.
    const rows: (readonly [key: string, row: TableRow])[] = [];
    const cells = objectStore === undefined ? [] : [...objectStore.scan(prefix)];
    const values = objectStore?.decodeAll(cells.map(([, text]) => text));
    for (const [n, [cell]] of cells.entries()) {
      const key = cell.slice(prefix.length);
      const kept = keepArgs([values?.[n]]);
      const bytes = kept.bytes + key.length;
      rows.push([key, { value: kept.args[0], bytes, mutable: kept.mutable, payer: account }]);
    }
    this.#store.unread = false;
    for (const [key, row] of rows) {
      this.#payAgain(row);
      this.#put(key, row);
    }
  }

  /** Writes a row to the turn's cells, for the journal of a durable vat. */
  static keep(table: Rows, key: string, objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    const row = table.#rows.get(key);
    cells.set(
      rowsKey(table.#home.name, table.#id) + key,
      row === undefined ? undefined : objectStore.encode(row.value),
    );
  }

  #put(key: string, row: TableRow): void {
    if (!this.#rows.has(key)) this.#keys.add(key);
    this.#rows.set(key, row);
  }

  #remove(key: string): void {
    if (this.#rows.delete(key)) this.#keys.delete(key);
  }

  #turn(): Turn {
    const turn = current ?? turnFor('a table');
    if (turn.home !== this.#home)
      throw new CapError('not-callable', 'the table is in another vat: ask an actor there for the rows');
    if (this.#store.unread) this.#read();
    return turn;
  }
}
sealed(Rows.prototype);

/** A table that a store holds. */
export const storedTable = (home: Home, id: number): object => new Rows(home, id, true);
/** Makes a table read its rows from the store again. */
export const unreadTable: (x: object) => void = Rows.unread;
/** The vat and number of a table in its store. */
export const nameOfTable: (x: object) => readonly [home: Home, id: number] | undefined = Rows.nameOf;

function valueIn(row: TableRow | undefined): unknown {
  return row?.mutable === true ? again(row.value) : row?.value;
}

class RowChange implements Undo {
  readonly #table: Rows;
  readonly #key: string;
  readonly #before: TableRow | undefined;
  constructor(table: Rows, key: string, before: TableRow | undefined) {
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
  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    Rows.keep(this.#table, this.#key, objectStore, cells);
  }
}

/**
 * Makes a table in the running turn's vat. Keys are strings; values are data or references. `entries(from,
 * limit)` walks the keys in the order of their UTF-8 bytes. Put the table into a portrait, or it is gone
 * after the turn. Throws `not-callable` outside a turn and in another vat, `invalid` for a value that cannot
 * be stored, and `limit`.
 */
export function table<V>(): Table<V> {
  const turn = turnFor('table');
  const { home } = turn;
  const id = home.nextId();
  const made = new Rows(home, id, false);
  if (home.objectStore !== undefined) {
    // Its number must not be used again, even if it never gets a row.
    turn.cells ??= new Map();
    turn.cells.set(numbersKey(home.name), String(id));
    home.objectStore.met(rowsKey(home.name, id), made);
  }
  return made as unknown as Table<V>;
}
