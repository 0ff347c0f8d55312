/**
 * One IPv4 or IPv6 address, parsed.
 *
 * Promise: an address has exactly one spelling here, the canonical one: four decimal numbers without leading zeros, or
 * RFC 5952. Everything else that some library takes for an address (octal, hexadecimal, one number, fewer than four
 * numbers, a zone, upper case) is no address, so no two parsers can disagree about one that passed.
 */

export interface Address {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly bits: bigint;
  /** The canonical spelling. */
  readonly text: string;
}

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;

/** Returns `undefined` for a text that is not the canonical spelling of an address. */
export function parseAddress(text: string): Address | undefined {
  const bits = text.includes(':') ? bitsOf6(text) : bitsOf4(text);
  if (bits === undefined) return undefined;
  const address = addressOf(text.includes(':') ? 6 : 4, bits);
  return address.text === text ? address : undefined;
}

/** Like `parseAddress`, for an address that a resolver or a socket gave: each spelling of RFC 4291 is read. */
export function readAddress(text: string): Address | undefined {
  const plain = text.toLowerCase().replace(/%[^%]*$/, '');
  const bits = plain.includes(':') ? bitsOf6(plain) : bitsOf4(plain);
  return bits === undefined ? undefined : addressOf(plain.includes(':') ? 6 : 4, bits);
}

export function addressOf(family: 4 | 6, bits: bigint): Address {
  return Object.freeze({ family, bits, text: family === 4 ? textOf4(bits) : textOf6(bits) });
}

function bitsOf4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function bitsOf6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupsOf);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<bigint>(missing).fill(0n), ...(tail ?? [])];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** The groups of one side of `::`. The last may be an IPv4 address, which is two groups. */
function groupsOf(text: string): bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const last = parts.at(-1) ?? '';
  const low = last.includes('.') ? bitsOf4(last) : undefined;
  if (last.includes('.')) {
    if (low === undefined) return undefined;
    parts.pop();
  }
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/.test(part))) return undefined;
  const groups = parts.map((part) => BigInt(`0x${part}`));
  return low === undefined ? groups : [...groups, low >> 16n, low & 0xffffn];
}

const textOf4 = (bits: bigint): string => [24n, 16n, 8n, 0n].map((by) => String((bits >> by) & 0xffn)).join('.');

/** RFC 5952: no leading zeros, lower case, the first longest run of at least two zero groups as `::`. */
function textOf6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) => (bits >> BigInt(112 - 16 * at)) & 0xffffn);
  let [start, longest] = [-1, 1];
  for (let from = 0; from < 8; from += 1) {
    let length = 0;
    while (from + length < 8 && groups[from + length] === 0n) length += 1;
    if (length > longest) [start, longest] = [from, length];
  }
  const hex = (some: readonly bigint[]): string => some.map((group) => group.toString(16)).join(':');
  return start < 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + longest))}`;
}
