/**
 * What goes out now has to wait for: the batch of the turn whose effects are being released.
 *
 * Set only while a turn's effects leave. Whoever would let something out of the store asks here first, at the moment when it
 * learns of it; that is how a message keeps what it has to wait for through promises and later turns.
 */

/** The part of a batch that those who wait need to know. */
export interface Barrier {
  readonly number: number;
  readonly settled: boolean;
  then(release: () => void, lost: (why: Error) => void): void;
}

let current: Barrier | undefined;

/** Runs `body` while what it lets out waits for `barrier`. */
export function behind(barrier: Barrier | undefined, body: () => void): void {
  const outer = current;
  current = barrier;
  try {
    body();
  } finally {
    current = outer;
  }
}

/** What something learned now has to wait for; undefined where nothing. */
export const barrier = (): Barrier | undefined => (current?.settled === false ? current : undefined);

/** The later of two: who waits for it waits for both, since batches become durable in order. */
export function later(a: Barrier | undefined, b: Barrier | undefined): Barrier | undefined {
  if (a === undefined || a.settled) return b;
  if (b === undefined || b.settled) return a;
  return a.number >= b.number ? a : b;
}

/** Runs `release` as soon as `barrier` allows: at once where there is none. */
export function when(barrier: Barrier | undefined, release: () => void, lost: (why: Error) => void): void {
  if (barrier === undefined) release();
  else barrier.then(release, lost);
}
