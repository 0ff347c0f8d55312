/** Arguments of a caller: looked at once, here. */
import { CapError } from '@hob/vat';

/** A plain record, or nothing; only `known` names where they are given. */
export function takeRecord(given: unknown, what: string, known?: readonly string[]): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CapError('invalid', `${what} is a record`);
  // Read once: a getter could answer another thing the second time.
  const taken = { ...given } as Record<string, unknown>;
  for (const name of Object.keys(taken))
    if (known !== undefined && !known.includes(name))
      throw new CapError('invalid', `${what} has no "${name.slice(0, 64)}": there are ${known.join(', ')}`);
  return taken;
}

export function takeText(given: unknown, what: string): string {
  if (typeof given !== 'string' || given.includes('\0')) throw new CapError('invalid', `${what} is a text without NUL`);
  return given;
}

/** The kernel takes no longer one. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;

export function takeArgument(given: unknown, what: string): string {
  const text = takeText(given, what);
  if (Buffer.byteLength(text) > LONGEST_ARGUMENT)
    throw new CapError('E_ARGV', `${what} is longer than 128 KiB: give it as stdin, or as a file in a mount`);
  return text;
}
