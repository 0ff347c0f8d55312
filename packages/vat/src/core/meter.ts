/**
 * Budgets. The heap is shared, so every delivery carries its session's meter, and what the delivery makes is charged to
 * it: no session can exhaust the host or another session.
 *
 * Promise: a charge over the limit throws `limit` before anything is made, and a turn that is undone gives back what it
 * was charged. Who changed an actor last pays for its portrait: growth cannot be put on somebody else's account.
 */
import { CapError } from './errors.ts';
import type { Meter } from './types.ts';

/**
 * What is counted: things alive now. `turnMs` is a limit on one turn; what is reported for it is the sum of all turns. `lines`
 * are those that the ledger was given in this hour, each weighing 1, and 1 more for each KiB of its arguments; `lineBytes` is about what they
 * take on the disk. `argumentBytes` is a limit on what the ledger keeps of one argument, and no count.
 */
export const budgets = [
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
export type Budget = (typeof budgets)[number];
/** Those that are charged and given back. */
export type Holding = Exclude<Budget, 'turnMs' | 'lines' | 'lineBytes' | 'argumentBytes'>;

const hour = 3_600_000;

export class Account implements Meter {
  readonly name: string;
  readonly #limits: Readonly<Record<Budget, number>>;
  // Plain numbers, not a record: they are touched several times in each turn.
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
  /** Bytes, about, of calls that came by connections that have ended, and that are not answered: the next connection begins with them. */
  outliving = 0;
  #hourEnds = Number.NEGATIVE_INFINITY;
  readonly #errors = new Map<Holding, CapError>();

  constructor(name: string, limits: Readonly<Record<string, number>> = {}) {
    this.name = name;
    const all = {} as Record<Budget, number>;
    for (const budget of budgets) all[budget] = Number.POSITIVE_INFINITY;
    for (const [budget, limit] of Object.entries(limits)) {
      if (!(budgets as readonly string[]).includes(budget))
        throw new CapError(
          'invalid',
          `no budget is called "${budget.slice(0, 64)}": choose from ${budgets.join(', ')}`,
        );
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

  /** One for all: to make an error is to write down a stack, and who is over the limit may go on asking as fast as it likes. */
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

  /** Counts what goes into the ledger; answers whether that was within the budget of this hour. `tick` is the time. */
  writeLine({ weight, bytes }: { readonly weight: number; readonly bytes: number }, tick: number): boolean {
    if (tick >= this.#hourEnds) {
      this.#hourEnds = tick + hour;
      this.lines = 0;
      this.lineBytes = 0;
    }
    // What is over is not counted: else who goes on asking would never be let in again, and nobody could see by how much.
    if (this.lines + weight > this.#limits.lines || this.lineBytes + bytes > this.#limits.lineBytes) return false;
    this.lines += weight;
    this.lineBytes += bytes;
    return true;
  }

  /** Whether a limit is set at all: only then is it worth asking the garbage collector when something has gone. */
  bounds(budget: Budget): boolean {
    return this.#limits[budget] !== Number.POSITIVE_INFINITY;
  }

  /** Adds a turn's time; throws `limit` where one turn took longer than this meter allows. */
  spend(ms: number): void {
    this.turnMs += ms;
  }

  overtime(ms: number): boolean {
    return ms > this.#limits.turnMs;
  }
}

/** Charges one connection to `meter`; what it returns gives that back, and is to be called once. Throws `limit`. */
export function chargeConnection(meter: Meter): () => void {
  if (!(meter instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
  meter.charge('connections', 1);
  return () => meter.refund('connections', 1);
}

/** What an actor owes while it lives; `paid` once it was given back otherwise. */
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

/** Gives back what `thing` owes when it has been collected. `dues` must not hold it. */
export function refundWhenCollected(thing: object, dues: Dues): void {
  collected.register(thing, dues);
}

/** A charge for one thing of one kind. */
export interface Charge {
  readonly account: Account;
  readonly budget: Holding;
  amount: number;
}

const dropped = new FinalizationRegistry<Charge>((charge) => charge.account.refund(charge.budget, charge.amount));

/** Gives `charge.amount` back when `thing` has been collected. */
export function chargeUntilCollected(thing: object, charge: Charge): void {
  dropped.register(thing, charge);
}
