/**
 * Output commit: the batch that must be durable before an effect may leave the store.
 *
 * The current barrier is set only while the effects of a turn are released. Code that will let something out
 * of the store reads the barrier when it learns of it and keeps it. So a message still knows its barrier
 * after it went through promises and later turns.
 */

/** The part of a batch that waiting effects need to know. */
export interface Barrier {
  /** The store whose batches `number` counts. Numbers of different stores cannot be compared. */
  readonly owner: object;
  readonly number: number;
  /**
   * True when the batch is durable and no effect waits for it any more. A lost batch never becomes durable.
   */
  readonly durable: boolean;
  /** Set when the batch was lost, so that its turns never happened. Says why. */
  readonly lost: Error | undefined;
  then(release: () => void, lost: (why: Error) => void): void;
}

let current: Barrier | undefined;

/** Runs `body`. Every effect that it lets out waits for `barrier`. */
export function behind(barrier: Barrier | undefined, body: () => void): void {
  const outer = current;
  current = barrier;
  try {
    body();
  } finally {
    current = outer;
  }
}

/** Returns the barrier for something learned now; undefined when there is nothing to wait for. */
export const barrier = (): Barrier | undefined => (current?.durable === false ? current : undefined);

/**
 * Returns the later of two barriers. Batches of one store become durable in order, so waiting for it covers
 * both.
 */
export function later(a: Barrier | undefined, b: Barrier | undefined): Barrier | undefined {
  if (a === undefined || a.durable) return b;
  if (b === undefined || b.durable || a.lost !== undefined) return a;
  if (b.lost !== undefined) return b;
  if (a.owner !== b.owner) return both(a, b);
  return a.number >= b.number ? a : b;
}

function both(a: Barrier, b: Barrier): Barrier {
  return {
    owner: {},
    number: 0,
    get durable(): boolean {
      return a.durable && b.durable;
    },
    get lost(): Error | undefined {
      return a.lost ?? b.lost;
    },
    then: (release, lost) => a.then(() => b.then(release, lost), lost),
  };
}

/**
 * Runs `release` once `barrier` is durable, or at once without a barrier. Runs `lost` if the batch is lost.
 */
export function when(barrier: Barrier | undefined, release: () => void, lost: (why: Error) => void): void {
  if (barrier === undefined) release();
  else barrier.then(release, lost);
}
