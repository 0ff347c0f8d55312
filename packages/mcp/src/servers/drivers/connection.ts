/**
 * The MCP client of one run of a server.
 *
 * Promise: the run is ended, with all its processes, when it is closed, floods, or speaks no MCP. Every call ends: with
 * a result of the server or with a coded error.
 */
import { safeText } from '@hob/host';
import { CapError } from '@hob/vat';
import type { Client, SdkErrorCode } from '@modelcontextprotocol/client';
import { isServerError, type ServerCode, serverError } from '../errors.ts';
import { NO_ANSWER } from '../http-transport.ts';
import { TOO_LARGE } from '../incoming.ts';
import type { FullServerLimits } from '../limits.ts';
import type { Run } from '../runs.ts';
import { definitionOf, type Fields, type ToolDefinition } from '../seal.ts';

/** A server, and how it is begun. */
export interface ServerPlace {
  readonly name: string;
  readonly limits: FullServerLimits;
  /** Errors: those of the sandbox. */
  readonly begin: () => Promise<Run>;
}

/** `auto` asks for the newer protocol first. `legacy` begins with `initialize`, for servers that end at the question. */
export type Era = 'auto' | 'legacy';

/** Takes any result: the checks are ours, because the client's know no limits. */
const RAW = {
  '~standard': { version: 1, vendor: 'hob', validate: (value: unknown) => ({ value: value as Fields }) },
} as const;
type Sdk = typeof import('@modelcontextprotocol/client');
/** The errors of the client. All others say that the server spoke no MCP. */
const codesOf = ({ SdkErrorCode: code }: Sdk): Readonly<Partial<Record<SdkErrorCode, ServerCode>>> => ({
  [code.RequestTimeout]: 'SERVER_TIMEOUT',
  [code.UnsupportedResultType]: 'SERVER_ASKS',
  [code.ConnectionClosed]: 'SERVER_ENDED',
  [code.NotConnected]: 'SERVER_ENDED',
  [code.SendFailed]: 'SERVER_ENDED',
});
const MOST_PAGES = 64;
const LONGEST_MESSAGE = 500;

export class Connection {
  readonly #name: string;
  readonly #run: Run;
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #limits: FullServerLimits;
  #over = false;

  private constructor({ name, limits }: ServerPlace, era: Era, run: Run, sdk: Sdk) {
    this.#sdk = sdk;
    this.#name = name;
    this.#run = run;
    this.#limits = limits;
    const versionNegotiation =
      era === 'auto' ? { mode: 'auto' as const, probe: { timeoutMs: Math.ceil(limits.startMs / 3) } } : { mode: 'legacy' as const }; // biome-ignore format: one line
    this.#client = new sdk.Client(
      { name: 'hob', version: '1' },
      { capabilities: {}, versionNegotiation, inputRequired: { autoFulfill: false } },
    );
    void run.ended.then(() => { this.#over = true; }); // biome-ignore format: one line
  }

  /**
   * Resolves when the server runs and has said who it is. If it does not, `tell` gets its last words, which are for the
   * person who runs the host. Errors: `SERVER_START`, those of the sandbox.
   */
  static async open(place: ServerPlace, era: Era, tell: (words: string) => void): Promise<Connection> {
    // Loaded with the first server: loading takes 150 ms, and most hosts have no server.
    const sdk = await import('@modelcontextprotocol/client');
    const run = await place.begin();
    const made = new Connection(place, era, run, sdk);
    try {
      await made.#client.connect(run.transport, { timeout: place.limits.startMs });
      return made;
    } catch {
      await made.close();
      tell(run.why());
      throw serverError('SERVER_START', place.name);
    }
  }

  /** It takes no more calls. */
  get isOver(): boolean {
    return this.#over || this.#run.transport.isClosed;
  }

  /** Resolves when no process of it is left. */
  async close(): Promise<void> {
    await this.#run.transport.close();
    await this.#run.ended;
  }

  /** The tools that it has now; `timeout` is in ms. One whose name stands there twice is absent. Errors: those of a call. */
  async tools(timeout: number, signal?: AbortSignal): Promise<ReadonlyMap<string, ToolDefinition>> {
    const found = new Map<string, ToolDefinition>();
    const twice = new Set<string>();
    let cursor: unknown;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await this.#ask('tools/list', params, timeout, signal);
      if (!Array.isArray(tools)) throw serverError('SERVER_PROTOCOL', this.#name);
      for (const tool of tools as readonly unknown[]) {
        const name = typeof tool === 'object' && tool !== null ? (tool as Fields)['name'] : undefined;
        if (typeof name !== 'string') throw serverError('SERVER_PROTOCOL', this.#name);
        if (found.has(name)) twice.add(name);
        found.set(name, definitionOf(name, tool as Fields, this.#client.getInstructions()));
      }
      if (found.size > this.#limits.tools) throw serverError('SERVER_TOO_LARGE', this.#name, `more than ${this.#limits.tools} tools`); // biome-ignore format: one line
      if (typeof nextCursor !== 'string') break;
      cursor = nextCursor;
    }
    for (const name of twice) found.delete(name);
    return found;
  }

  /** The raw result of a tool. Errors: the codes of `ServerCode`; the reason of an aborted `signal`. */
  async call(tool: string, args: Fields, signal?: AbortSignal): Promise<Fields> {
    return await this.#ask('tools/call', { name: tool, arguments: args }, this.#limits.callMs, signal);
  }

  async #ask(method: string, params: Fields, timeout: number, signal: AbortSignal | undefined): Promise<Fields> {
    try {
      const request = { method, params } as never;
      const result: unknown = await this.#client.request(request, RAW as never, {
        ...{ timeout, maxTotalTimeout: timeout, resetTimeoutOnProgress: false },
        ...(signal === undefined ? {} : { signal }),
      });
      if (typeof result !== 'object' || result === null) throw serverError('SERVER_PROTOCOL', this.#name);
      return result as Fields;
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#errorOf(error);
    }
  }

  #errorOf(error: unknown): unknown {
    const { fault } = this.#run.transport;
    const { ProtocolError, SdkError, UrlElicitationRequiredError } = this.#sdk;
    if (fault !== undefined) return serverError(fault, this.#name);
    // Those of an http cap say what may have happened.
    if (isServerError(error) || error instanceof CapError) return error;
    if (error instanceof UrlElicitationRequiredError) return serverError('SERVER_ASKS', this.#name);
    if (error instanceof ProtocolError) {
      const own: number = error.code;
      if (own === TOO_LARGE) return serverError('SERVER_TOO_LARGE', this.#name, `more than ${this.#limits.lineBytes} bytes`); // biome-ignore format: one line
      if (own === NO_ANSWER) return serverError('SERVER_ENDED', this.#name);
      return serverError('SERVER_ERROR', this.#name, `it says “${safeText(error.message, LONGEST_MESSAGE).text}”`);
    }
    const code = error instanceof SdkError ? codesOf(this.#sdk)[error.code] : undefined;
    // Other errors are those of a job that takes no input any more.
    return serverError(code ?? (error instanceof SdkError ? 'SERVER_PROTOCOL' : 'SERVER_ENDED'), this.#name);
  }
}
