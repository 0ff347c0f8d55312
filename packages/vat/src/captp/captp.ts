/** `captp`: a session over an open duplex, and what a program sees of it. */
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

/** Ways of writing the same operations; chosen by WebSocket subprotocol. */
export type DialectName = 'hob.1' | 'captp';

/** OCapN's has its name already, and is refused with `unavailable`: docs/wire.md says what it would need. */
export type DialectOrOcapn = DialectName | 'ocapn';

export const dialects: Readonly<Record<DialectName, Dialect>> = Object.freeze({ 'hob.1': hob1, captp: endo });

/** Errors: `unavailable`, `invalid`. */
export function spoken(name: DialectOrOcapn = 'hob.1'): DialectName {
  if (name === 'ocapn')
    throw new CapError('unavailable', 'ocapn is not spoken yet: choose hob.1, or captp for an Endo peer');
  if (!Object.hasOwn(dialects, name))
    throw new CapError('invalid', `no dialect is called "${String(name).slice(0, 20)}": choose hob.1 or captp`);
  return name;
}

export interface CapTPOptions {
  /** `hob.1` where nothing is said. */
  readonly dialect?: DialectOrOcapn;
  readonly limits?: CapTPLimits;
  /** Offered to the peer: a reference. */
  readonly bootstrap?: object;
  /** Pays for what the peer sends; where none is given, that of `vat`, and without that one of this connection's own. */
  readonly meter?: Meter;
  readonly vat?: Vat;
  /**
   * Told of each error whose text does not leave: what failed with something that is no `CapError`, and faults of this end
   * that close the connection. The peer is told only the id.
   */
  readonly observe?: (fault: WireFault) => void;
}

/** For the log of this end: it may name paths, and hold a stack. */
export interface WireFault {
  readonly id: string;
  readonly error: unknown;
}

export interface Connection {
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  stats(): CapTPStats;
  /** Breaks what waits with `disconnected`, on both sides. `code` is one of `closeCodes`. */
  close(reason?: string, code?: number): void;
}

/** A connection, and what the peer offers. */
export interface Connected<T> extends Connection {
  /** Messages to it are pipelined. */
  readonly bootstrap: Far<T>;
}

/** Speaks CapTP over an open duplex; both sides may offer a bootstrap. */
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
        // It may never tell that it is closed.
        ended({ code, reason });
        throw error;
      }
    },
  };
  const session = new Session(dialect, link, meter, limits, bootstrap, observe && noting(observe));
  // What the peer sent may be undone with the turns that took it, also where it waits for no answer: it has to look again.
  const stop = onLossOf(vat ?? vatOf(bootstrap), () => session.lost());
  const ended = (why: { readonly code: number; readonly reason: string }): void => {
    stop();
    session.end();
    over.resolve(why);
  };
  duplex.onClose(ended);
  duplex.onFault?.((error) => session.fence.fault(error));
  const theirs = session.bootstrapOfPeer();
  duplex.onFrame((frame) => session.receive(frame));
  return Object.freeze({
    bootstrap: theirs as Far<T>,
    closed: over.promise,
    stats: () => session.stats,
    close: (reason = 'done', code: number = closeCodes.normal): void => session.close(code, reason),
  });
}

/** An id that tells nothing, not even how many there were before. */
function noting(observe: (fault: WireFault) => void): Fault {
  const note = guarded(observe);
  return (error) => {
    const id = Buffer.from(systemRandom(6)).toString('hex');
    note(Object.freeze({ id, error }));
    return id;
  };
}

/**
 * Says now that a reference of a peer is no longer needed, rather than waiting for the garbage collector: whoever here still
 * holds it gets `no-such-object`. Does nothing to other references.
 */
export function release(reference: Far<unknown>): void {
  const target = targetOf(reference);
  if (target instanceof Import) (target.exit as Session).release(target);
}
