/**
 * The connection of the page: it trades the code of its address for a granter, once.
 *
 * Promise: the code leaves the address before it is used, and is kept nowhere. The granter is in the memory of this page
 * alone. There is no cookie and no storage, so no other page and no later one has anything of it.
 */

import type { Granter } from '@hob/host';
import { type Connected, captp, fromBrowserSocket } from '@hob/vat/peer';

/** The code of this address. Undefined if it has none. The address has none afterwards. */
export function takeCode(): string | undefined {
  const code = /^#k=([\w-]+)$/.exec(location.hash)?.[1];
  history.replaceState(null, '', location.pathname);
  return code;
}

/** Enters as the granter of the code. */
export function enter(code: string): Connected<Granter> {
  // The page is at /console, or at /NAME/console if the door is one for several hosts.
  const url = new URL('.', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return captp<Granter>(fromBrowserSocket(new WebSocket(url, ['hob.1', `hob.secret.${code}`])));
}
