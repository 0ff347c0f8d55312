/**
 * One place where this process listens, for one host or for several.
 *
 * Promise: without TLS it is on loopback or a Unix socket only. Strangers have limits of their own, so they keep no known
 * caller out. Closing ends every socket and frees the port. Its handlers serve the requests.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import type { Server as TlsServer } from 'node:tls';
import { CapError } from '@hob/vat';
import type { HostNames, ListenPlace } from '../where.ts';
import { type Arrival, type DoorHandlers, fenced, HostRequests } from './host-requests.ts';
import { http, https } from './node-http.ts';
import { limitHandshakes } from './tls-handshakes.ts';
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts';
import { listenOn, type SocketFile } from './unix-socket.ts';

/** A door of one host. */
export interface Listener {
  readonly url: string;
  /** The values of `Origin` that its own pages send. */
  origins(): readonly string[];
  close(): Promise<void>;
}

/** The time for a whole request to arrive, headers and body, and the interval of that check. */
const requestMs = 5000;
const checkIntervalMs = 1000;

/** The functions that a listener calls. They serve its requests. */
export interface ListenerHandlers {
  requested(request: IncomingMessage, response: ServerResponse, arrival: Arrival): void;
  upgraded(request: IncomingMessage, stream: Stream, head: Buffer, arrival: Arrival): void;
  /** Ends what it has under way. */
  close(): void;
  /** Logs an error of ours. Nobody outside sees it. */
  fault(error: unknown): void;
  /** Whether it may serve pages. */
  readonly pages: boolean;
}

/** Listens at a place for one host. Errors: `unavailable` (the port is taken), `invalid` (certificate or key). */
export async function listen<Who>(place: ListenPlace, handlers: DoorHandlers<Who>): Promise<Listener> {
  const requests = new HostRequests(handlers);
  const listening = new ListeningPlace(place, {
    requested: (request, response, arrival) => requests.requested(request, response, arrival),
    upgraded: (request, stream, head, arrival) => requests.upgraded(request, stream, head, arrival),
    close: () => requests.close(),
    fault: handlers.fault,
    pages: (handlers.pages?.size ?? 0) > 0,
  });
  await listening.listen();
  return { url: listening.url, origins: () => listening.names.origins, close: () => listening.close() };
}

export class ListeningPlace {
  readonly #place: ListenPlace;
  readonly #handlers: ListenerHandlers;
  readonly #unauthenticated = new UnauthenticatedSockets();
  /** Strangers whom other machines have relayed. They take no place of a stranger at this door. */
  readonly #away = new UnauthenticatedSockets();
  readonly #taken = new WeakSet<Stream>();
  readonly #server: Server;
  #beside: Server | undefined;
  readonly #endHandshakes: () => void = () => {};
  #file: SocketFile | undefined;

  constructor(place: ListenPlace, handlers: ListenerHandlers) {
    this.#place = place;
    this.#handlers = handlers;
    this.#server = this.#newServer();
    if (place.tls !== undefined) this.#endHandshakes = limitHandshakes(this.#server);
  }

  #newServer(): Server {
    const { requested, upgraded, fault } = this.#handlers;
    const server = serverFor(this.#place.tls, (request, response) =>
      fenced(response, fault, () => void requested(request, response, this.#arrived(request, response))),
    );
    server.on(this.#opens, (socket: Socket) => {
      // Another door opens a stream only when it has the head of a request. So no stranger makes a silent one, and it
      // needs no place here. Otherwise many callers that enter there at once would close each other here.
      if (!this.#taken.has(socket)) fenced(socket, fault, () => this.#unauthenticated.opened(socket));
    });
    server.on('upgrade', (request: IncomingMessage, stream: Stream, head: Buffer) => {
      stream.on('error', () => {});
      fenced(stream, fault, () => void upgraded(request, stream, head, this.#arrived(request)));
    });
    return server;
  }

  /** With TLS a connection is open after its handshake, which has a time limit of its own. */
  get #opens(): 'connection' | 'secureConnection' {
    return this.#place.tls === undefined ? 'connection' : 'secureConnection';
  }

  #strangers(socket: Stream): UnauthenticatedSockets {
    return this.#taken.has(socket) ? this.#away : this.#unauthenticated;
  }

  #arrived(request: IncomingMessage, response?: ServerResponse): Arrival {
    const { socket } = request;
    const strangers = this.#strangers(socket);
    strangers.requestArrived(socket);
    const taken = this.#taken.has(socket);
    return {
      names: taken ? undefined : this.names,
      known: () => {
        strangers.remove(socket);
        // The door that the caller connected to learns that it is no stranger. An upgrade says so by itself.
        if (taken) response?.writeProcessing();
      },
    };
  }

