/** `captp` opens a CapTP session over a duplex and returns the program's side of it. */
import { CapError } from '../core/errors.ts';
import { guarded } from '../core/guarded.ts';
import { Account } from '../core/meter.ts';
import { isReference, targetOf } from '../core/reference.ts';
import type { Far, Meter } from '../core/types.ts';
import { systemRandom } from '../drivers/random.ts';
import type { Vat } from '../vats/interface.ts';
import { LiveVat } from '../vats/vat.ts';
import { onLossOf, vatOf } from '../vats/which-vats.ts';
import { endo } from './dialects/endo.ts';
import { hob1 } from './dialects/hob.ts';
import { closeCodes, type Duplex } from './session/duplex.ts';
import { Import } from './session/imports.ts';
import { type CapTPLimits, defaultLimits } from './session/limits.ts';
import type { Dialect, Fault } from './session/operations.ts';
import type { Link } from './session/outbound.ts';
import { type CapTPStats, Session } from './session/session.ts';

/** The dialects: encodings of the same operations. The WebSocket subprotocol selects one. */
export type DialectName = 'hob.1' | 'captp';

/** `ocapn` is a reserved name. It is refused with `unavailable`; docs/wire.md says what it would need. */
export type DialectOrOcapn = DialectName | 'ocapn';

export const dialects: Readonly<Record<DialectName, Dialect>> = Object.freeze({ 'hob.1': hob1, captp: endo });

/** Returns the name of a supported dialect. Errors: `unavailable`, `invalid`. */
export function spoken(name: DialectOrOcapn = 'hob.1'): DialectName {
  if (name === 'ocapn')
    throw new CapError('unavailable', 'ocapn is not spoken yet: choose hob.1, or captp for an Endo peer');
  if (!Object.hasOwn(dialects, name))
    throw new CapError('invalid', `no dialect is called "${String(name).slice(0, 20)}": choose hob.1 or captp`);
  return name;
}

export interface CapTPOptions {
  /** Default: `hob.1`. */
  readonly dialect?: DialectOrOcapn;
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

export interface Connection {
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

/** Opens a CapTP session over an open duplex. Both sides may offer a bootstrap. */
export function captp<T extends object>(duplex: Duplex, options: CapTPOptions = {}): Connected<T> {
  const { bootstrap, vat, observe } = options;
  const dialect = dialects[spoken(options.dialect)];
  const meter = options.meter ?? (vat instanceof LiveVat ? vat.account : new Account('connection'));
  if (bootstrap !== undefined && !isReference(bootstrap))
    throw new CapError('invalid', 'a bootstrap is a reference: spawn an actor or make a driver');
  if (!(meter instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
  const limits = Object.freeze({ ...defaultLimits, ...options.limits });
  const over = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();
  const link: Link = {
    send: (frame, written) => duplex.send(frame, written),
    get buffered() {
      return duplex.buffered;
    },
    close: (code, reason) => {
      try {
        duplex.close(code, reason);
      } catch (error) {
        // The duplex may never report its close.
        ended({ code, reason });
        throw error;
      }
    },
  };
  const session = new Session(dialect, link, meter, limits, bootstrap, observe && recorder(observe));
  // A failed commit undoes turns that took messages of the peer. The peer may not wait for an answer, so it
  // must learn that it has to reconnect.
  const stop = onLossOf(vat ?? vatOf(bootstrap), () => session.lost());
  const ended = (why: { readonly code: number; readonly reason: string }): void => {
    stop();
    session.end();
    over.resolve(why);
  };
  duplex.onClose(ended);
  duplex.onFault?.((error) => session.fence.fault(error));
  const peerBootstrap = session.bootstrapOfPeer();
  duplex.onFrame((frame) => session.receive(frame));
  return Object.freeze({
    bootstrap: peerBootstrap as Far<T>,
    closed: over.promise,
    stats: () => session.stats,
    close: (reason = 'done', code: number = closeCodes.normal): void => session.close(code, reason),
  });
}

/** Ids are random, so that they do not reveal how many errors there were before. */
function recorder(observe: (fault: WireFault) => void): Fault {
  const note = guarded(observe);
  return (error) => {
    const id = Buffer.from(systemRandom(6)).toString('hex');
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
