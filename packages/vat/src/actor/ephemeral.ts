/**
 * A reference to a procedure in the running vat that is never stored. For things that end with the process
 * anyway.
 *
 * Promise: it is called like an actor, near in its vat and by message from elsewhere, where each message is a
 * turn of its own. It has no state, so nothing needs to be rolled back. No portrait of a durable vat can hold
 * it. Forwarders use it to wrap streams, callbacks and promises; a durable target is wrapped with an actor.
 */
import { CapError } from '../core/errors.ts';
import type { Message } from '../core/message.ts';
import { type Account, type Charge, chargeUntilCollected } from '../core/meter.ts';
import { quieten, vatPromiseOf } from '../core/promise.ts';
import { procedureReference } from '../core/reference.ts';
import { type Household, Runnable } from '../turn/runnable.ts';
import { current, Turn, turnFor } from '../turn/turn.ts';

export type Procedure = (method: string, args: readonly unknown[]) => unknown;

export class Ephemeral extends Runnable {
  readonly home: Household;
  readonly label: string;
  readonly #procedure: Procedure;

  constructor(home: Household, label: string, procedure: Procedure) {
    super();
    this.home = home;
    this.label = label;
    this.#procedure = procedure;
  }

  get account(): Account {
    return this.home.account;
  }

  post(message: Message): void {
    this.home.intake.post(this, message);
  }

  near(method: string, args: readonly unknown[]): unknown {
    const turn = current as Turn;
    if (turn.home !== this.home)
      throw new CapError('not-callable', `${this.label} is in another vat: use E(reference).${method.slice(0, 64)}(…)`);
    return this.#call(turn, method, args);
  }

  run(message: Message, args: readonly unknown[]): unknown {
    const turn = current as Turn;
    turn.messageFrame = Turn.nextFrame();
    return this.#call(turn, message.method, args, turn.messageFrame);
  }

  #call(turn: Turn, method: string, args: readonly unknown[], frame: number = Turn.nextFrame()): unknown {
    const { actor: outer, frame: outerFrame } = turn;
    turn.actor = this;
    turn.frame = frame;
    try {
      const result = this.#procedure(method, args);
      if (!(result instanceof Promise) || vatPromiseOf(result) !== undefined) return result;
      quieten(result);
      throw new CapError('async-behaviour', `${this.label} answered with a promise that the vat did not mint`);
    } finally {
      turn.actor = outer;
      turn.frame = outerFrame;
    }
  }
}

/**
 * Makes a reference to `procedure`, within a turn. `label` is for people. A meter that limits actors counts
 * it as one until it is garbage collected.
 */
export function ephemeral(label: string, procedure: Procedure): object {
  const { home, account } = turnFor('ephemeral');
  const made = new Ephemeral(home as Household, label, procedure);
  if (account.bounds('actors')) {
    account.charge('actors', 1);
    const charge: Charge = { account, budget: 'actors', amount: 1 };
    chargeUntilCollected(made, charge);
  }
  return procedureReference(made);
}
