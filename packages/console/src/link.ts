/**
 * The link to the console of a host.
 *
 * The code stands in the fragment, which a browser sends to no server. On loopback the name is `localhost`, because a
 * browser treats it as a secure place, and a passkey can be bound to it. Elsewhere the page comes over TLS.
 */
import { CapError } from '@hob/vat';

/**
 * `url` is the address that `serve` returned: on loopback, or one that begins with `wss:`. `code` is that of `entryCode`.
 * Errors: `invalid`.
 */
export function consoleLink(url: string, code: string): string {
  const { protocol, hostname, port, host, pathname } = new URL(url);
  const page = `${pathname.replace(/\/$/, '')}/console#k=${code}`;
  if (protocol === 'wss:') return `https://${host}${page}`;
  if (protocol === 'ws:' && hostname === '127.0.0.1') return `http://localhost:${port}${page}`;
  throw new CapError('invalid', 'a browser reaches no Unix socket: serve the host with a port');
}
