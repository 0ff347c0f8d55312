/**
 * `openServer`: a server of tools that the host runs in the sandbox, over all of its runs. `openServerAt`: one at an
 * address, through an http cap.
 *
 * Promise: a tool is called only as it was sealed: the definition is read again before each call. A server that ended
 * is started again for the next call, so often within a minute as its limits say. What goes wrong in one call breaks
 * that call. Nothing runs outside the sandbox.
 */
import type { FsCap } from '@hob/caps-fs';
import type { HttpCap } from '@hob/caps-net';
import type { ShellLimits } from '@hob/caps-shell';
import { safeText } from '@hob/host';
import { CapError, type Clock, type Far, systemClock } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { canonicalJson } from './canonical.ts';
import { Connection, type Era, type ServerPlace } from './drivers/connection.ts';
import { serverError } from './errors.ts';
import { type FullServerLimits, fullServerLimits, type ServerLimits } from './limits.ts';
import { type ToolResult, toolResult } from './result.ts';
import { runAt, runProgram } from './runs.ts';
import { type Fields, sealOf, type ToolDefinition } from './seal.ts';

interface AnyServer {
  /** How errors call it. */
  readonly name: string;
  readonly limits?: ServerLimits;
  readonly clock?: Clock;
  /** Takes the values of secrets out of a text before anybody reads it. */
  readonly blank?: (text: string) => string;
}

/** A server at an address. */
export interface PlaceOptions extends AnyServer {
  /** Reaches the server: `makeHttpCap` with the options of `mcpPlace`. It is closed by whoever made it. */
  readonly http: HttpCap;
  readonly path: string;
}

/** A program, and all that it may reach. There is no network. */
export interface ServerOptions extends AnyServer {
  /** The program, by its absolute path on this machine. */
  readonly program: string;
  readonly args?: readonly string[];
  /** Directories by the paths at which the server sees them, read-only if the cap is. */
  readonly mounts?: Readonly<Record<string, FsCap | Far<FsCap>>>;
  /** Where it runs, as it sees it. Default: the first mount. */
  readonly cwd?: string;
  /** Variables, such as a token. They are all that it finds in its environment beside PATH, HOME, TMPDIR and LANG. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limits of its processes. `wallMs` and `outputBytes` have none by default. */
  readonly processLimits?: ShellLimits;
}

/** A tool as it was sealed. */
export interface SealedDefinition {
  readonly definition: ToolDefinition;
  readonly seal: string;
}

/** The outcome of a call: its result, or the definition that the tool has now and that nobody has seen. */
export type CallOutcome = { readonly result: ToolResult } | { readonly changed: SealedDefinition };

/** A running server. Its methods reject with the codes of `ServerCode`. */
export interface ToolServer {
  readonly name: string;
  /** The definition that a tool has now. Errors: `TOOL_GONE`. */
  sealed(tool: string): Promise<SealedDefinition>;
  /** Calls a tool if its definition has this seal. Errors: `invalid` (the arguments), `limit`. */
  call(tool: string, args: unknown, seal: string, signal?: AbortSignal): Promise<CallOutcome>;
  /** How often it was started. */
  readonly starts: number;
  /** Ends it for good. Resolves when no process of it is left. */
  close(): Promise<void>;
}

const MINUTE = 60_000;
const LARGEST_ARGUMENTS = 512 * 1024;

/**
 * Starts a server and returns it when it has listed its tools. Errors: `SERVER_START` with the last words of the
 * server, `invalid`, those of the sandbox.
 */
