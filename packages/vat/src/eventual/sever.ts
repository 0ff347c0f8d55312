/** `onSever`: an actor learns that the connection to a peer has ended. After `on-sever` of Spritely Goblins. */
import { CapError } from '../core/errors.ts';
import type { ResultSink } from '../core/message.ts';
import { hostAccount } from '../core/meter.ts';
import { type Severable, severableOf } from '../core/outside.ts';
import { VatPromise } from '../core/promise.ts';
import { isReference } from '../core/reference.ts';
import { current, type Effect } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';

/** How a connection ended. `message` is for people. */
export interface Severed {
  readonly code: string;
  readonly message: string;
}

/** Asks the connection when the turn commits. A turn that fails has asked nothing. */
class Ask implements Effect {
  readonly sent = undefined;
  readonly #connection: Severable;
  readonly #waits: VatPromise;

  constructor(connection: Severable, waits: VatPromise) {
    this.#connection = connection;
    this.#waits = waits;
  }

  release(): void {
    this.#connection.severed(this.#waits as ResultSink);
  }

  drop(error: unknown): void {
    this.#waits.break(error);
  }
}

/**
 * Returns a promise that is fulfilled when the connection to the peer that `reference` belongs to has ended, also if
 * it has already. Wait for it in a turn with `E.when`, or, in a durable actor, with
 * `E.to(bcom.self, 'left', …data).on(onSever(reference))`: after a restart the outcome is `restarted`.
 *
 * It also takes a forwarder of such a reference that this process has made. Errors: `invalid` (an object of this
 * process, for which no connection can end), `limit`.
 */
export function onSever(reference: object): Promise<Severed> {
  if (!isReference(reference))
    throw new CapError('invalid', 'onSever takes a reference: wait for a promise with E.when');
  const connection = severableOf(reference);
  if (connection === undefined)
    throw new CapError('invalid', 'this object is of this process: onSever takes an object of a peer');
  const turn = current;
  const waits = new VatPromise(turn?.account ?? hostAccount);
  const ask = new Ask(connection, waits);
  if (turn === undefined) {
    ask.release();
    return waits.promise() as Promise<Severed>;
  }
  turn.effects.push(ask);
  return turnPromise(waits) as Promise<Severed>;
}
