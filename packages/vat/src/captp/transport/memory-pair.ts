/**
 * Two ends of a wire in memory, with the faults of a real one. For tests, and for two parts of one process.
 */
import { takeOptions } from '../../core/options.ts';
import type { Duplex } from '../session/duplex.ts';

/** Faults of a simulated wire. A missing field means that the fault does not happen. */
export interface Faults {
  /** Delay of each frame. */
  readonly delayMs?: number;
  /** After this many frames, counted over both directions, the wire is cut. Both sides see it close. */
  readonly cutAfter?: number;
  /** After this many frames nothing arrives any more, and neither side is told: a half-open connection. */
  readonly silentAfter?: number;
}

type Frame = string | Uint8Array;
interface Why {
  readonly code: number;
  readonly reason: string;
}

interface Parcel {
  readonly from: End;
  readonly to: End;
  readonly frame: Frame;
}

class Wire {
  readonly #faults: Faults;
  readonly ends: readonly [End, End];
  #frames = 0;
  #closed: Why | undefined;
  #lost = false;
  readonly #underway: (Parcel | Why)[] = [];
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(faults: Faults) {
    this.#faults = faults;
    this.ends = [new End(this, 1), new End(this, 0)];
  }

  send(from: End, to: End, frame: Frame): void {
    if (this.#closed !== undefined) return;
    this.#frames += 1;
    const { cutAfter = Number.POSITIVE_INFINITY, silentAfter = Number.POSITIVE_INFINITY } = this.#faults;
    if (this.#frames > cutAfter) return this.#cut();
    if (this.#frames > silentAfter) return;
    from.buffered += frame.length;
    this.#later({ from, to, frame });
  }

  /** Frames that were sent before the close still arrive. */
  close(why: Why): void {
    if (this.#closed !== undefined) return;
    this.#closed = why;
    this.#later(why);
  }

  #cut(): void {
    if (this.#closed !== undefined) return;
    this.#lost = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#underway.length = 0;
    this.#closed = { code: 1006, reason: 'the wire was cut' };
    const why = this.#closed;
    queueMicrotask(() => {
      for (const end of this.ends) end.over(why);
    });
  }

  /** Delivers in order, each frame in a job of its own. */
  #later(what: Parcel | Why): void {
    const { delayMs = 0 } = this.#faults;
    this.#underway.push(what);
    if (delayMs === 0) return queueMicrotask(this.#next);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#next();
    }, delayMs);
    this.#timers.add(timer);
  }

  // One function serves all frames. An error created during a delivery keeps the running functions alive, and
  // a closure would keep its frame.
  readonly #next = (): void => {
    const what = this.#underway.shift();
    if (what === undefined) return;
    if ('code' in what) {
      for (const end of this.ends) end.over(what);
      return;
    }
    what.from.buffered -= what.frame.length;
    if (!this.#lost) what.to.arrive(what.frame);
  };
}

class End implements Duplex {
  buffered = 0;
  readonly #wire: Wire;
  readonly #other: 0 | 1;
  #early: Frame[] | undefined = [];
  #onFrame: (frame: Frame) => void = (frame) => void this.#early?.push(frame);
  #onClose: (why: Why) => void = () => {};
  #over: Why | undefined;

  constructor(wire: Wire, other: 0 | 1) {
    this.#wire = wire;
    this.#other = other;
  }

  send(frame: Frame): void {
    this.#wire.send(this, this.#wire.ends[this.#other], frame);
  }

  arrive(frame: Frame): void {
    this.#onFrame(frame);
  }

  over(why: Why): void {
    this.#over = why;
    this.#onClose(why);
  }

  onFrame(then: (frame: Frame) => void): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    this.#onFrame = then;
    for (const frame of early) then(frame);
  }

  onClose(then: (why: Why) => void): void {
    this.#onClose = then;
    if (this.#over !== undefined) then(this.#over);
  }

  close(code: number, reason: string): void {
    this.#wire.close({ code, reason });
  }
}

/** Makes the two ends of a wire in memory. Without a delay, frames arrive in a microtask of their own. */
export function memoryPair(faults?: Faults): readonly [Duplex, Duplex] {
  return new Wire(takeOptions(faults, 'memoryPair', { delayMs: true, cutAfter: true, silentAfter: true })).ends;
}
