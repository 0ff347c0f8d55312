/**
 * A new request as a notice for people who are not at the terminal.
 *
 * Promise: a notice has ids, the name of the cap, the name of the tenant, and times. It has no argument, no reason and
 * no other text of an agent, no secret, and nothing with which a request could be answered.
 */
import type { RequestNotice } from '@hob/host';
import { shortId } from '../line/ids.ts';

/** The body of a webhook. Times are in ms since 1970. */
interface WebhookBody {
  readonly type: 'request';
  /** The tenant that has the request. It is there only with `hob cluster serve`: two tenants may have the same ids. */
  readonly tenant?: string;
  /** R7. */
  readonly request: string;
  /** S12: the session that asks. */
  readonly session: string;
  /** The name of the cap. */
  readonly cap: string;
  /** `grant`: a grant is asked for. `call`: one call waits. */
  readonly kind: 'grant' | 'call';
  readonly asked: number;
  /** From then on it cannot be answered any more. */
  readonly expires: number;
}

/** The name of an offer or a cap. Anything else is not shown. */
const capName = (asks: string): string => (/^[a-z0-9-]{1,64}$/.test(asks) ? asks : 'a cap');

/** The body for this request, filed at `now`. */
export const webhookBody = (
  { id, session, asks, kind, leftMs }: RequestNotice,
  now: number,
  tenant?: string,
): WebhookBody => ({
  type: 'request',
  ...(tenant !== undefined && { tenant }),
  request: shortId('R', id),
  session: shortId('S', session),
  cap: capName(asks),
  kind,
  asked: now,
  expires: now + leftMs,
});

const ofTenant = (tenant: string | undefined): string => (tenant === undefined ? '' : ` of ${tenant}`);

/** One line for a desktop. `more` is the number of requests that came meanwhile. */
export const desktopText = ({ id, session, asks }: RequestNotice, more: number, tenant?: string): string =>
  more > 0
    ? `${more + 1} requests${ofTenant(tenant)} wait for an answer: hob inbox --follow`
    : `${shortId('R', id)}${ofTenant(tenant)}: session ${shortId('S', session)} asks for ${capName(asks)}. Answer it with hob inbox --follow`;
