/**
 * The host of a grant, as the granter wrote it.
 *
 * Promise: a host has one spelling: a name in lower-case ASCII, or a canonical address. Everything that a resolver, a
 * URL parser or a server might read differently is refused when the grant is made: numbers that are addresses to some
 * (`2130706433`, `0x7f.1`, `127.1`), a trailing dot, a zone, Unicode (write `xn--…`, so that a person sees that it is
 * not the name it looks like), an `xn--` label that does not decode to one that is written so.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import { refusal } from '../base/errors.ts';
import { type Address, parseAddress } from './address.ts';
import { unmapped } from './kinds.ts';

export interface Host {
  /** The name, or the address without brackets. */
  readonly text: string;
  /** Undefined: it is a name. */
  readonly address: Address | undefined;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Reads `api.example.com`, `192.0.2.1` or `[2001:db8::1]`. Errors: `E_HOST`. */
export function takeHost(given: unknown): Host {
  if (typeof given !== 'string') throw refusal('E_HOST', 'it is text');
  const inner = /^\[(.*)\]$/.exec(given)?.[1];
  const address = inner === undefined ? parseAddress(given) : parseAddress(inner);
  if (address !== undefined && (address.family === 6) === (inner !== undefined)) {
    if (unmapped(address) !== address) throw refusal('E_HOST', 'write a mapped address as the IPv4 address that it is');
    return Object.freeze({ text: address.text, address });
  }
  checkName(given);
  return Object.freeze({ text: given, address: undefined });
}

function checkName(name: string): void {
  if (name.length > 253) throw refusal('E_HOST', 'a name has at most 253 characters');
  if (/[^\x21-\x7e]/.test(name)) throw refusal('E_HOST', 'write the name in ASCII, as xn--…');
  const labels = name.split('.');
  if (!labels.every((label) => LABEL.test(label)))
    throw refusal('E_HOST', 'a name has lower-case letters, digits and hyphens between single dots');
  // A last label that begins with a digit is an address to a URL parser (WHATWG), and no top-level domain does.
  if (/^[0-9]/.test(labels.at(-1) ?? '')) throw refusal('E_HOST', 'write an address as four decimal numbers');
  if (labels.some((label) => label.startsWith('xn--')) && !staysItself(name))
    throw refusal('E_HOST', 'the xn-- label is not the ASCII form of any name');
}

/** Whether each `xn--` label decodes to a name that is written so (UTS 46). A label that does not stays as it is. */
const staysItself = (name: string): boolean => {
  const decoded = domainToUnicode(name);
  return !decoded.split('.').some((label) => label.startsWith('xn--')) && domainToASCII(decoded) === name;
};
