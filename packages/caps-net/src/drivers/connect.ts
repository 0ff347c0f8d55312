/**
 * Opens connections to judged addresses.
 *
 * Promise: a name is resolved once for each connection, all of its addresses are judged, and the socket is given these
 * addresses and no name, so nothing resolves it again between the check and the use. TLS checks the certificate against
 * the granted name.
 */
import net from 'node:net';
import tls from 'node:tls';
import { CapError } from '@hob/vat';
import type { Address } from '../address/address.ts';
import type { Origin } from '../address/origin.ts';
import type { AddressPolicy } from '../address/policy.ts';
import { refusal } from '../base/errors.ts';
import { type ClientCertificate, certificateText } from '../secret/certificates.ts';
import type { Secret } from '../secret/secret.ts';
import type { Resolver } from './resolve.ts';

type Socket = net.Socket;

/** Where to, and what is trusted there. */
interface Way {
  readonly origin: Origin;
  readonly policy: AddressPolicy;
  readonly ca: string | Secret | undefined;
  readonly client?: ClientCertificate | undefined;
  /** The protocol that TLS agrees on. Undefined: none is named. */
  readonly alpn?: string | undefined;
  /** A server that stops sending can still receive. */
  readonly halfOpen?: boolean;
}

/** A connected socket, with TLS if the origin has it. Errors: `E_ADDRESS`, `E_UNREACHABLE`, `E_TLS`, `E_TIMEOUT`. */
export async function openSocket(way: Way, resolver: Resolver, signal: AbortSignal): Promise<Socket> {
  return await dial(way, await judged(way, resolver), signal);
}

/** The addresses of the origin, judged. Errors: `E_ADDRESS`, `E_UNREACHABLE`. */
export async function judged({ origin: { host }, policy }: Way, { resolve }: Resolver): Promise<readonly Address[]> {
  if (host.address !== undefined) return policy.judge([host.text]);
  const found = await resolve(host.text).catch(() => {
    throw refusal('E_UNREACHABLE', 'its name is not known');
  });
  return policy.judge(found);
}

/** Connects to one of the addresses, in their order (RFC 8305). */
function dial(way: Way, addresses: readonly Address[], signal: AbortSignal): Promise<Socket> {
  const { host, port, secure } = way.origin;
  const pinned: net.LookupFunction = (_name, _options, done) =>
    done(
      null,
      addresses.map(({ text, family }) => ({ address: text, family })),
    );
  const where = {
    host: host.text,
    port,
    lookup: pinned,
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    allowHalfOpen: way.halfOpen === true,
  };
  const socket = secure ? overTls(() => tls.connect({ ...where, ...trust(way) })) : net.connect(where);
  return connected(socket, secure, signal);
}

/** TLS over a socket that is connected. */
export const secured = (socket: Socket, way: Way, signal: AbortSignal): Promise<Socket> =>
  connected(
    overTls(() => tls.connect({ socket, host: way.origin.host.text, ...trust(way) })),
    true,
    signal,
  );

/** A key that is none is thrown at once, with a part of it in the error. */
function overTls(connect: () => Socket): Socket {
  try {
    return connect();
  } catch (error) {
    throw error instanceof CapError ? error : refusal('E_SECRET', 'the client certificate and its key do not fit');
  }
}

const trust = ({ origin: { host }, ca, client, alpn }: Way): tls.ConnectionOptions => ({
  ...(host.address === undefined ? { servername: host.text } : {}),
  ...(ca === undefined ? {} : { ca: certificateText(ca) }),
  ...(client === undefined ? {} : { cert: certificateText(client.cert), key: client.key.use() }),
  ...(alpn === undefined ? {} : { ALPNProtocols: [alpn] }),
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

/** Runs `act` with a signal that fires after `ms`. */
export async function inTime<T>(ms: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  try {
    return await act(late.signal);
  } finally {
    clearTimeout(timer);
  }
}
