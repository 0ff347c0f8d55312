/**
 * Messages between turns, and the targets that they can be addressed to.
 *
 * A message is made in one turn, or by the host program, and delivered in a later one. It carries the meter
 * that pays for it and the chain of grants it was sent under. So everything that it causes can be charged,
 * revoked and traced.
 */
import { type Barrier, barrier, behind, later } from './barrier.ts';
import type { Chain } from './causes.ts';
import { CapError } from './errors.ts';
import type { Account } from './meter.ts';

/** The place where the result of a message goes. */
export interface Answer {
  fulfil(value: unknown): void;
  break(error: unknown): void;
  /** Like `fulfil`, with bytes that nobody else holds. The receiver may keep or overwrite their memory. */
  own?(bytes: Uint8Array): void;
  /** Until it is settled, messages to this answer may be sent to `path`. */
  along?(path: Target): void;
}

/** Anything that a message can be addressed to: an actor, a promise, a driver, a foreign object. */
export abstract class Target {
  /** A name for people and records. Never decide anything by it. */
  abstract readonly label: string;
  /** Pays for a message that the host program sends here outside any session. */
  abstract readonly account: Account;
  /** Accepts the message. Delivers it in a later turn, or breaks its answer. */
  abstract post(message: Message): void;
  /** Handles a method called on the reference itself in a turn. Returns at once, or throws `not-callable`. */
  abstract near(method: string, args: readonly unknown[]): unknown;
}

export class Message {
  /** Changes when a promise that it was sent to resolves. */
  to: Target;
  /** `''` for a call without a method name. */
  readonly method: string;
  readonly args: readonly unknown[];
  /** True when an argument is, or contains, a promise. */
  readonly promises: boolean;
  readonly answer: Answer | undefined;
  readonly account: Account;
  /** The grants that this message was sent under. */
  readonly chain: Chain;
  /** The turn and the actor that sent it; undefined for the host program. */
  readonly cause: number | undefined;
  readonly from: Target | undefined;
  /** The barrier that it waits for before it leaves the store. */
  after: Barrier | undefined = undefined;
  /** The store cell that keeps it until the turn that consumes it is durable. */
  kept: string | undefined = undefined;

  constructor(
    to: Target,
    method: string,
    args: readonly unknown[],
    promises: boolean,
    answer: Answer | undefined,
    account: Account,
    chain: Chain,
    cause: number | undefined,
    from: Target | undefined,
  ) {
    this.to = to;
    this.method = method;
    this.args = args;
    this.promises = promises;
    this.answer = answer;
    this.account = account;
    this.chain = chain;
    this.cause = cause;
    this.from = from;
  }

  /** Adds the current barrier: the turn whose effects leave now sent this message or decided its target. */
  learned(): void {
    this.after = later(this.after, barrier());
  }

  /** Adds the barrier of the turn that decided its target. */
  behind(after: Barrier | undefined): void {
    this.after = later(this.after, after);
  }

  /** The message leaves the queue, delivered or not: gives back its charge. */
  taken(): void {
    this.account.refund('messages', 1);
  }

  /** Breaks the answer. The message is not delivered. */
  fail(error: unknown): void {
    this.taken();
    const { answer } = this;
    // The sending turn may not be durable yet, so the error waits for it.
    if (answer !== undefined) behind(later(this.after, barrier()), () => answer.break(error));
  }
}

export const toData = (method: string): CapError =>
  new CapError('not-callable', `"${method.slice(0, 64)}" was sent to data: only a reference can be sent a message`);
