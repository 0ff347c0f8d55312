/** Dials a session: how a program reaches a host. */
import { type CapTPOptions, type Connected, captp, spoken } from './captp.ts';
import { dial } from './transport/websocket.ts';

/**
 * Connects to a host and speaks CapTP with it. `url` is `ws://` or `wss://`; `secret` is that of a session or of a granter and
 * goes into a header, never into the URL. A host that can let nobody in now (HTTP 503) is asked again, for `patienceMs` (30 s) at the most.
 * Errors: `denied` (wrong secret), `limit` (too many connections of this session), `disconnected`, `unavailable` (the dialect, or a host that
 * could let nobody in all that time).
 */
export async function connect<T extends object>(
  url: string,
  options: CapTPOptions & { readonly secret: string; readonly patienceMs?: number },
): Promise<Connected<T>> {
  const { secret, patienceMs, ...rest } = options;
  return captp<T>(await dial(url, secret, spoken(rest.dialect), patienceMs), rest);
}