export async function openServer(options: ServerOptions): Promise<ToolServer> {
  const { program, args = [], mounts = {}, cwd, env = {}, processLimits, ...any } = takeOptions(
    options,
    'openServer',
    { name: true, program: true, args: true, mounts: true, cwd: true, env: true, limits: true, processLimits: true, clock: true, blank: true }, // biome-ignore format: one line
  ); // biome-ignore format: one line
  const world = {
    ...{ mounts, env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(processLimits === undefined ? {} : { limits: processLimits }),
  };
  return await opened(any, (limits) => () => runProgram({ program, args, world, limits }));
}

/**
 * Begins with a server at an address, and returns it when it has listed its tools. Errors: `SERVER_START` with the
 * reason, `invalid`.
 */
export async function openServerAt(options: PlaceOptions): Promise<ToolServer> {
  const { http, path, ...any } = takeOptions(options, 'openServerAt', { name: true, http: true, path: true, limits: true, clock: true, blank: true }); // biome-ignore format: one line
  return await opened(any, (limits, name) => async () => runAt({ name, http, path, limits }));
}

type Beginning = (limits: FullServerLimits, name: string) => ServerPlace['begin'];

async function opened(options: AnyServer, beginning: Beginning): Promise<ToolServer> {
  const server = new LiveServer(options, beginning);
  try {
    await server.first();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

class LiveServer implements ToolServer {
  readonly name: string;
  readonly #place: ServerPlace;
  readonly #clock: Clock;
  readonly #blank: (text: string) => string;
  #running: Promise<Connection> | undefined;
  readonly #startedAt: number[] = [];
  #era: Era = 'auto';
  #open = 0;
  #words = '';
  #closed = false;
  starts: number = 0;

  constructor({ name, limits, clock, blank }: AnyServer, beginning: Beginning) {
    this.name = safeText(String(name), 64).text;
    this.#clock = clock ?? systemClock();
    this.#blank = blank ?? ((text) => text);
    const all = fullServerLimits(limits);
    this.#place = { name: this.name, limits: all, begin: beginning(all, this.name) };
  }

  /** The first start: its errors are for the person who runs the host. */
  async first(): Promise<void> {
    try {
      await (await this.#connection()).tools(this.#place.limits.startMs);
    } catch (error) {
      if (!(error instanceof CapError) || error.code !== 'SERVER_START' || this.#words === '') throw error;
      throw serverError('SERVER_START', this.name, safeText(this.#blank(this.#words), 500).text);
    }
  }

  async sealed(tool: string): Promise<SealedDefinition> {
    return await this.#defined(await this.#connection(), tool);
  }

  async call(tool: string, args: unknown, seal: string, signal?: AbortSignal): Promise<CallOutcome> {
    const fields = takeArguments(args);
    if (this.#open >= this.#place.limits.openCalls) throw serverError('SERVER_BUSY', this.name);
    this.#open += 1;
    try {
      signal?.throwIfAborted();
      const connection = await this.#connection();
      const now = await this.#defined(connection, tool, signal);
      if (now.seal !== seal) return { changed: now };
      const raw = await connection.call(tool, fields, signal);
      const { outputSchema } = now.definition;
      const about = { server: this.name, tool: safeText(tool, 128).text, most: this.#place.limits.resultBytes };
      return { result: toolResult(raw, { ...about, ...(outputSchema === undefined ? {} : { outputSchema }) }) };
    } finally {
      this.#open -= 1;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#running?.catch(() => undefined);
    await running?.close();
  }

  async #defined(connection: Connection, tool: string, signal?: AbortSignal): Promise<SealedDefinition> {
    let tools: ReadonlyMap<string, ToolDefinition>;
    try {
      tools = await connection.tools(this.#place.limits.callMs, signal);
    } catch (error) {
      // It answers nothing any more. The next call starts it again.
      if ((error as { readonly code?: unknown }).code === 'SERVER_TIMEOUT') void connection.close();
      throw error;
    }
    const definition = tools.get(tool);
    if (definition === undefined) throw serverError('TOOL_GONE', this.name);
    if (Buffer.byteLength(canonicalJson(definition)) > this.#place.limits.definitionBytes)
      throw serverError('SERVER_TOO_LARGE', this.name, 'the definition of the tool');
    return { definition, seal: sealOf(definition) };
  }

  /** The connection that runs, or a new one. Those who call meanwhile wait for the same. */
  async #connection(): Promise<Connection> {
    if (this.#closed) throw new CapError('revoked', `server ${this.name}: it was closed: ask for a new one`);
    const running = this.#running;
    if (running !== undefined) {
      const connection = await running.catch(() => undefined);
      if (connection?.isOver === false) return connection;
      if (this.#running !== running) return await this.#connection();
    }
    this.#running = this.#start(running);
    this.#running.catch(() => {});
    return await this.#running;
  }

  async #start(before: Promise<Connection> | undefined): Promise<Connection> {
    // Two runs at once would share what the server keeps in its directories.
    await (await before?.catch(() => undefined))?.close();
    const now = this.#clock.boottime();
    while ((this.#startedAt[0] ?? now) <= now - MINUTE) this.#startedAt.shift();
    if (this.#startedAt.length >= this.#place.limits.starts) throw serverError('SERVER_BUSY', this.name);
    this.#startedAt.push(now);
    this.starts += 1;
    const tell = (words: string): void => {
      this.#words = words;
    };
    const started = await this.#launch(tell);
    if (!this.#closed) return started;
    await started.close();
    throw new CapError('revoked', `server ${this.name}: it was closed: ask for a new one`);
  }

  /** Some older servers end when the newer protocol asks who they are. They are started again and asked as they know it. */
  async #launch(tell: (words: string) => void): Promise<Connection> {
    try {
      return await Connection.open(this.#place, this.#era, tell);
    } catch (error) {
      if (this.#era === 'legacy' || !(error instanceof CapError) || error.code !== 'SERVER_START') throw error;
      const connection = await Connection.open(this.#place, 'legacy', tell);
      this.#era = 'legacy';
      return connection;
    }
  }
}

/** The arguments of a tool: one record of JSON. */
function takeArguments(args: unknown): Fields {
  const given = args ?? {};
  if (typeof given !== 'object' || Array.isArray(given) || given instanceof Uint8Array)
    throw new CapError('invalid', 'a tool takes one record of named arguments: call({name: value})');
  let text: string;
  try {
    text = JSON.stringify(given);
  } catch {
    throw new CapError(
      'invalid',
      'the arguments of a tool are JSON: texts, numbers, true, false, null, lists, records',
    );
  }
  if (text.length > LARGEST_ARGUMENTS) throw new CapError('limit', 'the arguments are longer than 512 KiB: give less');
  return given as Fields;
}
