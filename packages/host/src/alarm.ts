/**
 * Wakes a grant when its time is over, so that its end is a turn of its own with a ledger line, and not only noticed by the next
 * caller. The gate decides by the clock; a late or lost alarm lengthens nothing.
 */
import type { Gate } from '@hob/revocable';
import { type Clock, driver, E, type Far } from '@hob/vat';

export interface Alarm {
  /** `deadline` in vat time. */
  expireAt(deadline: number, gate: Gate): void;
}

/** The boot clock counts in steps of 10 ms: a little later is surely after. */
const margin = 20;

export class Alarms {
  readonly cap: Far<Alarm>;
  readonly #cancels = new Set<() => void>();

  constructor(clock: Clock) {
    this.cap = driver<Alarm>({
      expireAt: ([deadline, gate]) => {
        const cancel = clock.after(Math.max(0, deadline - clock.boottime()) + margin, () => {
          this.#cancels.delete(cancel);
          E.sendOnly(gate).expire();
        });
        this.#cancels.add(cancel);
      },
    });
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
