/**
 * The link between the machines of a cluster: TLS 1.3, in which both sides show a certificate that the other has pinned.
 *
 * Promise: a program that shows no certificate, or one that is not pinned, gets no byte of ours after the handshake, and
 * none of its own reaches the door. Removing a pin ends the streams of its machine. Without a key the link is on loopback.
 * Strangers hold few sockets, each for a few seconds.
 */
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { DialTurns } from '../dial-turns.ts';
import type { Link, LinkOptions, LinkPeer, LinkPins } from '../types.ts';
import { dialPeer, type Identity, isLoopback, KEEP_ALIVE_MS } from './dial.ts';
import { greet, greeted } from './greeting.ts';
import { Pins } from './pins.ts';

/** The time limit of a handshake, in ms. */
const handshakeMs = 5000;
/** The number of sockets whose machine is not known yet. A new one closes the oldest. */
const maxStrangers = 256;

/** Listens for the other machines. Errors: `invalid`, `unavailable`. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const given = takeOptions(options, 'openLink', { at: true, key: true, cert: true, peers: true, take: true, fault: true }); // biome-ignore format: one line
  const { at, key, cert } = given;
  if ((key === undefined) !== (cert === undefined)) throw new CapError('invalid', 'key and cert go together');
  if (key === undefined && !isLoopback(at.host))
    throw new CapError('invalid', 'a link outside loopback needs key and cert, and the certificates of its peers');
  const link = new LiveLink(given, key === undefined || cert === undefined ? undefined : { key, cert });
  await link.listen();
  return link;
}

class LiveLink implements Link {
  readonly #options: LinkOptions;
  readonly #own: Identity | undefined;
  readonly #server: Server | TlsServer;
  #pins: Pins;
  /** Sockets whose machine is not known yet, oldest first, by the address of the other side. */
  readonly #strangers = new Map<string, Socket>();
  /** Open streams, each with the name of its machine. */
  readonly #streams = new Map<Socket, string | undefined>();
  readonly #turns = new DialTurns();
  #closed = false;

  constructor(options: LinkOptions, own: Identity | undefined) {
    this.#options = options;
    this.#own = own;
    this.#pins = new Pins(options.peers ?? {});
    this.#server = own === undefined ? createTcp() : this.#tlsServer(own);
    this.#server.on('connection', (socket: Socket) => this.#knocked(socket));
    this.#server.on(own === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#enter(socket).catch((error) => {
        this.#options.fault?.(error);
        socket.destroy();
      });
    });
  }

  #tlsServer(own: Identity): TlsServer {
    try {
      const server = createTls({ ...this.#context(own), requestCert: true, rejectUnauthorized: true, handshakeTimeout: handshakeMs }); // biome-ignore format: one line
      // Node leaves the connection open when its handshake takes too long.
      return server.on('tlsClientError', (_error, socket) => socket.destroy());
    } catch {
      // The error of the library could quote the key.
      throw new CapError('invalid', 'the certificate or the key is not PEM, or they do not belong together');
    }
  }

  #context(own: Identity) {
    return { ...own, ca: this.#pins.pems, minVersion: 'TLSv1.3' as const };
  }

  /** Errors: `unavailable`. */
  listen(): Promise<void> {
    const { host, port } = this.#options.at;
    return new Promise((resolve, reject) => {
      this.#server.once('error', () =>
        reject(new CapError('unavailable', 'the link cannot listen: check the address, and that the port is free')),
      );
      this.#server.listen({ host, port, ipv6Only: true }, resolve);
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  async dial(peer: LinkPeer): Promise<Socket> {
    this.#checkOpen();
    const socket = await this.#turns.run(peer.name, () => dialPeer(peer, this.#own, this.#pins));
    try {
      this.#checkOpen();
      // The pin may have been removed during the handshake.
      if (this.#own !== undefined && this.#nameOf(socket) !== peer.name)
        throw new CapError(
          'unavailable',
          'the certificate pinned for the other machine was changed while it was dialled: try again',
        );
    } catch (error) {
      socket.destroy();
      throw error;
    }
    this.#keep(socket, this.#own === undefined ? undefined : peer.name);
    return socket;
  }

  #checkOpen(): void {
    if (this.#closed) throw new CapError('unavailable', 'the link of this machine is closed');
  }

  pin(peers: LinkPins): void {
    const [before, now] = [this.#pins, new Pins(peers)];
    this.#pins = now;
    if (this.#own !== undefined) (this.#server as TlsServer).setSecureContext(this.#context(this.#own));
    for (const [socket, name] of this.#streams)
      if (name !== undefined && now.pemOf(name) !== before.pemOf(name)) socket.destroy();
  }

  close(): Promise<void> {
    this.#closed = true;
    return new Promise((done) => {
      this.#server.close(() => done());
      for (const socket of [...this.#strangers.values(), ...this.#streams.keys()]) socket.destroy();
    });
  }

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  /** Counts a new socket among the strangers. */
  #knocked(socket: Socket): void {
    const peer = addressOf(socket);
    socket.on('error', () => {});
    this.#strangers.set(peer, socket);
    socket.once('close', () => {
      if (this.#strangers.get(peer) === socket) this.#strangers.delete(peer);
    });
    const [oldest] = this.#strangers.values();
    if (this.#strangers.size > maxStrangers) oldest?.destroy();
  }

  async #enter(socket: Socket): Promise<void> {
    socket.on('error', () => {});
    const name = this.#nameOf(socket);
    if (this.#own !== undefined && name === undefined) return void socket.destroy();
    const known = await greeted(socket).then(() => true, () => false); // biome-ignore format: one line
    // The pin may have been removed meanwhile.
    if (!known || this.#closed || this.#nameOf(socket) !== name) return void socket.destroy();
    this.#strangers.delete(addressOf(socket));
    this.#keep(socket, name);
    greet(socket);
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    this.#options.take(socket, name);
  }

  /** The machine whose pinned certificate was shown. Undefined for any other program, and over plain TCP. */
  #nameOf(socket: Socket): string | undefined {
    if (this.#own === undefined) return undefined;
    const { authorized } = socket as TLSSocket;
    // In a resumed session no certificate is shown.
    const shown = authorized && !(socket as TLSSocket).isSessionReused();
    return shown ? this.#pins.nameOf((socket as TLSSocket).getPeerX509Certificate()) : undefined;
  }

  #keep(socket: Socket, name: string | undefined): void {
    this.#streams.set(socket, name);
    socket.once('close', () => this.#streams.delete(socket));
    if (socket.destroyed) this.#streams.delete(socket);
  }
}

/** The address of the other side: the same for a TCP connection and for the TLS socket over it. */
const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
