/**
 * Which addresses a cap may connect to.
 *
 * Promise: without a list, only public addresses. If one of the addresses of a name is refused, all are: a name that
 * leads to a stranger and to this machine is an attack or a mistake. A cloud's metadata address has to be listed by
 * itself: no range opens it. The addresses of this machine's own interfaces are refused as loopback is.
 */
import { refusal } from '../base/errors.ts';
import { type Address, readAddress } from './address.ts';
import { type AddressKind, type AddressRange, isInRange, kindOf, parseRange, unmapped } from './kinds.ts';

export interface AddressPolicy {
  /**
   * Takes the addresses that a name resolved to, as a resolver writes them. Returns them in that order, canonical, each
   * once; at least one. Errors: `E_ADDRESS` if one is refused, `E_UNREACHABLE` if there is none.
   */
  judge(resolved: readonly string[]): readonly Address[];
}

const MOST_LISTED = 64;

/**
 * `listed`: addresses and ranges that are allowed although they are not public, as `127.0.0.1` and `10.1.0.0/16`.
 * `own`: the addresses of this machine now. Errors: `invalid`.
 */
export function addressPolicy(listed: unknown, own: () => readonly string[]): AddressPolicy {
  const ranges = takeRanges(listed);
  const isListed = (address: Address, kind: AddressKind): boolean =>
    ranges.some((range) => isInRange(address, range) && (kind !== 'metadata' || isOne(range)));
  return Object.freeze({
    judge: (resolved: readonly string[]): readonly Address[] => {
      const mine = new Set(own().map((text) => canonical(text)?.text));
      const judged = new Map<string, Address>();
      for (const text of resolved) {
        const address = canonical(text);
        if (address === undefined) throw refusal('E_ADDRESS', 'it is not an address');
        const kind = kindOf(address);
        if (!isListed(address, kind) && (kind !== 'public' || mine.has(address.text)))
          throw refusal('E_ADDRESS', `it is ${kind === 'public' ? 'of this machine' : kind}`);
        judged.set(address.text, address);
      }
      if (judged.size === 0) throw refusal('E_UNREACHABLE', 'the name has no address');
      return Object.freeze([...judged.values()]);
    },
  });
}

const canonical = (text: string): Address | undefined => {
  const address = readAddress(text);
  return address && unmapped(address);
};

const isOne = ({ family, prefix }: AddressRange): boolean => prefix === (family === 4 ? 32 : 128);

function takeRanges(listed: unknown): readonly AddressRange[] {
  if (listed === undefined) return [];
  if (!Array.isArray(listed) || listed.length > MOST_LISTED)
    throw refusal('invalid', `addresses is a list of at most ${MOST_LISTED}`);
  return listed.map((text: unknown) => {
    const range = typeof text === 'string' ? parseRange(text) : undefined;
    if (range === undefined)
      throw refusal('invalid', 'addresses are written as 10.1.2.3, 10.1.0.0/16, ::1 or fd00::/8, in lower case');
    return range;
  });
}
