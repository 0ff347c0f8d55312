/**
 * One session over Streamable HTTP, in both eras of MCP.
 *
 * Promise: a client of the older era has a table of its calls by request id, under an id that nobody guesses and that
 * works with the secret of this session only. A cancellation, which comes as a request of its own, ends the call of that
 * id and no other one. Such clients are limited in number: the one that waits for nothing and was silent longest goes
 * first. A closed stream ends its call.
 */
import { randomUUID } from 'node:crypto';
import type { HttpSession, SessionFace } from '@hob/host';
import { CapError, type Connected, type Far } from '@hob/vat/peer';
import { closeCodes } from '@hob/vat/wire';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { after as timer } from '../../drivers/powers.ts';
import { serverFor } from '../../drivers/sdk.ts';
import type { Face } from '../../face/face.ts';
import type { After } from '../../face/waits.ts';
import { openFace } from '../../open-face.ts';

const IDLE_MS = 600_000;
/** Clients of the older era, and streams that listen in the newer one. */
const MOST_CLIENTS = 16;
const KEEP_ALIVE_MS = 15_000;

/** A client of the older era. */
interface OlderClient {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  requests: number;
}

export class SessionHttp {
  readonly #version: string;
  readonly #waitMs: number | undefined;
  readonly #idleMs: number;
  readonly #after: After;
  readonly #over: () => void;
  #from: HttpSession;
  #connected: Connected<SessionFace> | undefined;
  #face: Promise<Face> | undefined;
  #newer: McpHttpHandler | undefined;
  /** Those that were silent longest come first. */
  readonly #older = new Map<string, OlderClient>();
  #requests = 0;
  #stopIdle: () => void = () => {};
  #isOver = false;

  /** `over` is called once, when it takes no more requests. */
  constructor(
    from: HttpSession,
    options: { readonly version: string; readonly idleMs?: number; readonly waitMs?: number; readonly after?: After },
    over: () => void,
  ) {
    this.#from = from;
    this.#version = options.version;
    this.#waitMs = options.waitMs;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#after = options.after ?? timer;
    this.#over = over;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** `from` is the session as this request found it. */
  async answer(request: Request, from: HttpSession): Promise<Response> {
    this.#from = from;
    this.#stopIdle();
    this.#requests += 1;
    request.signal.addEventListener('abort', () => this.#requestOver(), { once: true });
    if (request.signal.aborted) this.#requestOver();
    let body: unknown;
    if (request.method === 'POST') {
      try {
        body = JSON.parse(await request.text());
      } catch {
        return errorReply(400, -32_700, 'invalid', 'the body of a request is one JSON-RPC message');
      }
      // One request is one call, on one slot of the session.
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        return errorReply(400, -32_600, 'invalid', 'the body of a request is one JSON-RPC message');
    }
    let face: Face;
    try {
      face = await (this.#face ??= this.#open());
    } catch (error) {
      this.#face = undefined;
      const { code, message } = error instanceof CapError ? error : new CapError('fault', 'the session cannot be entered: try again'); // biome-ignore format: one line
      return errorReply(503, -32_603, code, message);
    }
    if (await isLegacyRequest(request, body)) return await this.#answerOlder(request, body, face);
    this.#newer ??= createMcpHandler(() => serverFor(face, this.#version), {
      legacy: 'reject',
      maxSubscriptions: MOST_CLIENTS,
      keepAliveMs: KEEP_ALIVE_MS,
    });
    return await this.#newer.fetch(request, { parsedBody: body });
  }

  async #answerOlder(request: Request, body: unknown, face: Face): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const client = id === null ? await this.#newOlder(body, face) : this.#older.get(id);
    if (client === undefined)
      return id === null
        ? errorReply(400, -32_600, 'invalid', 'a client begins with initialize, and sends Mcp-Session-Id with all that follows') // biome-ignore format: one line
        : errorReply(404, -32_001, 'no-such-object', 'there is no such client any more: begin with initialize');
    if (id !== null) {
      this.#older.delete(id);
      this.#older.set(id, client);
    }
    client.requests += 1;
    request.signal.addEventListener('abort', () => { client.requests -= 1; }, { once: true }); // biome-ignore format: one line
    return await client.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  }

  async #newOlder(body: unknown, face: Face): Promise<OlderClient | undefined> {
    if ((body as { readonly method?: unknown } | undefined)?.method !== 'initialize') return undefined;
    const server = serverFor(face, this.#version);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => this.#keepOlder(id, client),
      onsessionclosed: (id) => void this.#older.delete(id),
      keepAliveMs: KEEP_ALIVE_MS,
    });
    const client: OlderClient = { server, transport, requests: 0 };
    await server.connect(transport);
    return client;
  }

  #keepOlder(id: string, client: OlderClient): void {
    if (this.#older.size >= MOST_CLIENTS) {
      const [first] = this.#older.keys();
      const [gone] = [...this.#older].find(([, { requests }]) => requests === 0) ?? [first as string];
      void this.#older.get(gone)?.server.close();
      this.#older.delete(gone);
    }
    this.#older.set(id, client);
  }

  #open(): Promise<Face> {
    const options = this.#waitMs === undefined ? {} : { waitMs: this.#waitMs };
    return openFace(async () => this.#bootstrap(), {
      ...options,
      after: this.#after,
      onGrant: () => this.#announce(),
    });
  }

  /** Connects again if the connection was lost, as a program of its own would. */
  #bootstrap(): Far<SessionFace> {
    if (this.#connected !== undefined) return this.#connected.bootstrap;
    if (this.#isOver) throw new CapError('revoked', 'this session has ended: start the agent anew');
    const connected = this.#from.connect();
    this.#connected = connected;
    void connected.closed.then(({ code }) => {
      this.#connected = undefined;
      const isGone = code === closeCodes.sessionEnded || code === closeCodes.goingAway;
      if (isGone || this.#requests === 0) void this.close();
    });
    return connected.bootstrap;
  }

  #announce(): void {
    this.#newer?.notify.toolsChanged();
    for (const { server } of this.#older.values()) server.sendToolListChanged().catch(() => {});
  }

  #requestOver(): void {
    this.#requests -= 1;
    if (this.#requests > 0 || this.#isOver) return;
    if (this.#connected === undefined) void this.close();
    else this.#stopIdle = this.#after(this.#idleMs, () => void this.close());
  }

  /** Ends the calls that wait, and leaves the session. Jobs in the background go on. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over();
    this.#stopIdle();
    await Promise.all([...this.#older.values()].map(({ server }) => server.close().catch(() => {})));
    this.#older.clear();
    await this.#newer?.close();
    await (await this.#face?.catch(() => undefined))?.close();
    this.#connected?.close();
  }
}

/** An error of ours as JSON-RPC, as the lines of standard output have it. */
const errorReply = (status: number, code: number, ours: string, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message, data: { code: ours } } }, { status });
