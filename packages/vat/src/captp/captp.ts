/** `captp` opens a CapTP session in a dialect that is given by name. */
import { CapError } from '../core/errors.ts';
import { type OptionNames, takeOptions } from '../core/options.ts';
import { endo } from './dialects/endo.ts';
import { hob1 } from './dialects/hob.ts';
import { type Connected, openSession, type SessionOptions, sessionOptions } from './open-session.ts';
import type { Duplex } from './session/duplex.ts';
import type { Dialect } from './session/operations.ts';

export { type Connected, type Connection, release, type WireFault } from './open-session.ts';

/** The dialects: encodings of the same operations. The WebSocket subprotocol selects one. */
export type DialectName = 'hob.1' | 'captp';

/** `ocapn` is a reserved name. It is refused with `unavailable`; docs/wire.md says what it would need. */
export type DialectOrOcapn = DialectName | 'ocapn';

/** The dialects that this version speaks, by name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = Object.freeze({ 'hob.1': hob1, captp: endo });

/** Returns the name of a supported dialect. Errors: `unavailable`, `invalid`. */
export function spoken(name: DialectOrOcapn = 'hob.1'): DialectName {
  if (name === 'ocapn')
    throw new CapError(
      'unavailable',
      'the dialect ocapn is not supported yet: choose hob.1, or captp for an Endo peer',
    );
  if (!Object.hasOwn(dialects, name))
    throw new CapError('invalid', `no dialect is called "${String(name).slice(0, 20)}": choose hob.1 or captp`);
  return name;
}

/** Options of a session, with its dialect. */
export interface CapTPOptions extends SessionOptions {
  /** Default: `hob.1`. */
  readonly dialect?: DialectOrOcapn;
}

/** The options of a session, checked before anything is dialled. */
export const captpOptions: OptionNames<CapTPOptions> = { dialect: true, ...sessionOptions };

/** Opens a CapTP session over an open duplex. Both sides may offer a bootstrap. */
export function captp<T extends object>(duplex: Duplex, options?: CapTPOptions): Connected<T> {
  const given = takeOptions(options, 'captp', captpOptions);
  return openSession(dialects[spoken(given.dialect)], duplex, given);
}
