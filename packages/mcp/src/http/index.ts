/**
 * The verbs of sessions as MCP over Streamable HTTP, for the door of a host.
 *
 * Promise: a request reaches the session whose secret it shows, and no other one. A session has one face, whose ids
 * (`wait_for`, jobs, pages) mean nothing in another session. It takes no process. A session that nobody used for a
 * while is left, as if its program had ended.
 */
import type { HttpFace, HttpSession } from '@hob/host';
import { takeOptions } from '@hob/vat/forwarder';
import type { After } from '../face/waits.ts';
import { SessionHttp } from './drivers/session-http.ts';

/** What a face over HTTP is told. */
export interface HttpOptions {
  /** The version that clients are told. */
  readonly version: string;
  /** A session without a request for so long is left, in ms. 10 minutes by default. */
  readonly idleMs?: number;
  /** How long a call may take before it returns with an id to wait for, in ms. 50 s by default. */
  readonly waitMs?: number;
  readonly after?: After;
}

/** Makes the face for `serve` of one host: `host.serve({ port }, { '/mcp': mcpOverHttp({ version }) })`. Each host needs its own. */
export function mcpOverHttp(given: HttpOptions): HttpFace {
  const options = takeOptions(given, 'mcpOverHttp', { version: true, idleMs: true, waitMs: true, after: true });
  const sessions = new Map<string, SessionHttp>();
  const sessionOf = (from: HttpSession): SessionHttp => {
    const known = sessions.get(from.id);
    if (known?.isOver === false) return known;
    const made: SessionHttp = new SessionHttp(from, options, () => {
      if (sessions.get(from.id) === made) sessions.delete(from.id);
    });
    sessions.set(from.id, made);
    return made;
  };
  return (request, from) => sessionOf(from).answer(request, from);
}
