/**
 * Who does one thing after another still lets timers, sockets and other holders have their turn.
 *
 * Promise: of the operations that were answered without waiting for anything, every 32nd waits until the event loop has gone
 * round once. Else a loop over small files would be the only thing that the process does, and nobody could stop it.
 */
const oneIn = 32;
let since = 0;

export function yieldToEventLoop(): Promise<void> | undefined {
  since += 1;
  if (since < oneIn) return undefined;
  since = 0;
  return new Promise((resolve) => void setImmediate(resolve));
}
