/**
 * The relay between an agent host and its model: the only address of a model that the host gets.
 *
 * Promise: a request is sent on only after all of its body was read and no foreign tool was found in it. Exactly the bytes that were judged are sent. The first request with another tool is not sent, and neither is
 * any later one. Answers pass as they come, without being held. The relay changes nothing in a body and keeps neither
 * keys nor prompts: a request is in memory until it is sent, and no text of it gets into a message but names of tools.
 *
 * It listens on loopback or on a socket in a folder of its user, behind a path that cannot be guessed, so no other
 * program and no web page uses it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestOptions, request as requestHttp, type ServerResponse } from 'node:http'; // biome-ignore format: one line
import { request as requestHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Mistake } from '../../line/mistake.ts';
import { readJson, Unreadable } from '../strict-json.ts';
import { isPassedOn, type Wire } from '../wires.ts';

/** A larger request is refused. A conversation with images stays below. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Requests whose bodies are read at once. */
const MOST_REQUESTS = 16;
/** Between two pieces of a request or an answer. A model may think for some minutes. */
const IDLE_MS = 15 * 60_000;

interface RelayOptions {
  /** The address of the model. */
  readonly upstream: URL;
  readonly wire: Wire;
  /** The tools in a request that may not be there. Errors: `Unreadable`. */
  readonly foreignIn: (body: unknown) => readonly string[];
  /**
   * Called once, with the foreign tools of the first request that has some: no later request is sent. Undefined: only
   * the requests that have some are not sent.
   */
  readonly onForeign?: (tools: readonly string[]) => void;
  /** Tells the person why a request was not sent. */
  readonly say: (text: string) => void;
  /** A socket to listen on in place of loopback, and the one `Host` that is taken there. */
  readonly socket?: { readonly path: string; readonly host: string };
  /** Texts of headers that are replaced: what stands for a key, by the key. */
  readonly keys?: ReadonlyMap<string, string>;
}

export interface Relay {
  /** The address that the host gets for the model. */
  readonly url: string;
  close(): Promise<void>;
}

/** Errors: `Mistake` (the address is not https and not on this machine). */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  checkUpstream(options.upstream);
  const gate = new Gate(options, `/${randomBytes(24).toString('base64url')}`);
  const server = createServer({ keepAliveTimeout: 5_000, requestTimeout: IDLE_MS });
  server.on('request', (request, response) => void gate.take(request, response));
  // Neither is HTTP that can be read here: the Responses API over a WebSocket, and a proxy's tunnel.
  for (const event of ['upgrade', 'connect'] as const)
    server.on(event, (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 501 Not Implemented\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    });
  server.on('checkContinue', (request, response) => void gate.take(request, response));
  const { socket } = options;
  const at = socket === undefined ? { host: '127.0.0.1', port: 0 } : { path: socket.path };
  await new Promise<void>((done, fail) => server.once('error', fail).listen(at, done));
  gate.host = socket?.host ?? `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${gate.host}${gate.prefix}`,
    close: () =>
      new Promise((done) => {
        gate.end();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Plain HTTP would show keys and prompts on the network. */
function checkUpstream({ protocol, hostname, username, password, search, hash }: URL): void {
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isHere))
    throw new Mistake('the address of the model must be https, or http on this machine', 2);
  if (`${username}${password}${search}${hash}` !== '')
    throw new Mistake('the address of the model has no user, no query and no fragment: keys come from the environment', 2); // biome-ignore format: one line
}

/** Judges requests, and sends on those that may pass. */
class Gate {
  readonly prefix: string;
  /** The one value of `Host` that is accepted: a page of another name, led here by DNS, sends its own. */
  host = '';
  readonly #options: RelayOptions;
  readonly #base: string;
  readonly #over = new AbortController();
  #isShut = false;
  #reading = 0;

  constructor(options: RelayOptions, prefix: string) {
    this.#options = options;
    this.prefix = prefix;
    this.#base = options.upstream.pathname.replace(/\/$/, '');
  }

