/**
 * The one actor of a host that looks after requests: it is woken at their deadlines, and told when an asker has gone.
 *
 * Promise: what nobody answered in time ends by itself, and so does what nobody waits for because the grant that it was asked under has ended.
 */
import { type Definition, define, E, spawn, vatTime } from '@hob/vat';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';
import { decide, giveBack, isUnseen, settle, tellWithdrawn, withdraw } from './pending.ts';

export interface Powerbox {
  expire(request: string): void;
  /** Whether somebody waits for it: who asked may have been cut off before it was known that they wait, or after. */
  check(request: string): void;
}

export const PowerboxActor: Definition<Powerbox, [house: HostState]> = define('host.powerbox', (_bcom, house) => ({
  expire(request) {
    const book = tablesOf(house);
    const pending = book.requests.get(request);
    if (pending === undefined || vatTime() < pending.deadline) return;
    withdraw(book, pending, 'expired', 'nobody answered in time: ask again when somebody is there');
  },
  check(request) {
    E.when(E(powersOf(tablesOf(house))).waiting([request]), ([of]) => {
      const book = tablesOf(house);
      const pending = book.requests.get(request);
      if (pending !== undefined && of?.count === 0) withdraw(book, pending, 'revoked', 'nobody waits for it any more');
      // It has ended while they came.
      if (pending === undefined && of !== undefined && of.count > 0) decide(book, request, { again: true });
    });
  },
}));

/** In the first turn of a process. Who asked in the one before is gone: an answer would reach nobody, or somebody else. */
export function openPowerbox(book: HostTables, house: HostState, askMs: number): void {
  if (!book.powerbox.has('powerbox')) book.powerbox.set('powerbox', spawn(PowerboxActor(house)));
  book.facts.set('askMs', String(askMs));
  for (const [, pending] of [...book.requests.entries()]) {
    settle(book, pending);
    tellWithdrawn(pending, 'restarted');
    if (isUnseen(pending)) giveBack(book, pending, pending.count);
  }
}

/** In a turn of the host. */
export const checkRequest = (book: HostTables, request: string): void =>
  (book.powerbox.get('powerbox') as Powerbox | undefined)?.check(request);
