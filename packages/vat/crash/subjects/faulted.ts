/**
 * One life of the durable bank on a disk that says no somewhere, and the judge of what it told and left.
 *
 * Promise: the same steps each time, on a clock turned by hand, so that the n-th call to the disk is the same
 * one in each life. Checked: what was told, against what a new process finds; that everybody who waited was
 * told, and what; that turns later succeed, or the vats are halted; and that memory was then what is on the
 * disk.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CapError,
  driver,
  E,
  exportLedger,
  type Far,
  ledgerLine,
  openVats,
  type Store,
  type Vats,
  verifyLedger,
} from '../../src/index.ts';
import { type TestClock, testClock } from '../../src/testing.ts';
import type { Fault, FaultyDisk } from '../fault-ground.ts';
import { openAt, openToLook, type Place } from '../here.ts';
import { type Bank, countsOf, definitions, fails, type Outside, openBank, SUM } from './bank.ts';

/** One process over a store, and which of its calls to the disk, or to the server, fails. */
export interface Life extends Fault {
  readonly place: Place;
  /** Numbers are unique in a store. */
  readonly life: number;
}

/** A word, which transfer, and what else there is to say. */
export type Told = readonly [word: string, which: number, text: string];
type Tell = (word: string, which: number, text?: string) => void;

const PATIENCE_MS = 30_000;
/** The possible outcomes of a turn on a bad disk. */
const codes: ReadonlySet<string> = new Set(['unknown-outcome', 'unavailable', 'vat-halted']);

async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CapError('hung', 'nobody answered')), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const codeOf = (error: unknown): string =>
  (error as Error).message === 'this transfer fails'
    ? 'failed'
    : error instanceof CapError
      ? error.code
      : String(error);

interface Open {
  readonly store: Store;
  readonly vats: Vats;
}

/** Opens; after two refusals the disk is mended, and then there is to be no third. */
async function open(place: Place, disk: FaultyDisk, clock: TestClock, tell: Tell): Promise<Open> {
  for (let refusals = 0; ; ) {
    let store: Store | undefined;
    try {
      store = await within(openAt(place));
      return { store, vats: await within(openVats({ store, definitions, clock })) };
    } catch (error) {
      refusals += 1;
      tell('refused', refusals, `${codeOf(error)}: ${(error as Error).message}`);
      await store?.close();
      if (refusals === 2) disk.mend();
      if (refusals === 3) throw error;
    }
  }
}

export async function live({ place, life, on }: Life, disk: FaultyDisk, closes: boolean, tell: Tell): Promise<void> {
  const clock = testClock();
  const { store, vats } = await open(place, disk, clock, tell);
  if (vats.restored) tell('restored', life);
  const outside = driver<Outside>({ act: ([transfer]) => tell('effect', transfer) }, { name: 'outside' });
  const bank = await begin(vats, outside, clock, disk, on, tell);
  if (bank === undefined) tell('halted', 0);
  else await work(bank, vats, life, clock, disk, on, tell);
  if (!closes) return;
  await within(vats.close());
  await within(store.close());
}

/** The roots, again where they could not be made; undefined where the vats are halted. */
async function begin(
  vats: Vats,
  outside: Far<Outside>,
  clock: TestClock,
  disk: FaultyDisk,
  on: boolean,
  tell: Tell,
): Promise<Bank | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await within(openBank(vats, outside));
    } catch (error) {
      const code = codeOf(error);
      tell(`root: ${code}`, tries, (error as Error).message);
      if (code === 'vat-halted') return undefined;
      if (tries === 2 && on) disk.mend();
      if (tries === 5) throw error;
      clock.advance(2000);
    }
  }
}

async function work(
  { teller, tally }: Bank,
  vats: Vats,
  life: number,
  clock: TestClock,
  disk: FaultyDisk,
  on: boolean,
  tell: Tell,
): Promise<void> {
  let number = life * 1000;
  const transfer = async (): Promise<string> => {
    number += 1;
    const which = number;
    let outcome = 'acknowledged';
    try {
      await within(E(teller).transfer(which));
    } catch (error) {
      outcome = codeOf(error);
    }
    tell(outcome, which);
    return outcome;
  };
  const look = async (which: number): Promise<void> => {
    try {
      if (await within(E(teller).has(which))) tell('seen', which);
    } catch (error) {
      tell(`look: ${codeOf(error)}`, which);
    }
  };

  for (let i = 0; i < 3; i += 1) await transfer();
  try {
    tell('sturdyref', 0, await within(vats.sturdyref(teller)));
  } catch (error) {
    tell(`sturdyref: ${codeOf(error)}`, 0);
  }
  // Several at once, with who looks between them, and lines of the ledger's own on top: a checkpoint is due.
  const all: Promise<unknown>[] = [];
  for (let i = 0; i < 4; i += 1) all.push(transfer(), look(number));
  await new Promise(setImmediate);
  clock.advance(61_000);
  await Promise.all(all);
  const grant = (number += 1);
  try {
    await within(vats.vat('bank').turn(() => ledgerLine('revoke', { grant: String(grant) })));
    tell('revoked', grant);
  } catch (error) {
    tell(`revoke: ${codeOf(error)}`, grant);
  }
  await transfer();
  try {
    await within(vats.sweep());
  } catch (error) {
    tell(`sweep: ${codeOf(error)}`, 0);
  }
  await vats.settled().catch(() => {});

  tell('mended', disk.seen().calls);
  if (on) disk.mend();
  let outcome = 'none';
  for (let tries = 0; tries < 6 && !['acknowledged', 'failed', 'vat-halted'].includes(outcome); tries += 1) {
    clock.advance(2000);
    outcome = await transfer();
  }
  if (outcome === 'vat-halted') return tell('halted', 0);
  await transfer();
  await within(vats.settled());
  tell('went on', number);
  const { sum, first, made } = await within(E(teller).audit());
  const counts = await within(countsOf(tally, made.length));
  tell('audit', 0, JSON.stringify([sum, first, made.toSorted(), counts.toSorted(byKey)]));
}

