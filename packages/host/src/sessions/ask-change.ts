/**
 * Asks a granter about a change of what an offer leads to, such as the definition of a tool that its server changed.
 *
 * Promise: the answer is for the version that was shown. Only a granter of the session whose call met the change can
 * say yes, and only while the grants of that call are live. The difference is shown escaped. The yes is for the change
 * alone: a call that is gated is asked for by itself.
 */
import { CapError, type Definition, define, E } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { digestOf } from '../powerbox/digest.ts';
import { diffText, flagsIn } from '../powerbox/display.ts';
import { offerRows } from '../powerbox/offer-text.ts';
import { countRequest, fileRequest, waitForAnswer } from '../powerbox/pending.ts';
import { callerUnder } from '../sharing/sturdyrefs.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { GrantRecord, HostTables } from '../state/records.ts';
import { quoted } from '../text/safe-text.ts';

/** A change, as a person is shown it. All texts may be those of a stranger. */
export interface Change {
  /** What has changed, such as the name of a tool. */
  readonly what: string;
  /** A patch from what was approved last to what is there now. */
  readonly difference: string;
  /** Names what is there now. Two versions that are not the same have two names. */
  readonly version: string;
}

/** Asks about changes, for the session that the current call is of. */
export interface ChangeAsker {
  /**
   * Returns true if a granter approved the change, and false if it has to be looked at anew. Errors: `denied`, `limit`,
   * `expired`, and those of grants that ended.
   */
  ask(change: Change): Promise<boolean>;
}

export const ChangeAskActor: Definition<ChangeAsker, [hostState: HostState]> = define(
  'host.changeAsker',
  (_bcom, hostState) => ({
    ask: (change) =>
      E.when(E(powersOf(tablesOf(hostState))).callingGrants() as unknown as Promise<readonly string[]>, (under) =>
        askAboutChange(tablesOf(hostState), change, under),
      ) as never,
  }),
);

const ended = (): CapError => new CapError('revoked', 'this grant has ended: ask for a new one');

/** The grant that was called, and the one that leads to the offer. */
function grantsOf(tables: HostTables, under: readonly string[]): readonly [called: GrantRecord, last: GrantRecord] {
  const grants = under.map((id) => tables.grants.get(id)).filter((grant) => grant !== undefined);
  const [called, last] = [grants[0], grants.at(-1)];
  if (called === undefined || last === undefined)
    throw new CapError('denied', 'it has changed since it was approved, and no session asks: call it through a grant');
  return [called, last];
}

function askAboutChange(tables: HostTables, change: Change, under: readonly string[]): Promise<boolean> {
  const { what, difference, version } = takeOptions(change, 'ask', { what: true, difference: true, version: true });
  const [called, last] = grantsOf(tables, under);
  const session = sessionOf(tables, called.session);
  const facts = tables.offerInfo.get(last.offered);
  if (session === undefined || facts === undefined) throw ended();
  const id = fileRequest(
    tables,
    {
      kind: 'call',
      session: last.session,
      asker: session.id,
      payer: session.payer,
      digest: digestOf({ cap: [under, last.offered, facts.number], method: 'change', data: [version], files: [] }),
      asks: called.petname,
      why: '',
      offered: last.offered,
      offer: facts.number,
      terms: undefined,
      method: 'change',
      change: true,
      under,
      seen: [],
      stale: undefined,
      shown: () => ({
        effect: `goes on to use ${quoted(what, 200)}, which has CHANGED since it was approved`,
        table: [...offerRows(last.offered, facts), ['cap', `“${called.petname}” of session “${session.id}”`]],
        diff: diffText(difference),
        permits: ['this change, from now on, for every session that holds it; calls are not approved by it'],
        flags: flagsIn([what, difference, facts.label]),
      }),
    },
    () => countRequest(tables, session.payer),
  );
  const answered = waitForAnswer(tables, id, callerUnder(tables, session.id, called.id), undefined);
  return E.when(answered, (verdict) => {
    if ('unseen' in verdict) throw new CapError(verdict.unseen.code, verdict.unseen.message);
    return 'go' in verdict;
  }) as Promise<boolean>;
}
