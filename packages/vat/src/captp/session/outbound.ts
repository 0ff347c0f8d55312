/**
 * What all parts of a session share: the dialect that it speaks, when what was said leaves, what the connection keeps, its end.
 *
 * Promise: what is said in one go leaves together; what is only forgotten goes with it, or when there is nothing else to do. A
 * peer that makes us keep more than it may, or does not read what it asked for, is closed on. After the end nothing is said,
 * and nothing is counted for it any more.
 */
import type { CapError } from '../../core/errors.ts';
import { closeCodes } from './duplex.ts';
import { disconnected, type Fence } from './fence.ts';
import type { Limits } from './limits.ts';
import type { Dialect, DialectSession, Frame } from './operations.ts';

/** The transport, for the core. */
export interface Link {
  send(frame: Frame, written?: () => void): void;
  readonly buffered: number;
  close(code: number, reason: string): void;
}

/** Who speaks. */
export interface Speaking {
  /** Bytes, about, of calls that came by earlier connections of the same session and still run. */
  readonly outliving: number;
  /** There is time now to say what is only forgotten. */
  giveBack(): void;
  /** Nothing is heard or said any more. */
  ended(why: CapError): void;
}

const keepsTooMuch = 'this connection keeps more than it may: connect again';
const stillRunning = 'calls of earlier connections still run and hold what this session may keep: wait for their end';

export class Outbound {
  readonly dialect: Dialect;
  readonly limits: Limits;
  readonly tongue: DialectSession;
  readonly #fence: Fence;
  readonly #link: Link;
  readonly #session: Speaking;
  #closing = false;
  /** The fault that came while it was closing. */
  #fault: string | undefined;
  #closed: CapError | undefined;
  #bytes = 0;
  #flushing = false;
  #forgetting = false;

  constructor(dialect: Dialect, tongue: DialectSession, limits: Limits, fence: Fence, link: Link, session: Speaking) {
    this.#fence = fence;
    this.dialect = dialect;
    this.limits = limits;
    this.tongue = tongue;
    this.#link = link;
    this.#session = session;
  }

  /** Why nothing leaves any more. */
  get closed(): CapError | undefined {
    return this.#closed;
  }

  /** About what this connection keeps. */
  get bytes(): number {
    // After the end nothing more is kept for this peer: not what waited for frames, nor what the transport did not get rid of.
    return this.#closed === undefined ? this.#bytes + this.tongue.kept + this.#link.buffered : this.#bytes;
  }

  /** When it is closed nothing is kept for the peer; what still runs is its meter's. */
  keeps(bytes: number): void {
    if (this.#closed === undefined) this.#bytes += bytes;
  }

  // ---- what leaves --------------------------------------------------------------------------------------------------------

  /** Something was said: it leaves when this turn of the loop has said the rest. */
  said(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#fence.soon(this.#flush);
  }

  /** What is only forgotten need not go at once: it goes with the next frame, or when there is nothing else to do. */
  forgetSoon(): void {
    if (this.#forgetting) return;
    this.#forgetting = true;
    this.#fence.onceOthersRan(() => {
      this.#forgetting = false;
      if (this.#closed !== undefined) return;
      this.#session.giveBack();
      if (!this.#flushing) this.#flush();
    });
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#closed !== undefined) return;
    this.tongue.flush();
    if (!this.endsFlood()) this.endsOverspent();
  };

  // ---- what a peer may make us keep ---------------------------------------------------------------------------------------

  /** No more calls of ours fit in. */
  get full(): boolean {
    return this.#link.buffered > this.limits.bufferedBytes;
  }

  /** Closes on a peer that does not take what it asked for; whether it did. */
  endsFlood(): boolean {
    if (this.#link.buffered <= this.limits.bufferedBytes + this.limits.frameBytes) return false;
    this.close(4400, 'the peer does not read what it asked for');
    return true;
  }

  /** Closes where too much is kept, what waits in the socket with it: that grows with what the peer says, and with what it is answered. */
  endsOverspent(): boolean {
    const waits = this.#link.buffered;
    const { outliving } = this.#session;
    if (this.#bytes + this.tongue.kept + waits + outliving <= this.limits.memoryBytes) return false;
    this.close(4400, outliving > this.limits.memoryBytes / 2 ? stillRunning : keepsTooMuch);
    return true;
  }

  /** After each answer: what was asked in one frame is answered in one go, and may be very much. */
  answered(): void {
    if (this.#closed !== undefined) return;
    if (!this.endsFlood()) this.endsOverspent();
  }

  // ---- the end ------------------------------------------------------------------------------------------------------------

  /** Each step is taken, also where one before it fails: others wait for what the end tells them. */
  close(code: number, reason: string): void {
    if (this.#closing) {
      if (code === closeCodes.fault) this.#fault ??= reason;
      return;
    }
    this.#closing = true;
    this.#fence.run(() => this.tongue.abort(reason));
    this.#fence.run(() => this.tongue.flush());
    this.#end();
    const [said, why] = this.#fault === undefined ? [code, reason] : [closeCodes.fault, this.#fault];
    this.#fence.run(() => this.#link.close(said, why));
  }

  /** The transport is gone. */
  end(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#fence.run(() => this.tongue.abort('the transport is gone'));
    this.#end();
  }

  #end(): void {
    const why = disconnected();
    this.#closed = why;
    this.#bytes = 0;
    this.#session.ended(why);
  }
}
