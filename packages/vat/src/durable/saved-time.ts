/**
 * Saves vat time in the store: with every commit, and every 5 s without one.
 *
 * After a reboot only the wall clock tells how long the machine was off. Somebody who sets it back gains at
 * most the time since the last save, so saves are frequent.
 */
import { CapError } from '../core/errors.ts';
import { afterOthers } from '../drivers/loop.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { Clock } from '../time/clock.ts';
import { type SavedTime, VatTime } from '../time/time.ts';

const timeKey = 'v/time';
const saveMs = 5000;

/**
 * The vat time of a store, or of the process without a store. Throws `invalid` if the saved time is damaged.
 */
export function timeOf(clock: Clock, engine: StoreEngine | undefined): VatTime {
  if (engine === undefined) return new VatTime(clock);
  const time = new VatTime(clock, saved(engine.get(timeKey)));
  engine.stampBy(() => [timeKey, JSON.stringify(time.saved())]);
  return time;
}

/** Saves the time every 5 s. Returns a function that stops it. */
export function saveTime(clock: Clock, engine: StoreEngine): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.after(saveMs, () =>
      // Saves once, even if a test advances the clock by many periods.
      afterOthers(() => {
        if (stopped) return;
        if (!engine.failed && !engine.full)
          engine.commitLater(engine.epoch, { lines: [], cells: new Map([[timeKey, '']]) }, () => {});
        arm();
      }),
    );
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}

function saved(text: string | undefined): SavedTime | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as SavedTime);
  } catch {
    throw new CapError('invalid', 'the saved time of this store is damaged: restore a backup');
  }
}
