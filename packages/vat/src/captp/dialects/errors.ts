/**
 * The form of errors on the wire. A `CapError` is sent with its code and text. Any other error is sent as a
 * fixed text.
 */
import { CapError } from '../../core/errors.ts';
import type { Fault } from '../session/operations.ts';

const longest = 4000;
/** Maximum errors in one frame. */
export const mostErrors = 1000;
const codes = /^[A-Za-z][\w-]{0,63}$/;

export const nameless = 'the call failed at its target, which gives no reason';

/**
 * Returns the code and the text to send. An error that is not a `CapError` may name paths and people. Then
 * the text is fixed and has the id under which `fault` recorded the error.
 */
export function outward(
  error: unknown,
  { fault }: { readonly fault?: Fault | undefined },
): { readonly code: string; readonly message: string } {
  if (error instanceof CapError && codes.test(error.code))
    return { code: error.code, message: error.message.slice(0, longest) };
  return { code: 'error', message: fault === undefined ? nameless : `${nameless} (error ${fault(error)})` };
}

/**
 * Makes the error that a peer sent. It has no stack: the place of its creation is of no use, and the stack is
 * most of its cost.
 */
export function inward(code: unknown, message: unknown): CapError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new CapError(
      typeof code === 'string' && codes.test(code) ? code : 'error',
      typeof message === 'string' && message !== '' ? beginning(message) : nameless,
    );
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Cuts a long text. The result is a copy, because an engine keeps the whole string alive for a slice of it.
 */
const beginning = (text: string): string =>
  text.length <= longest ? text : (JSON.parse(JSON.stringify(text.slice(0, longest))) as string);

/** For dialects whose errors have no code: returns `CODE: text`. */
export function errorText(error: unknown, by: { readonly fault?: Fault | undefined }): string {
  const { code, message } = outward(error, by);
  return `${code}: ${message}`;
}

export function errorFrom(text: string): CapError {
  const match = /^([A-Za-z][\w-]{0,63}): ([\s\S]*)$/.exec(beginning(text));
  return match === null ? inward('error', text) : inward(match[1], match[2]);
}
