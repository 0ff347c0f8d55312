/**
 * A wire in memory whose frames arrive when a test says so: every crossing of messages can be tried, and
 * tried again.
 *
 * Promise: frames of one direction stay in order; nothing moves by itself.
 */
import type { Duplex } from '../src/captp/session/duplex.ts';

type Frame = string | Uint8Array;
interface Why {
  readonly code: number;
  readonly reason: string;
}
const cutWire: Why = Object.freeze({ code: 1006, reason: 'the wire was cut' });

class End implements Duplex {
  /** Messages of the other side that this one has not received yet. */
  readonly waiting: (Frame | Why)[] = [];
  over: Why | undefined;
  other: End = this;
  #onFrame: (frame: Frame) => void = () => {};
  #onClose: (why: Why) => void = () => {};

  get buffered(): number {
    return 0;
  }
  send(frame: Frame): void {
    if (this.over === undefined && this.other.over === undefined) this.other.waiting.push(frame);
  }
  onFrame(then: (frame: Frame) => void): void {
    this.#onFrame = then;
  }
  onClose(then: (why: Why) => void): void {
    this.#onClose = then;
  }
  close(code: number, reason: string): void {
    if (this.over !== undefined) return;
    this.other.waiting.push({ code, reason });
    this.end({ code, reason });
  }
  end(why: Why): void {
    if (this.over !== undefined) return;
    this.over = why;
    this.waiting.length = 0;
    this.#onClose(why);
  }
  hear(said: Frame | Why): void {
    if (typeof said === 'string' || said instanceof Uint8Array) this.#onFrame(said);
    else this.end(said);
  }
}

export class StepWire {
  readonly ends: readonly [Duplex, Duplex];
  readonly #a = new End();
  readonly #b = new End();

  constructor() {
    this.#a.other = this.#b;
    this.#b.other = this.#a;
    this.ends = [this.#a, this.#b];
  }

  /** One frame arrives at that end; false where none was on its way. */
  step(end: 0 | 1): boolean {
    const to = end === 0 ? this.#a : this.#b;
    const said = to.waiting.shift();
    if (said === undefined) return false;
    to.hear(said);
    return true;
  }

  /** The wire breaks. One end notices at once, the other when its next frame would have come. */
  cut(first: 0 | 1): void {
    const [now, later] = first === 0 ? [this.#a, this.#b] : [this.#b, this.#a];
    if (now.over !== undefined || later.over !== undefined) return;
    now.end(cutWire);
    later.waiting.length = 0;
    later.waiting.push(cutWire);
  }

  get idle(): boolean {
    return this.#a.waiting.length + this.#b.waiting.length === 0;
  }
}
