/**
 * The queue of jobs. It limits how many run at once.
 *
 * Each payer may run so many jobs. Further ones wait in order, and leave the queue when their grant ends. The
 * kernel makes namespaces one after the other, so more jobs at once would not start sooner
 * (docs/measurements/shell.md).
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

const hasRoom = (payer: object): boolean => all < ALL && (running.get(payer) ?? 0) < EACH;

/**
 * Waits for admission. Returns a function that leaves. Errors: `E_TOO_MANY_JOBS`, and the reason of an
 * aborted signal.
 */
export async function admit(payer: object, ends: readonly AbortSignal[]): Promise<() => void> {
  for (const signal of ends) signal.throwIfAborted();
  if (!hasRoom(payer)) {
    if (waiting.filter((one) => one.payer === payer).length >= WAITING)
      throw new CapError('E_TOO_MANY_JOBS', `${EACH} jobs run and ${WAITING} wait: try again when some have ended`);
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
          // Enter at once, so that nobody comes in between.
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
  const next = waiting.findIndex((one) => hasRoom(one.payer));
  if (next >= 0) waiting.splice(next, 1)[0]?.go();
}

/** For tests. */
export const admitted = (): { readonly running: number; readonly waiting: number } => ({
  running: all,
  waiting: waiting.length,
});
