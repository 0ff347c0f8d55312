/**
 * The connections of sessions, and how long a session outlives its last one.
 *
 * Promise: a session has one connection, the newest, and beside it those that asked to stand beside others. A
 * connection is closed when its session has ended or its secret was replaced. A session whose last connection
 * was lost is kept for the grace time, and after it as long as it holds a lasting grant.
 */
import type { CapTPStats, Clock, Connection, Dialect, Far, Meter } from '@hob/vat';
import { closeCodes } from '@hob/vat/wire';
import type { RequestWaiters } from '../state/waiters.ts';

/** A peer whose secret was accepted. */
export interface EnteredPeer {
  /** The session's id, `granter:NAME`, or `sturdyref:GRANT`. */
  readonly who: string;
  readonly session: string | undefined;
  readonly face: Far<object>;
  readonly meter: Meter;
  /** It is one of several programs of its session. */
  readonly beside?: boolean;
}

interface LiveConnection {
  readonly who: string;
  readonly dialect: Dialect;
  readonly connection: Connection;
}

/** Turns of the host that change a session when its connections change. */
export interface SessionLookup {
  /** Called when somebody has connected. Returns false if the session has ended. */
  entered(session: string): Promise<boolean>;
  /** Ends the session if it holds no lasting grant. Returns whether it goes on. */
  endUnlessLasting(session: string): Promise<boolean>;
}

/** The shortest time after which a session is checked again for lasting grants. */
const minRecheckMs = 60_000;

export class Presence {
  readonly #connections = new Set<LiveConnection>();
  /** Sessions in their grace time, each with a function that stops the timer. */
  readonly #graces = new Map<string, () => void>();
  readonly #waiters: RequestWaiters;
  readonly #sessions: SessionLookup;
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #fault: (error: unknown) => void;
  #closing = false;

  constructor(of: {
    readonly waiters: RequestWaiters;
    readonly sessions: SessionLookup;
    readonly clock: Clock;
    readonly graceMs: number;
    /** Logs an error of ours. It ends nothing else. */
    readonly fault: (error: unknown) => void;
  }) {
    this.#waiters = of.waiters;
    this.#sessions = of.sessions;
    this.#clock = of.clock;
    this.#graceMs = of.graceMs;
    this.#fault = of.fault;
  }

  /** `beside`: it leaves the other connections of its session open. One that does not closes them all. */
  welcome({ who, session, beside }: EnteredPeer, dialect: Dialect, connection: Connection): void {
    if (session !== undefined) {
      this.#stopGrace(session);
      if (beside !== true) this.#close(who, 'a newer connection of this session took its place', closeCodes.fenced);
    }
    // Those who wait over another connection wait on.
    if (beside !== true || !this.#isConnected(who)) this.#waiters.connected(who);
    const link = { who, dialect, connection };
    this.#connections.add(link);
    connection.closed
      .then(({ code }) => {
        this.#connections.delete(link);
        const others = this.#isConnected(who);
        if (!others) this.#waiters.disconnected(who);
        if (session !== undefined && !others && code !== closeCodes.sessionEnded) this.left(session);
      })
      .catch(this.#fault);
    // The session may have ended while it was entered.
    if (session !== undefined)
      this.#sessions
        .entered(session)
        .then(
          (there) => there || connection.close('this session has ended', closeCodes.sessionEnded),
          () => connection.close('the store cannot be read: enter again', closeCodes.fault),
        )
        .catch(this.#fault);
  }

  connections(): readonly { readonly session: string; readonly dialect: Dialect; stats(): CapTPStats }[] {
    return [...this.#connections].map(({ who, dialect, connection }) => ({
      session: who,
      dialect,
      stats: () => connection.stats(),
    }));
  }

  /** Nobody is connected to the session: its grace time starts. */
  left(session: string): void {
    this.#startGrace(session, this.#graceMs);
  }

  /** A session without a connection was used: its grace time starts again. */
  seen(session: string): void {
    if (this.#graces.has(session)) this.left(session);
  }

  ended(session: string): void {
    this.#stopGrace(session);
    this.#close(session, 'this session has ended', closeCodes.sessionEnded);
  }

  renewed(who: string): void {
    this.#close(who, 'this secret was renewed', closeCodes.sessionEnded);
  }

  cut(why: string, code: number): void {
    for (const { connection } of this.#connections) connection.close(why, code);
  }

  /** From now on no grace time starts. */
  close(): void {
    this.#closing = true;
    for (const stop of this.#graces.values()) stop();
    this.#graces.clear();
    this.cut('the host is closing', closeCodes.goingAway);
  }

  #isConnected(caller: string): boolean {
    return [...this.#connections].some(({ who }) => who === caller);
  }

  #close(who: string, why: string, code: number): void {
    for (const link of this.#connections) if (link.who === who) link.connection.close(why, code);
  }

  #startGrace(session: string, ms: number): void {
    if (this.#closing) return;
    this.#stopGrace(session);
    const stop = this.#clock.after(ms, () => {
      this.#graces.delete(session);
      const lookAgain = (): void => {
        // It may have been entered while its grants were checked.
        if (!this.#isConnected(session)) this.#startGrace(session, Math.max(this.#graceMs, minRecheckMs));
      };
      // A failed store has ended nothing. The session is checked again, so it is not kept for ever.
      this.#sessions
        .endUnlessLasting(session)
        .then((goesOn) => goesOn && lookAgain(), lookAgain)
        .catch(this.#fault);
    });
    this.#graces.set(session, stop);
  }

  #stopGrace(session: string): void {
    this.#graces.get(session)?.();
    this.#graces.delete(session);
  }
}
