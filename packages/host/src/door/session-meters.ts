/**
 * The meters that callers are charged to. Each granter has one. Each session has one, which its children share.
 *
 * Promise: a session that has ended leaves no meter behind. The time of its turns stays in the sum.
 */
import type { Meter, Vats } from '@hob/vat';

/**
 * The limits of one session, together with its child sessions.
 *
 * They are far above what an agent needs, and far below what would hurt other sessions. Names that end in `Bytes` are
 * limits in bytes. The others are counts.
 */
const sessionLimits: Readonly<Record<SessionLimit, number>> = Object.freeze({
  actors: 10_000,
  portraitBytes: 16 << 20,
  messages: 10_000,
  promises: 20_000,
  // An empty session has 4 rows, and each grant has 4.
  rows: 15_000,
  connections: 8,
  lines: 100_000,
  // Enough for 100,000 usual lines. The ledger keeps only the beginning of long arguments.
  lineBytes: 48 << 20,
  argumentBytes: 4096,
});

type SessionLimit =
  | 'actors'
  | 'portraitBytes'
  | 'messages'
  | 'promises'
  | 'rows'
  | 'connections'
  | 'lines'
  | 'lineBytes'
  | 'argumentBytes';

/**
 * The use of one budget by all sessions that were entered since the host was opened and have not ended. `turnMs` also
 * includes sessions that have ended.
 */
export interface BudgetUse {
  readonly used: number;
  /** The largest part of the limit that one session uses: 1 is all of it. Undefined for a budget without a limit. */
  readonly fullest?: number;
}

const PREFIX = 'session:';

/** Returns the name of the meter of a session. */
export const payerOf = (session: string): string => `${PREFIX}${session}`;

export class SessionMeters {
  readonly #vats: Pick<Vats, 'meter' | 'dropMeter'>;
  readonly #meters = new Map<string, Meter>();
  /** The time of the turns of sessions that have ended, in ms. */
  #endedMs = 0;

  constructor(vats: Pick<Vats, 'meter' | 'dropMeter'>) {
    this.#vats = vats;
  }

  /** Returns the meter of that name. A session has limits, a granter has none. */
  named(name: string): Meter {
    let meter = this.#meters.get(name);
    if (meter === undefined) {
      meter = this.#vats.meter(name, name.startsWith(PREFIX) ? sessionLimits : undefined);
      this.#meters.set(name, meter);
    }
    return meter;
  }

  /** Call once a session has ended. A child has no meter of its own. */
  ended(session: string): void {
    const name = payerOf(session);
    this.#endedMs += this.#meters.get(name)?.used()['turnMs'] ?? 0;
    if (this.#meters.delete(name)) this.#vats.dropMeter(name);
  }

  /** Adds up the use of each budget by sessions. */
  budgets(): Readonly<Record<string, BudgetUse>> {
    const found: Record<string, { used: number; fullest?: number }> = { turnMs: { used: this.#endedMs } };
    for (const [name, meter] of this.#meters) {
      if (!name.startsWith(PREFIX)) continue;
      const limits = meter.limits();
      for (const [budget, used] of Object.entries(meter.used())) {
        // It limits how much the ledger keeps of one argument. Its use is never counted.
        if (budget === 'argumentBytes') continue;
        const limit = limits[budget] ?? Number.POSITIVE_INFINITY;
        const all = (found[budget] ??= { used: 0 });
        all.used += used;
        if (Number.isFinite(limit) && limit > 0) all.fullest = Math.max(all.fullest ?? 0, used / limit);
      }
    }
    return found;
  }
}
