/**
 * `E`: sends messages that are delivered in a later turn, to anything that can receive one.
 *
 * Promise: messages from one vat to another under one meter arrive in the order they were sent, also through
 * promises that resolve in between. Messages from a turn leave when it commits, and never if it fails. An
 * argument that cannot be passed is refused at once: in a turn `E` throws, outside one the answer breaks.
 */
import type { Target } from '../core/message.ts';
import { dispatchBy, isMethodName } from '../core/reference.ts';
import type { Eventual } from '../core/types.ts';
import { inTurn } from '../turn/turn.ts';
import { Resolver } from './resolver.ts';
import { forCaller, send, sendNow } from './send.ts';
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
    const call = (...args: unknown[]): unknown => send(this.#x, method, args, this.#wanted, call);
    return call;
  }
  apply(_target: unknown, _self: unknown, args: unknown[]): unknown {
    return send(this.#x, '', args, this.#wanted, this.apply);
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

// Never called. An arrow function has no `prototype` that the Proxy would have to report.
const callable = Object.setPrototypeOf(() => {}, null) as () => void;
// A Proxy must report non-configurable properties of its target, and methods may have these names.
Reflect.deleteProperty(callable, 'length');
Reflect.deleteProperty(callable, 'name');
Object.freeze(callable);

const eventual = (x: unknown): unknown => new Proxy(callable, new SentTo(x, true));

/**
 * The eventual send. `E(x).method(…)` returns a promise for the result, and works on promises and on
 * references of peers alike. In a turn it throws `invalid` for an argument that cannot be passed; outside a
 * turn the promise breaks. The name and the idea are from the E language (Miller, Robust Composition, 2006).
 */
export const E: Eventual = Object.freeze(
  Object.assign(eventual, {
    sendOnly: (x: unknown): unknown => new Proxy(callable, new SentTo(x, false)),
    when,
    to,
  }),
) as unknown as Eventual;

// Outside a turn, a method called on a reference sends a message. So the eventual send of other systems works
// on ours.
const sendFromOutside = (target: Target, method: string, args: unknown[]): unknown => {
  if (target instanceof Resolver) return target.near(method, args);
  try {
    // Above it is the method of the reference.
    return forCaller(sendNow(target, method, args, true), sendFromOutside, 1);
  } catch (error) {
    return Promise.reject(error);
  }
};
dispatchBy({ inTurn, outside: sendFromOutside });
