/**
 * Lets timers, sockets and other holders run while one holder makes many quick calls.
 *
 * Promise: of the operations that finish without waiting, every 32nd waits for one round of the event loop.
 * Otherwise a loop over small files would be all that the process does, and nobody could stop it.
 */
const oneIn = 32;
let since = 0;

export function yieldToEventLoop(): Promise<void> | undefined {
  since += 1;
  if (since < oneIn) return undefined;
  since = 0;
  return new Promise((resolve) => void setImmediate(resolve));
}