  /** Cuts what is under way. */
  end(): void {
    this.#isShut = true;
    this.#over.abort();
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => {});
    response.on('error', () => response.destroy());
    try {
      const target = this.#targetOf(request);
      if (target === undefined) return refuse(response, 404, 'there is nothing at this address');
      if (this.#isShut) return refuse(response, 403, 'the run has been ended');
      const body = await this.#read(request, response);
      const foreign = request.method === 'POST' ? this.#options.foreignIn(readJson(body)) : [];
      if (foreign.length > 0 && this.#options.onForeign === undefined) throw new Unreadable(offers(foreign));
      if (foreign.length > 0) this.#shut(foreign);
      // Another request may have shut it while this one was read.
      if (this.#isShut) return refuse(response, 403, 'the run has been ended: a tool was offered that is not Hob’s');
      this.#send(request, target, body, response);
    } catch (error) {
      // The host has gone, or has given up.
      if (!request.complete && !(error instanceof Unreadable)) return void response.destroy();
      const why = error instanceof Unreadable ? error.message : 'it could not be read';
      this.#options.say(`hob: a request to the model was not sent: ${why}`);
      refuse(response, 400, `Hob did not send this request: ${why}`);
    }
  }

  /** The path and the query behind the address of this relay; undefined for a request that is nothing to it. */
  #targetOf({ url = '', method = '', headers }: IncomingMessage): string | undefined {
    const given = Buffer.from(url.slice(0, this.prefix.length));
    const wanted = Buffer.from(this.prefix);
    if (headers.host !== this.host || given.length !== wanted.length || !timingSafeEqual(given, wanted))
      return undefined;
    const target = url.slice(this.prefix.length);
    return isPassedOn(this.#options.wire, method, target) ? target : undefined;
  }

  /** All of the body. Errors: `Unreadable`. */
  async #read(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    const { headers } = request;
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new Unreadable('its body is compressed');
    if (Number(headers['content-length'] ?? 0) > MOST_BYTES) throw new Unreadable('it is larger than 32 MiB');
    if (this.#reading >= MOST_REQUESTS) throw new Unreadable(`${MOST_REQUESTS} others are being read`);
    if (headers.expect !== undefined) response.writeContinue();
    this.#reading += 1;
    try {
      const parts: Buffer[] = [];
      let size = 0;
      for await (const part of request as AsyncIterable<Buffer>) {
        size += part.length;
        if (size > MOST_BYTES) throw new Unreadable('it is larger than 32 MiB');
        parts.push(part);
      }
      if (request.method === 'GET' && size > 0) throw new Unreadable('it is a GET with a body');
      return Buffer.concat(parts);
    } finally {
      this.#reading -= 1;
    }
  }

  #shut(tools: readonly string[]): void {
    if (this.#isShut) return;
    this.end();
    this.#options.onForeign?.(tools);
  }

  #send(request: IncomingMessage, target: string, body: Buffer, response: ServerResponse): void {
    const { upstream } = this.#options;
    const headers = passedOn(request.rawHeaders).map((text) => withKeys(text, this.#options.keys));
    if (request.method === 'POST') headers.push('content-length', String(body.length));
    const call: RequestOptions = {
      method: request.method as string,
      hostname: upstream.hostname.replace(/^\[|\]$/g, ''),
      port: upstream.port,
      path: `${this.#base}${target}`,
      headers: ['host', upstream.host, ...headers],
      signal: this.#over.signal,
      // A connection of its own: nothing of one request can be taken for a part of another.
      agent: false,
      timeout: IDLE_MS,
    };
    const sent = (upstream.protocol === 'https:' ? requestHttps : requestHttp)(call, (answer) => {
      const status = answer.statusCode ?? 502;
      // A host that follows it would speak past the relay.
      if (status >= 300 && status < 400 && status !== 304) {
        answer.destroy();
        return refuse(response, 502, 'the model’s address leads elsewhere: name that address with --model-url');
      }
      // The model's own date passes.
      response.sendDate = false;
      response.writeHead(status, passedOn(answer.rawHeaders));
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('upgrade', (_answer, socket) => socket.destroy());
    sent.on('error', () =>
      response.headersSent ? response.destroy() : refuse(response, 502, 'the model’s address cannot be reached'),
    );
    response.on('close', () => sent.destroy());
    sent.end(body);
  }
}

/** These belong to one connection, or describe a body that is sent whole here. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** All other headers, in their order and spelling. */
function passedOn(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: raw[at + 1] ?? '' }] : []));
  const named = pairs
    .filter(({ name }) => name.toLowerCase() === 'connection')
    .flatMap(({ value }) =>
      value
        .toLowerCase()
        .split(',')
        .map((each) => each.trim()),
    );
  return pairs
    .filter(({ name }) => !OF_CONNECTION.has(name.toLowerCase()) && !named.includes(name.toLowerCase()))
    .flatMap(({ name, value }) => [name, value]);
}

const offers = (tools: readonly string[]): string => `it has what the model’s provider would run: ${namesOf(tools)}`;

function withKeys(header: string, keys: ReadonlyMap<string, string> = new Map()): string {
  return [...keys].reduce((text, [standIn, key]) => text.replace(standIn, () => key), header);
}

/** Names of tools for a person: of a request, so they are quoted, and not all of them. */
export function namesOf(tools: readonly string[]): string {
  const shown = tools.slice(0, 5).map((tool) => JSON.stringify(tool.slice(0, 60)));
  return `${shown.join(', ')}${tools.length > shown.length ? ` and ${tools.length - shown.length} more` : ''}`;
}

/** In the shape in which all four hosts look for a message. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // Without a date Node keeps no timer for it.
  response.sendDate = false;
  const text = JSON.stringify({ type: 'error', error: { type: 'permission_error', code: status, message } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(text);
}
