/**
 * A session: the caps it holds, by petname, and nothing else.
 *
 * Promise: what a session's connection bootstraps as gives out what is in its c-list. It cannot list, name or reach anything
 * of another session or of the host.
 */
import { CapError, type Definition, define, type Table } from '@hob/vat';

/** What an agent is given. `E(E(bootstrap).cap('workspace')).readText('a')` is one round trip. */
export interface SessionFace {
  /** The petnames it holds. */
  caps(): readonly string[];
  /** The cap of that name; an absent one breaks `no-such-object`. */
  cap(petname: string): object;
}

export const Session: Definition<SessionFace, [held: Table<object>]> = define('Session', (_bcom, held) => ({
  caps: () => [...held.entries()].map(([petname]) => petname),
  cap: (petname) => {
    const cap = typeof petname === 'string' ? held.get(petname) : undefined;
    // The same words whether it never was there or never will be: a name that is not held says nothing.
    if (cap === undefined)
      throw new CapError(
        'no-such-object',
        'this session holds no cap of that name: caps() lists what it holds; ask the person who opened it for more',
      );
    return cap;
  },
}));
