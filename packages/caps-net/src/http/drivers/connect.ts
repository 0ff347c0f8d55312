/**
 * Opens the connections of an http cap.
 *
 * Promise: a name is resolved once for each connection, all of its addresses are judged, and the socket is given these
 * addresses and no name, so nothing resolves it again between the check and the use. TLS checks the certificate against
 * the granted name.
 */
import net from 'node:net';
import tls from 'node:tls';
import type { CapError } from '@hob/vat';
import { type buildConnector, Client } from 'undici';
import type { Address } from '../../address/address.ts';
import { refusal } from '../../base/errors.ts';
import type { Resolver } from '../../drivers/resolve.ts';
import type { Grant, Origin } from '../grant.ts';

type Socket = net.Socket;

/** Undici calls it for each new connection of its pool. The names that it passes are not used: the grant has them. */
export function connectorOf(grant: Grant, resolver: Resolver): buildConnector.connector {
  return (_options, callback) => {
    open(grant, resolver).then(
      (socket) => callback(null, socket),
      (error: CapError) => callback(error, null),
    );
  };
}

async function open(grant: Grant, resolver: Resolver): Promise<Socket> {
  const { origin, proxy, limits } = grant;
  const timer = new AbortController();
  const stop = setTimeout(() => timer.abort(), limits.connectMs);
  try {
    const addresses = proxy?.names === 'proxy' ? undefined : await judged(grant, resolver);
    if (proxy === undefined) return await dial(origin, addresses ?? [], grant.ca, timer.signal);
    const through = await tunnel(proxy, addresses, origin, timer.signal);
    return origin.secure ? await secured(through, origin, grant.ca, timer.signal) : through;
  } finally {
    clearTimeout(stop);
  }
}

async function judged({ origin: { host }, policy }: Grant, { resolve }: Resolver): Promise<readonly Address[]> {
  if (host.address !== undefined) return policy.judge([host.text]);
  const found = await resolve(host.text).catch(() => {
    throw refusal('E_UNREACHABLE', 'its name is not known');
  });
  return policy.judge(found);
}

/** Connects to one of the addresses, in their order (RFC 8305). */
function dial(
  { host, port, secure }: Origin,
  addresses: readonly Address[],
  ca: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const pinned: net.LookupFunction = (_name, _options, done) =>
    done(
      null,
      addresses.map(({ text, family }) => ({ address: text, family })),
    );
  const where = { host: host.text, port, lookup: pinned, autoSelectFamily: true, noDelay: true, keepAlive: true };
  const socket = secure ? tls.connect({ ...where, ...trust(host, ca) }) : net.connect(where);
  return connected(socket, secure, signal);
}

const secured = (socket: Socket, { host }: Origin, ca: string | undefined, signal: AbortSignal): Promise<Socket> =>
  connected(tls.connect({ socket, host: host.text, ...trust(host, ca) }), true, signal);

const trust = (host: Origin['host'], ca: string | undefined): tls.ConnectionOptions => ({
  ...(host.address === undefined ? { servername: host.text } : {}),
  ...(ca === undefined ? {} : { ca }),
  ALPNProtocols: ['http/1.1'],
  minVersion: 'TLSv1.2',
});

function connected(socket: Socket, secure: boolean, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: CapError): void => {
      socket.destroy();
      reject(error);
    };
    const late = (): void => fail(refusal('E_TIMEOUT', 'there is no connection'));
    signal.addEventListener('abort', late, { once: true });
    if (signal.aborted) late();
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', late);
      resolve(socket);
    });
    // Stays, so that an error after the connection stands does not end the process.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      fail(isOfTls(error) ? refusal('E_TLS') : refusal('E_UNREACHABLE')),
    );
    socket.once('close', () => fail(secure ? refusal('E_TLS', 'the server ended it') : refusal('E_UNREACHABLE')));
  });
}

const isOfTls = ({ code = '' }: NodeJS.ErrnoException): boolean =>
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|EPROTO|ERR_OSSL|INVALID_CA|CRL_)/.test(code);

/** Undici's client of one connection asks the proxy. Its socket is the tunnel. */
async function tunnel(
  { origin: at, authorization }: NonNullable<Grant['proxy']>,
  addresses: readonly Address[] | undefined,
  { host, port }: Origin,
  signal: AbortSignal,
): Promise<Socket> {
  const name = addresses?.[0] ?? host.address;
  const target = name === undefined ? host.text : name.family === 6 ? `[${name.text}]` : name.text;
  const client = new Client(at.text);
  try {
    const headers = authorization === undefined ? {} : { 'proxy-authorization': authorization.use() };
    const { statusCode, socket } = await client.connect({ path: `${target}:${port}`, headers, signal });
    if (statusCode === 200) return socket as Socket;
    socket.destroy();
    throw refusal('E_UNREACHABLE', `the proxy refuses it with ${statusCode}`);
  } catch (error) {
    void client.destroy();
    if (signal.aborted) throw refusal('E_TIMEOUT', 'there is no connection');
    throw (error as { code?: unknown }).code === 'E_UNREACHABLE' ? error : refusal('E_UNREACHABLE', 'the proxy does not open a tunnel'); // biome-ignore format: one line
  }
}
