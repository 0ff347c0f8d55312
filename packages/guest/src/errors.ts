/** What a guest is refused with, and how its own errors are told. */
import { CapError } from '@hob/vat';

/** `E_PROGRAM`: the program failed; its text is the program's own. */
export type GuestCode = 'E_PROGRAM' | 'E_SANDBOX_UNAVAILABLE' | 'limit' | 'invalid' | 'revoked' | 'unavailable';

/** With what the program had printed and used until then. */
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
