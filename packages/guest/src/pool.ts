/**
 * Processes that are ready before anybody asks: a start takes longer than most programs.
 *
 * Promise: a process is given out once and never comes back. As many wait as were wanted at once lately, up to `most`. Where none
 * can be started whoever asks is told why.
 */
import { CapError, type Duplex, fromChild, mutant } from '@hob/vat';
import type { GuestProcess } from './drivers/process.ts';

/** A process that runs one program. */
export interface Ready {
  readonly started: GuestProcess;
  /** Not spoken over yet: whoever takes it pays for what comes. */
  readonly duplex: Duplex;
  /** What it prints, and what it printed before somebody listened. */
  onSaid(then: (said: string) => void): void;
}

/** More at once only make each later. */
const startsAtOnce = 4;

const reuses = mutant('guest-reuse');

export class Pool {
  readonly #start: () => Promise<GuestProcess>;
  readonly #most: number;
  readonly #waiting: Ready[] = [];
  readonly #askers: { readonly resolve: (ready: Ready) => void; readonly reject: (why: unknown) => void }[] = [];
  readonly #all = new Set<GuestProcess>();
  readonly #starts = new Set<Promise<void>>();
  #wanted = 1;
  #closed = false;

  constructor(start: () => Promise<GuestProcess>, most: number) {
    this.#start = start;
    this.#most = most;
    this.#wanted = Math.min(1, most);
  }

  /** For the first time: whether it works at all. */
  async open(): Promise<void> {
    const ready = await this.take();
    this.#waiting.push(ready);
    this.#fill();
  }

  take(): Promise<Ready> {
    if (this.#closed) return Promise.reject(closed());
    const ready = this.#waiting.shift();
    if (ready === undefined) {
      this.#wanted = Math.min(this.#most, this.#wanted + 1);
      return new Promise((resolve, reject) => {
        this.#askers.push({ resolve, reject });
        this.#fill();
      });
    }
    if (reuses) this.#waiting.push(ready);
    this.#fill();
    return Promise.resolve(ready);
  }

  /** How many processes there are, and how many of them wait. */
  get counts(): { readonly all: number; readonly waiting: number } {
    return { all: this.#all.size, waiting: this.#waiting.length };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#askers.splice(0)) reject(closed());
    for (const started of this.#all) started.kill();
    await Promise.all([...this.#starts]);
    for (const started of this.#all) started.kill();
    await Promise.all([...this.#all].map(({ gone }) => gone));
  }

  #fill(): void {
    while (
      !this.#closed &&
      this.#starts.size < startsAtOnce &&
      this.#starts.size + this.#waiting.length < this.#askers.length + this.#wanted
    ) {
      const start = this.#add().finally(() => {
        this.#starts.delete(start);
      });
      this.#starts.add(start);
    }
  }

  async #add(): Promise<void> {
    let ready: Ready;
    try {
      ready = await this.#ready();
    } catch (error) {
      // Nobody is told of one that was made in advance: who asks next starts another.
      const asker = this.#askers.shift();
      asker?.reject(error);
      if (this.#askers.length > 0) queueMicrotask(() => this.#fill());
      return;
    }
    const asker = this.#askers.shift();
    if (asker === undefined) this.#waiting.push(ready);
    else asker.resolve(ready);
    queueMicrotask(() => this.#fill());
  }

  async #ready(): Promise<Ready> {
    const started = await this.#start();
    this.#all.add(started);
    void started.gone.then(() => {
      this.#all.delete(started);
      const at = this.#waiting.findIndex((ready) => ready.started === started);
      if (at >= 0) this.#waiting.splice(at, 1);
    });
    if (this.#closed) started.kill();
    const { duplex, onSaid, isReady } = split(started);
    await Promise.race([isReady, started.gone]);
    if (this.#closed) throw closed();
    if (!this.#all.has(started))
      throw new CapError(
        'unavailable',
        'the process of a program ended before it could run: look at the memory of this machine',
      );
    return { started, duplex, onSaid };
  }
}

const closed = (): CapError => new CapError('revoked', 'guests were closed: open them again');

/** What it prints goes beside the frames: a loop that never ends sends no frame. */
function split({ channel }: GuestProcess): {
  readonly duplex: Duplex;
  readonly onSaid: Ready['onSaid'];
  readonly isReady: Promise<void>;
} {
  const ready = Promise.withResolvers<void>();
  let early = '';
  let heard = (said: string): void => {
    early += said;
  };
  const frames = {
    get connected() {
      return channel.connected;
    },
    send: (message: unknown, then: (error: Error | null) => void) => channel.send(message, then),
    disconnect: () => channel.disconnect(),
    on: (event: 'message' | 'disconnect', then: (message: unknown) => void) =>
      event === 'disconnect'
        ? channel.on(event, then)
        : channel.on(event, (message) => {
            const { said, ready: isReady } = (message ?? {}) as { readonly said?: unknown; readonly ready?: unknown };
            if (typeof said === 'string') heard(said);
            else if (isReady === true) ready.resolve();
            else then(message);
          }),
  };
  return {
    duplex: fromChild(frames),
    isReady: ready.promise,
    onSaid: (then) => {
      if (early !== '') then(early);
      heard = then;
    },
  };
}
