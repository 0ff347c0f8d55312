/**
 * The written list: differences that are known, each with its reason, which `agreed.test.ts` holds against the worlds.
 */
import type { Played } from './classes.ts';

export interface Agreement {
  readonly name: string;
  readonly reason: string;
  /** `what`: the difference, in the words of classes.ts. */
  applies(played: Played, what: string): boolean;
}

export const AGREED: readonly Agreement[] = [];

export const agreement = (played: Played, what: string): string | undefined =>
  AGREED.find((one) => one.applies(played, what))?.reason;
