/** A tenant of a test: a host with a counter, which shows what the store holds. */
import { type Host, openHost } from '@hob/host';
import { type Definition, define, E, type Far } from '@hob/vat';
import type { TenantParts } from '../src/index.ts';

export interface Counter {
  /** Returns how often it was called before. */
  next(): number;
}
export const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count) as never,
}));

export const openCounting = ({ store, stateDir, onCheckpoint }: TenantParts): Promise<Host> =>
  openHost({ stateDir, store, onCheckpoint, definitions: [Counter] });

export const counterOf = (host: Host): Promise<Far<Counter>> =>
  host.vats.vat('test').root<Counter>('counter', () => Counter(0));

/** Counts once, and returns the count before. */
export const count = async (host: Host): Promise<number> => await E(await counterOf(host)).next();
