/**
 * Sends a message to anything that can receive one.
 *
 * Promise: a message sent from a turn leaves when the turn commits, and never if it fails. In a durable vat
 * it is stored with the turn that sent it. An argument that cannot be passed is refused here: in a turn with
 * a throw, outside one with a broken answer.
 */
import { noChain } from '../core/causes.ts';
import { giveLocally, handledPromises, sendForeign } from '../core/foreign.ts';
import { Message, Target, toData } from '../core/message.ts';
import { type Account, hostAccount } from '../core/meter.ts';
import { quieten } from '../core/native-promise.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { type Above, beginningAt, callerOf, inDevelopment, sentFrom } from '../turn/development.ts';
import { current, type Effect, type Turn } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { follow, pass, passArgs } from '../turn/values.ts';

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
  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    const to = lasting(this.#message.to, objectStore);
    if (to === undefined) return;
    const { method, args, chain } = this.#message;
    this.#message.kept = objectStore.messageKey();
    cells.set(this.#message.kept, objectStore.encodeMessage([to, method, args, chain.ids]));
  }
}

/** The reference of the durable actor that receives a message, if it is known yet. */
export function lasting(to: Target, objectStore: ObjectStore): object | undefined {
  const target = to instanceof VatPromise && to.settled === 'fulfilled' ? targetOf(to.value) : to;
  return target?.keptIn(objectStore);
}

/** Charges for a message. Returns the promise of its answer if `wanted`. Throws `limit`. */
function payForMessage(account: Account, wanted: boolean): VatPromise | undefined {
  account.charge('messages', 1);
  try {
    return wanted ? new VatPromise(account) : undefined;
  } catch (error) {
    account.refund('messages', 1);
    throw error;
  }
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
  const vatPromise = payForMessage(account, wanted);
  const message = new Message({
    to: to ?? nowhere,
    method,
    args: passed.args,
    promises: passed.promises,
    answer: vatPromise,
    account,
    chain: turn.chain,
    cause: turn.seq,
    from: turn.actor,
  });
  turn.effects.push(new Send(message));
  return vatPromise === undefined ? undefined : turnPromise(vatPromise);
}

/** Sends from the host program, outside a turn. Returns the promise of the answer if `wanted`. */
export function sendNow(to: Target, method: string, args: unknown[], wanted: boolean): VatPromise | undefined {
  const { account } = to;
  const passed = passArgs(args, account);
  const vatPromise = payForMessage(account, wanted);
  const { promises } = passed;
  to.post(new Message({ to, method, args: passed.args, promises, answer: vatPromise, account, chain: noChain }));
  return vatPromise;
}

/** Receives messages that were sent to data, and breaks them. */
class Nowhere extends Target {
  readonly label = 'data';
  readonly account = hostAccount;
  post(message: Message): void {
    message.fail(toData(message.method));
  }
  near(method: string): never {
    throw toData(method);
  }
}
const nowhere = new Nowhere();

/**
 * Sends a message to `x`. Returns the promise of its answer if `wanted`. `above` is the function of ours that
 * was called by whoever sends.
 */
export function send(
  x: unknown,
  method: string,
  args: unknown[],
  wanted: boolean,
  above: Above,
): Promise<unknown> | undefined {
  if (current !== undefined) return sendLater(current, x, method, args, wanted);
  try {
    const target = targetOf(x);
    if (target !== undefined) return forCaller(sendNow(target, method, args, wanted), above);
    return sendOut({ x, method, args, wanted, above });
  } catch (error) {
    // Without an answer no promise could break.
    if (!wanted) throw error;
    return Promise.reject(inDevelopment ? beginningAt(callerOf(above), error) : error);
  }
}

/** The promise of an answer for the host program, which called `above`, and `ours` functions of Hob above that. */
export function forCaller(answer: VatPromise | undefined, above: Above, ours?: number): Promise<unknown> | undefined {
  if (inDevelopment && answer !== undefined) sentFrom(answer, callerOf(above, ours));
  return answer?.promise();
}

interface FromHost {
  readonly x: unknown;
  readonly method: string;
  readonly args: unknown[];
  readonly wanted: boolean;
  readonly above: Above;
}

/** Sends from the host program to something that is not one of our references. */
function sendOut({ x, method, args, wanted, above }: FromHost): Promise<unknown> | undefined {
  const vatPromise = typeof x === 'object' && x !== null ? vatPromiseOf(x) : undefined;
  if (vatPromise !== undefined) return forCaller(sendNow(vatPromise, method, args, wanted), above);
  const reachable = (typeof x === 'object' && x !== null) || typeof x === 'function';
  if (!reachable) throw toData(method);
  if (x instanceof Promise && handledPromises() === undefined)
    return forCaller(sendNow(follow(x, hostAccount), method, args, wanted), above);
  // Endo's eventual send pipelines to its own promises and keeps their order.
  const passed = passArgs(args, hostAccount);
  const answer = sendForeign(x, method, passed.args.map(giveLocally));
  if (wanted) return answer;
  quieten(answer);
  return undefined;
}
