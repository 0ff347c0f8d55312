/**
 * Limits the connections that sessions and granters have at once.
 *
 * Promise: a session and its child sessions have 8 connections together, on their meter. Granters have
 * slots of their own, so no number of sessions, and no hanging connection of the granter, keeps a granter
 * out. A session that enters again replaces its old connection, and is never refused for lack of a slot. An
 * HTTP call waits some seconds for a slot.
 */
import type { Clock, Meter } from '@hob/vat';
import { chargeConnection } from '@hob/vat/wire';

/** The caller of a new connection, and the meter that pays for it. */
export interface Caller {
  /** The session's id, `granter:NAME`, or `sturdyref:GRANT`. */
  readonly who: string;
  readonly session: string | undefined;
  readonly meter: Meter;
  /** It is one of several programs of its session, so it replaces no connection and has a slot of its own. */
  readonly beside?: boolean;
}

export type SlotResult =
  /** `release` gives the slot back. It may be called more than once. */
  | { readonly ok: true; release(): void }
  | { readonly ok: false; readonly status: 429 | 503; readonly code: 'limit' | 'unavailable'; readonly reason: string };

/** Sockets of one granter. A new one closes the oldest. */
const maxGranterSockets = 16;
/** Sockets of one session: the newest, and the one before it that is still closing. */
const maxSessionSockets = 2;
/** HTTP calls of a session and its children that wait for a slot, and how long they wait. */
const maxWaitingCalls = 64;
const waitMs = 5000;

interface OpenSocket {
  readonly end: () => void;
}

/** The sockets of a granter or of a session. They share one slot. */
interface CallerSockets {
  readonly sockets: Set<OpenSocket>;
  /** Called when the last socket has closed. */
  readonly giveBack: () => void;
}

export class ConnectionSlots {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #byCaller = new Map<string, CallerSockets>();
  /** Waiting calls, by the meter that their slot is charged to. */
  readonly #waiting = new Map<Meter, Set<() => void>>();
  #taken = 0;

  /** `most`: how many slots all sessions of the host have together. */
  constructor(clock: Clock, most: number) {
    [this.#clock, this.#most] = [clock, most];
  }

  /** Takes a slot for a socket. `end` closes the socket when a newer one needs its slot. */
  take({ who, session, meter, beside }: Caller, end: () => void): SlotResult {
    if (isGranter(who)) return this.#addSocket(who, end, maxGranterSockets, () => {});
    if (session === undefined || beside === true) return this.#chargeSlot(meter);
    if (this.#byCaller.has(who)) return this.#addSocket(who, end, maxSessionSockets, () => {});
    const place = this.#chargeSlot(meter);
    return place.ok ? this.#addSocket(who, end, maxSessionSockets, place.release) : place;
  }

  /** Takes a slot for an HTTP call. `gone` fires when the caller hangs up. */
  async takeForCall({ who, meter }: Caller, gone: AbortSignal): Promise<SlotResult> {
    if (isGranter(who)) return { ok: true, release: () => {} };
    const until = this.#clock.tick() + waitMs;
    for (;;) {
      const place = this.#chargeSlot(meter);
      const left = until - this.#clock.tick();
      if (place.ok || left <= 0 || gone.aborted) return place;
      if ((this.#waiting.get(meter)?.size ?? 0) >= maxWaitingCalls) return place;
      await this.#waitForSlot(meter, left, gone);
    }
  }

  /** Waits until a slot of this meter is free, `ms` are over, or the caller is gone. */
  #waitForSlot(meter: Meter, ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(meter) ?? new Set();
      this.#waiting.set(meter, waiting);
      const over = (): void => {
        stop();
        gone.removeEventListener('abort', over);
        waiting.delete(over);
        if (waiting.size === 0) this.#waiting.delete(meter);
        resolve();
      };
      const stop = this.#clock.after(ms, over);
      gone.addEventListener('abort', over);
      waiting.add(over);
    });
  }

  #addSocket(who: string, end: () => void, most: number, giveBack: () => void): SlotResult {
    const held = this.#byCaller.get(who) ?? { sockets: new Set(), giveBack };
    this.#byCaller.set(who, held);
    const { sockets: seats } = held;
    const [oldest] = seats;
    if (seats.size >= most && oldest !== undefined) {
      seats.delete(oldest);
      oldest.end();
    }
    const seat: OpenSocket = { end };
    seats.add(seat);
    const leave = (): void => {
      if (!seats.delete(seat) || seats.size > 0) return;
      this.#byCaller.delete(who);
      held.giveBack();
    };
    return { ok: true, release: leave };
  }

  #chargeSlot(meter: Meter): SlotResult {
    if (this.#taken >= this.#most)
      return {
        ok: false,
        status: 503,
        code: 'unavailable',
        reason: 'every place of this host is taken: try again later',
      };
    let giveBack: () => void;
    try {
      giveBack = chargeConnection(meter);
    } catch {
      return { ok: false, status: 429, code: 'limit', reason: tooManyConnections };
    }
    this.#taken += 1;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      this.#taken -= 1;
      giveBack();
      const [first] = this.#waiting.get(meter) ?? [];
      first?.();
    };
    return { ok: true, release: leave };
  }
}

const tooManyConnections = 'this session, with those that it pays for, has as many connections as it may: close some';
const isGranter = (who: string): boolean => who.startsWith('granter:');
