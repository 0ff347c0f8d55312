/** Lets each session run a few hooks at once, so that none keeps the others waiting. */
import { CapError } from '@hob/vat';

const atOnce = 4;
const mostWaiting = 64;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** The hooks that run now, by session. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  /** Runs `work` when its session has room. Errors: `limit`, and those of `work`. */
  async run<T>(session: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(session) ?? { running: 0, waiting: [] };
    this.#lanes.set(session, lane);
    if (lane.running >= atOnce) {
      if (lane.waiting.length >= mostWaiting)
        throw new CapError('limit', 'too many calls of this session wait for their hooks: call again later');
      // Whoever ends hands its place over.
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else lane.running += 1;
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next !== undefined) next();
      else {
        lane.running -= 1;
        if (lane.running === 0) this.#lanes.delete(session);
      }
    }
  }
}
