/**
 * A durable bank: transfers between two purses, each told to a counter in another vat and to the outside.
 * Also what faults are injected into (`faulty.ts`).
 *
 * Checked: the sum of the purses is what it was; each acknowledged transfer is there, whole; no effect
 * without its transfer; a message inside the store arrived once, never twice and never not; what a failed
 * transfer did is nowhere; the ledger verifies.
 */
import {
  type AnyDefinition,
  type Definition,
  define,
  driver,
  E,
  type Far,
  ledgerLine,
  openVats,
  spawn,
  type Table,
  table,
  type Vats,
  verifyLedger,
} from '../../src/index.ts';
import { openAt, openToLook } from '../here.ts';
import type { Subject } from './subject.ts';

export const SUM: number = 1_000_000;
const CALLERS = 4;
const PER_LIFE = 1_000_000;
export const fails = (transfer: number): boolean => transfer % 7 === 3;

interface Purse {
  balance(): number;
  deposit(amount: number, from: Purse): void;
  withdraw(amount: number): void;
}
const Purse: Definition<Purse, [balance: number]> = define('Purse', (bcom, balance) => ({
  balance: () => balance,
  deposit: (amount, from) => {
    from.withdraw(amount);
    return bcom(Purse(balance + amount));
  },
  withdraw: (amount) => {
    if (amount > balance) throw new RangeError('not enough');
    return bcom(Purse(balance - amount));
  },
}));

/** Counts what arrives, by number. */
export interface Tally {
  add(transfer: number): void;
  counts(): readonly (readonly [string, number])[];
}
const Tally: Definition<Tally, [counts: Table<number>]> = define('Tally', (_bcom, counts) => ({
  add: (transfer) => counts.set(String(transfer), (counts.get(String(transfer)) ?? 0) + 1),
  counts: () => [...counts.entries()],
}));

export interface Outside {
  act(transfer: number): void;
}
export interface Teller {
  transfer(transfer: number): void;
  /** Changes nothing. */
  has(transfer: number): boolean;
  /** The sum, what one purse holds of it, and the transfers that were made. */
  audit(): { readonly sum: number; readonly first: number; readonly made: readonly string[] };
}
const Teller: Definition<Teller, [a: Purse, b: Purse, made: Table<boolean>, tally: Tally, outside: Outside]> = define(
  'Teller',
  (_bcom, a, b, made, tally, outside) => ({
    transfer(transfer) {
      ledgerLine('call', { turn: transfer });
      const [from, to] = transfer % 2 === 0 ? [a, b] : [b, a];
      if (from.balance() > 0) to.deposit(1, from);
      made.set(String(transfer), true);
      E.sendOnly(tally).add(transfer);
      E.sendOnly(outside).act(transfer);
      if (fails(transfer)) throw new Error('this transfer fails');
    },
    has: (transfer) => made.has(String(transfer)),
    audit: () => ({
      sum: a.balance() + b.balance(),
      first: a.balance(),
      made: [...made.entries()].map(([key]) => key),
    }),
  }),
);
export const definitions: readonly AnyDefinition[] = [Purse, Tally, Teller];

export interface Bank {
  readonly teller: Far<Teller>;
  readonly tally: Far<Tally>;
}
export async function openBank(vats: Vats, outside: Far<Outside>): Promise<Bank> {
  const tally = await vats.vat('count').root('tally', () => Tally(table()));
  const teller = await vats
    .vat('bank')
    .root('teller', () =>
      Teller(
        spawn(Purse(SUM / 2)),
        spawn(Purse(SUM / 2)),
        table(),
        tally as unknown as Tally,
        outside as unknown as Outside,
      ),
    );
  return { teller, tally };
}

/**
 * The value of the counter, once it has heard of as many transfers as were made: a call from outside may
 * overtake the messages between vats.
 */
export async function countsOf(tally: Far<Tally>, made: number): Promise<readonly (readonly [string, number])[]> {
  for (let tries = 1; ; tries += 1) {
    const counts = await E(tally).counts();
    if (counts.length >= made || tries === 1000) return counts;
    await new Promise(setImmediate);
  }
}

const work: Subject['work'] = async (place, life, tell) => {
  const store = await openAt(place);
  const outside = driver<Outside>({ act: ([transfer]) => tell('effect', transfer) }, { name: 'outside' });
  const vats = await openVats({ store, definitions });
  const { teller } = await openBank(vats, outside);
  tell('open', 0);
  if (vats.restored) tell('restored', life);

  let transfers = life * PER_LIFE;
  const caller = async (): Promise<void> => {
    for (;;) {
      transfers += 1;
      const transfer = transfers;
      try {
        await E(teller).transfer(transfer);
      } catch (error) {
        if (!fails(transfer)) throw error;
      }
      tell('acknowledged', transfer);
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

const check: Subject['check'] = async (place, told) => {
  const faults: string[] = [];
  const store = await openToLook(place);
  const again: number[] = [];
  const outside = driver<Outside>({ act: ([transfer]) => void again.push(transfer) }, { name: 'outside' });
  const vats = await openVats({ store, definitions });
  try {
    const { teller, tally } = await openBank(vats, outside);
    const { sum, made } = await E(teller).audit();
    if (sum !== SUM) faults.push(`the purses hold ${sum}, not ${SUM}`);
    const done = new Set(made);
    for (const name of made) if (fails(Number(name))) faults.push(`transfer ${name} failed and is there`);
    if (vats.restored) faults.push('it is taken for one that was put back');
    for (const { word, which, life } of told) {
      if (word === 'restored') {
        faults.push(`life ${life} took it for one that was put back`);
        continue;
      }
      if (word === 'open' || fails(which)) {
        if (word === 'effect') faults.push(`transfer ${which} failed and had an effect`);
        continue;
      }
      if (!done.has(String(which)))
        faults.push(word === 'effect' ? `effect ${which} has no transfer` : `transfer ${which} is lost`);
    }
    const seen = new Set<number>();
    for (const { word, which } of told) {
      if (word !== 'effect') continue;
      if (seen.has(which)) faults.push(`effect ${which} happened twice`);
      seen.add(which);
    }
    if (again.length > 0) faults.push(`effect ${again[0]} was repeated after a restart`);
    const counts = new Map(await countsOf(tally, made.length));
    for (const name of made)
      if (counts.get(name) !== 1) faults.push(`the message of transfer ${name} arrived ${counts.get(name) ?? 0} times`);
    for (const name of counts.keys())
      if (!done.has(name)) faults.push(`a message of ${name} arrived, which was not made`);
    const verdict = await verifyLedger(store);
    if (!verdict.ok) faults.push(`the ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);
  } finally {
    await vats.close();
    await store.close();
  }
  return faults;
};

export const subject: Subject = { work, check };
