/**
 * Objects of another system that can be sent messages: remotables and presences of Endo.
 *
 * Promise: a message sent from a turn leaves only after that turn commits. A result is checked like any value
 * that enters a turn. The other system needs no wrapper for our references: outside a turn their methods send
 * messages, so the published `E` works on them.
 */
import { when } from './barrier.ts';
import { CapError } from './errors.ts';
import { type Message, Target } from './message.ts';
import { Account } from './meter.ts';
import { quieten } from './native-promise.ts';
import { vatPromiseOf } from './promise.ts';
import { targetOf } from './reference.ts';

interface HandledPromises {
  applyMethod(target: unknown, method: string, args: readonly unknown[]): Promise<unknown>;
  applyFunction(target: unknown, args: readonly unknown[]): Promise<unknown>;
}

/** Endo's eventual send; undefined where its shim is not loaded. */
export const handledPromises = (): HandledPromises | undefined =>
  (globalThis as { HandledPromise?: HandledPromises }).HandledPromise;

/**
 * Sends at once, outside any turn. Without Endo's shim the object is local, and its method runs in a later
 * job.
 */
export function sendForeign(object: unknown, method: string, args: readonly unknown[]): Promise<unknown> {
  const handled = handledPromises();
  if (handled !== undefined)
    return method === '' ? handled.applyFunction(object, args) : handled.applyMethod(object, method, args);
  return Promise.resolve(object).then((settled: unknown) => {
    if (method === '' && typeof settled === 'function') return settled(...args) as unknown;
    const call = settled === null || settled === undefined ? undefined : (settled as Record<string, unknown>)[method];
    if (typeof call !== 'function')
      throw new CapError('no-such-method', `this object has no method "${method.slice(0, 64)}"`);
    return Reflect.apply(call, settled, args) as unknown;
  });
}

/** How values pass between this vat and the other system. */
export interface Seam {
  /** Checks a value that comes from the other system. */
  accept(value: unknown, account: Account): unknown;
  /** Converts a value that goes to the other system. */
  give(value: unknown): unknown;
  /** Converts the error that a promise of the other system rejected with. */
  reason(error: unknown): unknown;
}

/**
 * Conversion for objects of this process: they come home unwrapped, vat promises become native, the rest
 * stays as it is.
 */
export const giveLocally = (value: unknown): unknown => give(value, new Map());

function give(value: unknown, given: Map<object, unknown>): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
  const target = targetOf(value);
  if (target !== undefined) return target instanceof Foreign && target.local ? target.object : value;
  const vatPromise = vatPromiseOf(value);
  if (vatPromise !== undefined) return vatPromise.promise();
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  // A shared part stays shared. Without this the copy can grow to 2 to the power of its depth.
  const known = given.get(value);
  if (known !== undefined) return known;
  const made = Object.freeze(
    Array.isArray(value)
      ? value.map((item) => give(item, given))
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, give(item, given)])),
  );
  given.set(value, made);
  return made;
}

/** Has no limits: the other system has its own budgets. */
const elsewhere = new Account('foreign');

export class Foreign extends Target {
  readonly object: object;
  readonly #seam: Seam;

  constructor(object: object, seam: Seam) {
    super();
    this.object = object;
    this.#seam = seam;
  }

  /**
   * True for an object of this process, which others here may also hold. False for one at the far end of a
   * wire.
   */
  get local(): boolean {
    return this.#seam.give === giveLocally;
  }

  get label(): string {
    return 'foreign';
  }

  get account(): Account {
    return elsewhere;
  }

  near(method: string): never {
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on an object of another system: use E(reference)`,
    );
  }

  post(message: Message): void {
    when(
      message.after,
      () => this.#send(message),
      (why) => message.fail(why),
    );
  }

  #send(message: Message): void {
    message.taken();
    const { answer, account } = message;
    let result: Promise<unknown>;
    try {
      result = sendForeign(
        this.object,
        message.method,
        message.args.map((arg) => this.#seam.give(arg)),
      );
    } catch (error) {
      return void answer?.break(error);
    }
    if (answer === undefined) return quieten(result);
    Promise.prototype.then.call(
      result,
      (value: unknown) => {
        try {
          answer.fulfil(this.#seam.accept(value, account));
        } catch (error) {
          answer.break(error);
        }
      },
      (error: unknown) => answer.break(this.#seam.reason(error)),
    );
  }
}
