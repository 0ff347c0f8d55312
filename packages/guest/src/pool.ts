/**
 * Keeps idle processes ready, because starting one takes longer than most programs.
 *
 * Promise: a process is given out once and never comes back. The pool keeps as many idle as were recently
 * wanted at once, up to `most`, and shrinks to one after a minute without a request. A running program gets
 * the processors first: its replacement is started when it ends or takes long. If no process can be started,
 * the caller gets the error.
 */
import { CapError, type Clock, type Duplex, fromChild } from '@hob/vat';
import { hasCodeCache, keepCodeCache } from './drivers/child-code.ts';
import type { GuestProcess } from './drivers/process.ts';
import { Processes } from './drivers/watchdog.ts';

/** An idle process, ready to run one program. */
export interface IdleProcess {
  readonly started: GuestProcess;
  readonly processes: Processes;
  /** The connection. It has carried no frames yet, so the caller's meter pays for all of them. */
  readonly duplex: Duplex;
  /** Tells an idle process to warm up. Called once. */
  warm(): void;
  /** Calls `then` once, when the first frame is written. */
  onFirstFrame(then: () => void): void;
  /** Calls `then` with all output, also with output from before this call. */
  onOutput(then: (said: string) => void): void;
}

/** Starting more at once only delays each of them. */
const startsAtOnce = 4;
/** Longer than a program that makes only a few calls. */
const refillMs = 200;
const idleMs = 60_000;

export class Pool {
  readonly #start: () => Promise<GuestProcess>;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #waiting: IdleProcess[] = [];
  readonly #askers: { readonly resolve: (ready: IdleProcess) => void; readonly reject: (why: unknown) => void }[] = [];
  readonly #all = new Set<GuestProcess>();
  /** The processes that run a program. */
  readonly #given = new Set<GuestProcess>();
  readonly #starts = new Set<Promise<void>>();
  #wanted = 1;
  #closed = false;
  #stopRefill: (() => void) | undefined;
  #stopShrink: (() => void) | undefined;

  constructor(start: () => Promise<GuestProcess>, most: number, clock: Clock) {
    this.#start = start;
    this.#most = most;
    this.#clock = clock;
    this.#wanted = Math.min(1, most);
  }

  /** Starts the first process, to find out whether one can be started. */
  async open(): Promise<void> {
    const ready = await this.take();
    this.#wanted = Math.min(1, this.#most);
    this.#given.delete(ready.started);
    this.#keep(ready);
  }

