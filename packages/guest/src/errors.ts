/** The errors of guests. */
import { CapError } from '@hob/vat';

/** `E_PROGRAM`: the program failed. The text of that error comes from the program. */
export type GuestCode = 'E_PROGRAM' | 'E_SANDBOX_UNAVAILABLE' | 'limit' | 'invalid' | 'revoked' | 'unavailable';

export const noReference = (name: string): CapError =>
  new CapError(
    'invalid',
    `"${name.slice(0, 64)}" is not a reference: spawn an actor, make a driver, or take a cap of a session`,
  );

/** The error of an evaluation, with the output and the usage of the program until then. */
export class EvaluationError extends CapError {
  readonly console: string;
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };

  constructor(
    code: GuestCode | (string & {}),
    message: string,
    so: { readonly console: string; readonly usage: EvaluationError['usage'] },
  ) {
    super(code, message);
    this.console = so.console;
    this.usage = so.usage;
  }
}
