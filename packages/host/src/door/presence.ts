/**
 * Who is connected, and how long a session outlives its last connection.
 *
 * Promise: a session has one connection, the newest; those of a session that has ended, and of a secret that was renewed, are closed. A
 * session whose last connection was lost is kept for the grace time, and as long as it holds what lasts.
 */
import { type CapTPStats, type Clock, type Connection, closeCodes, type Dialect, type Far, type Meter } from '@hob/vat';
import type { Waiters } from '../state/waiters.ts';

/** Who came in. */
export interface EnteredPeer {
  /** The session's id, `granter:NAME`, or `sturdyref:GRANT`. */
  readonly who: string;
  readonly session: string | undefined;
  readonly face: Far<object>;
  readonly meter: Meter;
}

interface Link {
  readonly who: string;
  readonly dialect: Dialect;
  readonly connection: Connection;
}

/** What is asked of the book of the house. */
export interface SessionLookup {
  isOpen(session: string): Promise<boolean>;
  /** Ends the session if nothing in it lasts; true where it goes on. */
  lapse(session: string): Promise<boolean>;
}

/** What is kept for what lasts in it is looked at again no sooner than this. */
const shortestLook = 60_000;

export class Presence {
  readonly #links = new Set<Link>();
  /** Sessions whose last connection was lost, and how to stop the clock. */
  readonly #graces = new Map<string, () => void>();
  readonly #waiters: Waiters;
  readonly #rooms: SessionLookup;
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #fault: (error: unknown) => void;
  #closing = false;

  constructor(of: {
    readonly waiters: Waiters;
    readonly rooms: SessionLookup;
    readonly clock: Clock;
    readonly graceMs: number;
    /** Takes note of an error of ours: it ends nothing else. */
    readonly fault: (error: unknown) => void;
  }) {
    this.#waiters = of.waiters;
    this.#rooms = of.rooms;
    this.#clock = of.clock;
    this.#graceMs = of.graceMs;
    this.#fault = of.fault;
  }

  welcome({ who, session }: EnteredPeer, dialect: Dialect, connection: Connection): void {
    if (session !== undefined) {
      this.#graceEnds(session);
      this.#close(who, 'a newer connection of this session took its place', closeCodes.fenced);
    }
    const link = { who, dialect, connection };
    this.#links.add(link);
    this.#waiters.entered(who);
    connection.closed
      .then(({ code }) => {
        this.#links.delete(link);
        const others = [...this.#links].some((other) => other.who === who);
        if (!others) this.#waiters.left(who);
        if (session !== undefined && !others && code !== closeCodes.sessionEnded) this.left(session);
      })
      .catch(this.#fault);
    // It may have ended while it was entered.
    if (session !== undefined)
      this.#rooms
        .isOpen(session)
        .then(
          (there) => there || connection.close('this session has ended', closeCodes.sessionEnded),
          () => connection.close('the store cannot be read: enter again', closeCodes.fault),
        )
        .catch(this.#fault);
  }

  connections(): readonly { readonly session: string; readonly dialect: Dialect; stats(): CapTPStats }[] {
    return [...this.#links].map(({ who, dialect, connection }) => ({
      session: who,
      dialect,
      stats: () => connection.stats(),
    }));
  }

  /** Nobody is connected to it now: its grace time begins. */
  left(session: string): void {
    this.#graceBegins(session, this.#graceMs);
  }

  /** A sign of life of a session that nobody is connected to: the clock begins anew. */
  seen(session: string): void {
    if (this.#graces.has(session)) this.left(session);
  }

  ended(session: string): void {
    this.#graceEnds(session);
    this.#close(session, 'this session has ended', closeCodes.sessionEnded);
  }

  renewed(who: string): void {
    this.#close(who, 'this secret was renewed', closeCodes.sessionEnded);
  }

  cut(why: string, code: number): void {
    for (const { connection } of this.#links) connection.close(why, code);
  }

  /** From here on no grace time begins. */
  close(): void {
    this.#closing = true;
    for (const stop of this.#graces.values()) stop();
    this.#graces.clear();
    this.cut('the host is closing', closeCodes.goingAway);
  }

  #close(who: string, why: string, code: number): void {
    for (const link of this.#links) if (link.who === who) link.connection.close(why, code);
  }

  #graceBegins(session: string, ms: number): void {
    if (this.#closing) return;
    this.#graceEnds(session);
    const stop = this.#clock.after(ms, () => {
      this.#graces.delete(session);
      const lookAgain = (): void => this.#graceBegins(session, Math.max(this.#graceMs, shortestLook));
      // A store that failed has ended nothing: the session is looked at again, and not kept for ever.
      this.#rooms
        .lapse(session)
        .then((goesOn) => goesOn && lookAgain(), lookAgain)
        .catch(this.#fault);
    });
    this.#graces.set(session, stop);
  }

  #graceEnds(session: string): void {
    this.#graces.get(session)?.();
    this.#graces.delete(session);
  }
}
