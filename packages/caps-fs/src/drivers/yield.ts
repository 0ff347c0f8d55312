/**
 * Lets timers, sockets and other holders run while one holder makes many quick calls.
 *
 * Promise: of the operations that finish without waiting, every 32nd waits for one round of the event loop.
 * Otherwise a loop over small files would be all that the process does, and nobody could stop it.
 */
const oneIn = 32;
let since = 0;

/** The work of one round of the event loop that other holders may have to wait for. */
const maxMs = 4;
let began: number | undefined;

/**
 * Returns a promise for the next round of the event loop if operations have worked for some milliseconds in this
 * one. Ask before each piece of work that may take a while.
 */
export function pause(): Promise<void> | undefined {
  const now = performance.now();
  if (began === undefined) {
    began = now;
    setImmediate(() => {
      began = undefined;
    });
    return undefined;
  }
  if (now - began < maxMs) return undefined;
  return new Promise((resolve) => void setImmediate(resolve));
}

export function yieldToEventLoop(): Promise<void> | undefined {
  since += 1;
  if (since < oneIn) return undefined;
  since = 0;
  return new Promise((resolve) => void setImmediate(resolve));
}
