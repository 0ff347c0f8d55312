/**
 * What an Endo peer has counted of what it was given, so that its drops can be believed.
 *
 * `@endo/captp` says how much it counted of our object N when it collects that. It counts messages, each once. And it keeps one count for
 * what mentions our object N (`o+N`) and for our calls of its own object N (`o-N`), so an honest count may be too high for the first alone.
 * The same counting here shows which messages had arrived when the peer dropped the object, because messages arrive in order.
 *
 * Promise: an object is given back when the last mention of it was dropped. A mention that crosses with a drop keeps it.
 */

interface Count {
  /** Messages that the peer has not dropped. */
  messages: number;
  /** The last of them that mentions ours; 0 where none does. */
  mentioned: number;
}

/** What one count takes. Measured with a million of them. */
const countBytes = 120;

export class EndoCounts {
  readonly #counts = new Map<string, Count>();

  /** About what all of it takes. */
  get bytes(): number {
    return this.#counts.size * countBytes;
  }

  /** The connection is over. */
  clear(): void {
    this.#counts.clear();
  }

  /** A message leaves that goes to `target` and mentions `slots`, each once. */
  said(target: string | undefined, slots: readonly string[]): void {
    for (const slot of slots) if (slot[1] === '+') this.#count(keyOf(slot), true);
    if (target?.[1] !== '-' || target[0] === 'q') return;
    const key = keyOf(target);
    if (!slots.includes(`${target[0]}+${target.slice(2)}`)) this.#count(key, false);
  }

  #count(key: string, mentions: boolean): void {
    let count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, (count = { messages: 0, mentioned: 0 }));
    count.messages += 1;
    if (mentions) count.mentioned = count.messages;
  }

  /** The peer drops `slot`, of which it has counted so much: whether it has none of the mentions any more. */
  dropped(slot: string, counted: number): boolean {
    const key = keyOf(slot);
    const count = this.#counts.get(key);
    if (count === undefined) return false;
    const gone = counted >= count.mentioned;
    count.messages -= counted;
    count.mentioned = gone ? 0 : count.mentioned - counted;
    if (count.messages <= 0) this.#counts.delete(key);
    return gone;
  }
}

const keyOf = (slot: string): string => slot[0] + slot.slice(2);
