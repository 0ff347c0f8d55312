/**
 * Waiting for time to pass. A driver, since time is outside: it is made with a clock and handed to who may wait.
 *
 * Promise: `after(ms, value)` answers `value` in a later turn, as an ordinary queued message: never early by the clock, late
 * when the vat is busy. A wait whose grant ends is broken, and its timer is gone. After Goblins' `timeout`.
 */
import { CapError } from '../core/errors.ts';
import type { Far } from '../core/types.ts';
import type { Clock } from '../time/clock.ts';
import { driver } from '../turn/driver.ts';

export interface Timer {
  after<V>(ms: number, value?: V): Promise<V>;
}

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
