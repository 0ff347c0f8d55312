/**
 * How many jobs run at once.
 *
 * Promise: nobody takes all of it: each who pays has so many places of his own, and beyond those his jobs wait, in order; what waits
 * ends with its grant. The making of worlds is one after the other in the kernel anyway, so more at once would not be sooner.
 */
import { CapError } from '@hob/vat';

const EACH = 8;
const ALL = 64;
const WAITING = 64;

interface Waiting {
  readonly payer: object;
  go(): void;
}

const running = new Map<object, number>();
const waiting: Waiting[] = [];
let all = 0;

const hasPlace = (payer: object): boolean => all < ALL && (running.get(payer) ?? 0) < EACH;

/** Answers, when there is a place, how to give it back. Errors: `E_TOO_MANY_JOBS`, and why one of `ends` was fired. */
export async function place(payer: object, ends: readonly AbortSignal[]): Promise<() => void> {
  for (const signal of ends) signal.throwIfAborted();
  if (!hasPlace(payer)) {
    if (waiting.filter((one) => one.payer === payer).length >= WAITING)
      throw new CapError('E_TOO_MANY_JOBS', `${EACH} jobs run and ${WAITING} wait: wait for some to end`);
    await new Promise<void>((resolve, reject) => {
      const quit = (): void => {
        waiting.splice(waiting.indexOf(mine), 1);
        unlisten();
        reject(ends.find(({ aborted }) => aborted)?.reason);
      };
      const unlisten = (): void => {
        for (const signal of ends) signal.removeEventListener('abort', quit);
      };
      const mine: Waiting = {
        payer,
        go: () => {
          unlisten();
          // Taken here and now, so that nobody comes in between.
          enter(payer);
          resolve();
        },
      };
      waiting.push(mine);
      for (const signal of ends) signal.addEventListener('abort', quit);
    });
  } else enter(payer);
  let mine = true;
  return () => {
    if (mine) leave(payer);
    mine = false;
  };
}

function enter(payer: object): void {
  all += 1;
  running.set(payer, (running.get(payer) ?? 0) + 1);
}

function leave(payer: object): void {
  all -= 1;
  const left = (running.get(payer) ?? 1) - 1;
  if (left > 0) running.set(payer, left);
  else running.delete(payer);
  const next = waiting.findIndex((one) => hasPlace(one.payer));
  if (next >= 0) waiting.splice(next, 1)[0]?.go();
}

/** For tests: what is there now. */
export const places = (): { readonly running: number; readonly waiting: number } => ({
  running: all,
  waiting: waiting.length,
});