  take(): Promise<IdleProcess> {
    if (this.#closed) return Promise.reject(closed());
    this.#stopShrink?.();
    this.#stopShrink = this.#clock.after(idleMs, () => this.#shrink());
    const ready = this.#waiting.shift();
    if (ready === undefined) {
      this.#wanted = Math.min(this.#most, this.#wanted + 1);
      return new Promise((resolve, reject) => {
        this.#askers.push({ resolve, reject });
        this.#fill(0);
      });
    }
    this.#given.add(ready.started);
    this.#refill();
    return Promise.resolve(ready);
  }

  /** How many processes there are, and how many of them wait. */
  get counts(): { readonly all: number; readonly waiting: number } {
    return { all: this.#all.size, waiting: this.#waiting.length };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRefill?.();
    this.#stopShrink?.();
    for (const { reject } of this.#askers.splice(0)) reject(closed());
    for (const started of this.#all) started.kill();
    await Promise.all([...this.#starts]);
    for (const started of this.#all) started.kill();
    await Promise.all([...this.#all].map(({ gone }) => gone));
  }

  /** Starts processes for all waiting callers, and `ahead` more. */
  #fill(ahead: number): void {
    while (
      !this.#closed &&
      this.#starts.size < startsAtOnce &&
      this.#starts.size + this.#waiting.length < this.#askers.length + ahead
    ) {
      const start = this.#add().finally(() => {
        this.#starts.delete(start);
      });
      this.#starts.add(start);
    }
  }

  /** Starts a replacement later, because starting one takes processor time from the running program. */
  #refill(): void {
    this.#stopRefill ??= this.#clock.after(refillMs, () => this.#refillNow());
  }

  #refillNow(): void {
    this.#stopRefill?.();
    this.#stopRefill = undefined;
    this.#fill(this.#wanted);
  }

  #shrink(): void {
    this.#wanted = Math.min(1, this.#most);
    for (const { started } of this.#waiting.splice(this.#wanted)) started.kill();
  }

  #keep(ready: IdleProcess): void {
    this.#waiting.push(ready);
    ready.warm();
    ready.processes.find();
  }

  async #add(): Promise<void> {
    let ready: IdleProcess;
    try {
      ready = await this.#ready();
    } catch (error) {
      // If nobody waits, the error is dropped. The next caller starts another process.
      const asker = this.#askers.shift();
      asker?.reject(error);
      if (this.#askers.length > 0) queueMicrotask(() => this.#fill(0));
      return;
    }
    const asker = this.#askers.shift();
    if (asker === undefined) {
      this.#keep(ready);
      queueMicrotask(() => this.#fill(this.#stopRefill === undefined ? this.#wanted : 0));
      return;
    }
    this.#given.add(ready.started);
    asker.resolve(ready);
    queueMicrotask(() => this.#fill(0));
    this.#refill();
  }

  async #ready(): Promise<IdleProcess> {
    const started = await this.#start();
    this.#all.add(started);
    void started.gone.then(() => {
      this.#all.delete(started);
      const at = this.#waiting.findIndex((ready) => ready.started === started);
      if (at >= 0) this.#waiting.splice(at, 1);
      if (this.#given.delete(started)) this.#refillNow();
    });
    if (this.#closed) started.kill();
    const { isReady, ...ends } = split(started, () => this.#waiting.some((ready) => ready.started === started));
    await Promise.race([isReady, started.gone]);
    if (this.#closed) throw closed();
    if (!this.#all.has(started))
      throw new CapError(
        'unavailable',
        'the process of a program ended before it could run: look at the memory of this machine',
      );
    return {
      started,
      processes: new Processes(started.pid),
      ...ends,
      warm: () => void started.channel.send({ warm: true, codeCache: !hasCodeCache() }),
    };
  }
}

const closed = (): CapError => new CapError('revoked', 'guests were closed: open them again');

/**
 * Separates output from frames. A program in an endless loop sends no frame, but its output must arrive.
 *
 * Later processes run the compiled code that this one sends. So the code is taken only while this process waits,
 * before it has had a program.
 */
function split(
  { channel }: GuestProcess,
  waits: () => boolean,
): Pick<IdleProcess, 'duplex' | 'onOutput' | 'onFirstFrame'> & { readonly isReady: Promise<void> } {
  const ready = Promise.withResolvers<void>();
  let early = '';
  let onOutput = (text: string): void => {
    early += text;
  };
  let onFirstFrame = (): void => {};
  const frames = {
    get connected() {
      return channel.connected;
    },
    send: (message: unknown, then: (error: Error | null) => void) => {
      const hasRoom = channel.send(message, then);
      onFirstFrame();
      onFirstFrame = () => {};
      return hasRoom;
    },
    disconnect: () => channel.disconnect(),
    on: (event: 'message' | 'disconnect', then: (message: unknown) => void) =>
      event === 'disconnect'
        ? channel.on(event, then)
        : channel.on(event, (message) => {
            const { said, ready: isReady, codeCache } = (message ?? {}) as Readonly<Record<string, unknown>>;
            if (typeof said === 'string') onOutput(said);
            else if (typeof codeCache === 'string') {
              if (waits()) keepCodeCache(codeCache);
            } else if (isReady === true) ready.resolve();
            else then(message);
          }),
  };
  return {
    duplex: fromChild(frames),
    isReady: ready.promise,
    onOutput: (then) => {
      if (early !== '') then(early);
      onOutput = then;
    },
    onFirstFrame: (then) => {
      onFirstFrame = then;
    },
  };
}
