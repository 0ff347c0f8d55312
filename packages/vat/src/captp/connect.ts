/** Dials a session: how a program reaches a host. */
import { dial } from '../drivers/websocket.ts';
import { type EndoConnection, type EndoOptions, endoConnection } from './endo.ts';

/**
 * Connects to a host and speaks CapTP with it. `url` is `ws://` or `wss://`; `secret` is that of a session or of a granter and
 * goes into a header, never into the URL. Errors: `denied` (wrong secret), `disconnected`.
 */
export async function connect<T extends object>(
  url: string,
  options: EndoOptions & { readonly secret: string },
): Promise<EndoConnection<T>> {
  const { secret, ...rest } = options;
  return endoConnection<T>(await dial(url, secret, 'captp'), rest);
}
