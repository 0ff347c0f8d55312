/**
 * A judge: somebody, a model say, who reads what is asked and says what they think.
 *
 * Promise: a judge sees, proposes and refuses. It has no method that grants, and holds nothing that leads to one: what it proposes is text beside
 * the request until a granter, who is somebody else, says yes in words of their own.
 */
import { checkTerms } from '@hob/revocable';
import { CapError, type Definition, define } from '@hob/vat';
import { type HostState, tablesOf } from '../state/host-state.ts';
import { type GrantTerms, scoped } from '../state/terms.ts';
import { quoted } from '../words/words.ts';
import { type Names, pendingOf, refuse } from './answers.ts';
import { inbox, type Request } from './inbox.ts';
import { termText } from './shown.ts';

export interface Judge {
  inbox(after?: string): Promise<readonly Request[]>;
  /** Stands beside the request. Errors: `no-such-object`, `invalid`, `limit`. */
  propose(request: string, terms: GrantTerms, why: string): void;
  /** A no, this once. */
  refuse(request: string, why: string): void;
}

const mostProposals = 4;
const longestWhy = 500;

export const JudgeActor: Definition<Judge, [name: string, house: HostState]> = define(
  'host.judge',
  (_bcom, name, house) => {
    const names: Names = (room) => room?.granters.includes(name) === true;
    return {
      inbox: (after) => inbox(house, names, after),
      propose(request, terms, why) {
        const book = tablesOf(house);
        const pending = pendingOf(book, names, request);
        checkTerms(scoped(terms).terms); // biome-ignore format: one line
        const { proposals } = pending;
        if (proposals.length >= mostProposals)
          throw new CapError(
            'limit',
            `there are ${proposals.length} proposals for this already: a granter decides now`,
          );
        const said = { terms, means: termText(terms), why: `the judge says: ${quoted(String(why), longestWhy)}` };
        book.requests.set(pending.id, { ...pending, proposals: [...proposals, said] });
        return undefined;
      },
      refuse(request, why) {
        const book = tablesOf(house);
        refuse(book, pendingOf(book, names, request), { by: name, surface: 'judge' }, { refuse: String(why) });
      },
    };
  },
);
