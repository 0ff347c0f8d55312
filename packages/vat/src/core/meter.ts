/**
 * Budgets. All sessions share one heap. Each delivery carries the meter of its session and charges that meter
 * for all that it makes, so no session can exhaust the host or another session.
 *
 * Promise: a charge over the limit throws `limit` before anything is made. A turn that is rolled back gives
 * its charges back. The actor's portrait is charged to the session that changed it last, so nobody can grow
 * an actor at another session's cost.
 */
import { CapError } from './errors.ts';
import { takeRecord } from './options.ts';
import type { Meter } from './types.ts';

/**
 * The budgets. Most count things that are alive now. The others:
 * - `turnMs` limits one turn; `used()` reports the sum of all turns.
 * - `lines` counts ledger lines of this hour: 1 for a line and 1 more for each KiB of its arguments.
 * - `lineBytes` is about the disk space of those lines.
 * - `argumentBytes` limits what the ledger keeps of one argument and is never counted.
 */
const budgets = [
  'actors',
  'portraitBytes',
  'messages',
  'promises',
  'rows',
  'connections',
  'lines',
  'lineBytes',
  'argumentBytes',
  'turnMs',
] as const;
type Budget = (typeof budgets)[number];
/** The budgets that are charged and refunded. */
export type Holding = Exclude<Budget, 'turnMs' | 'lines' | 'lineBytes' | 'argumentBytes'>;

const hour = 3_600_000;

export class Account implements Meter {
  readonly name: string;
  readonly #limits: Readonly<Record<Budget, number>>;
  // Fields and not a record: each turn changes them several times.
  actors = 0;
  portraitBytes = 0;
  messages = 0;
  promises = 0;
  rows = 0;
  connections = 0;
  lines = 0;
  lineBytes = 0;
  argumentBytes = 0;
  turnMs = 0;
  /**
   * About the bytes of unanswered calls from connections that have ended. The session's next connection
   * starts with them.
   */
  outliving = 0;
  /** Messages in the queue of the scheduler. They wait for their turn, or for the disk, but not for a peer. */
  queued = 0;
  #hourEnds = Number.NEGATIVE_INFINITY;
  readonly #errors = new Map<Holding, CapError>();

  constructor(name: string, limits: Readonly<Record<string, number>> = {}) {
    this.name = name;
    const all = {} as Record<Budget, number>;
    for (const budget of budgets) all[budget] = Number.POSITIVE_INFINITY;
    for (const [budget, limit] of Object.entries(takeRecord(limits, 'a meter', budgets, 'budget'))) {
      if (typeof limit !== 'number' || !(limit >= 0))
        throw new CapError('invalid', `the limit of ${budget} must be a number >= 0`);
      all[budget as Budget] = limit;
    }
    this.#limits = Object.freeze(all);
  }

  used(): Readonly<Record<Budget, number>> {
    const { actors, portraitBytes, messages, promises, rows, connections, lines, lineBytes, argumentBytes, turnMs } =
      this;
    return { actors, portraitBytes, messages, promises, rows, connections, lines, lineBytes, argumentBytes, turnMs };
  }

  limits(): Readonly<Record<Budget, number>> {
    return this.#limits;
  }

  charge(budget: Holding, amount: number): void {
    const next = this[budget] + amount;
    if (next > this.#limits[budget] && amount > 0) throw this.#over(budget);
    this[budget] = next;
  }

  /**
   * One error object for each budget. A new one would write a stack for every refused charge, at the caller's
   * pace.
   */
  #over(budget: Holding): CapError {
    let error = this.#errors.get(budget);
    if (error === undefined) {
      error = Object.freeze(
        new CapError(
          'limit',
          `the meter "${this.name}" allows ${this.#limits[budget]} ${budget}: release some, or ask for a larger budget`,
        ),
      );
      this.#errors.set(budget, error);
    }
    return error;
  }

  refund(budget: Holding, amount: number): void {
    this[budget] -= amount;
  }

  /** Counts one ledger line at time `tick`. Returns false when this hour's budget does not allow it. */
  writeLine({ weight, bytes }: { readonly weight: number; readonly bytes: number }, tick: number): boolean {
    if (tick >= this.#hourEnds) {
      this.#hourEnds = tick + hour;
      this.lines = 0;
      this.lineBytes = 0;
    }
    // A refused line is not counted. Otherwise a caller that keeps asking would never be let in again.
    if (this.lines + weight > this.#limits.lines || this.lineBytes + bytes > this.#limits.lineBytes) return false;
    this.lines += weight;
    this.lineBytes += bytes;
    return true;
  }

  /** Whether a limit is set. Without one, nothing needs to be tracked until it is garbage collected. */
  bounds(budget: Budget): boolean {
    return this.#limits[budget] !== Number.POSITIVE_INFINITY;
  }

  /** Adds the time of a turn. */
  spend(ms: number): void {
    this.turnMs += ms;
  }

  overtime(ms: number): boolean {
    return ms > this.#limits.turnMs;
  }
}

/** Charges one connection to `meter`. Call the returned function once to give it back. Throws `limit`. */
export function chargeConnection(meter: Meter): () => void {
  if (!(meter instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
  meter.charge('connections', 1);
  return () => meter.refund('connections', 1);
}

/** The charges of a living actor. `paid` is set once they were given back in another way. */
export interface Dues {
  readonly spawner: Account | undefined;
  payer: Account;
  bytes: number;
  paid: boolean;
}

const collected = new FinalizationRegistry<Dues>((dues) => {
  if (dues.paid) return;
  dues.spawner?.refund('actors', 1);
  dues.payer.refund('portraitBytes', dues.bytes);
});

/** Gives `dues` back when `thing` is garbage collected. `dues` must not refer to `thing`. */
export function refundWhenCollected(thing: object, dues: Dues): void {
  collected.register(thing, dues);
}

/** A charge to one budget. */
export interface Charge {
  readonly account: Account;
  readonly budget: Holding;
  amount: number;
}

const dropped = new FinalizationRegistry<Charge>((charge) => charge.account.refund(charge.budget, charge.amount));

/** Gives `charge.amount` back when `thing` is garbage collected. */
export function chargeUntilCollected(thing: object, charge: Charge): void {
  dropped.register(thing, charge);
}

/** Pays for messages that the host program sends outside any session. It has no limits. */
export const hostAccount: Account = new Account('host');
