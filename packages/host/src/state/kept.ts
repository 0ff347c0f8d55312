/**
 * Texts that the program keeps in the store of its host, such as secrets that it has encrypted. The host cannot read
 * them.
 *
 * Promise: a change is one turn: all of it is on the disk, or nothing. It names the key that the texts were under
 * before and are under from now on. If that was changed meanwhile, nothing happens, so no text is left under a key
 * that was thrown away.
 */
import { CapError, ledgerLine } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import type { HostTables } from './records.ts';

/** The texts by name, and the key that they are under. The key is undefined as long as there is none. */
export interface KeptTexts {
  readonly under?: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** A change of texts. */
export interface KeptChange {
  /** How the ledger calls it. */
  readonly what: 'set' | 'remove' | 'rotate';
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  /** The key that the texts were under, as it was read. */
  readonly was?: string | undefined;
  /** The key that all texts are under afterwards. Absent if none is left. */
  readonly under?: string | undefined;
  readonly by: string;
  readonly surface: string;
}

const changeOptions: OptionNames<KeptChange> = {
  what: true,
  set: true,
  remove: true,
  was: true,
  under: true,
  by: true,
  surface: true,
};

const MOST = 256;
const LONGEST = 65_536;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const UNDER = 'keptUnder';

/** In a turn: makes a change, if there is one, and returns all texts. Errors: those of `changeKept`. */
export function keptAfter(tables: HostTables, change?: KeptChange): KeptTexts {
  if (change !== undefined) changeKept(tables, change);
  const under = tables.facts.get(UNDER);
  return { ...(under === undefined ? {} : { under }), texts: Object.fromEntries(tables.kept.entries()) };
}

/** Errors: `invalid`, `limit`, `STALE` (another change was made meanwhile), `no-such-object`. */
function changeKept(tables: HostTables, change: KeptChange): void {
  const { what, set = {}, remove = [], was, under, by, surface } = takeOptions(change, 'kept', changeOptions);
  if (tables.facts.get(UNDER) !== was) throw new CapError('STALE', 'their key was changed meanwhile: try again');
  for (const name of remove) {
    if (!tables.kept.has(name)) throw new CapError('no-such-object', `nothing is kept as ${JSON.stringify(name)}`);
    tables.kept.delete(name);
  }
  for (const [name, text] of Object.entries(set)) {
    if (!NAME.test(name) || typeof text !== 'string' || text.length > LONGEST)
      throw new CapError('invalid', 'a kept text has a name of letters, digits, _ and -, and at most 64 KiB');
    tables.kept.set(name, text);
  }
  if ([...tables.kept.entries()].length > MOST)
    throw new CapError('limit', `at most ${MOST} texts are kept: remove one`);
  if (under === undefined) tables.facts.delete(UNDER);
  else tables.facts.set(UNDER, under);
  for (const name of what === 'rotate' ? ['*'] : [...remove, ...Object.keys(set)])
    ledgerLine('secret', { what, name, by, surface });
}
