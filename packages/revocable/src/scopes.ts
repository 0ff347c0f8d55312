/**
 * Approvals for a host program outside turns: once, for a time, for a session, permanent.
 *
 * A permanent approval ends too: after 90 days a person has to renew it.
 */
import { CapError, E, type Far, wallTime } from '@hob/vat';
import { inTurn, takeOptions, vatsOf } from '@hob/vat/forwarder';
import { type GrantOptions, grantOf, type Revoker } from './revocable.ts';
import { longestTerm, type Terms } from './terms/terms.ts';

/** A cap under a grant, and the way to end it. */
export interface Approved<T> {
  readonly cap: Far<T>;
  /** Resolves when it is durable and every driver that worked under it is done. */
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
  return Object.freeze({ cap: forwarder, revoke: async (why?: string) => void (await E(revoker).revoke(why)) });
}

/** Allows one call. */
export const approveOnce = <T extends object>(cap: Far<T>): Promise<Approved<T>> => approve(cap, () => ({ uses: 1 }));

/** Allows calls for so many seconds. */
export async function approveFor<T extends object>(
  cap: Far<T>,
  time: { readonly seconds: number },
): Promise<Approved<T>> {
  const { seconds } = takeOptions(time, 'approveFor', { seconds: true });
  return await approve(cap, () => ({ for: seconds * 1000 }));
}

/**
 * Allows calls until `ended` settles, the machine boots, or 90 days are over. For a session of `@hob/host` write
 * `{ ended: session.ended }`.
 */
export async function approveSession<T extends object>(
  cap: Far<T>,
  session: { readonly ended: Promise<void> },
): Promise<Approved<T>> {
  const { ended } = takeOptions(session, 'approveSession', { ended: true });
  if (!(ended instanceof Promise))
    throw new CapError('invalid', 'a session has a promise `ended`: give the session that the approval ends with');
  const approved = await approve(cap, () => ({}), { otherwise: longestTerm });
  const end = (): void => void approved.revoke('the session ended').catch(() => {});
  ended.then(end, end);
  return approved;
}

/** Allows calls for 90 days, also after a boot, and writes each result to the ledger. */
export const approvePermanent = <T extends object>(cap: Far<T>): Promise<Approved<T>> =>
  approve(cap, () => ({ until: wallTime() + longestTerm, audited: true }));