  /** Errors: `unavailable`. */
  async listen(): Promise<void> {
    const { at } = this.#place;
    if ('path' in at) this.#file = await listenOn(this.#server, at.path);
    else await this.#listenAt(at);
  }

  /**
   * Serves a connection that another door has relayed, which has checked `Host` and `Origin` of its request. Time limits
   * are those of any other connection.
   */
  take(stream: Stream): void {
    this.#taken.add(stream);
    stream.on('error', () => {});
    stream.once('close', () => this.#away.remove(stream as Socket));
    this.#server.emit(this.#opens, stream);
  }

  /** With pages it is the only program at both addresses of `localhost`: a browser may take either. */
  async #listenAt(at: { readonly host: string; readonly port: number }): Promise<void> {
    const { besideHost } = this.#place;
    for (let tries = 1; ; tries += 1) {
      await listening(this.#server, at.port, at.host).catch((error) => {
        throw listenError(error, at);
      });
      if (besideHost === undefined || !this.#handlers.pages) return;
      const beside = this.#newServer();
      try {
        await listening(beside, this.#port, besideHost);
        this.#beside = beside;
        return;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // A machine without IPv6: nobody else can listen there either.
        if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return;
        const port = this.#port;
        await new Promise((done) => this.#server.close(done));
        if (at.port !== 0 || tries === 5) throw listenError(error as NodeJS.ErrnoException, { host: besideHost, port });
      }
    }
  }

  /** 0 for a Unix socket. */
  get #port(): number {
    const address = this.#server.address();
    return typeof address === 'object' ? ((address as AddressInfo | null)?.port ?? 0) : 0;
  }

  get url(): string {
    return this.#place.url(this.#port);
  }

  /** The names that requests have to use here. */
  get names(): HostNames {
    return this.#place.names(this.#port);
  }

  /** Shows this certificate to new connections. Errors: `invalid`; then the place keeps its certificate. */
  renew(tls: { readonly cert: string; readonly key: string }): void {
    if (this.#place.tls === undefined) throw new CapError('invalid', 'this door has no TLS: open it with host and tls');
    checkedPair(() => (this.#server as unknown as TlsServer).setSecureContext({ ...secure, ...tls }));
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#handlers.close();
      const closeMain = (): void => void this.#server.close(() => done());
      const beside = this.#beside;
      const close = (): void => void (beside === undefined ? closeMain() : beside.close(closeMain));
      if (this.#file === undefined) close();
      else this.#file.closing(close);
      this.#server.closeAllConnections();
      this.#beside?.closeAllConnections();
      this.#endHandshakes();
    });
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: true }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Its requests have to arrive in time. Errors: `invalid`. */
function serverFor(
  tls: ListenPlace['tls'],
  then: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const limits = { connectionsCheckingInterval: checkIntervalMs, headersTimeout: requestMs, requestTimeout: requestMs };
  if (tls === undefined) return http.createServer(limits, then);
  return checkedPair(() => https.createServer({ ...limits, handshakeTimeout: requestMs, ...secure, ...tls }, then));
}

const secure = { minVersion: 'TLSv1.2' } as const;

/** Calls `use`, which takes a certificate and its key. Errors: `invalid` (they are no PEM, or no pair). */
function checkedPair<T>(use: () => T): T {
  try {
    return use();
  } catch {
    // The error of the library could quote the key.
    throw new CapError('invalid', 'the certificate or the key is not PEM, or they do not belong together');
  }
}

function listenError({ code }: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): CapError {
  if (code === 'EACCES')
    return new CapError(
      'unavailable',
      `port ${port} is for programs of root: give one from 1024 on with --port, or 0 for any`,
    );
  return new CapError(
    'unavailable',
    code === 'EADDRINUSE'
      ? `port ${port} is taken: give another one with --port, or 0 for any`
      : host === '127.0.0.1'
        ? 'the host cannot listen on 127.0.0.1: check that this machine has a loopback interface'
        : 'the host cannot listen on this address: check that this machine has it',
  );
}
