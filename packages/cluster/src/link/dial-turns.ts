/**
 * Limits the handshakes that are under way with one machine. The link of that machine keeps few sockets of strangers, so
 * many callers that enter at once would otherwise close each other's. Callers of a machine that is gone would pile up.
 */
import { CapError } from '@hob/vat';

/** Handshakes with one machine. Its link has room for 256 strangers: the handshakes of eight machines. */
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
      // The next caller takes this turn.
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else turns.underWay -= 1;
      if (turns.underWay === 0) this.#byPeer.delete(peer);
    }
  }
}
