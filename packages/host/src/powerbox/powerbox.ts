/**
 * The actor that ends requests: at their deadlines, and when nobody waits for them.
 *
 * Promise: a request that nobody answers in time ends by itself. So does a request whose waiters have gone
 * because a grant of the call has ended.
 */
import { type Definition, define, E, spawn, vatTime } from '@hob/vat';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { HostTables, RequestRecord } from '../state/records.ts';
import { closeRequest, isUnseen, logWithdrawn, refundUses, resolveRequest, withdrawRequest } from './pending.ts';

interface Powerbox {
  expire(request: string): void;
  /**
   * Ends the request if nobody waits for it. Its asker may have been cut off before or after it began to
   * wait.
   */
  check(request: string): void;
}

export const PowerboxActor: Definition<Powerbox, [hostState: HostState]> = define(
  'host.powerbox',
  (_bcom, hostState) => ({
    expire(request) {
      const tables = tablesOf(hostState);
      const pending = tables.requests.get(request);
      if (pending === undefined || vatTime() < pending.deadline) return;
      const [code, message] = isRefusedBySilence(tables, pending)
        ? ['denied', 'nobody answered in time, and this session runs without a person: go on without it']
        : ['expired', 'nobody answered in time: ask again when somebody is there'];
      withdrawRequest(tables, pending, code, message);
    },
    check(request) {
      E.when(E(powersOf(tablesOf(hostState))).waiting([request]), ([of]) => {
        const tables = tablesOf(hostState);
        const pending = tables.requests.get(request);
        if (pending !== undefined && of?.count === 0)
          withdrawRequest(tables, pending, 'revoked', 'nobody waits for it any more');
        // The request ended while the waiters arrived, so they ask anew.
        if (pending === undefined && of !== undefined && of.count > 0) resolveRequest(tables, request, { again: true });
      });
    },
  }),
);

/**
 * A session without a person, such as a scheduled run, has nobody to ask again. A change in review was made already, and
 * silence takes none back.
 */
const isRefusedBySilence = (tables: HostTables, { asker, review }: RequestRecord): boolean =>
  review !== true && tables.sessions.get(asker)?.unattended === true;

/**
 * In the first turn of a process: withdraws the requests of the process before. An answer would reach
 * nobody, or somebody else.
 */
export function openPowerbox(tables: HostTables, hostState: HostState, askMs: number): void {
  if (!tables.powerbox.has('powerbox')) tables.powerbox.set('powerbox', spawn(PowerboxActor(hostState)));
  tables.facts.set('askMs', String(askMs));
  for (const [, pending] of [...tables.requests.entries()]) {
    closeRequest(tables, pending);
    logWithdrawn(pending, 'restarted');
    if (isUnseen(pending)) refundUses(tables, pending, pending.count);
  }
}

/** In a turn of the host. */
export const checkRequest = (tables: HostTables, request: string): void =>
  (tables.powerbox.get('powerbox') as Powerbox | undefined)?.check(request);
