/** What an error says on the wire: its code and its text where it is one of ours, and otherwise that there was one. */
import { CapError } from '../../core/errors.ts';
import type { Fault } from '../session/operations.ts';

const longest = 4000;
/** In one frame. */
export const mostErrors = 1000;
const codes = /^[A-Za-z][\w-]{0,63}$/;

export const nameless = 'the call failed at its target, which gives no reason';

/** An error that is not ours may name paths and people: what leaves is a fixed text, and the id under which `fault` noted it. */
export function outward(
  error: unknown,
  { fault }: { readonly fault?: Fault | undefined },
): { readonly code: string; readonly message: string } {
  if (error instanceof CapError && codes.test(error.code))
    return { code: error.code, message: error.message.slice(0, longest) };
  return { code: 'error', message: fault === undefined ? nameless : `${nameless} (error ${fault(error)})` };
}

/** An error of a peer's. Where it is made here says nothing, and to take note of it is most of what making one costs. */
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

/** A copy where it is cut off: an engine keeps a string whole for as long as there is a slice of it. */
const beginning = (text: string): string =>
  text.length <= longest ? text : Buffer.from(text.slice(0, longest), 'utf16le').toString('utf16le');

/** For dialects whose errors have no code of their own: `CODE: text`. */
export function errorText(error: unknown, by: { readonly fault?: Fault | undefined }): string {
  const { code, message } = outward(error, by);
  return `${code}: ${message}`;
}

export function errorFrom(text: string): CapError {
  const match = /^([A-Za-z][\w-]{0,63}): ([\s\S]*)$/.exec(beginning(text));
  return match === null ? inward('error', text) : inward(match[1], match[2]);
}
