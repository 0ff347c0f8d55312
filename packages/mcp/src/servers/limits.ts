/**
 * The limits of a server. All of them hold before anything is kept, and none is unlimited.
 */
import { CapError } from '@hob/vat';
import { takeRecord } from '@hob/vat/forwarder';

/** Times are in ms, sizes in bytes. A missing one has its default. */
export interface ServerLimits {
  /** The longest time from a start to the first list of tools. Default: 30 s. */
  readonly startMs?: number;
  /** The longest time of one call, also while it reports progress. Default: 120 s. */
  readonly callMs?: number;
  /** The longest message. A longer one is dropped while it arrives, and breaks its call. Default: 4 MiB. */
  readonly lineBytes?: number;
  /** The largest result. Default: 1 MiB. */
  readonly resultBytes?: number;
  /** The largest definition of a tool, with the instructions of its server. Default: 64 KiB. */
  readonly definitionBytes?: number;
  /** The most tools. Default: 500. */
  readonly tools?: number;
  /** Calls at once. Default: 16. */
  readonly openCalls?: number;
  /** The most messages that nobody asked for, such as progress, between two answers. Default: 1,000. */
  readonly unasked?: number;
  /** The most bytes of such messages and of dropped ones between two answers. Default: 256 MiB. */
  readonly unaskedBytes?: number;
  /** The most starts within a minute. Default: 5. */
  readonly starts?: number;
}

/** All limits of a server. */
export type FullServerLimits = Required<ServerLimits>;

const DEFAULTS: FullServerLimits = {
  startMs: 30_000,
  callMs: 120_000,
  lineBytes: 4 * 2 ** 20,
  resultBytes: 2 ** 20,
  definitionBytes: 64 * 1024,
  tools: 500,
  openCalls: 16,
  unasked: 1000,
  unaskedBytes: 256 * 2 ** 20,
  starts: 5,
};

/** Checks given limits. Errors: `invalid`. */
export function fullServerLimits(given: unknown): FullServerLimits {
  const said = takeRecord(given, 'a server', Object.keys(DEFAULTS), 'limit');
  for (const [name, value] of Object.entries(said))
    if (value !== undefined && !(typeof value === 'number' && Number.isSafeInteger(value) && value > 0))
      throw new CapError('invalid', `${name} is a whole number of at least 1`);
  return Object.freeze({ ...DEFAULTS, ...said });
}
