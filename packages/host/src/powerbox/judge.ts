/**
 * A judge: a person or a model that reads requests and comments on them.
 *
 * Promise: a judge sees, proposes and refuses. It has no method that grants, and holds nothing that leads
 * to one. A proposal is text beside the request until a granter approves in its own words.
 */
import { CapError, type Definition, define } from '@hob/vat';
import { type HostState, tablesOf } from '../state/host-state.ts';
import type { RequestRecord } from '../state/records.ts';
import { checkShownTerms, type GrantTerms } from '../state/terms.ts';
import { quoted } from '../text/safe-text.ts';
import { type IsGranterOf, refuseRequest, requestNamed } from './answer-request.ts';
import { termText } from './display.ts';
import { inbox, type Request } from './inbox.ts';

/**
 * Sees requests, proposes terms and refuses. It cannot grant anything. `after` continues a long inbox behind
 * that id.
 */
export interface Judge {
  inbox(after?: string): Promise<readonly Request[]>;
  /** Adds a proposal to the request. Errors: `no-such-object`, `invalid`, `limit`. */
  propose(request: string, terms: GrantTerms, why: string): void;
  /** Refuses the request once. */
  refuse(request: string, why: string): void;
}

const mostProposals = 4;
const longestWhy = 500;

/** A judge does not see a request that is for a person alone. */
function forJudges(pending: RequestRecord): RequestRecord {
  if (pending.personOnly === true)
    throw new CapError('no-such-object', 'no request has that id: it was answered, has ended, or never existed');
  return pending;
}

export const JudgeActor: Definition<Judge, [name: string, hostState: HostState]> = define(
  'host.judge',
  (_bcom, name, hostState) => {
    const names: IsGranterOf = (session) => session?.granters.includes(name) === true;
    return {
      inbox: (after) => inbox(hostState, names, 'judge', after),
      propose(request, terms, why) {
        const tables = tablesOf(hostState);
        const pending = forJudges(requestNamed(tables, names, request));
        checkShownTerms(terms);
        const { proposals } = pending;
        if (proposals.length >= mostProposals)
          throw new CapError(
            'limit',
            `there are ${proposals.length} proposals for this already: a granter decides now`,
          );
        const said = { terms, means: termText(terms), why: `the judge says: ${quoted(String(why), longestWhy)}` };
        tables.requests.set(pending.id, { ...pending, proposals: [...proposals, said] });
        return undefined;
      },
      refuse(request, why) {
        const tables = tablesOf(hostState);
        refuseRequest(
          tables,
          forJudges(requestNamed(tables, names, request)),
          { by: name, surface: 'judge' },
          { refuse: String(why) },
        );
      },
    };
  },
);
