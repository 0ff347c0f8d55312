/** A client that writes the lines of MCP itself, in either era, to a real `hob mcp` of a real `hob start`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HobHome, Running } from './hob.ts';

/** Starts the server that the configuration names, on its own standard input and output. */
const AGENT = `
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
const { command, args } = JSON.parse(readFileSync(process.env.HOB_MCP_CONFIG, 'utf8')).mcpServers.hob;
// As the strictest of the agent hosts starts its servers.
const { HOME, PATH, TMPDIR, HOB_MUTANT } = process.env;
const server = spawn(command, args, { stdio: 'inherit', env: { HOME, PATH, TMPDIR, HOB_MUTANT } });
server.on('exit', (code) => process.exit(code ?? 1));
`;

/** One answer of the server. */
export interface Reply {
  readonly id?: unknown;
  readonly result?: { readonly [name: string]: unknown; readonly structuredContent?: Readonly<Record<string, unknown>>; readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] }; // biome-ignore format: one line
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly method?: string;
  readonly params?: unknown;
}

const MODERN = '2026-07-28';
/** The envelope of each request of the newer era. */
export const ENVELOPE: Readonly<Record<string, unknown>> = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
};

/** Calls a tool of a session over HTTP in the newer era. Returns the whole answer as text. */
export async function callOverHttp(
  { url, secret }: { readonly url: string; readonly secret: string },
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const answer = await fetch(`${url.replace('ws', 'http')}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: ENVELOPE } }), // biome-ignore format: one line
  });
  return await answer.text();
}

export class LineClient {
  readonly running: Running;
  readonly era: 'older' | 'newer';
  #next = 1;

  private constructor(running: Running, era: 'older' | 'newer') {
    this.running = running;
    this.era = era;
  }

  /** Starts the session and its server, and opens the protocol. */
  static async open(hob: HobHome, era: 'older' | 'newer'): Promise<LineClient> {
    const file = join(hob.folder, 'mcp-agent.mjs');
    writeFileSync(file, AGENT);
    const client = new LineClient(hob.start('start', '--', process.execPath, file), era);
    if (era === 'newer') {
      await client.ask('server/discover', {});
      return client;
    }
    const capabilities = { elicitation: {} };
    await client.ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'test', version: '1' } }); // biome-ignore format: one line
    client.tell('notifications/initialized', {});
    return client;
  }

  /** All messages so far. Throws if anything else was written. */
  get messages(): readonly Reply[] {
    const lines = this.running.out.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Reply);
  }

  write(text: string): void {
    this.running.child.stdin?.write(text);
  }

  tell(method: string, params: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', method, params: this.#withEnvelope(params) })}\n`);
  }

  /** Sends a request and returns its id. */
  send(method: string, params: object): number {
    const id = this.#next++;
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: this.#withEnvelope(params) })}\n`);
    return id;
  }

  /** Waits for the first message that fits. */
  async until(fits: (message: Reply) => boolean): Promise<Reply> {
    let over = false;
    this.running.ended.then(() => {
      over = true;
    });
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      if (over) throw new Error(`it ended: ${this.running.err}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  answer(id: unknown): Promise<Reply> {
    return this.until((message) => message.id === id && message.method === undefined);
  }

  ask(method: string, params: object): Promise<Reply> {
    return this.answer(this.send(method, params));
  }

  async call(name: string, args: object, more: object = {}): Promise<NonNullable<Reply['result']>> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args, ...more });
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  #withEnvelope(params: object): object {
    const { _meta = {}, ...rest } = params as { readonly _meta?: object };
    return this.era === 'older' ? params : { ...rest, _meta: { ...ENVELOPE, ..._meta } };
  }
}
