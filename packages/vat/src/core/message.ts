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
export interface ResultSink {
  fulfil(value: unknown): void;
  break(error: unknown): void;
  /** Like `fulfil`, with bytes that nobody else holds. The receiver may keep or overwrite their memory. */
  own?(bytes: Uint8Array): void;
  /** Until it is settled, messages to this answer may be sent to `path`. */
  along?(path: Target): void;
}

/** A connection to a peer, which can end. */
export interface Severable {
  /** Fulfils `waits` when it has ended. */
  severed(waits: ResultSink): void;
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
  /** Whether a reference has a method of this name that its class does not list. */
  shows(_method: string): boolean {
    return true;
  }
  /** The reference under which `store` keeps this object. Undefined if the object is not in that store. */
  keptIn(_store: object): object | undefined {
    return undefined;
  }
  /** The error of every call from now on. Undefined as long as a call may succeed. */
  get ended(): CapError | undefined {
    return undefined;
  }
  /** The error of a call that is sent now, if nothing of it would happen. A later one may succeed. */
  get refusal(): CapError | undefined {
    return this.ended;
  }
  /** The connection to the peer that this belongs to; undefined for an object of this process. */
  get severable(): Severable | undefined {
    return undefined;
  }
}

interface MessageParts {
  readonly to: Target;
  /** `''` for a call without a method name. */
  readonly method: string;
  readonly args: readonly unknown[];
  /** True when an argument is, or contains, a promise. Default: false. */
  readonly promises?: boolean;
  readonly answer?: ResultSink | undefined;
  /** Pays for the message. */
  readonly account: Account;
  /** The grants that it is sent under. */
  readonly chain: Chain;
  /** The number of the turn that sends it. Left out by the host program and by peers. */
  readonly cause?: number;
  /** The actor that sends it. */
  readonly from?: Target | undefined;
  /** True for an alarm that an actor has set. Default: false. */
  readonly alarm?: boolean;
}

export class Message {
  /** Changes when a promise that it was sent to resolves. */
  to: Target;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly promises: boolean;
  readonly answer: ResultSink | undefined;
  readonly account: Account;
  readonly chain: Chain;
  readonly cause: number | undefined;
  readonly from: Target | undefined;
  /** Among the messages of its meter, an alarm waits only behind other alarms. */
  readonly alarm: boolean;
  /** The barrier that it waits for before it leaves the store. */
  after: Barrier | undefined = undefined;
  /** The store cell that keeps it until the turn that consumes it is durable. */
  kept: string | undefined = undefined;

  constructor(parts: MessageParts) {
    this.to = parts.to;
    this.method = parts.method;
    this.args = parts.args;
    this.promises = parts.promises ?? false;
    this.answer = parts.answer;
    this.account = parts.account;
    this.chain = parts.chain;
    this.cause = parts.cause;
    this.from = parts.from;
    this.alarm = parts.alarm ?? false;
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
