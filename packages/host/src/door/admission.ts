/**
 * Decides from the headers of a request whether a connection is admitted, before the socket is upgraded.
 *
 * Promise: nobody connects without a known secret. A web page cannot connect, not even one that knows the
 * port (`Origin`) or has bound its own name to this machine (`Host`). The secret is in a header, or in an
 * offered subprotocol that is never sent back. It is never in a URL. If a secret cannot be looked up, the
 * reply is 503, and not 401.
 */
import type { Dialect } from '@hob/vat';
import { dialects } from '@hob/vat/wire';
import type { HostNames } from './where.ts';

export interface UpgradeHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  /** As offered, in order. */
  readonly protocols: readonly string[];
}

export type Admission<Who> =
  | { readonly ok: true; readonly who: Who; readonly dialect: Dialect }
  | { readonly ok: false; readonly status: RefusalStatus; readonly reason: string };

type RefusalStatus = 400 | 401 | 403 | 503;

const refused = (status: RefusalStatus, reason: string) => ({ ok: false as const, status, reason });

export const storeFailed =
  'the host cannot read or write its store now: wait and try again; if it goes on, start the host again';

const offeredSecret = 'hob.secret.';

/**
 * `names` are those of this listener. They are undefined if another front door has checked `Host` and `Origin` already.
 * `find` looks a secret up.
 */
export async function admit<Who>(
  knock: UpgradeHeaders,
  names: HostNames | undefined,
  find: (secret: string) => Promise<Who | undefined>,
): Promise<Admission<Who>> {
  const misplaced = wrongOrigin(knock, names);
  if (misplaced !== undefined) return refused(403, misplaced);
  const secret = secretOf(knock);
  if (secret === undefined) return refused(401, 'the host does not know this secret: ask for a new one');
  const offered = knock.protocols.filter((protocol) => !protocol.startsWith(offeredSecret));
  // The simplest Endo peers offer no subprotocol.
  const dialect = offered.length === 0 ? 'captp' : chosenDialect(offered);
  if (dialect === undefined)
    return refused(400, `this host speaks the dialects ${Object.keys(dialects).join(' and ')}`);
  // Last, because looking a secret up may use it, and then the one before it ends.
  let who: Who | undefined;
  try {
    who = await find(secret);
  } catch {
    // A client that gets 401 throws its secret away. So 401 is only for a secret that was looked up and is
    // not there.
    return refused(503, storeFailed);
  }
  return who === undefined
    ? refused(401, 'the host does not know this secret: ask for a new one')
    : { ok: true, who, dialect };
}

/** The first dialect that is offered and known. Never the subprotocol with the secret. */
export const chosenDialect = (offered: readonly string[]): Dialect | undefined =>
  offered.find((protocol): protocol is Dialect => Object.hasOwn(dialects, protocol));

/** Why a request with this `Host` or `Origin` is refused. Undefined if it is not. */
export function wrongOrigin(
  { host, origin }: Pick<UpgradeHeaders, 'host' | 'origin'>,
  names: HostNames | undefined,
): string | undefined {
  if (names === undefined) return undefined;
  const { authorities, origins } = names;
  if (host === undefined || !authorities.includes(host.toLowerCase()))
    return 'this host has another name: use the address that it printed';
  if (origin !== undefined && !origins.includes(origin)) return 'web pages of other origins may not enter';
  return undefined;
}

export function secretOf({
  authorization,
  protocols,
}: Pick<UpgradeHeaders, 'authorization' | 'protocols'>): string | undefined {
  if (authorization !== undefined) return /^Bearer ([\w-]+)$/.exec(authorization)?.[1];
  return protocols.find((protocol) => protocol.startsWith(offeredSecret))?.slice(offeredSecret.length);
}
