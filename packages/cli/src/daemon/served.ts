/**
 * How a daemon opens sessions: the plan that is served, narrower layers of one session, and accepted wishes.
 *
 * Promise: layers of a session only take away, and wishes only ask. A mistake in a layer is told to its person, and no
 * session starts.
 */
import type { Plan } from '@hob/manifest';
import { CapError } from '@hob/vat';
import type { ReadManifest } from '../drivers/manifest-file.ts';
import { Mistake } from '../line/mistake.ts';
import { hiddenName } from '../plan/rights.ts';
import type { OpenedSession, PlanSessions } from '../plan/sessions.ts';
import type { LayerText, WishRow } from './daemon.ts';
import { sameFirewall } from './served-firewall.ts';
import type { ServedWishes } from './wishes.ts';

/** The parts that sessions of a daemon are opened from. */
export interface Served {
  readonly read: ReadManifest;
  readonly sessions: PlanSessions;
  readonly wishes: ServedWishes;
  /** Writes a line of the log. */
  readonly log: (line: string) => void;
}

/** A session, with what a person has to know about it. */
type OpenedServed = OpenedSession & { readonly said: readonly string[] };

/** Opens a session. Errors: `invalid` (a layer has mistakes, or a cap cannot be made), those of a host. */
export async function openServed(
  { read, sessions, wishes, log }: Served,
  name: string,
  below: readonly LayerText[],
): Promise<OpenedServed> {
  try {
    const { plan, warnings } = below.length === 0 ? { plan: read.plan, warnings: [] } : read.narrowed(below);
    sameFirewall(read.plan, plan);
    const opened = await sessions.open(name, await wishes.over(plan));
    for (const line of opened.dropped) log(line);
    return { ...opened, said: [...warnings, ...opened.dropped] };
  } catch (error) {
    // Its text is for the person at the other end.
    throw error instanceof Mistake ? new CapError('invalid', error.message) : error;
  }
}

/** The lines about wish lists that a person reads when the host begins. */
export const wishesAtStart = (rows: readonly WishRow[]): readonly string[] =>
  rows.flatMap(({ name, state, asks, mistakes }) => {
    if (state === 'mistaken') return [`hob: the wish list ${name} is not used:`, ...mistakes];
    const many = asks.length === 1 ? 'one cap' : `${asks.length} caps`;
    return state === 'waits' && asks.length > 0
      ? [`hob: ${name} wishes for ${many}: hob accept ${name} shows them`]
      : [];
  });

/** A directory cap hides names at any depth, so a pattern for one place hides more than the manifest says. */
export const hidesMore = ({ caps }: Plan): readonly string[] =>
  Object.values(caps).flatMap((cap) =>
    cap.kind !== 'fs'
      ? []
      : cap.except.flatMap((pattern) => {
          const name = hiddenName(pattern);
          return name === undefined || name === pattern || `**/${name}` === pattern
            ? []
            : [`hob: ${cap.name}.except: "${pattern}" hides ${name} at every depth, also where the pattern does not say so`]; // biome-ignore format: one line
        }),
  );
