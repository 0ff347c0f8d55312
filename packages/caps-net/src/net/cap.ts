/**
 * The net cap and the socket cap: ways out of a job, opened by the host.
 *
 * Promise: a net cap opens its host and port and nothing else. The name is looked up for each connection, after a
 * program has asked for exactly this name; all of its addresses are judged, and the socket gets these addresses. With
 * TLS nothing goes to the server before the ClientHello names the granted host. `await using` closes a cap: its
 * connections are cut, and no new one is opened.
 */
import { type Passage, withPassage } from '@hob/caps-shell/door';
import { withEffects, withPlace } from '@hob/vat/forwarder';
import { takeHost } from '../address/host.ts';
import { addressPolicy } from '../address/policy.ts';
import { takeCount, takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { openSocket } from '../drivers/connect.ts';
import { type Resolver, systemResolver } from '../drivers/resolve.ts';
import { takeCertificates, takeClient } from '../secret/certificates.ts';
import { readClientHello } from './client-hello.ts';
import { Connections } from './connections.ts';
import { openPath } from './drivers/open-path.ts';
import { takeLimits } from './limits.ts';
import type { NetCap, NetOptions, SocketCap, SocketOptions } from './net-cap.ts';

/** A net cap. Errors: `invalid`, `limit`, `E_HOST`: an option is not written the one way that it is written. */
export function makeNetCap(options: NetOptions): NetCap & AsyncDisposable {
  return openNetCap(options, systemResolver);
}

/** For tests, which pass their own names. */
export function openNetCap(options: NetOptions, resolver: Resolver): NetCap & AsyncDisposable {
  const known = ['host', 'port', 'tls', 'addresses', 'limits', 'client', 'ca'];
  const { host: spelled, port: given, tls = true, addresses, limits: some, ...certificates } = takeRecord(options, 'makeNetCap', known, 'option'); // biome-ignore format: one line
  const host = takeHost(spelled);
  const port = takeCount(given, 'port', 1, 65_535);
  if (typeof tls !== 'boolean') throw refusal('invalid', 'tls is true or false');
  const policy = addressPolicy(addresses, resolver.own);
  const limits = takeLimits(some);
  const name = `${spelled as string}:${port}`;
  const client = takeClient(certificates['client'], tls);
  const ca = takeCertificates(certificates['ca'], 'ca', 2 ** 20);
  if (client === undefined && ca !== undefined) throw refusal('invalid', 'ca goes with client: otherwise the program of the job checks the server'); // biome-ignore format: one line
  // With a client certificate the host speaks TLS, and the program does not.
  const secure = client !== undefined;
  const way = { origin: { text: name, secure, host, port }, policy, ca, client, halfOpen: true };
  const isGranted = (said: string | undefined): boolean =>
    said === host.text || (said === undefined && host.address !== undefined);
  const judge = (first: Uint8Array): boolean => {
    const hello = readClientHello(first);
    if (hello === undefined) return false;
    if (!isGranted(hello.name)) throw refusal('E_NAME', 'it names another server');
    return true;
  };
  const open = new Connections(limits.connections, (signal) => openSocket(way, resolver, signal));
  const cap: NetCap & AsyncDisposable = Object.freeze({
    describe: async () => Object.freeze({ host: host.text, port, tls: tls && !secure }),
    [Symbol.asyncDispose]: () => open.close(),
  });
  return asWay(cap, name, { at: { host: host.text, port }, limits, judge: tls && !secure ? judge : undefined }, open);
}

/** A socket cap. Errors: `invalid`, `limit`. */
export function makeSocketCap(options: SocketOptions): SocketCap & AsyncDisposable {
  const { path: given, limits: some } = takeRecord(options, 'makeSocketCap', ['path', 'limits'], 'option');
  const path = takeText(given, 'path', 4_096);
  if (!path.startsWith('/') || path.includes('\0') || Buffer.byteLength(path) > 107)
    throw refusal('invalid', 'the path of a socket is absolute and has at most 107 bytes');
  const limits = takeLimits(some);
  const open = new Connections(limits.connections, (signal) => openPath(path, signal));
  const cap: SocketCap & AsyncDisposable = Object.freeze({
    describe: async () => Object.freeze({ kind: 'socket' as const }),
    [Symbol.asyncDispose]: () => open.close(),
  });
  return asWay(cap, path, { at: undefined, limits, judge: undefined }, open);
}

function asWay<T extends object>(
  cap: T,
  name: string,
  is: Pick<Passage, 'at' | 'limits' | 'judge'>,
  open: Connections,
): T {
  withPlace(cap, () => ({ kind: 'address', name }));
  withEffects(cap, () => ({ describe: { class: 'A' } }));
  return withPassage(cap, { name, ...is, connect: (signal) => open.connect(signal) });
}
