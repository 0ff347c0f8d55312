/** Promises that a program makes itself, and their resolvers. */
import { behind } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { type Message, Target } from '../core/message.ts';
import { type Account, hostAccount } from '../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { procedureReference, referenceClass } from '../core/reference.ts';
import type { Far } from '../core/types.ts';
import { current, type Effect } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { pass } from '../turn/values.ts';

/** Breaks a promise whose turn is rolled back: nobody holds its resolver. */
class Made implements Effect {
  readonly sent = undefined;
  readonly #vatPromise: VatPromise;
  constructor(vatPromise: VatPromise) {
    this.#vatPromise = vatPromise;
  }
  release(): void {}
  drop(error: unknown): void {
    this.#vatPromise.break(error);
  }
}

class Resolve implements Effect {
  readonly sent = 'promise';
  readonly #vatPromise: VatPromise;
  readonly #outcome: { readonly value: unknown } | { readonly error: unknown };
  constructor(vatPromise: VatPromise, outcome: { readonly value: unknown } | { readonly error: unknown }) {
    this.#vatPromise = vatPromise;
    this.#outcome = outcome;
  }
  release(): void {
    if ('value' in this.#outcome) this.#vatPromise.fulfil(this.#outcome.value);
    else this.#vatPromise.break(this.#outcome.error);
  }
  drop(): void {}
}

/** Settles a promise. It has a reference, so an actor can keep it in a portrait and pass it on. */
export class Resolver extends Target {
  readonly label = 'resolver';
  readonly #vatPromise: VatPromise;

  constructor(vatPromise: VatPromise) {
    super();
    this.#vatPromise = vatPromise;
  }

  get account(): Account {
    return this.#vatPromise.account;
  }

  near(method: string, args: readonly unknown[]): void {
    const effect = new Resolve(this.#vatPromise, this.#outcome(method, args[0]));
    if (current === undefined) effect.release();
    else current.effects.push(effect);
  }

  post(message: Message): void {
    behind(message.after, () => this.#resolve(message));
  }

  #resolve(message: Message): void {
    message.taken();
    try {
      new Resolve(this.#vatPromise, this.#outcome(message.method, message.args[0])).release();
      message.answer?.fulfil(undefined);
    } catch (error) {
      message.answer?.break(error);
    }
  }

  #outcome(method: string, value: unknown): { readonly value: unknown } | { readonly error: unknown } {
    const passed = pass(value, this.#vatPromise.account);
    if (method === 'resolve') return { value: passed };
    if (method === 'break') return { error: passed };
    throw new CapError('no-such-method', 'a resolver has resolve(value) and break(error)');
  }
}

const ResolverReference = referenceClass(['resolve', 'break'], 'resolver');

/**
 * Makes a promise and its resolver, in a turn or outside. A resolution made in a turn takes effect when the
 * turn commits. Later resolutions are ignored. Resolving a promise to itself breaks it with `cycle`.
 */
export function promise<T>(): {
  readonly promise: Promise<T>;
  readonly resolver: { resolve(value: T | PromiseLike<T>): void; break(error: Error): void };
} {
  const vatPromise = new VatPromise(current?.account ?? hostAccount);
  current?.effects.push(new Made(vatPromise));
  return Object.freeze({
    promise: (current === undefined ? vatPromise.promise() : turnPromise(vatPromise)) as Promise<T>,
    resolver: new ResolverReference(new Resolver(vatPromise)) as {
      resolve(value: T | PromiseLike<T>): void;
      break(error: Error): void;
    },
  });
}

/**
 * A reference to the future result of `promise`, for a program that must hand out now what a later turn
 * makes. Messages to it wait, in order. If the promise breaks, they break too.
 */
export function farOf<T>(promise: Promise<Far<T>>): Far<T> {
  const vatPromise = vatPromiseOf(promise);
  if (vatPromise === undefined) throw new CapError('invalid', 'farOf takes a promise that a vat returned');
  vatPromise.watchedInside();
  return procedureReference(vatPromise) as Far<T>;
}
