/** Waiting for promises: a turn asks for something to happen once a promise settles. */
import { Actor } from '../actor/actor.ts';
import { barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { Message } from '../core/message.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { Outcome } from '../core/types.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { type Household, Thunk } from '../turn/runnable.ts';
import { current, type Effect, type Turn, turnFor } from '../turn/turn.ts';
import { turnPromise } from '../turn/turn-promise.ts';
import { follow, fulfilment, pass, passArgs } from '../turn/values.ts';
import { lasting } from './send.ts';

/** Sends a message once a promise settles. */
class Wait implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #awaited: unknown;
  readonly #answer: VatPromise | undefined;
  readonly #deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message;
  /** For a durable wait: `[self, method, data]`, and the cell that holds it. */
  readonly #lasting: readonly unknown[] | undefined;
  #kept: string | undefined;

  constructor(
    turn: Turn,
    awaited: unknown,
    answer: VatPromise | undefined,
    deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message,
    waits?: readonly unknown[],
  ) {
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
        () => settle({ value: fulfilment(vatPromise) }),
        (error) => settle({ error }),
      );
  }

  drop(error: unknown): void {
    this.#turn.account.refund('messages', 1);
    this.#answer?.break(error);
  }

  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    const [self] = this.#lasting ?? [];
    const target = targetOf(self);
    if (target === undefined || lasting(target, keeper) === undefined) return;
    this.#kept = keeper.waitKey();
    cells.set(this.#kept, keeper.encodeMessage(this.#lasting));
  }
}

/** `E.when`. The handlers run in turns of their own and end with the process. */
export function when(x: unknown, ok: (value: never) => unknown, broken?: (error: Error) => unknown): Promise<unknown> {
  const turn = current;
  if (turn === undefined) return Promise.resolve(x).then(ok as (value: unknown) => unknown, broken);
  const { account, chain, seq, actor, home } = turn;
  const awaited = pass(x, account);
  const answer = new VatPromise(account);
  const make = (label: string, body: (value: never) => unknown, value: unknown): Message =>
    new Message(
      new Thunk(home as Household, label, body as (...args: readonly unknown[]) => unknown),
      '',
      [value],
      false,
      answer,
      account,
      chain,
      seq,
      actor,
    );
  const deliver = (settled: { readonly value: unknown } | { readonly error: unknown }): Message => {
    if ('value' in settled) return make('when', ok, settled.value);
    const rethrow = (error: unknown): never => {
      throw error;
    };
    return make('when broken', (broken ?? rethrow) as (value: never) => unknown, settled.error);
  };
  try {
    turn.effects.push(new Wait(turn, awaited, answer, deliver));
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
  const code = error instanceof CapError ? error.code : 'error';
  const message = error instanceof Error ? String(error.message) : 'it was broken without a reason';
  return Object.freeze({ ok: false, code, message });
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
            new Message(
              target,
              method,
              [outcome(settled), ...passed.args],
              passed.promises,
              undefined,
              account,
              chain,
              seq,
              actor,
            ),
          target instanceof Actor ? [self, method, passed.args, chain.ids] : undefined,
        ),
      );
    },
  });
}
