/** A host with a directory and a shell, a session, and a client that writes the lines of MCP itself. For tests. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import {
  type CallFirewall,
  type Granter,
  type Host,
  type NewSession,
  openHost,
  type Request,
  type SessionFace,
} from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { onTestFinished } from 'vitest';
import { type HttpOptions, mcpOverHttp } from '../src/http/index.ts';
import { type Face, type FaceOptions, openFace } from '../src/index.ts';
import { serveStdio } from '../src/stdio.ts';

export interface World {
  readonly host: Host;
  readonly session: NewSession;
  readonly granter: Far<Granter>;
  readonly url: string;
  /** A place in the directory. */
  path(name: string): string;
  file(name: string): string;
  write(name: string, data: string | Uint8Array): void;
  grant(petname: string, offer: string, terms?: object): Promise<unknown>;
  /** Waits until so many requests wait. */
  inbox(count?: number): Promise<readonly Request[]>;
  lines(kind: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  face(options?: FaceOptions): Promise<Face>;
}

export async function world({
  shell = false,
  http = {},
  firewall,
}: {
  readonly shell?: boolean;
  readonly http?: Partial<HttpOptions>;
  readonly firewall?: CallFirewall;
} = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-mcp-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  const host = await openHost({ stateDir: join(folder, 'state'), ...(firewall && { firewall }) });
  const directory = await openFsCap(root);
  await host.offer('notes', directory);
  const made = shell ? await makeShellCap({ mounts: { '/ws': directory } }) : undefined;
  if (made !== undefined) await host.offer('shell', made);
  const { granter } = await host.ensureGranter('alice');
  const session = await host.openSession({ name: 'demo', granters: ['alice'] });
  const { url } = await host.serve({}, { '/mcp': mcpOverHttp({ version: '1.0.0', ...http }) });
  const open: { close(): void; readonly closed: Promise<unknown> }[] = [];
  onTestFinished(async () => {
    for (const connection of open) {
      connection.close();
      await connection.closed;
    }
    await made?.close();
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  return {
    host,
    session,
    granter,
    url,
    path: (name) => join(root, name),
    file: (name) => readFileSync(join(root, name), 'utf8'),
    write: (name, data) => writeFileSync(join(root, name), data),
    grant: (petname, offer, terms = {}) =>
      E(granter).grant(session.id, petname, offer, { for: 600_000, ...terms }) as unknown as Promise<unknown>,
    async inbox(count = 1) {
      for (;;) {
        const all = (await E(granter).inbox()) as readonly Request[];
        if (all.length === count) return all;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async lines(kind) {
      const all: Record<string, unknown>[] = [];
      for await (const line of host.ledger()) all.push(JSON.parse(line));
      return all.filter(({ k }) => k === kind);
    },
    async face(options) {
      const connection = await connect<SessionFace>(`${url}/beside`, { secret: session.secret });
      open.push(connection);
      return await openFace(connection.bootstrap, options);
    },
  };
}

export type Era = 'older' | 'newer';
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: Readonly<Record<string, unknown>>; readonly [name: string]: unknown }; // biome-ignore format: one line
  readonly error?: { readonly code: number; readonly data?: unknown };
}

/** The envelope of each request of the newer era. */
export const ENVELOPE: Readonly<Record<string, unknown>> = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
};

/** One server over streams, and its client. */
export class Client {
  readonly input: PassThrough = new PassThrough();
  readonly messages: Message[] = [];
  readonly served: Promise<void>;
  readonly #era: Era;
  #heard = Promise.withResolvers<void>();
  #next = 0;

  constructor(at: World, era: Era) {
    this.#era = era;
    const folder = mkdtempSync(join(tmpdir(), 'hob-mcp-secret-'));
    const file = join(folder, 'secret');
    writeFileSync(file, at.session.secret, { mode: 0o600 });
    const output = new PassThrough();
    let rest = '';
    output.on('data', (part: Buffer) => {
      const lines = `${rest}${part}`.split('\n');
      rest = lines.pop() as string;
      // A line that is no JSON fails the test.
      for (const line of lines) this.messages.push(JSON.parse(line));
      this.#heard.resolve();
      this.#heard = Promise.withResolvers<void>();
    });
    this.served = serveStdio({ url: at.url, secret: { file }, version: '1.0.0', input: this.input, output });
    this.served.catch(() => {});
    onTestFinished(async () => {
      this.input.end();
      await this.served.catch(() => {});
      rmSync(folder, { recursive: true });
    });
  }

  static async open(at: World, era: Era): Promise<Client> {
    const client = new Client(at, era);
    if (era === 'newer') await client.ask('server/discover', {});
    else {
      await client.ask('initialize', { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: { name: 'test', version: '1' } }); // biome-ignore format: one line
      client.tell('notifications/initialized', {});
    }
    return client;
  }

  /** Writes a request and returns its id. */
  send(method: string, params: object): number {
    this.#next += 1;
    this.tell(method, params, { id: this.#next });
    return this.#next;
  }

  tell(method: string, params: object, more: object = {}): void {
    const { _meta = {} } = params as { readonly _meta?: object };
    const whole = this.#era === 'older' ? params : { ...params, _meta: { ...ENVELOPE, ..._meta } };
    this.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...more, method, params: whole })}\n`);
  }

  async until(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      await this.#heard.promise;
    }
  }

  ask(method: string, params: object): Promise<Message> {
    const id = this.send(method, params);
    return this.until((message) => message.id === id && message.method === undefined);
  }

  async call(name: string, args: object, more: object = {}): Promise<NonNullable<Message['result']>> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args, ...more });
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  }
}
