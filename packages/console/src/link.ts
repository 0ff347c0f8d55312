/**
 * The link to the console of a host.
 *
 * The code stands in the fragment, which a browser sends to no server. The name is `localhost`, because a browser treats
 * it as a secure place, and a passkey can be bound to it.
 */
import { CapError } from '@hob/vat';

/** `url` is the address that `serve` returned, on loopback. `code` is that of `entryCode`. Errors: `invalid`. */
export function consoleLink(url: string, code: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'ws:' || hostname !== '127.0.0.1')
    throw new CapError('invalid', 'the console is for a host on loopback: serve it with a port');
  return `http://localhost:${port}${pathname.replace(/\/$/, '')}/console#k=${code}`;
}
