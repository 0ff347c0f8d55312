/**
 * The flags of `hob workspace` that belong to its session, and the comparison of a start with the one that opened it.
 *
 * Promise: a flag that a later start gives and that its session does not have is an error, and is never ignored: it
 * could be a limit that somebody meant to set.
 */
import { CapError } from '@hob/vat';
import type { Grant } from '../granters/own-rows.ts';

export interface SessionFlags {
  readonly uses: number;
  readonly minutes: number;
  readonly readOnly: boolean;
  /** Each call waits for a granter, or each call of these methods. */
  readonly gate: boolean | readonly string[];
  readonly code: boolean;
  readonly shell: boolean;
}

const spelled: Readonly<Record<keyof SessionFlags, string>> = {
  uses: '--uses',
  minutes: '--for',
  readOnly: '--read-only',
  gate: '--gate',
  code: '--code',
  shell: '--shell',
};

export const noteOf = (flags: SessionFlags): string => JSON.stringify(flags);

/**
 * The flags that a session was opened with. Of one that an earlier version opened they are told by its grants, as far
 * as they can be.
 */
export function flagsOf(note: string | undefined, grants: readonly Grant[]): Partial<SessionFlags> {
  if (note !== undefined) return JSON.parse(note) as SessionFlags;
  const holds = (name: string): boolean => grants.some(({ petname }) => petname === name);
  return { minutes: 60, readOnly: false, gate: false, code: holds('code'), shell: holds('shell') };
}

/** Errors: `invalid`, with the flags that differ and what helps. */
export function checkFlags(
  has: Partial<SessionFlags>,
  { flags, given }: { readonly flags: SessionFlags; readonly given: ReadonlySet<keyof SessionFlags> },
): void {
  const names = Object.keys(spelled) as (keyof SessionFlags)[];
  const differ = names.filter((name) => given.has(name) && JSON.stringify(has[name]) !== JSON.stringify(flags[name]));
  if (differ.length === 0) return;
  const which = differ.map((name) => spelled[name]).join(', ');
  throw new CapError(
    'invalid',
    `the session of an earlier start goes on, and was not opened with ${which} as given now: leave ${differ.length === 1 ? 'it' : 'them'} out, or end that session and open a new one with --new-session`,
  );
}
