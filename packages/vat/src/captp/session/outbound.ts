/**
 * Shared by all parts of a session: the dialect, the flushing of frames, the count of memory, and the end.
 *
 * Promise: operations sent in one turn leave together, in order. But `hob.1` sends a full frame at once, and so an
 * operation that is long or carries bytes, after the earlier ones. Drops and dones leave with the next frame, or when
 * the loop is idle. If a peer makes us keep more than the limit, or does not read, the connection closes. After the end
 * nothing is sent and no memory is counted.
 */
import { CapError } from '../../core/errors.ts';
import type { Account } from '../../core/meter.ts';
import { closeCodes } from './duplex.ts';
import { disconnected, type Fence } from './fence.ts';
import type { SessionLimits } from './limits.ts';
import type { Dialect, DialectSession, Frame } from './operations.ts';

/** The transport, as the core sees it. */
export interface Link {
  send(frame: Frame, written?: () => void): void;
  readonly buffered: number;
  close(code: number, reason: string): void;
  slow(ms: number): void;
  hold(isFull: () => boolean): void;
}

/** The session, as this file sees it. */
interface Speaking {
  /** Sends the drops of settled promises. */
  giveBack(): void;
  /** The connection is closed. */
  ended(why: CapError): void;
}

/** How long a peer is not read after a refusal. To make the refusal takes about a hundredth of this time. */
const refusalMs = 8;

/** If more messages wait for their turn, the peer is not read until at most half of this number wait. */
const mostQueued = 1024;

/** Errors that a peer sent. They slow nobody, because an object of one session could slow those that call it. */
const sentByPeers = new WeakSet<CapError>();

const keepsTooMuch = 'this connection keeps more than it may: connect again';
const stillRunning = 'calls of earlier connections still run and hold what this session may keep: wait for their end';

export class Outbound {
  readonly dialect: Dialect;
  readonly limits: SessionLimits;
  readonly dialectSession: DialectSession;
  readonly #fence: Fence;
  readonly #account: Account;
  readonly #link: Link;
  readonly #session: Speaking;
  #closing = false;
  /** The reason of a fault that happened during the close. */
  #fault: string | undefined;
  #closed: CapError | undefined;
  #bytes = 0;
  #flushing = false;
  #forgetting = false;

  constructor(
    dialect: Dialect,
    dialectSession: DialectSession,
    limits: SessionLimits,
    fence: Fence,
    account: Account,
    link: Link,
    session: Speaking,
  ) {
    this.#fence = fence;
    this.#account = account;
    this.dialect = dialect;
    this.limits = limits;
    this.dialectSession = dialectSession;
    this.#link = link;
    this.#session = session;
  }

  /** Set when the connection is closed. Every new message rejects with this error. */
  get closed(): CapError | undefined {
    return this.#closed;
  }

  /** Approximate memory that this connection uses. */
  get bytes(): number {
    // After the end, neither partial frames nor bytes that the transport holds count for this peer.
    return this.#closed === undefined ? this.#bytes + this.dialectSession.kept + this.#link.buffered : this.#bytes;
  }

  /**
   * Adds to the memory count; negative to subtract. After the close, calls that still run count for their
   * meter.
   */
  addBytes(bytes: number): void {
    if (this.#closed === undefined) this.#bytes += bytes;
  }

  // ---- outgoing -------------------------------------------------------------------------------------------

  /** Schedules a flush at the end of this turn of the loop. */
  scheduleFlush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#fence.soon(this.#flush);
  }

  /** Schedules drops and dones. They leave with the next frame, or when the loop is idle. */
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
    this.dialectSession.flush();
    if (!this.closesIfFlooded()) this.closesIfOverspent();
  };

  /** Notes that the peer sent this error. */
  heard(error: CapError): void {
    sentByPeers.add(error);
  }

  /** Called when a call of the peer fails. Slows the peer after `limit`, so that it takes no time of others. */
  refusing(error: unknown): void {
    if (error instanceof CapError && error.code === 'limit' && !sentByPeers.has(error)) this.#link.slow(refusalMs);
  }

  /**
   * Stops reading the peer while too many messages of its session wait for their turn. Otherwise thousands of messages
   * would wait in memory. The garbage collector would copy them again and again, and it stops all sessions meanwhile.
   */
  holdIfAhead(): void {
    const account = this.#account;
    if (account.queued > mostQueued) this.#link.hold(() => account.queued > mostQueued / 2);
  }

  // ---- memory limits --------------------------------------------------------------------------------------

  /** True if the socket holds too much for another call of ours. */
  get full(): boolean {
    return this.#link.buffered > this.limits.bufferedBytes;
  }

  /** Closes the connection if the peer does not read. Returns true if it closed. */
  closesIfFlooded(): boolean {
    if (this.#link.buffered <= this.limits.bufferedBytes + this.limits.frameBytes) return false;
    this.close(4400, 'the peer does not read what it asked for');
    return true;
  }

  /**
   * Closes the connection if it uses too much memory, including the bytes that wait in the socket. Returns
   * true if it closed.
   */
  closesIfOverspent(): boolean {
    const waits = this.#link.buffered;
    // Counts calls that came by earlier connections of the same session and still run.
    const { outliving } = this.#account;
    if (this.#bytes + this.dialectSession.kept + waits + outliving <= this.limits.memoryBytes) return false;
    this.close(4400, outliving > this.limits.memoryBytes / 2 ? stillRunning : keepsTooMuch);
    return true;
  }

  /**
   * Checks the limits after each answer. One frame can ask for very much, and all of it is answered in one
   * go.
   */
  answered(): void {
    if (this.#closed !== undefined) return;
    if (!this.closesIfFlooded()) this.closesIfOverspent();
  }

  // ---- closing --------------------------------------------------------------------------------------------

  /** Each step runs even if an earlier one fails, because others wait for the end. */
  close(code: number, reason: string): void {
    if (this.#closing) {
      if (code === closeCodes.fault) this.#fault ??= reason;
      return;
    }
    this.#closing = true;
    this.#fence.run(() => this.dialectSession.abort(reason));
    this.#fence.run(() => this.dialectSession.flush());
    this.#end();
    const [closeCode, why] = this.#fault === undefined ? [code, reason] : [closeCodes.fault, this.#fault];
    this.#fence.run(() => this.#link.close(closeCode, why));
  }

  /** The transport has closed. */
  end(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#fence.run(() => this.dialectSession.abort('the transport is gone'));
    this.#end();
  }

  #end(): void {
    const why = disconnected();
    this.#closed = why;
    this.#bytes = 0;
    this.#session.ended(why);
  }
}
