/**
 * Hooks: programs of the person who runs the host see a call, and give a verdict on it.
 *
 * They run outside of turns, so a call that they look at waits, as one waits that a person is asked about.
 */
import type { Effects } from '@hob/vat/forwarder';
import type { CallLevel } from './terms.ts';

/** A call that its grant allows. All of it is data. */
export interface HookedCall {
  readonly session: string;
  readonly grant: string;
  readonly petname: string;
  /** The name of the offer that the grant leads to. */
  readonly offer: string;
  readonly method: string;
  /** References in them are opaque objects. */
  readonly args: readonly unknown[];
  /** The effects that the maker of the offer declares for its methods. */
  readonly effects: Effects | undefined;
  /** The methods that the offer says change nothing. */
  readonly reads: readonly string[];
  /** The highest level at which the grant may go on without a person. */
  readonly level: CallLevel;
  /** The host can take the change of this call back, and show it before. */
  readonly undoes: boolean;
}

/** The decision about a call. It only makes stricter. */
export interface HookVerdict {
  /** The call is refused with this text. */
  readonly blocks?: string;
  /** The call waits for a granter. */
  readonly waits: boolean;
  /** Fields of the line `assess`. Plain data without secrets and without text of the call. */
  readonly trace: Readonly<Record<string, string | number | boolean>>;
  /** Lines for the granter. */
  readonly reasons: readonly (readonly [name: string, text: string])[];
}

/** How a call ended. In `value` each object stands as a record without a method. */
export type HookedOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** The decision about an answer. */
export interface AnswerVerdict {
  /** The caller gets this error in place of the answer. */
  readonly withholds?: string;
  /** Fields of the line `hook`. */
  readonly trace: Readonly<Record<string, string | number | boolean>>;
}

/** Runs the programs. A rejection refuses the call, or withholds the answer. */
export interface HookPowers {
  before(call: HookedCall): HookVerdict;
  after(call: HookedCall, outcome: HookedOutcome): AnswerVerdict;
}
