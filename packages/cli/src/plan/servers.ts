/**
 * The MCP servers of a plan, and their tools as caps.
 *
 * Promise: a program runs in the sandbox only, with the roots and the secrets that its entry names and no address. A
 * server at an address is reached through an http cap: that one path, with the secret of its entry, at public addresses
 * and those that the entry lists. It is begun before the first session that needs it, and a server that cannot start is
 * told with its last words. Each tool is an offer of its own, named after everything that its server is made of.
 */
import type { FsCap } from '@hob/caps-fs';
import { makeHttpCap } from '@hob/caps-net';
import type { Host } from '@hob/host';
import type { Plan, PlannedMcp, Server } from '@hob/manifest';
import { makeTools, mcpPlace, openServer, openServerAt, type ToolServer } from '@hob/mcp/servers';
import { CapError } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import { Mistake } from '../line/mistake.ts';
import type { Directories } from './directories.ts';
import type { Machine } from './machine.ts';
import { mountPoint } from './mount-point.ts';
import { petnameOf } from './names.ts';
import type { UsedSecrets } from './net.ts';

/** One tool of a cap, as a session gets it. */
interface ToolOffer {
  readonly petname: string;
  /** The name of the offer. */
  readonly offer: string;
  readonly label: string;
  readonly cap: object;
  readonly effects?: Effects;
}

type Program = Extract<Server, { readonly command: readonly string[] }>;
type Place = Extract<Server, { readonly url: string }>;

/** The servers that run, each once for its directories. */
export class Servers {
  readonly #host: Host;
  readonly #machine: Machine;
  readonly #secrets: UsedSecrets;
  readonly #running = new Map<string, Promise<ToolServer>>();
  /** What the person who starts the host has to know: tools that wait for a look. */
  readonly notes: string[] = [];

  constructor(host: Host, machine: Machine, secrets: UsedSecrets) {
    this.#host = host;
    this.#machine = machine;
    this.#secrets = secrets;
  }

  /** The tools of a cap. Errors: `Mistake`. */
  async tools(plan: Plan, cap: PlannedMcp, directories: Directories): Promise<readonly ToolOffer[]> {
    const server = serverOf(plan, cap);
    const { needs } = cap.terms;
    const made = this.#madeOf(cap.server, server, directories);
    const key = await this.#host.nameFor('server', made);
    const running = this.#running.get(key) ?? directories.keepServer(this.#start(cap.server, server, directories));
    this.#running.set(key, running);
    running.catch(() => this.#running.delete(key));
    try {
      const effects = toolEffects(server);
      const tools = await makeTools(this.#host, await running, { key, tools: cap.tools, effects });
      return await Promise.all(
        Object.entries(tools).map(async ([tool, { cap: object, suspended, effects: does }]) => {
          if (suspended) this.#note(`hob: the tool ${tool} of the server ${cap.server} has changed since it was approved: its next call shows the difference and asks`); // biome-ignore format: one line
          const offer = await this.#host.nameFor(
            'tool',
            JSON.stringify([made, tool, ...(needs === undefined ? [] : [needs])]),
          );
          return {
            petname: toolPetname(cap, tool),
            offer,
            label: `${tool} of ${cap.server}`.slice(0, 100),
            cap: object,
            ...(does && { effects: does }),
          };
        }),
      );
    } catch (error) {
      throw error instanceof CapError ? new Mistake(`servers.${cap.server}: ${error.message}`) : error;
    }
  }

  #note(line: string): void {
    if (!this.notes.includes(line)) this.notes.push(line);
  }

  #madeOf(name: string, server: Server, directories: Directories): string {
    if ('url' in server) return JSON.stringify([name, server.url, server.secret ?? null]);
    const place = (root: string): string => directories.realPath({ root, path: '' });
    const { command, roots = [], writes = [], secrets = [] } = server;
    return JSON.stringify([name, this.#program(name, server), command, roots.map((root) => [root, place(root)]), writes.map((root) => [root, place(root)]), secrets]); // biome-ignore format: one line
  }

  #program(name: string, { command: [program = ''] }: Program): string {
    const path = this.#machine.findProgram(program);
    if (path !== undefined) return path;
    throw new Mistake(`servers.${name}: there is no program ${program} on this machine: install it, or write its absolute path`); // biome-ignore format: one line
  }

  async #start(name: string, server: Server, directories: Directories): Promise<ToolServer> {
    if ('url' in server) return await this.#reach(name, server, directories);
    const { command, roots = [], writes = [], secrets = [] } = server;
    const mounts: Record<string, FsCap> = {};
    for (const root of [...roots, ...writes]) {
      const whole = await directories.whole({ root, path: '' });
      mounts[mountPoint({ root, path: '' })] = writes.includes(root) ? whole : await whole.readOnly();
    }
    const env = Object.fromEntries(secrets.map((secret) => [secret, this.#secret(name, secret)]));
    return await openServer({
      name,
      program: this.#program(name, server),
      args: command.slice(1),
      mounts,
      env,
      blank: this.#machine.blank,
    });
  }

  async #reach(name: string, { url, secret, addresses }: Place, directories: Directories): Promise<ToolServer> {
    const { options, path } = mcpPlace(url);
    if (secret !== undefined) this.#secret(name, secret, 'secret');
    const http = makeHttpCap({
      ...options,
      ...(addresses === undefined ? {} : { addresses }),
      ...(secret === undefined
        ? {}
        : { inject: { secret: this.#secrets.of(secret, `servers.${name}`), header: 'authorization' } }),
    });
    directories.keep({ close: async () => http[Symbol.asyncDispose]() });
    return await openServerAt({ name, http, path, blank: this.#machine.blank });
  }

  #secret(name: string, secret: string, key = 'secrets'): string {
    const value = this.#machine.secret(secret);
    if (value !== undefined) return value;
    throw new Mistake(`servers.${name}.${key}: ${secret} is not stored, or cannot be opened: hob secret set ${secret}`);
  }
}

const toolEffects = ({ effects = {} }: Server): Effects =>
  Object.fromEntries(Object.entries(effects).map(([tool, { class: of, undo, outbound }]) => [tool, { class: of, ...(undo && { undo }), ...(outbound !== undefined && { outbound }) }])); // biome-ignore format: one line

/** The check of a plan has seen that it is there. Errors: `Mistake`. */
function serverOf({ servers }: Plan, { server: name }: PlannedMcp): Server {
  const server = servers[name];
  if (server !== undefined) return server;
  throw new Mistake(`servers.${name}: there is no such server`);
}

/** The directories that the server of a cap sees. */
export function rootsOfServer(plan: Plan, cap: PlannedMcp): readonly string[] {
  const server = serverOf(plan, cap);
  return 'url' in server ? [] : [...new Set([...(server.roots ?? []), ...(server.writes ?? [])])];
}

/** The petname of a tool: `CAP-TOOL`. Errors: `Mistake`. */
function toolPetname({ name }: Pick<PlannedMcp, 'name'>, tool: string): string {
  const petname = petnameOf(`${name}-${tool.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`);
  if (petname.length <= 63) return petname;
  throw new Mistake(`${name}: ${petname} is longer than 63 characters: give the cap of this tool a shorter name`);
}

/** The petnames of all tools of a cap. */
export const toolPetnames = (cap: PlannedMcp): readonly string[] => cap.tools.map((tool) => toolPetname(cap, tool));
