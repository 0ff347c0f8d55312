/**
 * Who decides about the calls of a gated grant: a granter, through the inbox.
 *
 * Promise: what goes on is the call that was shown, on the object that it was shown for, while the files that it would change are as they were
 * shown; else it is asked anew. Whether a call waits its grant's terms say, and nothing in the call.
 */
import type { GatedCall, Judge } from '@hob/revocable';
import { attempt, breakAnswer, CapError, type Definition, define, E } from '@hob/vat';
import { callerUnder } from '../holding/sturdyrefs.ts';
import { sessionOf } from '../state/groups.ts';
import { chainOf, type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';
import { words } from '../words/words.ts';
import { digestOf } from './digest.ts';
import { countAsk, file, giveBack, waitFor } from './pending.ts';
import { type Preview, previewOf, unchanged } from './preview.ts';
import { argumentRows, flagsIn, methodText } from './shown.ts';

export const GateAskActor: Definition<Judge, [house: HostState, grant: string]> = define(
  'host.gate',
  (_bcom, house, grant) => ({
    ask: (call, of, charged) =>
      E.when(E(powersOf(tablesOf(house))).under() as unknown as Promise<readonly string[]>, (under) =>
        ask({ house, grant, call, of, under, charged }, undefined),
      ) as never,
  }),
);

interface Gated {
  readonly house: HostState;
  readonly grant: string;
  readonly call: GatedCall;
  readonly of: object;
  /** The grants that it was made under, outermost first. */
  readonly under: readonly string[];
  /** When its uses were charged, in vat time. */
  readonly charged: number;
}

type Yes = boolean | { readonly with: readonly unknown[] };

/** Made out of a directory by these, an object is one. */
const dirSteps = /^(?:subdir|readOnly|only|except|withQuota)\(/;

function isDirectory(book: HostTables, { offered }: GrantRecord, { via }: GatedCall): boolean {
  return book.offered.get(offered)?.directory === true && via.every((step) => dirSteps.test(step));
}

function keptOf(book: HostTables, grant: string | undefined): GrantRecord {
  const kept = grant === undefined ? undefined : book.grants.get(grant);
  if (kept === undefined) throw new CapError('revoked', 'this grant has ended: ask for a new one');
  return kept;
}

/** Who called: the outermost grant, and its session. */
function askerOf(
  book: HostTables,
  { under, grant }: Gated,
): { readonly asking: GrantRecord; readonly room: SessionRecord } {
  const asking = keptOf(book, under[0] ?? grant);
  const room = sessionOf(book, asking.session);
  if (room === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
  return { asking, room };
}

/** The grants that the call was made under, the gated one last. */
const underOf = ({ under, grant }: Gated): readonly string[] => (under.includes(grant) ? under : [...under, grant]);

/** In a turn: it ends before anybody was shown it, so it costs nothing. The caller gets the error; what is returned here goes nowhere. */
function unasked(gated: Gated, error: Error): false {
  giveBack(tablesOf(gated.house), { under: underOf(gated), charged: gated.charged }, 1);
  breakAnswer(error);
  return false;
}

/** Where `act` throws, nobody was asked. A call that is asked anew may have been shown before, and stays charged. */
function orUnasked<T>(gated: Gated, stale: string | undefined, act: () => T): T | false {
  if (stale !== undefined) return act();
  try {
    return attempt(act);
  } catch (error) {
    return unasked(gated, error as Error);
  }
}

function ask(gated: Gated, stale: string | undefined): Yes | Promise<Yes> {
  return orUnasked(gated, stale, () => look(gated, stale));
}

function look(gated: Gated, stale: string | undefined): Promise<Yes> {
  const { house, grant, call, of } = gated;
  const book = tablesOf(house);
  // Before files are read for it.
  if (stale === undefined) countAsk(book, askerOf(book, gated).room.payer);
  const shown = isDirectory(book, keptOf(book, grant), call)
    ? previewOf(of, call.method, call.args)
    : E.when(true, (): Preview => ({ effect: '', seen: [], rows: [], odd: [] }));
  return E.when(
    shown as Promise<Preview>,
    (preview) => orUnasked(gated, stale, () => wait(gated, preview, stale)),
    (error) => {
      if (stale !== undefined) throw error;
      return unasked(gated, error);
    },
  ) as unknown as Promise<Yes>;
}

function wait(gated: Gated, preview: Preview, stale: string | undefined): Promise<Yes> {
  const { house, grant, call, of, under, charged } = gated;
  const book = tablesOf(house);
  const kept = keptOf(book, grant);
  const { asking, room } = askerOf(book, gated);
  const { method, args, via } = call;
  const offer = book.offered.get(kept.offered)?.number ?? 0;
  const directory = isDirectory(book, kept, call);
  const steps = via.map((step) => words(step, 200).text);
  const where = steps.length === 0 ? '' : `, in what ${steps.join(' and then ')} gave out`;
  const does = preview.effect === '' ? `calls ${methodText(method)}` : preview.effect;
  const id = file(book, {
    kind: 'call',
    session: kept.session,
    asker: room.id,
    payer: room.payer,
    digest: digestOf({ cap: [under, grant, kept.offered, offer, via], method, data: args, seen: preview.seen }),
    asks: asking.petname,
    why: '',
    offered: kept.offered,
    offer,
    terms: undefined,
    method: method.slice(0, 64),
    under: underOf(gated),
    charged,
    looked: stale !== undefined,
    seen: preview.seen,
    stale,
    shown: () => ({
      effect: `${does}, through “${kept.petname}”${where}`,
      table: [
        ['cap', `“${kept.petname}” of session “${kept.session}”${where}`],
        ['method', methodText(method)],
        ...argumentRows(method, args, directory),
        ...preview.rows,
      ],
      ...(preview.diff === undefined ? {} : { diff: preview.diff }),
      permits: ['this one call, and nothing else'],
      flags: flagsIn([method, args, via, preview.odd]),
    }),
  });
  return E.when(waitFor(book, id, callerUnder(book, room.id, asking.id), of), (verdict) => {
    if ('unseen' in verdict) return unasked(gated, new CapError(verdict.unseen.code, verdict.unseen.message));
    if (!('go' in verdict)) return ask(gated, id);
    if (preview.pinned !== undefined) return { with: preview.pinned };
    if (preview.seen.length === 0) return true;
    // What cannot be pinned is looked at once more, as late as can be.
    return E.when(unchanged(of, preview.seen), (same): Yes | Promise<Yes> => (same ? true : ask(gated, id)));
  }) as unknown as Promise<Yes>;
}

/** The sessions from the first one down to who asked. */
export function askersOf(book: HostTables, session: string): readonly string[] {
  const room = sessionOf(book, session);
  return room === undefined ? [session] : chainOf(book, room).map(({ id }) => id);
}
