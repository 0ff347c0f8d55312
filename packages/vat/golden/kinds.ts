/** The actors of the golden stores, in both their versions. They only ever get newer: every store here must open for good. */
import { type AnyDefinition, type Definition, define, E, type Outcome, type Table } from '../src/index.ts';

export interface Purse {
  balance(): bigint;
  deposit(amount: bigint, from: Purse): void;
  withdraw(amount: bigint): void;
}
export const Purse: Definition<Purse, [balance: bigint]> = define('Purse', (bcom, balance) => ({
  balance: () => balance,
  deposit: (amount, from) => {
    from.withdraw(amount);
    return bcom(Purse(balance + amount));
  },
  withdraw: (amount) => bcom(Purse(balance - amount)),
}));

export interface Bank {
  purse(name: string): Purse;
  names(): readonly string[];
}
export const Bank: Definition<Bank, [purses: Table<Purse>]> = define('Bank', (_bcom, purses) => ({
  purse: (name) => purses.get(name) as Purse,
  names: () => [...purses.entries()].map(([name]) => name),
}));

/** Everything that a portrait can hold. */
export interface Box {
  held(): unknown;
}
export const Box: Definition<Box, [held: unknown]> = define('Box', (_bcom, held) => ({ held: () => held }));

export interface Inbox {
  /** `on` is not kept: it may have ended. */
  put(what: unknown, on?: unknown): void;
  all(): readonly unknown[];
}
export const Inbox: Definition<Inbox, [got: readonly unknown[]]> = define('Inbox', (bcom, got) => ({
  put: (what) => bcom(Inbox([...got, what])),
  all: () => got,
}));

export interface Waiter {
  wait(on: unknown): void;
  woken(outcome: Outcome, note: string): void;
  heard(): string;
}
export const Waiter: Definition<Waiter, [heard: string]> = define('Waiter', (bcom, heard) => ({
  wait: (on) => E.to(bcom.self, 'woken', 'note').on(on as Promise<unknown>),
  woken: (outcome, note) => bcom(Waiter(`${outcome.ok ? 'ok' : outcome.code} ${note}`)),
  heard: () => heard,
}));

export interface Note {
  say(): string;
}
export const OldNote: Definition<Note, [text: string]> = define('Memo', (_bcom, text) => ({ say: () => text }));
export const Note: Definition<Note, [text: string, stars: number]> = define(
  'Note',
  (_bcom, text, stars) => ({ say: () => `${text} ${'*'.repeat(stars)}` }),
  { version: 1, formerly: ['Memo'], upgrade: { 0: (text: never) => [text, 1] as [string, number] } },
);

export const asWritten: readonly AnyDefinition[] = [Purse, Bank, Box, Inbox, Waiter, OldNote];
export const today: readonly AnyDefinition[] = [Purse, Bank, Box, Inbox, Waiter, Note];

/** Values that JSON does not have, or that look like those that a portrait writes for them. */
export const oddValues: readonly unknown[] = [
  undefined,
  null,
  Number.NaN,
  -0,
  Number.NEGATIVE_INFINITY,
  Symbol.for('sign'),
  '\0\ud800',
  { $: 1 },
  { $: ['u'] },
];
