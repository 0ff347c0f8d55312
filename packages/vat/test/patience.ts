/** Bounded waits of tests. */

/**
 * Waits until `isOver` holds, and returns whether it does. It looks after each of 400 rounds of the event loop, and
 * then for ten seconds more, because the thread of a store may need that on a busy machine.
 */
export async function waitFor(isOver: () => boolean): Promise<boolean> {
  for (let n = 0; n < 400 && !isOver(); n += 1) await new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 1000 && !isOver(); n += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return isOver();
}
