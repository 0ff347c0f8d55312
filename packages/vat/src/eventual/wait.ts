/** Waiting for promises: a turn asks for something to happen once a promise settles. */
import { barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { Message } from '../core/message.ts';
import { quieten } from '../core/native-promise.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { Outcome } from '../core/types.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { fulfilment } from '../turn/resolved.ts';
import { type ActorHome, Thunk } from '../turn/runnable.ts';
import { current, type Effect, type Turn, turnFor } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { follow, pass, passArgs } from '../turn/values.ts';
import { lasting } from './send.ts';

/** Reads the value of a fulfilled promise for the handler. */
type Reading = (promise: VatPromise) => unknown;

/** Sends a message once a promise settles. */
class Wait implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #awaited: unknown;
  readonly #answer: VatPromise | undefined;
  readonly #deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message;
  /** For a durable wait: `[self, method, data]`, and the cell that holds it. */
  readonly #lasting: readonly unknown[] | undefined;
  readonly #read: Reading;
  #kept: string | undefined;

  constructor(
    turn: Turn,
    awaited: unknown,
    answer: VatPromise | undefined,
    deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message,
    read: Reading,
    waits?: readonly unknown[],
  ) {
    this.#read = read;
    this.#lasting = waits;
    this.#turn = turn;
    this.#awaited = awaited;
    this.#answer = answer;
    this.#deliver = deliver;
    // Charged now: when the promise settles, nobody is left to receive an error.
    turn.account.charge('messages', 1);
  }

  release(): void {
    const asked = barrier();
    const settle = (settled: { readonly value: unknown } | { readonly error: unknown }): void => {
      // The turn that asked was rolled back by a failed commit, so it never asked.
      if (asked?.lost !== undefined) return this.drop(asked.lost);
      const message = this.#deliver(settled);
      // The cell stays until that turn is durable: a restart before that still owes the actor an outcome.
      message.kept = this.#kept;
      message.learned();
      message.to.post(message);
    };
    const { account } = this.#turn;
    const vatPromise =
      this.#awaited instanceof Promise ? (vatPromiseOf(this.#awaited) ?? follow(this.#awaited, account)) : undefined;
    if (vatPromise === undefined) settle({ value: this.#awaited });
    else
      vatPromise.watch(
        () => settle({ value: this.#read(vatPromise) }),
        (error) => settle({ error }),
      );
  }

  drop(error: unknown): void {
    this.#turn.account.refund('messages', 1);
    this.#answer?.break(error);
  }

  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    const [self] = this.#lasting ?? [];
    const target = targetOf(self);
    if (target === undefined || lasting(target, objectStore) === undefined) return;
    this.#kept = objectStore.waitKey();
    cells.set(this.#kept, objectStore.encodeMessage(this.#lasting));
  }
}

const same = (value: unknown): unknown => value;
const rethrow = (error: unknown): never => {
  throw error;
};

/**
 * `E.when`. The handlers run in turns of their own and end with the process. Without a handler the value, or
 * the break, passes through. A caller may ignore the promise that this returns.
 */
export function when(
  x: unknown,
  ok: ((value: never) => unknown) | undefined,
  broken?: (error: Error) => unknown,
): Promise<unknown> {
  const turn = current;
  if (turn !== undefined) return whenRead(turn, x, fulfilment, ok, broken);
  const settled = Promise.resolve(x).then(ok as (value: unknown) => unknown, broken);
  quieten(settled);
  return settled;
}

/** Does the same within a turn. Only for code of this package: `read` gets the promise itself, and could settle it. */
export function whenRead(
  turn: Turn,
  x: unknown,
  read: Reading,
  ok: ((value: never) => unknown) | undefined,
  broken: ((error: Error) => unknown) | undefined,
): Promise<unknown> {
  const { account, chain, seq, actor, home } = turn;
  const awaited = pass(x, account);
  const answer = new VatPromise(account);
  const make = (label: string, body: (value: never) => unknown, value: unknown): Message =>
    new Message({
      to: new Thunk(home as ActorHome, label, body as (...args: readonly unknown[]) => unknown),
      method: '',
      args: [value],
      answer,
      account,
      chain,
      cause: seq,
      from: actor,
    });
  const deliver = (settled: { readonly value: unknown } | { readonly error: unknown }): Message => {
    if ('value' in settled) return make('when', ok ?? same, settled.value);
    return make('when broken', (broken ?? rethrow) as (value: never) => unknown, settled.error);
  };
  try {
    turn.effects.push(new Wait(turn, awaited, answer, deliver, read));
  } catch (error) {
    answer.break(error);
    throw error;
  }
  return turnPromise(answer);
}

/** The result of a settled promise as data. */
function outcome(settled: { readonly value: unknown } | { readonly error: unknown }): Outcome {
  if ('value' in settled) return Object.freeze({ ok: true, value: settled.value });
  const { error } = settled;
  if (error instanceof Error) {
    const code = error instanceof CapError ? error.code : 'error';
    return Object.freeze({ ok: false, code, message: String(error.message) });
  }
  if (error === undefined)
    return Object.freeze({ ok: false, code: 'error', message: 'it was broken without a reason' });
  return Object.freeze({ ok: false, code: 'error', message: 'it was broken with data: see `reason`', reason: error });
}

/** `E.to`. The outcome is sent to an actor, and the wait lasts as long as the actor. */
export function to(self: object, method: string, ...data: unknown[]): { on(promise: PromiseLike<unknown>): void } {
  const turn = turnFor('E.to');
  const target = targetOf(self);
  if (target === undefined) throw new CapError('invalid', 'E.to takes the actor that waits: bcom.self');
  const { account, chain, seq, actor } = turn;
  const passed = passArgs(data, account);
  return Object.freeze({
    on(promise: PromiseLike<unknown>): void {
      const awaited = pass(promise, account);
      turnFor('E.to').effects.push(
        new Wait(
          turn,
          awaited,
          undefined,
          (settled) =>
            new Message({
              to: target,
              method,
              args: [outcome(settled), ...passed.args],
              promises: passed.promises,
              account,
              chain,
              cause: seq,
              from: actor,
            }),
          fulfilment,
          target instanceof VatPromise ? undefined : [self, method, passed.args, chain.ids],
        ),
      );
    },
  });
}
