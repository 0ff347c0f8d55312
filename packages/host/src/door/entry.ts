/**
 * Who may come in: decided from the headers of the first request, before there is a socket to talk on.
 *
 * Promise: without a secret that is known now there is no connection; a web page cannot enter, not even one that guessed or
 * was told the port (`Origin`) or re-bound its name to this machine (`Host`). The secret is in a header or in an offered
 * subprotocol that is never echoed, never in a URL. A secret that could not be looked up is not called unknown: that is 503.
 */
import { type Dialect, dialects } from '@hob/vat';

export interface Knock {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  /** As offered, in order. */
  readonly protocols: readonly string[];
}

export type Verdict<Who> =
  | { readonly ok: true; readonly who: Who; readonly dialect: Dialect }
  | { readonly ok: false; readonly status: RefusalStatus; readonly reason: string };

type RefusalStatus = 400 | 401 | 403 | 503;

const no = (status: RefusalStatus, reason: string) => ({ ok: false as const, status, reason });

export const storeFailed =
  'the host cannot read or write its store now: wait and try again; if it goes on, start the host again';

const offeredSecret = 'hob.secret.';

/** `authorities` are the `host:port` texts that this listener goes by; `find` looks a secret up. */
export async function admit<Who>(
  knock: Knock,
  authorities: readonly string[],
  find: (secret: string) => Promise<Who | undefined>,
): Promise<Verdict<Who>> {
  const misplaced = strays(knock, authorities);
  if (misplaced !== undefined) return no(403, misplaced);
  const secret = secretOf(knock);
  if (secret === undefined) return no(401, 'this secret opens nothing');
  const offered = knock.protocols.filter((protocol) => !protocol.startsWith(offeredSecret));
  // Offering none is how the plainest Endo peer comes.
  const dialect = offered.length === 0 ? 'captp' : chosenDialect(offered);
  if (dialect === undefined) return no(400, `this host speaks the dialects ${Object.keys(dialects).join(' and ')}`);
  // Last: to look a secret up may be to use it, and the one before it is dead then.
  let who: Who | undefined;
  try {
    who = await find(secret);
  } catch {
    // A client that is told 401 throws its secret away, so 401 is only for a secret that was looked up and is not there.
    return no(503, storeFailed);
  }
  return who === undefined ? no(401, 'this secret opens nothing') : { ok: true, who, dialect };
}

/** The first of those offered that is spoken here: never what carries the secret. */
export const chosenDialect = (offered: readonly string[]): Dialect | undefined =>
  offered.find((protocol): protocol is Dialect => Object.hasOwn(dialects, protocol));

/** Why one who comes by this name, or from this page, may not even ask. */
export function strays(
  { host, origin }: Pick<Knock, 'host' | 'origin'>,
  authorities: readonly string[],
): string | undefined {
  if (host === undefined || !authorities.includes(host)) return 'this host goes by 127.0.0.1, localhost and [::1] only';
  if (origin !== undefined && !authorities.some((authority) => origin === `http://${authority}`))
    return 'web pages of other origins may not enter';
  return undefined;
}

export function secretOf({ authorization, protocols }: Pick<Knock, 'authorization' | 'protocols'>): string | undefined {
  if (authorization !== undefined) return /^Bearer ([\w-]+)$/.exec(authorization)?.[1];
  return protocols.find((protocol) => protocol.startsWith(offeredSecret))?.slice(offeredSecret.length);
}
