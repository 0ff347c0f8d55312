/** Two ends of a wire in memory, with the faults of a real one: for tests, and for two parts of one process. */
import type { Duplex } from '../captp/duplex.ts';

export interface Faults {
  /** How long each frame takes. */
  readonly delayMs?: number;
  /** After so many frames, counted over both directions, the wire is cut: both sides see it close. */
  readonly cutAfter?: number;
  /** After so many frames nothing arrives any more, and nobody is told: a peer that is half open. */
  readonly silentAfter?: number;
}

type Frame = string | Uint8Array;
interface Why {
  readonly code: number;
  readonly reason: string;
}

class Wire {
  readonly #faults: Faults;
  readonly ends: readonly [End, End];
  #frames = 0;
  #closed: Why | undefined;
  #lost = false;
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
    this.#later(() => {
      from.buffered -= frame.length;
      if (!this.#lost) to.arrive(frame);
    });
  }

  /** What was sent before still arrives. */
  close(why: Why): void {
    if (this.#closed !== undefined) return;
    this.#closed = why;
    this.#later(() => {
      for (const end of this.ends) end.over(why);
    });
  }

  #cut(): void {
    if (this.#closed !== undefined) return;
    this.#lost = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#closed = { code: 1006, reason: 'the wire was cut' };
    const why = this.#closed;
    queueMicrotask(() => {
      for (const end of this.ends) end.over(why);
    });
  }

  /** In order, each in a job of its own. */
  #later(then: () => void): void {
    const { delayMs = 0 } = this.#faults;
    if (delayMs === 0) return queueMicrotask(then);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, delayMs);
    this.#timers.add(timer);
  }
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

export function memoryPair(faults: Faults = {}): readonly [Duplex, Duplex] {
  return new Wire(faults).ends;
}
