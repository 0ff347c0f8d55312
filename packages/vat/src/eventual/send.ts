/**
 * Sends a message to anything that can receive one.
 *
 * Promise: a message sent from a turn leaves when the turn commits, and never if it fails. In a durable vat
 * it is stored with the turn that sent it. An argument that cannot be passed is refused here: in a turn with
 * a throw, outside one with a broken answer.
 */
import { Actor } from '../actor/actor.ts';
import { type Chain, noChain } from '../core/causes.ts';
import { giveLocally, handledPromises, sendForeign } from '../core/foreign.ts';
import { Message, type Target, toData } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { quieten, VatPromise, vatPromiseOf } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { Runnable } from '../turn/runnable.ts';
import { current, type Effect, type Turn } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { follow, pass, passArgs } from '../turn/values.ts';

/** Pays when there is no other account: for a host program that sends to its own promises. */
export const house: Account = new Account('host');

function addressee(x: unknown, account: Account): Target | undefined {
  const target = targetOf(x);
  if (target !== undefined) return target;
  if (typeof x !== 'object' && typeof x !== 'function') return undefined;
  if (x === null) return undefined;
  const vatPromise = vatPromiseOf(x);
  if (vatPromise !== undefined) return vatPromise;
  if (x instanceof Promise) return follow(x, account);
  return targetOf(pass(x, account));
}

class Send implements Effect {
  readonly #message: Message;
  constructor(message: Message) {
    this.#message = message;
  }
  get sent(): string {
    return this.#message.to.label;
  }
  release(): void {
    this.#message.learned();
    this.#message.to.post(this.#message);
  }
  drop(error: unknown): void {
    this.#message.fail(error);
  }
  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    const to = lasting(this.#message.to, keeper);
    if (to === undefined) return;
    const { method, args, chain } = this.#message;
    this.#message.kept = keeper.messageKey();
    cells.set(this.#message.kept, keeper.encodeMessage([to, method, args, chain.ids]));
  }
}

/** The reference of the durable actor that receives a message, if it is known yet. */
export function lasting(to: Target, keeper: ObjectStore): object | undefined {
  // An actor of another store is not stored in this one.
  if (to instanceof Actor) return to.home.keeper === keeper ? to.reference : undefined;
  const target = to instanceof VatPromise && to.settled === 'fulfilled' ? targetOf(to.value) : undefined;
  return target instanceof Actor ? lasting(target, keeper) : undefined;
}

/** Sends from within a turn. */
function sendLater(
  turn: Turn,
  x: unknown,
  method: string,
  args: unknown[],
  wanted: boolean,
): Promise<unknown> | undefined {
  const { account } = turn;
  const passed = passArgs(args, account);
  const to = addressee(x, account);
  account.charge('messages', 1);
  let vatPromise: VatPromise | undefined;
  try {
    vatPromise = wanted ? new VatPromise(account) : undefined;
  } catch (error) {
    account.refund('messages', 1);
    throw error;
  }
  const message = new Message(
    to ?? nowhere,
    method,
    passed.args,
    passed.promises,
    vatPromise,
    account,
    turn.chain,
    turn.seq,
    turn.actor,
  );
  turn.effects.push(new Send(message));
  return vatPromise === undefined ? undefined : turnPromise(vatPromise);
}

/** Sends outside a turn: for the host program, or for the session of a connection. */
export function sendNow(
  to: Target,
  method: string,
  args: unknown[],
  account: Account,
  chain: Chain,
  wanted: boolean,
): VatPromise | undefined {
  const passed = passArgs(args, account);
  account.charge('messages', 1);
  let vatPromise: VatPromise | undefined;
  try {
    vatPromise = wanted ? new VatPromise(account) : undefined;
  } catch (error) {
    account.refund('messages', 1);
    throw error;
  }
  to.post(new Message(to, method, passed.args, passed.promises, vatPromise, account, chain, undefined, undefined));
  return vatPromise;
}

/** Receives messages that were sent to data, and breaks them. */
class Nowhere extends Runnable {
  readonly label = 'data';
  readonly account = house;
  get home(): never {
    throw new Error('nobody lives here');
  }
  post(message: Message): void {
    message.fail(toData(message.method));
  }
  near(method: string): never {
    throw toData(method);
  }
  run(): never {
    throw new Error('nobody lives here');
  }
}
const nowhere = new Nowhere();

/** Sends a message to `x`. Returns the promise of its answer if `wanted`. */
export function send(x: unknown, method: string, args: unknown[], wanted: boolean): Promise<unknown> | undefined {
  if (current !== undefined) return sendLater(current, x, method, args, wanted);
  try {
    const target = targetOf(x);
    if (target !== undefined) return sendNow(target, method, args, target.account, noChain, wanted)?.promise();
    return sendOut(x, method, args, wanted);
  } catch (error) {
    // Without an answer no promise could break.
    if (!wanted) throw error;
    return Promise.reject(error);
  }
}

/** Sends from the host program to something that is not one of our references. */
function sendOut(x: unknown, method: string, args: unknown[], wanted: boolean): Promise<unknown> | undefined {
  const vatPromise = typeof x === 'object' && x !== null ? vatPromiseOf(x) : undefined;
  if (vatPromise !== undefined)
    return sendNow(vatPromise, method, args, vatPromise.account, noChain, wanted)?.promise();
  const reachable = (typeof x === 'object' && x !== null) || typeof x === 'function';
  if (!reachable) throw toData(method);
  if (x instanceof Promise && handledPromises() === undefined) {
    const followed = follow(x, house);
    return sendNow(followed, method, args, house, noChain, wanted)?.promise();
  }
  // Endo's eventual send pipelines to its own promises and keeps their order.
  const passed = passArgs(args, house);
  const answer = sendForeign(x, method, passed.args.map(giveLocally));
  if (wanted) return answer;
  quieten(answer);
  return undefined;
}
