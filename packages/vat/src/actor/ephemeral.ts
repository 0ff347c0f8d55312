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
import { type Charge, chargeUntilCollected } from '../core/meter.ts';
import { quieten } from '../core/native-promise.ts';
import { vatPromiseOf } from '../core/promise.ts';
import { functionReference, procedureReference } from '../core/reference.ts';
import { type ActorHome, Runnable } from '../turn/runnable.ts';
import { current, Turn, turnFor } from '../turn/turn.ts';
import { inAnotherVat } from './behaviour.ts';

export type Procedure = (method: string, args: readonly unknown[]) => unknown;

export class Ephemeral extends Runnable {
  readonly home: ActorHome;
  readonly label: string;
  readonly #procedure: Procedure;

  constructor(home: ActorHome, label: string, procedure: Procedure) {
    super();
    this.home = home;
    this.label = label;
    this.#procedure = procedure;
  }

  run(message: Message, args: readonly unknown[]): unknown {
    const frame = Turn.nextFrame();
    (current as Turn).messageFrame = frame;
    return this.near(message.method, args, frame);
  }

  near(method: string, args: readonly unknown[], frame: number = Turn.nextFrame()): unknown {
    const turn = current as Turn;
    if (turn.home !== this.home) throw inAnotherVat(this.label, method);
    const { actor: outer, frame: outerFrame } = turn;
    turn.actor = this;
    turn.frame = frame;
    try {
      const result = this.#procedure(method, args);
      if (!(result instanceof Promise) || vatPromiseOf(result) !== undefined) return result;
      quieten(result);
      throw new CapError('async-behaviour', `${this.label} returned a promise that this vat did not make`);
    } finally {
      turn.actor = outer;
      turn.frame = outerFrame;
    }
  }
}

/**
 * Makes a reference to `procedure`, within a turn. `label` is for people. If `like`, the object that it
 * forwards to, is called without a method name, so is the reference. A meter that limits actors counts it as
 * one until it is garbage collected.
 */
export function ephemeral(label: string, procedure: Procedure, like?: object): object {
  const { home, account } = turnFor('ephemeral');
  const made = new Ephemeral(home as ActorHome, label, procedure);
  if (account.bounds('actors')) {
    account.charge('actors', 1);
    const charge: Charge = { account, budget: 'actors', amount: 1 };
    chargeUntilCollected(made, charge);
  }
  return typeof like === 'function' ? functionReference(made) : procedureReference(made);
}
