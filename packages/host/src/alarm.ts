/**
 * Wakes a grant when its time is over, so that its end is a turn of its own with a ledger line, and not only noticed by the next
 * caller. The gate decides by the clock; a late or lost alarm lengthens nothing.
 */
import type { Gate } from '@hob/revocable';
import { type Clock, driver, E, type Far } from '@hob/vat';

export interface Alarm {
  /** `deadline` in vat time. What is under way `grace` ms after it is stopped. */
  expireAt(deadline: number, grace: number, gate: Gate): void;
}

/** The boot clock counts in steps of 10 ms: a little later is surely after. */
const margin = 20;

export class Alarms {
  readonly cap: Far<Alarm>;
  readonly #cancels = new Set<() => void>();

  constructor(clock: Clock) {
    const at = (time: number, then: () => void): void => {
      const cancel = clock.after(Math.max(0, time - clock.boottime()) + margin, () => {
        this.#cancels.delete(cancel);
        then();
      });
      this.#cancels.add(cancel);
    };
    this.cap = driver<Alarm>({
      expireAt: ([deadline, grace, gate]) =>
        at(deadline, () => {
          E.sendOnly(gate).expire();
          at(deadline + grace, () => E.sendOnly(gate).expire());
        }),
    });
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
