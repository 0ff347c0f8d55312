/** Checks the arguments of a caller, once, where they enter. */
import { CapError } from '@hob/vat';

/** Returns a copy of a record whose names are the caller's own; `{}` for undefined. */
export function takeMap(given: unknown, what: string): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CapError('invalid', `${what} is a record`);
  // Read once: a getter could return something else the second time.
  return { ...given };
}

export function takeText(given: unknown, what: string): string {
  if (typeof given !== 'string' || given.includes('\0')) throw new CapError('invalid', `${what} is a text without NUL`);
  return given;
}

/** The longest argument that the kernel takes. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;

export function takeArgument(given: unknown, what: string): string {
  const text = takeText(given, what);
  if (Buffer.byteLength(text) > LONGEST_ARGUMENT)
    throw new CapError('E_ARGV', `${what} is longer than 128 KiB: give it as stdin, or as a file in a mount`);
  return text;
}
