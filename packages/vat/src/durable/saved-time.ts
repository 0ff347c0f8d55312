/**
 * Vat time in a store: saved with every commit, and every 5 s while there is none.
 *
 * Why so often: over a boot only the wall clock tells how long the machine was off, and whoever sets it back gains at most what passed
 * since the last save.
 */
import { CapError } from '../core/errors.ts';
import { afterOthers } from '../drivers/loop.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { Clock } from '../time/clock.ts';
import { type SavedTime, VatTime } from '../time/time.ts';

const timeKey = 'v/time';
const saveMs = 5000;

/** The time of a store; without one that of the process. Errors: `invalid`, where what the store says is no time. */
export function timeOf(clock: Clock, engine: StoreEngine | undefined): VatTime {
  if (engine === undefined) return new VatTime(clock);
  const time = new VatTime(clock, saved(engine.get(timeKey)));
  engine.stampBy(() => [timeKey, JSON.stringify(time.saved())]);
  return time;
}

/** Answers how to stop. */
export function saveTime(clock: Clock, engine: StoreEngine): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.after(saveMs, () =>
      // Once, however much time a test lets pass at once.
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
