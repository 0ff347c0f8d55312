/**
 * The options of an http cap, checked once.
 *
 * Promise: what is not written the one way is refused when the cap is made, not read in some way.
 */

import { type Origin, takeOrigin } from '../address/origin.ts';
import { type AddressPolicy, addressPolicy } from '../address/policy.ts';
import { takeCount, takeList, takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type ClientCertificate, takeCertificates, takeClient } from '../secret/certificates.ts';
import { Secret } from '../secret/secret.ts';
import { type Headers, takeAllowed, takeFixed, takeName } from './headers.ts';
import type { HttpLimits, HttpOptions } from './http-cap.ts';
import { type Segments, takePrefix } from './path.ts';

/** How the secret is put into a request. */
export interface Injected {
  readonly secret: Secret;
  /** Undefined: it is a parameter of the query. */
  readonly header: string | undefined;
  readonly query: string | undefined;
  readonly write: (value: string) => string;
}

export interface Grant {
  readonly origin: Origin;
  readonly prefix: Segments;
  readonly methods: readonly string[];
  readonly allowed: ReadonlySet<string>;
  readonly fixed: Headers;
  readonly injected: Injected | undefined;
  readonly policy: AddressPolicy;
  readonly limits: HttpLimits;
  readonly proxy: { readonly origin: Origin; readonly authorization: Secret | undefined; readonly names: 'here' | 'proxy' } | undefined; // biome-ignore format: one line
  readonly ca: string | Secret | undefined;
  readonly alpn: string;
  readonly client: ClientCertificate | undefined;
}

const KiB = 1024;
const LIMITS: Readonly<Record<keyof HttpLimits, readonly [is: number, most: number]>> = {
  bodyBytes: [KiB * KiB, 256 * KiB * KiB],
  answerBytes: [64 * KiB * KiB, 2 ** 40],
  connectMs: [10_000, 600_000],
  idleMs: [30_000, 3_600_000],
  totalMs: [120_000, 86_400_000],
  redirects: [5, 20],
  concurrent: [8, 64],
};
const NAMES = 'origin prefix methods headers set inject addresses limits proxy ca client'.split(' ');
export const SAFE: readonly string[] = Object.freeze(['GET', 'HEAD']);
const METHODS = [...SAFE, 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'];

/** `own`: the addresses of this machine. Errors: `invalid`, `E_HOST`, `E_PATH`, `E_METHOD`, `E_HEADER`. */
export function takeGrant(options: HttpOptions, own: () => readonly string[]): Grant {
  const given = takeRecord(options, 'makeHttpCap', NAMES, 'option');
  const origin = takeOrigin(given['origin'], 'origin');
  const injected = takeInjection(given['inject']);
  if (injected !== undefined && !origin.secure && given['addresses'] === undefined)
    throw refusal('invalid', 'a secret goes over https, or to addresses that are listed');
  return Object.freeze({
    origin,
    prefix: takePrefix(given['prefix'] ?? '/'),
    methods: takeMethods(given['methods']),
    allowed: takeAllowed(given['headers'], injected && (injected.header ?? 'authorization')),
    fixed: takeFixed(given['set']),
    injected,
    policy: addressPolicy(given['addresses'], own),
    limits: takeLimits(given['limits']),
    proxy: takeProxy(given['proxy']),
    client: takeClient(given['client'], origin.secure),
    ca: takeCertificates(given['ca'], 'ca', 1024 * KiB),
    alpn: 'http/1.1',
  });
}

function takeMethods(given: unknown): readonly string[] {
  const methods = given === undefined ? SAFE : takeList(given, 'methods', METHODS.length);
  for (const method of methods)
    if (typeof method !== 'string' || !METHODS.includes(method))
      throw refusal('E_METHOD', `there are ${METHODS.join(', ')}`);
  return Object.freeze([...new Set(methods as readonly string[])]);
}

function takeLimits(given: unknown): HttpLimits {
  const names = Object.keys(LIMITS) as (keyof HttpLimits)[];
  const wanted = takeRecord(given, 'limits', names);
  const taken = names.map((name) => {
    const [is, most] = LIMITS[name];
    const value = wanted[name];
    return [name, value === undefined ? is : takeCount(value, `limits.${name}`, name === 'redirects' ? 0 : 1, most)];
  });
  return Object.freeze(Object.fromEntries(taken)) as unknown as HttpLimits;
}

function takeInjection(given: unknown): Injected | undefined {
  if (given === undefined) return undefined;
  const { secret, header, format, user, query } = takeRecord(given, 'inject', ['secret', 'header', 'format', 'user', 'query']); // biome-ignore format: one line
  if (!(secret instanceof Secret)) throw refusal('invalid', 'inject.secret is made by makeSecret');
  if (query !== undefined) {
    const name = takeText(query, 'inject.query', 128);
    if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw refusal('invalid', 'inject.query is the name of a parameter');
    return { secret, header: undefined, query: name, write: encodeURIComponent };
  }
  if (format === 'basic') {
    const name = takeText(user, 'inject.user', 256);
    if (/[^\x20-\x7e]|:/.test(name)) throw refusal('invalid', 'inject.user is ASCII without a colon');
    const write = (value: string): string => `Basic ${Buffer.from(`${name}:${value}`).toString('base64')}`;
    return { secret, header: 'authorization', query: undefined, write };
  }
  if (format !== undefined && format !== 'bearer' && format !== 'raw')
    throw refusal('invalid', 'inject.format is bearer, basic or raw');
  const write = format === 'raw' ? (value: string) => value : (value: string) => `Bearer ${value}`;
  return { secret, header: takeName(header ?? 'authorization'), query: undefined, write };
}

function takeProxy(given: unknown): Grant['proxy'] {
  if (given === undefined) return undefined;
  const { origin, authorization, names } = takeRecord(given, 'proxy', ['origin', 'authorization', 'names']);
  if (authorization !== undefined && !(authorization instanceof Secret))
    throw refusal('invalid', 'proxy.authorization is made by makeSecret');
  if (names !== undefined && names !== 'here' && names !== 'proxy')
    throw refusal('invalid', 'proxy.names is here or proxy');
  const taken = takeOrigin(origin, 'proxy.origin');
  if (taken.secure)
    throw refusal('invalid', 'a proxy is spoken to over http: the tunnel in it is as secure as the origin');
  return { origin: taken, authorization, names: names ?? 'here' };
}
