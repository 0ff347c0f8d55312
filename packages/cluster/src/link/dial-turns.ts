/**
 * The handshakes that are under way with one machine. Many callers that enter at once would otherwise close each other's
 * there, as strangers of its link, and a machine that is gone would make callers pile up.
 */
import { CapError } from '@hob/vat';

/** With one machine. Its link has room for the handshakes of eight others. */
const mostAtOnce = 32;
const mostWaiting = 512;

interface Turns {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class DialTurns {
  readonly #byPeer = new Map<string, Turns>();

  /** Runs `dial` when fewer than 32 others of this machine do. Errors: `unavailable`, those of `dial`. */
  async run<T>(peer: string, dial: () => Promise<T>): Promise<T> {
    const turns = this.#byPeer.get(peer) ?? { underWay: 0, waiting: [] };
    this.#byPeer.set(peer, turns);
    if (turns.waiting.length >= mostWaiting)
      throw new CapError('unavailable', 'too many callers wait for the other machine: try again');
    if (turns.underWay >= mostAtOnce) await new Promise<void>((go) => turns.waiting.push(go));
    else turns.underWay += 1;
    try {
      return await dial();
    } finally {
      // The turn goes to the next one.
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else turns.underWay -= 1;
      if (turns.underWay === 0) this.#byPeer.delete(peer);
    }
  }
}
