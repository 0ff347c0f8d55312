/**
 * What goes out now has to wait for: the batch of the turn whose effects are being released.
 *
 * Set only while a turn's effects leave. Whoever would let something out of the store asks here first, at the moment when it
 * learns of it; that is how a message keeps what it has to wait for through promises and later turns.
 */

/** The part of a batch that those who wait need to know. */
export interface Barrier {
  /** Whose batches it counts: numbers of different stores say nothing of each other. */
  readonly owner: object;
  readonly number: number;
  /** Nobody has to wait for it any more. What was lost never is. */
  readonly durable: boolean;
  /** Why what it stands for never happened. */
  readonly lost: Error | undefined;
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
export const barrier = (): Barrier | undefined => (current?.durable === false ? current : undefined);

/** The later of two: who waits for it waits for both, since batches become durable in order. */
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

/** Runs `release` as soon as `barrier` allows: at once where there is none. */
export function when(barrier: Barrier | undefined, release: () => void, lost: (why: Error) => void): void {
  if (barrier === undefined) release();
  else barrier.then(release, lost);
}
