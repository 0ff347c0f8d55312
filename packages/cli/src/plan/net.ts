/**
 * The caps of a plan that reach the network, made.
 *
 * Promise: a secret is read by its name for each request, so a new value works at once and needs no new grant. All
 * caps of a secret share one object for it: each value that one of them used stays blanked in the answers of all.
 */
import { type HttpOptions, type Injection, makeHttpCap, makeSecret, type Secret } from '@hob/caps-net';
import type { OfferOptions } from '@hob/host';
import type { PlannedHttp, PlannedRequests } from '@hob/manifest';
import { CapError } from '@hob/vat';
import { Mistake } from '../line/mistake.ts';
import type { Machine } from './machine.ts';

/** The secrets of a plan, by name. */
export class UsedSecrets {
  readonly #value: Machine['secret'];
  readonly #used = new Map<string, Secret>();
  /** Notes for the person who starts the host: secrets that are missing. */
  readonly notes: string[] = [];

  constructor({ secret }: Pick<Machine, 'secret'>) {
    this.#value = secret;
  }

  /** `by` is the part of the manifest that uses it. */
  of(name: string, by: string): Secret {
    if (this.#value(name) === undefined) {
      const note = `hob: ${by}: the secret ${name} is not stored, or cannot be opened. Until it is there, calls that use it end with E_SECRET: hob secret set ${name}`; // biome-ignore format: one line
      if (!this.notes.includes(note)) this.notes.push(note);
    }
    const known = this.#used.get(name) ?? makeSecret(() => this.#value(name));
    this.#used.set(name, known);
    return known;
  }
}

/** Makes the cap of an origin. Errors: `Mistake`. */
export function makeHttp(cap: PlannedHttp, secrets: UsedSecrets): { readonly cap: object; close(): Promise<void> } {
  return made(cap.name, () => makeHttpCap(httpOptions(cap, secrets)));
}

/** An object that ends when `close` resolves. Errors: `Mistake`. */
export function made(
  name: string,
  make: () => object & AsyncDisposable,
): { readonly cap: object; close(): Promise<void> } {
  try {
    const cap = make();
    return { cap, close: () => Promise.resolve(cap[Symbol.asyncDispose]()) };
  } catch (error) {
    throw error instanceof CapError ? new Mistake(`${name}: ${error.message}`) : error;
  }
}

/** The options of a cap that sends requests to an origin. */
export function httpOptions(
  { name, origin, path, methods, secret, auth, headers, addresses, ca, client, proxy }: PlannedRequests & { readonly name: string }, // biome-ignore format: one line
  secrets: UsedSecrets,
): HttpOptions {
  return {
    ...{ origin, prefix: path, methods, headers },
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(secret === undefined ? {} : { inject: injectionOf(secrets.of(secret, name), auth ?? {}) }),
    ...certificates({ name, ca, client }, secrets),
    ...(proxy === undefined ? {} : { proxy: { origin: proxy.origin, ...(proxy.names && { names: proxy.names }), ...(proxy.secret && { authorization: secrets.of(proxy.secret, name) }) } }), // biome-ignore format: one line
  };
}

/** Stored certificates, read for each connection. */
export const certificates = (
  { name, ca, client }: { readonly name: string } & Pick<PlannedRequests, never> & { readonly ca?: string | undefined; readonly client?: PlannedRequests['client'] | undefined }, // biome-ignore format: one line
  secrets: UsedSecrets,
): Pick<HttpOptions, 'ca' | 'client'> => ({
  ...(ca === undefined ? {} : { ca: secrets.of(ca, name) }),
  ...(client === undefined
    ? {}
    : { client: { cert: secrets.of(client.cert, name), key: secrets.of(client.key, name) } }),
});

function injectionOf(secret: Secret, { header, basic, query }: NonNullable<PlannedHttp['auth']>): Injection {
  if (query !== undefined) return { secret, query };
  if (basic !== undefined) return { secret, format: 'basic', user: basic };
  if (header !== undefined) return { secret, header, format: 'raw' };
  return { secret, header: 'authorization' };
}

/** Reads with GET. The methods of what `subpath` and `readOnly` return, and of a body, have the same names. */
export const httpReads: readonly string[] = ['get', 'getText', 'describe', 'subpath', 'readOnly', 'next', 'return'];

/** The text about an offer of an origin that people see. */
export const httpShownAs = ({ origin, path }: PlannedHttp): OfferOptions => ({
  label: `${origin}${path}`.slice(0, 100),
  methods: ['get', 'getText', 'fetch', 'fetchText', 'subpath', 'readOnly', 'describe'],
  // A GET tells a server its path and its query, so its line is on the disk before it leaves: it is none of these.
  reads: ['subpath', 'readOnly', 'describe'],
});
