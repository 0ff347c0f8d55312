/** The actors of `durable.ts` and of the programs it starts. */
import { type AnyDefinition, type Definition, define, E, type Far, ledgerLine } from '@hob/vat';

export interface Counter {
  next(): number;
}
/** One row and one line a turn, as the peer writes them. */
export const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => {
    ledgerLine('call', { session: 'bench', method: 'next', count });
    return bcom(Counter(count + 1), count);
  },
}));

export interface Hop {
  go(hops: number): number | Promise<number>;
}
/** Changes, and sends on to the next vat. */
export const Hop: Definition<Hop, [seen: number, next: Far<Hop> | null]> = define('Hop', (bcom, seen, next) => ({
  go: (hops) => bcom(Hop(seen + 1, next), hops === 0 || next === null ? seen : E(next).go(hops - 1)),
}));

export interface Branch {
  touch(): number;
}
/** A tree whose leaves are a million counters. */
export const Branch: Definition<Branch, [touched: number, below: readonly object[]]> = define(
  'Branch',
  (bcom, touched, below) => ({ touch: () => bcom(Branch(touched + 1, below), touched) }),
);

export const definitions: readonly AnyDefinition[] = [Counter, Hop, Branch];
