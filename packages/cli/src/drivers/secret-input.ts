/**
 * Reads the value of a secret: typed at a terminal without an echo, or all of the standard input.
 *
 * Promise: it is in no command line and no environment, where other programs of the same user can read it.
 */
import { askSecret } from '@hob/host/client';
import { Mistake } from '../line/mistake.ts';

const MOST_BYTES = 65_536;

/** One line break at the end of an input is not a part of the value. Errors: `Mistake`. */
export async function secretValue(name: string): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY === true) return await askSecret(`The value of ${name} (it is not shown): `);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > MOST_BYTES) throw new Mistake('nothing was stored: the input is too long for a secret');
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
