/**
 * Waits for time to pass. It is a driver, because time is outside the vat. It is made with a clock and handed
 * to those that may wait.
 *
 * Promise: `after(ms, value)` resolves with `value` in a later turn, like any queued message: never early by
 * the clock, and later if the vat is busy. If the grant of a wait ends, the wait breaks and its timer is
 * removed. After Goblins' `timeout`.
 */
import { CapError } from '../core/errors.ts';
import type { Far } from '../core/types.ts';
import type { Clock } from '../time/clock.ts';
import { driver } from '../turn/driver.ts';

/**
 * Waits. `after` resolves with `value` no earlier than `ms` milliseconds from now. Errors: `invalid`, and
 * the error of a grant that ends.
 */
export interface Timer {
  after<V>(ms: number, value?: V): Promise<V>;
}

/**
 * Makes a timer from a clock: `systemClock()`, or `testClock()` in a test. It is a driver, so only `E`
 * reaches it.
 */
export function makeTimer(clock: Pick<Clock, 'after'>): Far<Timer> {
  return driver<{ after(ms: number, value?: unknown): Promise<unknown> }>(
    {
      after([ms, value], { signal }) {
        if (typeof ms !== 'number' || !(ms >= 0) || ms === Number.POSITIVE_INFINITY) {
          throw new CapError('invalid', 'a time to wait is a number of ms, 0 or more');
        }
        return new Promise((resolve, reject) => {
          const cancel = clock.after(ms, () => {
            signal.removeEventListener('abort', abort);
            resolve(value);
          });
          const abort = (): void => {
            cancel();
            reject(signal.reason);
          };
          if (signal.aborted) abort();
          else signal.addEventListener('abort', abort, { once: true });
        });
      },
    },
    { reads: ['after'] },
  ) as Far<unknown> as Far<Timer>;
}
