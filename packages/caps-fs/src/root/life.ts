/**
 * How long a cap, or a stream, may be used.
 *
 * Promise: after `close()` nothing new is accepted, here and in all that was made from here (subdirectories, attenuated
 * caps, streams), however many were made one from the other; what runs may finish; then `end` is called, once. Closing goes
 * downwards only: whoever holds an attenuated cap cannot close the one it was made from.
 */
import { refusal } from '../base/errors.ts';

// One for all, made here: the stack of an error holds who called, which would be the cap itself for as long as its life is held.
const reason = refusal('CLOSED');

export class Life {
  readonly #end: () => void;
  readonly #made = new Set<Life>();
  readonly #closing = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #parent: Life | undefined;
  #open = true;
  #running = 0;
  #over = false;

  constructor(end: () => void, parent?: Life) {
    this.#end = end;
    this.#parent = parent;
    if (parent) parent.#made.add(this);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Fires when nothing new is accepted any more: what goes on by itself has to come to its end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Closes when the signal fires; answers when this is over, in whichever way. */
  lastUnder(signal: AbortSignal): Promise<void> {
    const close = (): void => void this.close();
    if (signal.aborted) close();
    signal.addEventListener('abort', close);
    return this.#ended.promise.finally(() => signal.removeEventListener('abort', close));
  }

  enter(): void {
    if (!this.#open) throw refusal('CLOSED');
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    this.#settle();
  }

  /** Answers when what ran here and below has finished. */
  close(): Promise<void> {
    // Then all below is closed, too.
    if (!this.#open) return this.#ended.promise;
    // A list, not a call within a call: a holder chooses how deep this goes, and a stack that runs out would leave the rest open.
    const all: Life[] = [this];
    for (const life of all) {
      life.#open = false;
      for (const made of life.#made) all.push(made);
    }
    // Before anybody is told: what is told may ask.
    for (const life of all) life.#closing.abort(reason);
    // The lowest first: then each finds those below it gone.
    for (const life of all.toReversed()) life.#settle();
    return this.#ended.promise;
  }

  /** The holder is gone (garbage collected): this ends alone, what was made from it lives on under its parent. */
  abandon(): void {
    for (const made of this.#made) {
      made.#parent = this.#parent;
      if (this.#parent) this.#parent.#made.add(made);
    }
    this.#made.clear();
    void this.close();
  }

  #settle(): void {
    let life: Life | undefined = this;
    while (life && !life.#open && !life.#over && life.#running === 0 && life.#made.size === 0) {
      life.#over = true;
      life.#end();
      life.#ended.resolve();
      const parent: Life | undefined = life.#parent;
      if (parent) parent.#made.delete(life);
      life = parent;
    }
  }
}
