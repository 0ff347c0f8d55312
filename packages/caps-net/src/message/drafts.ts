/**
 * The drafts of one cap that are not sent yet, for each of its holders.
 *
 * Promise: what one holder drafted no other one sends, and none pushes out the drafts of another. A draft is taken once, and only as it was made: a draft whose recipient, text or digest was changed is refused.
 * Drafts live in memory only, so none that may have been sent before a crash can be sent after it.
 */
import { canonicalText } from '@hob/vat/forwarder';
import { refusal } from '../base/errors.ts';
import type { Draft, Message } from './message-cap.ts';

export interface Kept {
  readonly draft: Draft;
  readonly message: Message;
  readonly bytes: Uint8Array;
}

const MOST = 64;
const MOST_BYTES = 32 * 1024 * 1024;
/** A holder is a grant, so a session has as many as its granters give. */
const MOST_HOLDERS = 64;
const LIFE_MS = 3_600_000;

/** The drafts of each holder. */
export class DraftsByHolder {
  readonly #holders = new Map<string, Drafts>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `holder` are the grants that a call was made under. */
  of(holder: string): Drafts {
    const own = this.#holders.get(holder) ?? new Drafts(this.#now);
    // The holder that was silent longest makes room.
    this.#holders.delete(holder);
    this.#holders.set(holder, own);
    const [silent] = this.#holders.keys();
    if (this.#holders.size > MOST_HOLDERS && silent !== undefined) this.#holders.delete(silent);
    return own;
  }
}

class Drafts {
  readonly #kept = new Map<string, { readonly kept: Kept; readonly until: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  keep(kept: Kept): void {
    this.#kept.set(kept.draft.id, { kept, until: this.#now() + LIFE_MS });
    let bytes = 0;
    // The newest first: the oldest make room.
    for (const [id, { kept: one, until }] of [...this.#kept].toReversed()) {
      bytes += one.bytes.length;
      if (until < this.#now() || bytes > MOST_BYTES) this.#kept.delete(id);
    }
    for (const id of this.#kept.keys()) if (this.#kept.size > MOST) this.#kept.delete(id);
  }

  /** Takes it out. Errors: `E_DRAFT`. */
  take(given: unknown): Kept {
    const id = typeof given === 'object' && given !== null ? (given as { readonly id?: unknown }).id : undefined;
    const found = typeof id === 'string' ? this.#kept.get(id) : undefined;
    if (found === undefined || found.until < this.#now())
      throw refusal('E_DRAFT', 'there is none, or it was sent, or its hour is over');
    if (canonicalText(given) !== canonicalText(found.kept.draft))
      throw refusal('E_DRAFT', 'it is not as it was made: send what draft() returned');
    this.#kept.delete(found.kept.draft.id);
    return found.kept;
  }
}
