/** Connects a program to a host. */
import { takeOptions } from '../core/options.ts';
import { type CapTPOptions, type Connected, captp, captpOptions, spoken } from './captp.ts';
import { dial } from './transport/websocket.ts';

type ConnectOptions = CapTPOptions & { readonly secret: string; readonly patienceMs?: number; readonly ca?: string };

/**
 * Connects to a host and opens a CapTP session.
 *
 * `url` is `ws://`, `wss://` or `ws+unix:/PATH:/`, as the host prints it. `ca` has the certificates (PEM) that a
 * `wss://` host may be signed by, beside those that Node knows. `secret` is the secret of a session or of a granter. It is sent in a header,
 * never in the URL. If the host admits nobody now (HTTP 503), the call tries again for up to `patienceMs`
 * (default 30 s).
 *
 * Errors: `denied` (wrong secret), `limit` (too many connections of this session), `disconnected`,
 * `unavailable` (the dialect is not supported, or the host admitted nobody in that time).
 */
export async function connect<T extends object>(url: string, options: ConnectOptions): Promise<Connected<T>> {
  const { secret, patienceMs, ca, ...rest } = takeOptions<ConnectOptions>(options, 'connect', {
    ...captpOptions,
    secret: true,
    patienceMs: true,
    ca: true,
  });
  return captp<T>(await dial(url, { secret, dialect: spoken(rest.dialect), patienceMs, ca }), rest);
}
