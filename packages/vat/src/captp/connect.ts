/** Dials a session: how a program reaches a host. */
import { dial } from '../drivers/websocket.ts';
import { type CapTPOptions, type Connected, captp, spoken } from './captp.ts';

/**
 * Connects to a host and speaks CapTP with it. `url` is `ws://` or `wss://`; `secret` is that of a session or of a granter and
 * goes into a header, never into the URL. Errors: `denied` (wrong secret), `disconnected`, `unavailable` (the dialect).
 */
export async function connect<T extends object>(
  url: string,
  options: CapTPOptions & { readonly secret: string },
): Promise<Connected<T>> {
  const { secret, ...rest } = options;
  return captp<T>(await dial(url, secret, spoken(rest.dialect)), rest);
}
