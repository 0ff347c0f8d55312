/**
 * Checks petnames and names of sessions: short, printable, and harmless in a terminal or a URL.
 *
 * Promise: two petnames of one session do not look alike in any common typeface. Names are ASCII, so NFKC
 * changes none of them. Their skeletons are compared, as in Unicode Technical Standard 39.
 */
import { CapError } from '@hob/vat';

export function checkName(name: unknown, what: string): asserts name is string {
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name) || name.normalize('NFKC') !== name)
    throw new CapError('invalid', `${what} is made of 1 to 63 of a–z, 0–9 and -, and begins with a letter or digit`);
}

/**
 * The same text for all names that look alike: 0 and o; 1, l and i; 5 and s; 2 and z; rn and m; vv and w.
 */
export function skeletonOf(name: string): string {
  return name
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('0', 'o')
    .replaceAll(/[1i]/g, 'l')
    .replaceAll('5', 's')
    .replaceAll('2', 'z');
}
