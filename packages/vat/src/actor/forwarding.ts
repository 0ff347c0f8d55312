/** What forwarders need of a turn besides passing on: refusing and yet remembering, and knowing what they were given. */
import { CapError } from '../core/errors.ts';
import { Message } from '../core/message.ts';
import { targetOf } from '../core/reference.ts';
import { type Effect, turnFor } from '../turn/turn.ts';
import { keepArgs, pass, passArgs, thrown } from '../turn/values.ts';
import { Actor } from './actor.ts';

/**
 * The running turn commits, and all the same its answer breaks with `error`, as by `bcom.broken`. For a procedure that passes
 * on what another actor decided; only where the running behaviour was reached by message, for it speaks for the whole turn.
 */
export function breakAnswer(error: Error): void {
  turnFor('breakAnswer').breaks = { error: thrown(error) };
}

class Anyway implements Effect {
  readonly #message: Message;
  constructor(message: Message) {
    this.#message = message;
  }
  get sent(): string {
    return this.#message.to.label;
  }
  release(): void {
    this.#message.to.post(this.#message);
  }
  drop(): void {
    this.release();
  }
}

/**
 * Sends to an actor of the running vat, also if the turn is undone: who calls near and then throws must not be able to make it
 * forget what time has decided. For what is true whoever says it, and harmless if it is said once more.
 */
export function tellAnyway(to: object, method: string, ...data: unknown[]): void {
  const turn = turnFor('tellAnyway');
  const target = targetOf(to);
  if (!(target instanceof Actor) || target.home !== turn.home)
    throw new CapError('invalid', 'tellAnyway takes an actor of the running vat');
  const { args, promises } = passArgs(data, turn.account);
  turn.account.charge('messages', 1);
  turn.effects.push(
    new Anyway(
      new Message(target, method, args, promises, undefined, turn.account, target.home.chain, undefined, undefined),
    ),
  );
}

/** A frozen copy of what came by a near call, as a message would have carried it: reading it twice says the same twice. */
export function frozenCopy<V>(value: V): V {
  return pass(value, turnFor('frozenCopy').account) as V;
}

/** The same of what a portrait may hold, so without promises; in a turn or outside. Errors: `invalid`. */
export const frozenData = <V>(value: V): V => keepArgs([value]).args[0] as V;
