/** What may be a petname or the name of a session: short, printable, no surprises in a terminal or a URL. */
import { CapError } from '@hob/vat';

export function checkName(name: unknown, what: string): asserts name is string {
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    throw new CapError('invalid', `${what} is made of 1 to 63 of a–z, 0–9 and -, and begins with a letter or digit`);
}