const byKey = ([a]: readonly [string, number], [b]: readonly [string, number]): number => (a < b ? -1 : 1);

/** Opens the store that was left, and returns its faults; `told` is all that this store's lives told. */
export async function judge(place: Place, told: readonly Told[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const said = (word: string): readonly number[] => told.filter(([one]) => one === word).map(([, which]) => which);
  const texts = (word: string): readonly string[] => told.filter(([one]) => one === word).map(([, , text]) => text);
  // Bytes 18 and 19 of the file: 2 with a write-ahead log. Without one `synchronous=FULL` is not enough.
  const header = (): Buffer => readFileSync(join(place.folder, 'store.db')).subarray(18, 20);
  if (told.length > 0 && place.opener === undefined && !header().equals(Buffer.from([2, 2])))
    faults.push('the store has no write-ahead log');
  const store = await openToLook(place);
  const again: number[] = [];
  const outside = driver<Outside>({ act: ([transfer]) => void again.push(transfer) }, { name: 'outside' });
  const vats = await openVats({ store, definitions });
  try {
    const { teller, tally } = await openBank(vats, outside);
    const { sum, first, made } = await E(teller).audit();
    const counts = await countsOf(tally, made.length);
    const done = new Set(made.map(Number));
    const effects = said('effect');

    // State: whole turns, and no others than those that were asked for and not refused.
    const evens = [...done].filter((which) => which % 2 === 0).length;
    if (sum !== SUM) faults.push(`the purses hold ${sum}, not ${SUM}`);
    if (first !== SUM / 2 - evens + (done.size - evens)) faults.push('a purse does not hold what the transfers moved');
    const may = new Set([...said('acknowledged'), ...said('unknown-outcome')]);
    for (const which of done) if (!may.has(which) || fails(which)) faults.push(`transfer ${which} must not be there`);
    for (const which of said('acknowledged')) {
      if (!done.has(which)) faults.push(`transfer ${which} is lost`);
      if (!effects.includes(which)) faults.push(`transfer ${which} was acknowledged without its effect`);
    }
    for (const which of said('seen')) if (!done.has(which)) faults.push(`transfer ${which} was seen and is not there`);

    // The effects that left.
    for (const which of effects) if (!done.has(which)) faults.push(`effect ${which} has no transfer`);
    if (new Set(effects).size !== effects.length) faults.push('an effect happened twice');
    if (again.length > 0) faults.push(`effect ${again[0]} was repeated after a restart`);

    // Messages inside the store.
    const counted = new Map(counts);
    for (const name of made)
      if (counted.get(name) !== 1)
        faults.push(`the message of transfer ${name} arrived ${counted.get(name) ?? 0} times`);
    for (const name of counted.keys())
      if (!done.has(Number(name))) faults.push(`a message of ${name} arrived, which was not made`);

    // The ledger.
    const verdict = await verifyLedger(store);
    if (!verdict.ok) faults.push(`the ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);
    const lines = new Map<number, string>();
    const revoked = new Set<number>();
    for await (const text of exportLedger(store)) {
      const {
        k,
        turn,
        code = 'ok',
        grant,
      }: { k: string; turn: number; code?: string; grant: string } = JSON.parse(text);
      if (k === 'revoke') revoked.add(Number(grant));
      if (k !== 'call') continue;
      if (lines.has(turn)) faults.push(`turn ${turn} has two lines`);
      lines.set(turn, code);
    }
    for (const which of done)
      if (lines.get(which) !== 'ok') faults.push(`the line of transfer ${which} says ${lines.get(which)}`);
    for (const which of said('failed')) if (lines.get(which) !== 'error') faults.push(`turn ${which} has no line`);
    for (const [which, code] of lines)
      if (code === 'ok' && !done.has(which)) faults.push(`line ${which} tells of a transfer that is not there`);
    for (const which of said('revoked')) if (!revoked.has(which)) faults.push(`revocation ${which} is lost`);

    if (vats.restored) faults.push('it is taken for one that was put back');

    // Sturdyrefs.
    for (const sturdyref of texts('sturdyref'))
      if ((await vats.restore(sturdyref)) !== teller) faults.push('a sturdyref is lost');

    // Everybody who waited was told the outcome.
    for (const [word, which, text] of told) {
      const code = word.includes(': ') ? word.slice(word.indexOf(': ') + 2) : undefined;
      if (code !== undefined && !codes.has(code)) faults.push(`${which} was told "${word}" ${text}`);
      if (code === undefined && !words.has(word)) faults.push(`${which} was told "${word}" ${text}`);
      if (
        word === 'refused' &&
        !/^unavailable: the (?:store|sentinel|database server).*: (?:check that|make room|look into) .+/.test(text)
      )
        faults.push(`the open was refused with "${text}"`);
    }
    // Memory was what is on the disk.
    const audit = texts('audit').at(-1);
    const found = JSON.stringify([sum, first, made.toSorted(), counts.toSorted(byKey)]);
    if (audit !== undefined && audit !== found) faults.push(`memory said ${audit}, the disk ${found}`);
  } finally {
    await vats.close();
    await store.close();
  }
  return faults;
}

const words: ReadonlySet<string> = new Set([
  ...['acknowledged', 'failed', 'effect', 'seen', 'refused', 'revoked', 'sturdyref', 'mended', 'halted', 'went on'],
  ...['audit', 'calls', 'hit', 'over', ...codes],
]);
