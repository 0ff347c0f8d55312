/**
 * How many connections there may be at once, and whose.
 *
 * Promise: a session and those that it pays for have 8 connections together, on their meter. Granters have places of their own: no number of
 * sessions, and no connection of a granter that hangs, keeps one out. A session that enters again takes the place of its old connection and is
 * never refused because of that. A call by HTTP waits a little for a place.
 */
import { type Clock, chargeConnection, type Meter } from '@hob/vat';

/** Who comes, and who pays for it. */
export interface Comer {
  /** The session's id, `granter:NAME`, or `sturdyref:GRANT`. */
  readonly who: string;
  readonly session: string | undefined;
  readonly meter: Meter;
}

export type Place =
  /** `leave` gives it back; it may be called more than once. */
  | { readonly ok: true; leave(): void }
  | { readonly ok: false; readonly status: 429 | 503; readonly code: 'limit' | 'unavailable'; readonly reason: string };

/** Of all sessions together: far below what a process may have open. */
const mostPlaces = 256;
/** Sockets of one granter. The oldest goes when one more comes. */
const mostOfGranter = 16;
/** Sockets of one session: the newest, and the one before it, which is still being closed. */
const mostOfSession = 2;
/** Calls by HTTP of one family that wait for a place, and for how long. */
const mostWaiting = 64;
const waitMs = 5000;

interface Seat {
  readonly end: () => void;
}

/** The sockets of a granter, or of a session, whose sockets have one place together. */
interface Held {
  readonly seats: Set<Seat>;
  /** Called when the last of them has gone. */
  readonly giveBack: () => void;
}

export class Places {
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  /** Calls that wait, by the meter that their place is charged to. */
  readonly #waiting = new Map<Meter, Set<() => void>>();
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For a socket. `end` cuts it: it is called when a newer one needs its place. */
  take({ who, session, meter }: Comer, end: () => void): Place {
    if (isGranter(who)) return this.#sit(who, end, mostOfGranter, () => {});
    if (session === undefined) return this.#charged(meter);
    if (this.#held.has(who)) return this.#sit(who, end, mostOfSession, () => {});
    const place = this.#charged(meter);
    return place.ok ? this.#sit(who, end, mostOfSession, place.leave) : place;
  }

  /** For a call by HTTP, which ends by itself. `gone` fires when its caller hung up. */
  async takeForCall({ who, meter }: Comer, gone: AbortSignal): Promise<Place> {
    if (isGranter(who)) return { ok: true, leave: () => {} };
    const until = this.#clock.tick() + waitMs;
    for (;;) {
      const place = this.#charged(meter);
      const left = until - this.#clock.tick();
      if (place.ok || left <= 0 || gone.aborted) return place;
      if ((this.#waiting.get(meter)?.size ?? 0) >= mostWaiting) return place;
      await this.#free(meter, left, gone);
    }
  }

  /** Until a place of this meter is given back, `ms` are over, or nobody waits any more. */
  #free(meter: Meter, ms: number, gone: AbortSignal): Promise<void> {
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

  #sit(who: string, end: () => void, most: number, giveBack: () => void): Place {
    const held = this.#held.get(who) ?? { seats: new Set(), giveBack };
    this.#held.set(who, held);
    const { seats } = held;
    const [oldest] = seats;
    if (seats.size >= most && oldest !== undefined) {
      seats.delete(oldest);
      oldest.end();
    }
    const seat: Seat = { end };
    seats.add(seat);
    const leave = (): void => {
      if (!seats.delete(seat) || seats.size > 0) return;
      this.#held.delete(who);
      held.giveBack();
    };
    return { ok: true, leave };
  }

  #charged(meter: Meter): Place {
    if (this.#taken >= mostPlaces)
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
      return { ok: false, status: 429, code: 'limit', reason: tooMany };
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
    return { ok: true, leave };
  }
}

const tooMany = 'this session, with those that it pays for, has as many connections as it may: close some';
const isGranter = (who: string): boolean => who.startsWith('granter:');
