/**
 * The effect of a tool of a server.
 *
 * Promise: who grants says what the tool does. The annotations of its server make it stricter and never milder: a
 * server does not vouch for itself. What nobody said is the stricter thing.
 */
import type { Effect } from '@hob/vat/forwarder';

/** `annotations`: as the server sent them. Anything but the words of the protocol says nothing. */
export function toolEffect(said: Effect, annotations: unknown): Effect {
  const hints = (typeof annotations === 'object' && annotations !== null ? annotations : {}) as Readonly<Record<string, unknown>>; // biome-ignore format: one line
  const destroys = hints['destructiveHint'] === true;
  const changes = destroys || hints['readOnlyHint'] === false;
  const outbound = said.outbound !== false || hints['openWorldHint'] === true;
  return {
    ...said,
    class: changes && said.class === 'A' ? (outbound ? 'C' : 'B') : said.class,
    undo: destroys ? 'impossible' : (said.undo ?? 'hard'),
    outbound,
    // Reading that was raised is counted as before, if it goes round in circles.
    idempotent: said.idempotent ?? (said.class === 'A' || hints['idempotentHint'] === true),
  };
}
