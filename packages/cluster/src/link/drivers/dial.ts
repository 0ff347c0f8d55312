/**
 * Opens a stream to another machine.
 *
 * Promise: if this machine has a key, no byte of a caller is sent before the other side has shown exactly the certificate
 * that is pinned for it. Without a key, only loopback is dialled.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { CapError } from '@hob/vat';
import type { LinkPeer } from '../types.ts';
import { greet, greeted } from './greeting.ts';
import type { Pins } from './pins.ts';

/** The time limit of a connection and its handshake, in ms. */
const dialMs = 5000;

const unavailable = (text: string): CapError => new CapError('unavailable', text);
const noAnswer =
  'the other machine does not answer, or shows another certificate than the pinned one: check its address and peers';

/** A key and its certificate, in PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Errors: `unavailable`. */
export async function dialPeer(peer: LinkPeer, own: Identity | undefined, pins: Pins): Promise<Socket> {
  const at = placeOf(peer.address);
  if (at === undefined)
    throw unavailable('the address of the other machine is not known: give it to openCluster there');
  const socket = own === undefined ? plainTo(at) : tlsTo(at, own, pinOf(peer, pins));
  socket.on('error', () => {});
  try {
    await opened(socket, own === undefined ? 'connect' : 'secureConnect');
    // TLS has checked the chain. A certificate that the pinned one has signed passes that check too.
    if (own !== undefined && pins.nameOf((socket as TLSSocket).getPeerX509Certificate()) !== peer.name)
      throw unavailable(noAnswer);
    greet(socket);
    await greeted(socket);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
}

/** The interval of TCP keep-alive, in ms: a machine that has lost its power closes no connection. */
export const KEEP_ALIVE_MS = 10_000;

interface Place {
  readonly host: string;
  readonly port: number;
}

function placeOf(address: string | undefined): Place | undefined {
  const [, six, name, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(address ?? '') ?? [];
  const host = six ?? name;
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

/** Whether this is an address of loopback. A name is not: it could lead anywhere. */
export const isLoopback = (host: string): boolean => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function plainTo(at: Place): Socket {
  if (isLoopback(at.host)) return connectTcp(at);
  throw unavailable('without a key the link reaches loopback only: give key, cert and peers');
}

function tlsTo(at: Place, own: Identity, ca: string): Socket {
  // Machines are known by their certificates, whatever their names in the network are.
  return connectTls({ ...at, ...own, ca, minVersion: 'TLSv1.3', checkServerIdentity: () => undefined });
}

function pinOf({ name }: LinkPeer, pins: Pins): string {
  const pem = pins.pemOf(name);
  if (pem === undefined) throw unavailable('no certificate is pinned for this machine: add it to peers');
  return pem;
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (error?: CapError): void => {
      clearTimeout(timer);
      socket.off('close', failed).off(event, done);
      if (error === undefined) resolve();
      else reject(error);
    };
    const failed = (): void => over(unavailable(noAnswer));
    const done = (): void => over();
    const timer = setTimeout(failed, dialMs);
    socket.on('close', failed).on(event, done);
  });
}
