/** The guards of `caps-net`, each with an edit that removes it. See `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const address = ['packages/caps-net/src/address/address.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'net-address-one-of-many',
    breaks: 'a name with one public address leads to any other',
    file: 'packages/caps-net/src/address/policy.ts',
    find: '        if (!isListed(address, kind) && (',
    replace: '        if (judged.size === 0 && !isListed(address, kind) && (',
    tests: address,
  },
  {
    name: 'net-address-metadata-range',
    breaks: 'a range that is listed opens the addresses at which a cloud serves credentials',
    file: 'packages/caps-net/src/address/policy.ts',
    find: " && (kind !== 'metadata' || isOne(range))",
    replace: '',
    tests: address,
  },
  {
    name: 'net-address-own',
    breaks: 'a service of this machine is reached by the public address of the machine',
    file: 'packages/caps-net/src/address/policy.ts',
    find: ' || mine.has(address.text)',
    replace: '',
    tests: address,
  },
  {
    name: 'net-address-mapped',
    breaks: 'an IPv4 address that is written as IPv6 is not judged as IPv4',
    file: 'packages/caps-net/src/address/policy.ts',
    find: 'return address && unmapped(address);',
    replace: 'return address;',
    tests: address,
  },
  {
    name: 'net-address-nat64',
    breaks: 'a NAT64 address leads to a private one',
    file: 'packages/caps-net/src/address/kinds.ts',
    find: 'return kindOf(embeddedIn(address));',
    replace: "return 'public';",
    tests: address,
  },
  {
    name: 'net-address-unknown',
    breaks: 'IPv6 that nobody has assigned counts as public',
    file: 'packages/caps-net/src/address/kinds.ts',
    find: "  if (!isInRange(address, GLOBAL_UNICAST)) return 'reserved';\n",
    replace: '',
    tests: address,
  },
  {
    name: 'net-address-isatap',
    breaks: 'an ISATAP address leads to a private one',
    file: 'packages/caps-net/src/address/kinds.ts',
    find: "isIsatap(address) ? 'translated' : 'public'",
    replace: "'public'",
    tests: address,
  },
  {
    name: 'net-address-canonical',
    breaks: 'an address has several spellings, which parsers may read differently',
    file: 'packages/caps-net/src/address/address.ts',
    find: 'return address.text === text ? address : undefined;',
    replace: 'return address;',
    tests: address,
  },
  {
    name: 'net-host-number',
    breaks: 'a number that some parsers read as an address is a name',
    file: 'packages/caps-net/src/address/host.ts',
    find: "  if (/^[0-9]/.test(labels.at(-1) ?? '')) throw refusal('E_HOST', 'write an address as four decimal numbers');\n",
    replace: '',
    tests: address,
  },
  {
    name: 'net-host-punycode',
    breaks: 'a label that claims to be encoded, and is not, is a name',
    file: 'packages/caps-net/src/address/host.ts',
    find: "labels.some((label) => label.startsWith('xn--')) && ",
    replace: 'false && ',
    tests: address,
  },
];
