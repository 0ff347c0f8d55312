/**
 * The limits of a whole host, for a process that serves several hosts.
 *
 * Promise: at the limit no session is opened, whoever asks for it: the program of the host, a start of an agent, or a
 * session that spawns a child. Sessions that are open are not ended.
 */
import { CapError } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import type { HostTables } from './records.ts';

/** How many sessions and connections a host has at most. */
export interface HostMost {
  /** Open sessions, child sessions included. By default there is no limit. */
  readonly sessions?: number;
  /** Connections that all sessions have at once: 256 by default, 10,000 at most. Granters have places of their own. */
  readonly connections?: number;
}

const names: OptionNames<HostMost> = { sessions: true, connections: true };
const USUAL_CONNECTIONS = 256;
const MOST_CONNECTIONS = 10_000;

/** Checks the option `most`. Errors: `invalid`. */
export function takeMost(given: HostMost | undefined): {
  readonly sessions: number | undefined;
  readonly connections: number;
} {
  const { sessions, connections = USUAL_CONNECTIONS } = takeOptions(given, 'most', names);
  const isCount = (value: unknown, most: number): boolean => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most; // biome-ignore format: one line
  if (sessions !== undefined && !isCount(sessions, Number.MAX_SAFE_INTEGER))
    throw new CapError('invalid', 'most.sessions is a whole number above 0');
  if (!isCount(connections, MOST_CONNECTIONS))
    throw new CapError('invalid', `most.connections is a whole number from 1 to ${MOST_CONNECTIONS}`);
  return { sessions, connections };
}

const KEY = 'most sessions';

/** Stores the limit of this start. Called in a turn. A host that starts without a limit has none. */
export function keepMost({ facts }: HostTables, sessions: number | undefined): void {
  if (sessions === undefined) facts.delete(KEY);
  else facts.set(KEY, String(sessions));
}

/** Called in a turn, before a session is opened. Errors: `limit`. */
export function checkRoom({ facts, sessions }: HostTables): void {
  const most = facts.get(KEY);
  if (most !== undefined && sessions.size >= Number(most))
    throw new CapError('limit', 'this host has as many sessions as it may: end one, or wait until one has ended');
}
