/** Connects a program to a host. */
import { type CapTPOptions, type Connected, captp, spoken } from './captp.ts';
import { dial } from './transport/websocket.ts';

/**
 * Connects to a host and opens a CapTP session.
 *
 * `url` is `ws://` or `wss://`. `secret` is the secret of a session or of a granter. It is sent in a header,
 * never in the URL. If the host admits nobody now (HTTP 503), the call tries again for up to `patienceMs`
 * (default 30 s).
 *
 * Errors: `denied` (wrong secret), `limit` (too many connections of this session), `disconnected`,
 * `unavailable` (the dialect is not supported, or the host admitted nobody in that time).
 */
export async function connect<T extends object>(
  url: string,
  options: CapTPOptions & { readonly secret: string; readonly patienceMs?: number },
): Promise<Connected<T>> {
  const { secret, patienceMs, ...rest } = options;
  return captp<T>(await dial(url, secret, spoken(rest.dialect), patienceMs), rest);
}
