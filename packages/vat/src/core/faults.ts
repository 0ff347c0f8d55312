/**
 * Faults: internal errors of Hob, in code that runs for all vats of the process. The code of a connection has
 * a fence of its own (`captp/session/fence.ts`).
 *
 * Promise: a fault is logged with its stack and ends one turn, one effect or one call. It never ends the
 * process. The caller that waits for it receives `unknown-outcome`.
 *
 * The log belongs to the process: the promises and the event loop, in which a fault can happen, do too.
 */
import { logFault, logWarning } from './drivers/log.ts';
import { CapError } from './errors.ts';

const logs = new Set<(error: unknown) => void>();

/** From now on faults go to `log`, no longer to standard error. Returns a function that undoes this. */
export function logFaultsTo(log: (error: unknown) => void): () => void {
  // A new function for each call, so that the same log can be given twice.
  const own = (error: unknown): void => log(error);
  logs.add(own);
  return () => void logs.delete(own);
}

/** Logs a fault. Never throws. */
export function noteFault(error: unknown): void {
  if (logs.size === 0) logFault(error);
  for (const log of logs)
    try {
      log(error);
    } catch (failure) {
      logFault(error);
      logFault(failure);
    }
}

const warnings = new Set<(text: string) => void>();

/** From now on warnings go to `log`, no longer to standard error. Returns a function that undoes this. */
export function logWarningsTo(log: (text: string) => void): () => void {
  const own = (text: string): void => log(text);
  warnings.add(own);
  return () => void warnings.delete(own);
}

/** Warns whoever wrote an actor. Never throws. */
export function noteWarning(text: string): void {
  if (warnings.size === 0) logWarning(text);
  for (const warn of warnings) fenced(() => warn(text));
}

/** Logs the error of a turn or a message if it is a fault. It may be one that has no answer to tell. */
export function noteIfFault(error: unknown): void {
  if (!(error instanceof CapError)) noteFault(error);
}

/** Runs `body`. Returns false if it threw; the fault is then logged. */
export function fenced(body: () => void): boolean {
  try {
    body();
    return true;
  } catch (error) {
    noteFault(error);
    return false;
  }
}

/** Runs `body`. If it throws, logs the fault and runs `otherwise`, which tells those who wait. */
export function fencedOr(body: () => void, otherwise: (why: CapError) => void): void {
  if (!fenced(body)) fenced(() => otherwise(cutOff()));
}

/** The error for those who wait for something that a fault ended. It says nothing about the fault. */
export const cutOff = (): CapError =>
  new CapError(
    'unknown-outcome',
    'an internal error of the host ended this: look at what happened before you try again',
  );

/**
 * Wraps an observer: an error that it throws is reported as uncaught and does not reach the code it observes.
 */
export function guarded<T>(observe: (what: T) => void): (what: T) => void {
  return (what) => {
    try {
      observe(what);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
