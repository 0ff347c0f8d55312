/**
 * How long a cap, or a stream, may be used.
 *
 * Promise: after `close()` nothing new is accepted, here and in all that was made from here (subdirectories, attenuated
 * caps, streams); what runs may finish; then `end` is called, once. Closing goes downwards only: whoever holds an
 * attenuated cap cannot close the one it was made from.
 */
import { refusal } from './errors.ts';

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
    this.#open = false;
    this.#closing.abort();
    for (const made of [...this.#made]) void made.close();
    this.#settle();
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
    if (this.#open || this.#over || this.#running > 0 || this.#made.size > 0) return;
    this.#over = true;
    this.#end();
    this.#ended.resolve();
    if (!this.#parent) return;
    this.#parent.#made.delete(this);
    this.#parent.#settle();
  }
}
