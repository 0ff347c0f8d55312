/**
 * The connections of an http cap: straight, or through the tunnel of a proxy (CONNECT).
 *
 * Promise: with a proxy the address is judged here and the proxy is told the address, unless the granter says that the
 * proxy looks up names.
 */
import type { Socket } from 'node:net';
import type { CapError } from '@hob/vat';
import type { buildConnector } from 'undici';
import type { Address } from '../../address/address.ts';
import type { Origin } from '../../address/origin.ts';
import { refusal } from '../../base/errors.ts';
import { inTime, judged, openSocket, secured } from '../../drivers/connect.ts';
import type { Resolver } from '../../drivers/resolve.ts';
import type { Grant } from '../grant.ts';

/** Undici calls it for each new connection of its pool. The names that it passes are not used: the grant has them. */
export function connectorOf(grant: Grant, resolver: Resolver): buildConnector.connector {
  return (_options, callback) => {
    inTime(grant.limits.connectMs, (late) => open(grant, resolver, late)).then(
      (socket) => callback(null, socket),
      (error: CapError) => callback(error, null),
    );
  };
}

async function open(grant: Grant, resolver: Resolver, late: AbortSignal): Promise<Socket> {
  const { origin, proxy } = grant;
  if (proxy === undefined) return await openSocket(grant, resolver, late);
  const addresses = proxy.names === 'proxy' ? undefined : await judged(grant, resolver);
  const through = await tunnel(proxy, addresses, origin, late);
  return origin.secure ? await secured(through, grant, late) : through;
}

/** Undici's client of one connection asks the proxy. Its socket is the tunnel. */
async function tunnel(
  { origin: at, authorization }: NonNullable<Grant['proxy']>,
  addresses: readonly Address[] | undefined,
  { host, port }: Origin,
  signal: AbortSignal,
): Promise<Socket> {
  const name = addresses?.[0] ?? host.address;
  const target = name === undefined ? host.text : name.family === 6 ? `[${name.text}]` : name.text;
  const { Client } = await import('undici');
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
