/**
 * One run of a server: a job in the sandbox, and the MCP client on its streams.
 *
 * Promise: it reaches the world that it was given and nothing else. It is ended with all its processes when it is
 * closed, floods, or speaks no MCP. Every call ends: with a result of the server or with a coded error.
 */
import { type Job, startProgram, type World } from '@hob/caps-shell';
import { safeText } from '@hob/host';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { isServerError, type ServerCode, serverError } from '../errors.ts';
import type { FullServerLimits } from '../limits.ts';
import { definitionOf, type Fields, type ToolDefinition } from '../seal.ts';
import { JobTransport, TOO_LARGE } from '../transport.ts';

/** A program with its world, and how it is spoken to. */
export interface ServerProgram {
  readonly name: string;
  /** An absolute path of this machine. */
  readonly program: string;
  readonly args: readonly string[];
  readonly world: World;
  readonly limits: FullServerLimits;
}

/** `auto` asks for the newer protocol first. `legacy` begins with `initialize`, for servers that end at the question. */
export type Era = 'auto' | 'legacy';

/** Takes any result: the checks are ours, because the client's know no limits. */
const RAW = {
  '~standard': { version: 1, vendor: 'hob', validate: (value: unknown) => ({ value: value as Fields }) },
} as const;
/** The errors of the client. All others say that the server spoke no MCP. */
const CODES: Readonly<Partial<Record<SdkErrorCode, ServerCode>>> = {
  [SdkErrorCode.RequestTimeout]: 'SERVER_TIMEOUT',
  [SdkErrorCode.UnsupportedResultType]: 'SERVER_ASKS',
  [SdkErrorCode.ConnectionClosed]: 'SERVER_ENDED',
  [SdkErrorCode.NotConnected]: 'SERVER_ENDED',
  [SdkErrorCode.SendFailed]: 'SERVER_ENDED',
};
const MOST_PAGES = 64;
const LONGEST_MESSAGE = 500;
const LAST_WORDS = 2048;
const LONGEST_WALL_MS = 0x7fff_ffff;

export class Connection {
  readonly #name: string;
  readonly #job: Job;
  readonly #client: Client;
  readonly #transport: JobTransport;
  readonly #limits: FullServerLimits;
  #lastWords = '';
  #over = false;

  private constructor({ name, limits }: ServerProgram, era: Era, job: Job) {
    this.#name = name;
    this.#job = job;
    this.#limits = limits;
    this.#transport = new JobTransport(job, limits);
    const versionNegotiation =
      era === 'auto' ? { mode: 'auto' as const, probe: { timeoutMs: Math.ceil(limits.startMs / 3) } } : { mode: 'legacy' as const }; // biome-ignore format: one line
    this.#client = new Client(
      { name: 'hob', version: '1' },
      { capabilities: {}, versionNegotiation, inputRequired: { autoFulfill: false } },
    );
    void this.#readWords();
    void job.wait().catch(() => {}).finally(() => { this.#over = true; }); // biome-ignore format: one line
  }

  /**
   * Resolves when the server runs and has said who it is. If it does not, `tell` gets its last words, which are for the
   * person who runs the host. Errors: `SERVER_START`, those of the sandbox.
   */
  static async open(program: ServerProgram, era: Era, tell: (words: string) => void): Promise<Connection> {
    const { limits: most = {}, ...world } = program.world;
    const limits = { wallMs: LONGEST_WALL_MS, outputBytes: Number.MAX_SAFE_INTEGER, ...most };
    const job = await startProgram(program.program, program.args, { ...world, limits });
    const made = new Connection(program, era, job);
    try {
      await made.#client.connect(made.#transport, { timeout: program.limits.startMs });
      return made;
    } catch {
      await made.close();
      tell(made.#why());
      throw serverError('SERVER_START', program.name);
    }
  }

  /** It takes no more calls. */
  get isOver(): boolean {
    return this.#over || this.#transport.isClosed;
  }

  /** Resolves when no process of it is left. */
  async close(): Promise<void> {
    await this.#transport.close();
    await this.#job.wait().catch(() => {});
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
    const { fault } = this.#transport;
    if (fault !== undefined) return serverError(fault, this.#name);
    if (isServerError(error)) return error;
    if (error instanceof UrlElicitationRequiredError) return serverError('SERVER_ASKS', this.#name);
    if (error instanceof ProtocolError)
      return (error.code as number) === TOO_LARGE
        ? serverError('SERVER_TOO_LARGE', this.#name, `more than ${this.#limits.lineBytes} bytes`)
        : serverError('SERVER_ERROR', this.#name, `it says “${safeText(error.message, LONGEST_MESSAGE).text}”`);
    const code = error instanceof SdkError ? CODES[error.code] : undefined;
    // Other errors are those of a job that takes no input any more.
    return serverError(code ?? (error instanceof SdkError ? 'SERVER_PROTOCOL' : 'SERVER_ENDED'), this.#name);
  }

  /** Standard error is kept for the person who starts the server, and only its end. */
  async #readWords(): Promise<void> {
    try {
      for (let part = await this.#job.stderr.next(); part !== undefined; part = await this.#job.stderr.next())
        this.#lastWords = `${this.#lastWords}${Buffer.from(part).toString()}`.slice(-LAST_WORDS);
    } catch {
      // It ended with its job.
    }
  }

  #why(): string {
    const last = this.#lastWords.trim().split('\n').slice(-3).join(' / ');
    return last === '' ? 'it said nothing on standard error' : `it said last: ${last}`;
  }
}
