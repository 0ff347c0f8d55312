/** Who asks: by which grants, who pays, and whom the ledger is told for. */
import type { DriverCall, Watch } from '@hob/vat';

export interface Caller {
  /** Whose jobs these are: the grants that the call came under. `''` is the program that runs the host. */
  readonly holder: string;
  readonly grants: readonly string[];
  /** Undefined: whoever made the cap. */
  readonly payer: object | undefined;
  /** The end of the grants. Called once for each job. */
  watch(): Watch;
  tell(kind: string, fields: Readonly<Record<string, unknown>>, args: readonly unknown[]): Promise<void>;
}

const never: AbortSignal = new AbortController().signal;

/** The program that runs the host, which calls the object itself. */
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
