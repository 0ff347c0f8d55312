/** The caller of a cap: its grants, its meter, and its ledger. */
import type { DriverCall } from '@hob/vat';
import type { Watch } from '@hob/vat/forwarder';

export interface Caller {
  /** The grants of the call, as the key of its jobs. `''` is the program that runs the host. */
  readonly holder: string;
  readonly grants: readonly string[];
  /** Undefined: the maker of the cap pays. */
  readonly payer: object | undefined;
  /** Watches the end of the grants. Called once for each job. */
  watch(): Watch;
  tell(kind: string, fields: Readonly<Record<string, unknown>>, args: readonly unknown[]): Promise<void>;
}

const never: AbortSignal = new AbortController().signal;

/** The program that runs the host, which calls the object directly. */
export const host: Caller = Object.freeze({
  holder: '',
  grants: Object.freeze([]),
  payer: undefined,
  watch: () => ({ signal: never, done: () => {} }),
  tell: async () => {},
});

export const callerOf = (call: DriverCall): Caller => ({
  holder: call.cause.join(' '),
  grants: call.cause,
  payer: call.cause.length === 0 ? undefined : call.meter,
  watch: () => call.watch(),
  tell: (kind, fields, args) => call.tell(kind, fields, args),
});
