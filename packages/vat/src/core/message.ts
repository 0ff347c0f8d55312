/**
 * What travels between turns, and what it can be addressed to.
 *
 * A message is made in one turn (or by the host program) and delivered in a later one. It carries the meter that pays
 * for it and the chain of grants it was sent under, so that whatever it causes can be charged, cut off and traced.
 */
import { type Barrier, barrier, behind, later } from './barrier.ts';
import type { Chain } from './causes.ts';
import { CapError } from './errors.ts';
import type { Account } from './meter.ts';

/** Where a result goes. */
export interface Answer {
  fulfil(value: unknown): void;
  break(error: unknown): void;
  /** The same with bytes that nobody else has: whoever is answered so may do with their memory what he likes. */
  own?(bytes: Uint8Array): void;
  /** While it is not there, messages to it may go on along `path`. */
  along?(path: Target): void;
}

/** Anything that a message can be addressed to: an actor, a promise, a driver, a foreign object. */
export abstract class Target {
  /** For people and records, never for deciding. */
  abstract readonly label: string;
  /** Pays for messages that the host program sends here, where no session does. */
  abstract readonly account: Account;
  /** Takes the message; delivers it in a later turn or breaks its answer. */
  abstract post(message: Message): void;
  /** A method of the reference itself was called in a turn: answers at once, or throws `not-callable`. */
  abstract near(method: string, args: readonly unknown[]): unknown;
}

export class Message {
  /** Changes when a promise on the way resolves. */
  to: Target;
  /** `''` for a call without a method name. */
  readonly method: string;
  readonly args: readonly unknown[];
  /** Some argument is, or contains, a promise. */
  readonly promises: boolean;
  readonly answer: Answer | undefined;
  readonly account: Account;
  /** The grants that this was sent under. */
  readonly chain: Chain;
  /** The turn and the actor that sent it; undefined for the host program. */
  readonly cause: number | undefined;
  readonly from: Target | undefined;
  /** What it has to wait for before it leaves the store. */
  after: Barrier | undefined = undefined;
  /** The cell that holds it until the turn that consumes it is durable. */
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

  /** It was sent, or learned where it goes, in the turn whose effects are leaving now. */
  learned(): void {
    this.after = later(this.after, barrier());
  }

  /** Where it goes was decided in a turn that is not durable before `after` is. */
  behind(after: Barrier | undefined): void {
    this.after = later(this.after, after);
  }

  /** It leaves the queue, whatever becomes of it. */
  taken(): void {
    this.account.refund('messages', 1);
  }

  /** It will not be delivered. */
  fail(error: unknown): void {
    this.taken();
    const { answer } = this;
    // That it was sent at all is known only by its turn.
    if (answer !== undefined) behind(later(this.after, barrier()), () => answer.break(error));
  }
}

export const toData = (method: string): CapError =>
  new CapError('not-callable', `"${method.slice(0, 64)}" was sent to data: only a reference can be sent a message`);
