/**
 * Helpers of forwarders besides passing calls on: to refuse a call but commit the turn, to copy their
 * arguments, and to foresee a refusal.
 */
import { CapError } from '../core/errors.ts';
import { Message } from '../core/message.ts';
import { targetOf } from '../core/reference.ts';
import type { ActorHome } from '../turn/runnable.ts';
import { type Effect, turnFor, undone } from '../turn/turn.ts';
import { keepArgs, pass, passArgs, thrown } from '../turn/values.ts';
import { Actor } from './actor.ts';

/**
 * Breaks the answer of the running turn with `error` although the turn commits, like `bcom.broken`. For a
 * procedure that passes on the decision of another actor. It affects the whole turn, so use it only if the
 * running behaviour was called by message.
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
 * Sends to an actor of the running vat even if the turn is rolled back. Without this, a near caller that
 * throws could make the actor forget that a deadline is over. Use it only for facts that do not depend on the
 * turn, and that do no harm when sent twice.
 */
export function tellAnyway(to: object, method: string, ...data: unknown[]): void {
  const turn = turnFor('tellAnyway');
  const target = targetOf(to);
  if (!(target instanceof Actor) || target.home !== turn.home)
    throw new CapError('invalid', 'tellAnyway takes an actor of the running vat');
  const { account } = turn;
  const passed = passArgs(data, account);
  account.charge('messages', 1);
  turn.effects.push(new Anyway(new Message({ to: target, method, ...passed, account, chain: target.home.chain })));
}

/**
 * A frozen copy of a value from a near call, like a message would carry. Reading it twice gives the same
 * value.
 */
export function frozenCopy<V>(value: V): V {
  return pass(value, turnFor('frozenCopy').account) as V;
}

/**
 * The same for data that a portrait may hold, so without promises. Works in a turn and outside. Throws
 * `invalid`.
 */
export const frozenData = <V>(value: V): V => keepArgs([value]).args[0] as V;

/**
 * Calls an actor of any vat as if that were the running one, and undoes all that this changed: a dry run, to learn
 * whether the call would be refused now. Rethrows the error. Does nothing if only the call itself can tell: for an
 * actor of a halted vat, and of another store, whose state may not be on disk yet.
 */
export function foresee(to: object, call: () => void): void {
  const { home } = turnFor('foresee');
  const target = targetOf(to);
  if (!(target instanceof Actor) || target.home.halted !== undefined) return;
  const readable = target.home.objectStore === undefined || target.home.intake === (home as ActorHome).intake;
  if (readable) undone(target.home, call);
}
