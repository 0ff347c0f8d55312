/**
 * Which addresses lead to strangers on the internet, and which lead to this machine, its network, or a cloud's own
 * services.
 *
 * Promise: only an address that is known to be public is public. IPv6 outside of 2000::/3 is refused as a whole, apart
 * from the well-known prefix of NAT64, where the IPv4 address inside decides. The ranges are those of the IANA
 * registries for special-purpose addresses (RFC 6890), and the addresses at which clouds serve credentials.
 */
import { type Address, addressOf, parseAddress } from './address.ts';

export type AddressKind =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'link-local'
  | 'private'
  | 'metadata'
  | 'multicast'
  | 'translated'
  | 'reserved';

/** The addresses from `base` on with the same first `prefix` bits. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly base: bigint;
  readonly prefix: number;
}

const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

export function isInRange({ family, bits }: Address, range: AddressRange): boolean {
  const rest = BigInt(widthOf(range.family) - range.prefix);
  return family === range.family && bits >> rest === range.base >> rest;
}

/** Reads `10.0.0.0/8`; one address is a range of its own. Undefined: not canonical, or bits set after the prefix. */
export function parseRange(text: string): AddressRange | undefined {
  const [, spelled = '', length] = /^([0-9a-f:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = parseAddress(spelled);
  if (address === undefined) return undefined;
  const width = widthOf(address.family);
  const prefix = length === undefined ? width : Number(length);
  const rest = BigInt(width - prefix);
  if (prefix > width || (address.bits >> rest) << rest !== address.bits) return undefined;
  return { family: address.family, base: address.bits, prefix };
}

const rangeOf = (text: string): AddressRange => {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`no range: ${text}`);
  return range;
};

// The first range that holds an address decides.
const KINDS: readonly (readonly [AddressKind, readonly AddressRange[]])[] = (
  [
    // AWS, Azure, Google, Oracle, DigitalOcean and others; ECS tasks; Alibaba; Oracle; Azure's agent; AWS over IPv6.
    ['metadata', '169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16'],
    ['metadata', 'fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fe80::a9fe:a9fe'],
    ['unspecified', '0.0.0.0/8 ::'],
    ['loopback', '127.0.0.0/8 ::1'],
    ['link-local', '169.254.0.0/16 fe80::/10'],
    // The last is site-local, which old routers still route.
    ['private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7 fec0::/10'],
    ['multicast', '224.0.0.0/4 ff00::/8'],
    ['reserved', '192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4'],
    // Mapped, compatible, translated (SIIT), local NAT64, Teredo, 6to4: each leads to an IPv4 address by another way.
    ['translated', '::ffff:0:0/96 ::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 2001::/32 2002::/16'],
    ['reserved', '2001::/23 2001:db8::/32 3fff::/20'],
  ] as const
).map(([kind, ranges]) => [kind, ranges.split(' ').map(rangeOf)] as const);

const GLOBAL_UNICAST = rangeOf('2000::/3');
const NAT64 = rangeOf('64:ff9b::/96');
const MAPPED = rangeOf('::ffff:0:0/96');
/** The interface half of an ISATAP address: an IPv4 address follows. */
const isIsatap = ({ bits }: Address): boolean => ((bits >> 32n) & 0xfdff_ffffn) === 0x5efen;

export function kindOf(address: Address): AddressKind {
  if (isInRange(address, NAT64)) return kindOf(embeddedIn(address));
  const known = KINDS.find(([, ranges]) => ranges.some((range) => isInRange(address, range)))?.[0];
  if (known !== undefined) return known;
  if (address.family === 4) return 'public';
  if (!isInRange(address, GLOBAL_UNICAST)) return 'reserved';
  return isIsatap(address) ? 'translated' : 'public';
}

/**
 * A resolver may write an IPv4 address as a mapped IPv6 one, and the system connects to the IPv4 address. So it is
 * judged, listed and dialled as that one.
 */
export function unmapped(address: Address): Address {
  return isInRange(address, MAPPED) ? embeddedIn(address) : address;
}

const embeddedIn = ({ bits }: Address): Address => addressOf(4, bits & 0xffff_ffffn);
