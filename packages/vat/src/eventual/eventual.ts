/**
 * `E`: messages that are delivered in a later turn, to whatever can take one.
 *
 * Promise: messages from one vat to another under one meter arrive in the order in which they were sent, also through
 * promises that resolve in between. Sent from a turn they leave when it commits, and never if it fails. What cannot be
 * carried is refused when it is sent: in a turn `E` throws, outside one the answer breaks.
 */
import { dispatchNear } from '../actor/actor.ts';
import { noChain } from '../core/causes.ts';
import { isMethodName } from '../core/reference.ts';
import type { Eventual } from '../core/types.ts';
import { Resolver } from './resolver.ts';
import { send, sendNow } from './send.ts';
import { to, when } from './wait.ts';

class SentTo implements ProxyHandler<() => void> {
  readonly #x: unknown;
  readonly #wanted: boolean;
  constructor(x: unknown, wanted: boolean) {
    this.#x = x;
    this.#wanted = wanted;
  }
  get(_target: unknown, method: string | symbol): unknown {
    if (typeof method !== 'string' || !isMethodName(method)) return undefined;
    return (...args: unknown[]): unknown => send(this.#x, method, args, this.#wanted);
  }
  apply(_target: unknown, _self: unknown, args: unknown[]): unknown {
    return send(this.#x, '', args, this.#wanted);
  }
  set(): boolean {
    return false;
  }
  has(): boolean {
    return false;
  }
  ownKeys(): string[] {
    return [];
  }
  getOwnPropertyDescriptor(): undefined {
    return undefined;
  }
  getPrototypeOf(): null {
    return null;
  }
}

// Never called itself; an arrow has no `prototype` that a Proxy would have to show.
const callable = Object.setPrototypeOf(() => {}, null) as () => void;
// A Proxy would have to show these as they are, and methods may have these names.
Reflect.deleteProperty(callable, 'length');
Reflect.deleteProperty(callable, 'name');
Object.freeze(callable);

const eventual = (x: unknown): unknown => new Proxy(callable, new SentTo(x, true));
export const E: Eventual = Object.freeze(
  Object.assign(eventual, {
    sendOnly: (x: unknown): unknown => new Proxy(callable, new SentTo(x, false)),
    when,
    to,
  }),
) as unknown as Eventual;

// A method called on a reference outside a turn sends a message, so that other systems' eventual sends work on ours.
dispatchNear((target, method, args) => {
  if (target instanceof Resolver) return target.near(method, args);
  try {
    return sendNow(target, method, args, target.account, noChain, true)?.promise();
  } catch (error) {
    return Promise.reject(error);
  }
});
