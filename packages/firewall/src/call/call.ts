/** What an assessment looks at. */
import type { Effect } from '@hob/vat/forwarder';

/** How much depends on the object of a cap, as the person who offers it says. */
export type Sensitivity = 'scratch' | 'ordinary' | 'high';

/** The effect of the called method, complete. */
export interface KnownEffect {
  readonly class: Effect['class'];
  readonly undo: NonNullable<Effect['undo']>;
  readonly outbound: boolean;
  /** Nobody declared it: it is what is assumed of a method of which nothing is known. */
  readonly assumed: boolean;
}

/** One call, as the five factors see it. */
export interface AssessedCall {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly effect: KnownEffect;
  readonly sensitivity: Sensitivity;
  /** The call carries, or answers to, text about a person in danger. */
  readonly crisis: boolean;
}

/** What one factor says: how dangerous the call is and how sure that is, both from 0 to 1, and why. */
export interface Factor {
  readonly risk: number;
  readonly confidence: number;
  readonly reason?: string;
}
