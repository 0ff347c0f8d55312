/** Promises that a program makes itself, and who decides them. */
import { behind } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { type Message, Target } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { procedureReference, referenceClass } from '../core/reference.ts';
import type { Far } from '../core/types.ts';
import { current, type Effect } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { pass } from '../turn/values.ts';
import { house } from './send.ts';

/** A promise made in a turn that is undone will not be resolved: nobody has its resolver. */
class Made implements Effect {
  readonly sent = undefined;
  readonly #vow: VatPromise;
  constructor(vow: VatPromise) {
    this.#vow = vow;
  }
  release(): void {}
  drop(error: unknown): void {
    this.#vow.break(error);
  }
}

class Resolve implements Effect {
  readonly sent = 'promise';
  readonly #vow: VatPromise;
  readonly #outcome: { readonly value: unknown } | { readonly error: unknown };
  constructor(vow: VatPromise, outcome: { readonly value: unknown } | { readonly error: unknown }) {
    this.#vow = vow;
    this.#outcome = outcome;
  }
  release(): void {
    if ('value' in this.#outcome) this.#vow.fulfil(this.#outcome.value);
    else this.#vow.break(this.#outcome.error);
  }
  drop(): void {}
}

/** Decides a promise. A reference, so that an actor can keep it in its portrait and send it on. */
export class Resolver extends Target {
  readonly label = 'resolver';
  readonly #vow: VatPromise;

  constructor(vow: VatPromise) {
    super();
    this.#vow = vow;
  }

  get account(): Account {
    return this.#vow.account;
  }

  near(method: string, args: readonly unknown[]): void {
    const effect = new Resolve(this.#vow, this.#outcome(method, args[0]));
    if (current === undefined) effect.release();
    else current.effects.push(effect);
  }

  post(message: Message): void {
    behind(message.after, () => this.#resolve(message));
  }

  #resolve(message: Message): void {
    message.taken();
    try {
      new Resolve(this.#vow, this.#outcome(message.method, message.args[0])).release();
      message.answer?.fulfil(undefined);
    } catch (error) {
      message.answer?.break(error);
    }
  }

  #outcome(method: string, value: unknown): { readonly value: unknown } | { readonly error: unknown } {
    const passed = pass(value, this.#vow.account);
    if (method === 'resolve') return { value: passed };
    if (method === 'break') return { error: passed };
    throw new CapError('no-such-method', 'a resolver has resolve(value) and break(error)');
  }
}

const ResolverReference = referenceClass(['resolve', 'break'], 'resolver');

/**
 * A promise and who decides it. In a turn or outside; a resolution made in a turn takes effect when it commits. Resolving a
 * second time is ignored; resolving it to itself breaks it with `cycle`.
 */
export function promise<T>(): {
  readonly promise: Promise<T>;
  readonly resolver: { resolve(value: T | PromiseLike<T>): void; break(error: Error): void };
} {
  const vow = new VatPromise(current?.account ?? house);
  current?.effects.push(new Made(vow));
  return Object.freeze({
    promise: (current === undefined ? vow.promise() : turnPromise(vow)) as Promise<T>,
    resolver: new ResolverReference(new Resolver(vow)) as {
      resolve(value: T | PromiseLike<T>): void;
      break(error: Error): void;
    },
  });
}

/**
 * A reference for what `promise` will be: for a program that has to hand on now what is made in a later turn. Messages to it
 * wait, in order; if the promise breaks, so do they.
 */
export function farOf<T>(promise: Promise<Far<T>>): Far<T> {
  const vow = vatPromiseOf(promise);
  if (vow === undefined) throw new CapError('invalid', 'farOf takes a promise that a vat gave');
  vow.watchedInside();
  return procedureReference(vow) as Far<T>;
}
