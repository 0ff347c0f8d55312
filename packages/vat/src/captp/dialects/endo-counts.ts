/**
 * Repeats the counting of an Endo peer, so that its drops can be trusted.
 *
 * When `@endo/captp` collects our object N, it sends how many messages it has counted for it. A message
 * counts once. The peer keeps a single count for messages that mention our object N (`o+N`) and for our calls
 * of its own object N (`o-N`). So an honest count may be too high for the mentions alone. The same counting
 * here shows which messages had arrived when the peer dropped the object, because messages arrive in order.
 *
 * Promise: an object is dropped when its last mention was dropped. A mention that crosses with a drop keeps
 * it.
 */

interface Count {
  /** Messages that the peer has not dropped. */
  messages: number;
  /** Index of the last message that mentions our object; 0 if there is none. */
  mentioned: number;
}

/** Memory of one count. Measured with a million of them. */
const countBytes = 120;

export class EndoCounts {
  readonly #counts = new Map<string, Count>();

  /** Approximate memory of all counts. */
  get bytes(): number {
    return this.#counts.size * countBytes;
  }

  /** Called when the connection closes. */
  clear(): void {
    this.#counts.clear();
  }

  /** Counts a message to `target` that mentions each of `slots` once. */
  countMessage(target: string | undefined, slots: readonly string[]): void {
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

  /** The peer drops `slot` and sends its count. Returns true if none of the mentions is left. */
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
