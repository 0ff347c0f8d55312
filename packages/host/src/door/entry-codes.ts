/**
 * One-time codes with which a granter enters from a page.
 *
 * Promise: a code opens one connection of one granter, once, within its time. It is random, only its hash is kept, and
 * nothing of it is on a disk: codes end with the process.
 */
import { CapError, type Clock, spawn } from '@hob/vat';
import { hashSecret, newSecret } from '@hob/vat/forwarder';
import { GranterActor } from '../granters/granter.ts';
import type { HostState } from '../state/host-state.ts';
import { granterNamed } from '../state/lookups.ts';
import type { HostTables } from '../state/records.ts';
import type { FoundPeer } from './peers.ts';

interface Entry {
  readonly granter: string;
  readonly until: number;
}

/** How many codes of one granter wait to be used. A further one ends the oldest. */
const mostOpen = 8;
const longestMs = 600_000;
const usualMs = 120_000;

export class EntryCodes {
  readonly #clock: Clock;
  readonly #random: (bytes: number) => Uint8Array;
  /** By the hash of the code, the oldest first. */
  readonly #open = new Map<string, Entry>();

  constructor(clock: Clock, random: (bytes: number) => Uint8Array) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Makes a code for `granter`. `ms` is its time, two minutes by default. Errors: `invalid`. */
  make(granter: string, ms: number = usualMs): string {
    if (!(Number.isFinite(ms) && ms > 0 && ms <= longestMs))
      throw new CapError('invalid', 'a code for a page is good for 10 minutes at the most: give "for" in ms');
    const own = [...this.#open].filter(([, entry]) => entry.granter === granter);
    for (const [hash] of own.slice(0, Math.max(0, own.length - mostOpen + 1))) this.#open.delete(hash);
    const code = newSecret(this.#random);
    this.#open.set(hashSecret(code), { granter, until: this.#clock.boottime() + ms });
    return code;
  }

  /** Ends the codes of a granter: its secret was renewed, so what was handed out before opens nothing. */
  end(granter: string): void {
    for (const [hash, entry] of this.#open) if (entry.granter === granter) this.#open.delete(hash);
  }

  /** The granter that the code is for. From then on it opens nothing. Undefined for any other text. */
  take(code: string): string | undefined {
    const hash = hashSecret(code);
    const entry = this.#open.get(hash);
    this.#open.delete(hash);
    return entry !== undefined && this.#clock.boottime() < entry.until ? entry.granter : undefined;
  }
}

/**
 * In a turn: the granter of a page. The ledger tells its acts from those of a command line. Errors:
 * `no-such-object`.
 */
export function pagePeer(tables: HostTables, hostState: HostState, granter: string): FoundPeer {
  const { name } = granterNamed(tables, granter);
  const who = `granter:${name}`;
  return { who, session: undefined, payer: who, face: spawn(GranterActor(name, 'console', hostState)) };
}
