/** Opens a CapTP session in a given dialect over a duplex, and returns the program's side of it. */
import { toHex } from '../core/drivers/platform.ts';
import { CapError } from '../core/errors.ts';
import { guarded } from '../core/faults.ts';
import { Account } from '../core/meter.ts';
import type { OptionNames } from '../core/options.ts';
import { isReference, targetOf } from '../core/reference.ts';
import type { Far, Meter } from '../core/types.ts';
import { systemRandom } from '../drivers/random.ts';
import { HomeVat } from '../vats/home-vat.ts';
import type { Vat } from '../vats/interface.ts';
import { onLossOf, vatOf } from '../vats/which-vats.ts';
import { closeCodes, type Duplex } from './session/duplex.ts';
import { Import } from './session/imports.ts';
import { type CapTPLimits, limitsOf } from './session/limits.ts';
import type { Dialect, Fault, Frame } from './session/operations.ts';
import type { Link } from './session/outbound.ts';
import { type CapTPStats, Session } from './session/session.ts';

/** Options of a session. Both sides may offer a bootstrap; limits protect this side from the peer. */
export interface SessionOptions {
  readonly limits?: CapTPLimits;
  /** The reference that the peer gets as our bootstrap. */
  readonly bootstrap?: object;
  /** Pays for the messages of the peer. Default: the meter of `vat`, or else a meter of this connection. */
  readonly meter?: Meter;
  readonly vat?: Vat;
  /**
   * Called for each error whose text does not leave this process: failures that are not a `CapError`, and
   * internal errors that close the connection. The peer is told only the id.
   */
  readonly observe?: (fault: WireFault) => void;
}

/** An entry for the log of this end. The error may contain paths and a stack. */
export interface WireFault {
  readonly id: string;
  readonly error: unknown;
}

/** `await using` closes it. */
export interface Connection extends AsyncDisposable {
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  stats(): CapTPStats;
  /**
   * Closes the connection. Everything unsettled breaks with `disconnected`, on both sides. `code` is one of
   * `closeCodes`.
   */
  close(reason?: string, code?: number): void;
}

/** A connection with the bootstrap of the peer. */
export interface Connected<T> extends Connection {
  /** The bootstrap of the peer. Messages to it can be sent at once. */
  readonly bootstrap: Far<T>;
}

export const sessionOptions: OptionNames<SessionOptions> = {
  limits: true,
  bootstrap: true,
  meter: true,
  vat: true,
  observe: true,
};

/** Opens a CapTP session over an open duplex. Both sides may offer a bootstrap. The names of the options are checked. */
export function openSession<T extends object>(
  dialect: Dialect,
  duplex: Duplex,
  options: SessionOptions = {},
): Connected<T> {
  const { bootstrap, vat, observe } = options;
  const meter = options.meter ?? (vat instanceof HomeVat ? vat.account : new Account('connection'));
  if (bootstrap !== undefined && !isReference(bootstrap))
    throw new CapError('invalid', 'a bootstrap is a reference: spawn an actor or make a driver');
  if (!(meter instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
  const limits = limitsOf(options.limits);
  const over = Promise.withResolvers<End>();
  const link = new DuplexLink(duplex, (why) => ended(why));
  const session = new Session(dialect, link, meter, limits, bootstrap, observe && recorder(observe));
  // A failed commit undoes turns that took messages of the peer. The peer may not wait for an answer, so it
  // must learn that it has to reconnect.
  const stop = onLossOf(vat ?? vatOf(bootstrap), () => session.lost());
  const ended = (why: End): void => {
    stop();
    session.end();
    over.resolve(why);
  };
  duplex.onClose(ended);
  duplex.onFault?.((error) => session.fence.fault(error));
  const peerBootstrap = session.bootstrapOfPeer();
  duplex.onFrame((frame) => session.receive(frame));
  const close = (reason = 'done', code: number = closeCodes.normal): void => session.close(code, reason);
  return Object.freeze({
    bootstrap: peerBootstrap as Far<T>,
    closed: over.promise,
    stats: () => session.stats,
    close,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      close();
      await over.promise;
    },
  });
}

type End = { readonly code: number; readonly reason: string };

/** A class, because an accessor of a single object makes that object six times as large, for every connection. */
class DuplexLink implements Link {
  readonly #duplex: Duplex;
  readonly #ended: (why: End) => void;

  constructor(duplex: Duplex, ended: (why: End) => void) {
    this.#duplex = duplex;
    this.#ended = ended;
  }

  get buffered(): number {
    return this.#duplex.buffered;
  }

  send(frame: Frame, written?: () => void): void {
    this.#duplex.send(frame, written);
  }

  slow(ms: number): void {
    this.#duplex.slow?.(ms);
  }

  hold(isFull: () => boolean): void {
    this.#duplex.hold?.(isFull);
  }

  close(code: number, reason: string): void {
    try {
      this.#duplex.close(code, reason);
    } catch (error) {
      // The duplex may never report its close.
      this.#ended({ code, reason });
      throw error;
    }
  }
}

/** Ids are random, so that they do not reveal how many errors there were before. */
function recorder(observe: (fault: WireFault) => void): Fault {
  const note = guarded(observe);
  return (error) => {
    const id = toHex(systemRandom(6));
    note(Object.freeze({ id, error }));
    return id;
  };
}

/**
 * Drops a reference of a peer now, without waiting for the garbage collector. Later calls on it by any holder
 * here fail with `no-such-object`. Has no effect on other references.
 */
export function release(reference: Far<unknown>): void {
  const target = targetOf(reference);
  if (target instanceof Import) (target.connection as Session).release(target);
}
