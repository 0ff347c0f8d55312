/**
 * The link to the console of a host.
 *
 * The code stands in the fragment, which a browser sends to no server. On loopback the name is `localhost`, because a
 * browser treats it as a secure place, and a passkey can be bound to it. Any other address must have TLS: otherwise the
 * code would cross a network in plain text.
 */
import { CapError } from '@hob/vat';

/**
 * `url` is the address that `serve` returned. `code` is that of `entryCode`. Errors: `invalid` (the address is neither on
 * loopback nor `wss:`).
 */
export function consoleLink(url: string, code: string): string {
  const { protocol, hostname, port, host, pathname } = new URL(url);
  const page = `${pathname.replace(/\/$/, '')}/console#k=${code}`;
  if (protocol === 'wss:') return `https://${host}${page}`;
  if (protocol === 'ws:' && hostname === '127.0.0.1') return `http://localhost:${port}${page}`;
  throw new CapError(
    'invalid',
    'a browser cannot use this address safely: serve the host with a port of loopback, or with TLS',
  );
}
