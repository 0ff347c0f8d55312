/**
 * The front door: finds the host that a request is for, in this process or on another machine.
 *
 * Promise: the checks and limits are those of a door of one host. A name that no host has gets a 404 that says nothing
 * else. A request that came from another front door is never relayed again. Relays have a limit of their own, and a
 * caller that the other machine does not know counts among the strangers here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex as Stream } from 'node:stream';
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { wrongOrigin } from '../admission.ts';
import {
  checkHostName,
  type FrontDoor,
  type FrontOptions,
  type FrontPlace,
  type HostElsewhere,
  splitPath,
} from '../front-door.ts';
import { placeOf, type ServeOptions } from '../where.ts';
import { type Arrival, type DoorHandlers, fenced, HostRequests } from './host-requests.ts';
import { type Listener, type ListenerHandlers, ListeningPlace, listen } from './listener.ts';
import { relayRequest, relayUpgrade } from './relay.ts';
import { RelayPlaces } from './relay-places.ts';
import {
  forbidden,
  refuse,
  sendReply,
  sendText,
  tooManyRelays,
  tooManyRelaysText,
  unreachable,
  unreachableText,
} from './replies.ts';

/** Opens a door for several hosts of this process, by default on loopback. Errors: `invalid`, `unavailable`. */
export async function openFrontDoor(at?: ServeOptions, options: FrontOptions = {}): Promise<FrontDoor> {
  const front = new Front(at, takeOptions(options, 'openFrontDoor', { elsewhere: true, fault: true }));
  await front.listen();
  return front;
}

/** Opens the door of one host: at a front door, or with a listener of its own. Errors: `invalid`, `unavailable`. */
export async function openHostDoor<Who>(
  at: ServeOptions | FrontPlace | undefined,
  handlers: DoorHandlers<Who>,
): Promise<Listener> {
  if (at === undefined || !Object.hasOwn(at, 'front')) return listen(placeOf(at as ServeOptions), handlers);
  const { front, name } = takeOptions(at as FrontPlace, 'serve', { front: true, name: true });
  if (front instanceof Front) return front.join(checkHostName(name), handlers);
  throw new CapError('invalid', 'front is a door that openFrontDoor has opened');
}

type Requests = Pick<ListenerHandlers, 'requested' | 'upgraded' | 'close'>;

class Front implements FrontDoor {
  readonly #elsewhere: NonNullable<FrontOptions['elsewhere']>;
  readonly #fault: (error: unknown) => void;
  readonly #listening: ListeningPlace;
  readonly #hosts = new Map<string, Requests>();
  readonly #relays = new RelayPlaces();
  #closed = false;

  constructor(at: ServeOptions | undefined, { elsewhere, fault }: FrontOptions) {
    this.#elsewhere = (name) => elsewhere?.(name);
    this.#fault = (error) => fault?.(error);
    this.#listening = new ListeningPlace(placeOf(at), {
      requested: (request, response, arrival) => this.#requested(request, response, arrival),
      upgraded: (request, stream, head, arrival) => this.#upgraded(request, stream, head, arrival),
      close: () => this.#close(),
      fault: this.#fault,
      pages: true,
    });
  }

  listen(): Promise<void> {
    return this.#listening.listen();
  }

  get url(): string {
    return this.#listening.url;
  }

  take(stream: Stream): void {
    if (this.#closed) stream.destroy();
    else this.#listening.take(stream);
  }

  renew(tls: { readonly cert: string; readonly key: string }): void {
    this.#listening.renew(tls);
  }

  close(): Promise<void> {
    return this.#listening.close();
  }

  #close(): void {
    this.#closed = true;
    for (const host of this.#hosts.values()) host.close();
    this.#hosts.clear();
    this.#relays.close();
  }

  /** Adds a host. Errors: `invalid` (the name is taken), `unavailable` (the door is closed). */
  join<Who>(name: string, handlers: DoorHandlers<Who>): Listener {
    if (this.#closed) throw new CapError('unavailable', 'this front door is closed: open another one');
    if (this.#hosts.has(name))
      throw new CapError('invalid', 'a host has this name at the front door: close its door, or choose another name');
    const requests = new HostRequests(handlers);
    this.#hosts.set(name, requests);
    return {
      url: `${this.url.replace(/\/$/, '')}/${name}`,
      origins: () => this.#listening.names.origins,
      close: async () => {
        if (this.#hosts.get(name) === requests) this.#hosts.delete(name);
        requests.close();
      },
    };
  }

  #requested(request: IncomingMessage, response: ServerResponse, arrival: Arrival): void {
    response.sendDate = false;
    const misplaced = misplacedBy(request, arrival);
    if (misplaced !== undefined) return sendReply(response, 403, forbidden(misplaced).body);
    const { host, there } = this.#find(request, arrival);
    if (host !== undefined) return host.requested(request, response, arrival);
    if (there === undefined) return arrival.names === undefined ? sendReply(response, 503, unreachable) : sendText(response, 404, notFound); // biome-ignore format: one line
    if (!this.#relays.take(request.socket)) return sendReply(response, 503, tooManyRelays);
    fenced(response, this.#fault, () =>
      relayRequest(request, response, { there, known: () => arrival.known(), fault: this.#fault }),
    );
  }

  #upgraded(request: IncomingMessage, stream: Stream, head: Buffer, arrival: Arrival): void {
    const misplaced = misplacedBy(request, arrival);
    if (misplaced !== undefined) return refuse(stream, 403, misplaced);
    const { host, there } = this.#find(request, arrival);
    if (host !== undefined) return host.upgraded(request, stream, head, arrival);
    if (there === undefined) return arrival.names === undefined ? refuse(stream, 503, unreachableText) : refuse(stream, 404, notFound); // biome-ignore format: one line
    if (!this.#relays.take(stream)) return refuse(stream, 503, tooManyRelaysText);
    fenced(stream, this.#fault, () =>
      relayUpgrade(request, stream, head, { there, known: () => arrival.known(), fault: this.#fault }),
    );
  }

  /** Finds the host of a request. If it is in this process, `request.url` becomes the path that the host sees. */
  #find(
    request: IncomingMessage,
    { names }: Arrival,
  ): { readonly host?: Requests | undefined; readonly there?: HostElsewhere | undefined } {
    const path = splitPath(request.url ?? '');
    if (path === undefined) return {};
    const host = this.#hosts.get(path.name);
    if (host !== undefined) {
      request.url = path.rest;
      return { host };
    }
    // Without names, another front door has relayed it, which may not know yet where the host is now.
    return { there: names === undefined ? undefined : this.#elsewhere(path.name) };
  }
}

const notFound = 'not found';

const misplacedBy = ({ headers: { host, origin } }: IncomingMessage, { names }: Arrival): string | undefined =>
  wrongOrigin({ host, origin }, names);
