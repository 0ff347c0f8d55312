/**
 * The lifetime of a cap or a stream.
 *
 * Promise: after `close()` nothing new is accepted, neither here nor in anything made from here
 * (subdirectories, attenuated caps, streams), however long the chain. Running operations may finish. Then
 * `end` is called, once. Closing goes only downwards: a holder of an attenuated cap cannot close the cap it
 * was made from.
 */
import { refusal } from '../base/errors.ts';

// One error for all lives, made here. The stack of an error keeps its callers alive, and here that would be
// the cap.
const reason = refusal('CLOSED');

export class Life {
  readonly #end: () => void;
  readonly #children = new Set<Life>();
  readonly #closing = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #parent: Life | undefined;
  #open = true;
  #running = 0;
  #over = false;

  readonly #maker: string;

  /** `maker`: whose calls made it. */
  constructor(end: () => void, parent?: Life, maker = '') {
    this.#end = end;
    this.#parent = parent;
    this.#maker = maker;
    if (parent) parent.#children.add(this);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Fires when nothing new is accepted any more. Long operations must then come to an end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Closes when the signal fires. Resolves when this life is over, for whatever reason. */
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

  /** Resolves when all running operations, here and below, have finished. */
  close(): Promise<void> {
    // Everything below is closed already, too.
    if (!this.#open) return this.#ended.promise;
    // A list instead of recursion: a holder decides how deep the chain is, and a stack overflow would leave
    // lives open.
    const all: Life[] = [this];
    for (const life of all) {
      life.#open = false;
      for (const child of life.#children) all.push(child);
    }
    // All lives are marked as closed before the first signal fires, because a listener may check `open`.
    for (const life of all) life.#closing.abort(reason);
    // The lowest first, so that each life finds those below it gone.
    for (const life of all.toReversed()) life.#settle();
    return this.#ended.promise;
  }

  /** Closes what calls of this maker made directly from here. */
  async closeMadeBy(maker: string): Promise<void> {
    await Promise.all([...this.#children].filter((life) => life.#maker === maker).map((life) => life.close()));
  }

  /** The holder was garbage collected. This life ends alone, and those made from it move to its parent. */
  abandon(): void {
    for (const child of this.#children) {
      child.#parent = this.#parent;
      if (this.#parent) this.#parent.#children.add(child);
    }
    this.#children.clear();
    void this.close();
  }

  #settle(): void {
    let life: Life | undefined = this;
    while (life && !life.#open && !life.#over && life.#running === 0 && life.#children.size === 0) {
      life.#over = true;
      life.#end();
      life.#ended.resolve();
      const parent: Life | undefined = life.#parent;
      if (parent) parent.#children.delete(life);
      life = parent;
    }
  }
}
