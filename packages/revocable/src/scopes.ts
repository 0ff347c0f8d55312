/**
 * Approvals, by the names of the document that this project came from: once, for a time, for a session, for good.
 *
 * For a host program outside turns. "For good" has an end, too: 90 days, renewed by a person.
 */
import { CapError, E, type Far, inTurn, vatsOf, wallTime } from '@hob/vat';
import { type GrantOptions, grantOf, type Revoker } from './revocable.ts';
import { longestTerm, type Terms } from './terms/terms.ts';

export interface Approved<T> {
  readonly cap: Far<T>;
  /** Answers when it is durable and every driver that worked under it is done. */
  revoke(why?: string): Promise<void>;
}

async function approve<T extends object>(
  cap: Far<T>,
  terms: () => Terms,
  options: GrantOptions = {},
): Promise<Approved<T>> {
  if (inTurn())
    throw new CapError('not-callable', 'approvals are for a host program outside turns: use revocable here');
  const made = await vatsOf(cap)
    .vat('grants')
    .turn(() => {
      const grant = grantOf(cap, terms(), undefined, options);
      return [grant.cap, grant.revoker];
    });
  const [forwarder, revoker] = made as unknown as readonly [Far<T>, Far<Revoker>];
  return Object.freeze({
    cap: forwarder,
    revoke: async (why?: string): Promise<void> => {
      await E(revoker).revoke(why);
    },
  });
}

/** One call. */
export const approveOnce = <T extends object>(cap: Far<T>): Promise<Approved<T>> => approve(cap, () => ({ uses: 1 }));

export const approveFor = <T extends object>(
  cap: Far<T>,
  { seconds }: { readonly seconds: number },
): Promise<Approved<T>> => approve(cap, () => ({ for: seconds * 1000 }));

/** Until `ended` settles, however it does; or the machine boots; or 90 days are over. */
export async function approveSession<T extends object>(
  cap: Far<T>,
  { ended }: { readonly ended: Promise<void> },
): Promise<Approved<T>> {
  const approved = await approve(cap, () => ({}), { otherwise: longestTerm });
  const end = (): void => void approved.revoke('the session ended').catch(() => {});
  ended.then(end, end);
  return approved;
}

/** 90 days, over boots, each outcome in the ledger. */
export const approvePermanent = <T extends object>(cap: Far<T>): Promise<Approved<T>> =>
  approve(cap, () => ({ until: wallTime() + longestTerm, audited: true }));
