/** The work of a method of a cap, done when the call is admitted. */
import type { HeldDirectory } from '../root/held-directory.ts';

/** An operation on a directory. `ended` fires when the cap is closed, and long operations stop then. */
export interface Operation<R> {
  /** `leave` gives its place to the next operation: for work that does not run here, such as a search. */
  (held: HeldDirectory, ended: AbortSignal, leave: () => void): R | Promise<R>;
  /** The memory that its arguments take while it waits, in bytes or characters. Paths do not count. */
  readonly holds?: number;
}

export function holding<R>(holds: number, operation: Operation<R>): Operation<R> {
  return Object.assign(operation, { holds });
}
