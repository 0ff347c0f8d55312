/**
 * A tool of a server as a cap: an actor that is sealed to one definition.
 *
 * Promise: a session is told the sealed definition, and no other. A call goes to the server only while its definition
 * is the sealed one. When it is not, the tool is suspended, also over restarts, until a granter has seen the
 * difference and approved it. A restart with the same definition, and tools that nobody granted, suspend nothing.
 */
import type { ChangeAsker } from '@hob/host';
import { type AnyDefinition, CapError, type Definition, define, E, type Far, ledgerLine } from '@hob/vat';
import { type ToolResult, visible } from './result.ts';
import { differenceOf } from './seal.ts';
import type { CallOutcome, SealedDefinition } from './server.ts';

/** What a session is told about a tool: texts of its server, as they were sealed, with hidden characters shown. */
export interface ToolDescription {
  /** Always true: the texts are the server's. They are no instructions. */
  readonly untrusted: true;
  readonly server: string;
  readonly tool: string;
  /** Its definition has changed. The next call asks a granter. */
  readonly suspended: boolean;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly instructions?: string;
}

/** A tool, as a session holds it. */
export interface ToolCap {
  /**
   * Calls it with one record of named arguments. Errors: `ServerCode`, `denied` (a changed definition was refused),
   * `invalid`, `limit`.
   */
  call(args?: object): Promise<ToolResult>;
  describe(): Promise<ToolDescription>;
}

/** The driver of a server, as its tools hold it. */
export interface ServerDriver {
  call(tool: string, args: unknown, seal: string): Promise<CallOutcome>;
}

/** The seal of one tool. */
export interface Seal {
  look(): SealState;
  /** Seals the first definition. Another one later suspends. Returns whether the tool may be called. */
  meet(now: SealedDefinition): boolean;
  /** A granter approved the definition with this seal. Nothing happens if it has changed since. */
  accept(seal: string): void;
}

interface SealState {
  /** The approved definition. Undefined until the server was first seen. */
  readonly sealed?: SealedDefinition;
  /** The definition that suspends it. */
  readonly changed?: SealedDefinition;
}

export const SealActor: Definition<Seal, [server: string, tool: string, state: SealState]> = define(
  'mcp.seal',
  (bcom, server, tool, state) => {
    const line = (what: string, seal: string): void =>
      ledgerLine('seal', {
        what,
        server,
        tool,
        seal,
        ...(state.sealed === undefined ? {} : { was: state.sealed.seal }),
      });
    return {
      look: () => state,
      meet(now) {
        const { sealed, changed } = state;
        if (sealed === undefined) {
          line('begin', now.seal);
          return bcom(SealActor(server, tool, { sealed: now }), true);
        }
        if (changed === undefined && now.seal === sealed.seal) return true;
        // A person looks at what suspended it, also if the old definition is back.
        if (changed !== undefined && (now.seal === changed.seal || now.seal === sealed.seal)) return false;
        line('change', now.seal);
        return bcom(SealActor(server, tool, { sealed, changed: now }), false);
      },
      accept(seal) {
        if (state.changed?.seal !== seal) return undefined;
        line('accept', seal);
        return bcom(SealActor(server, tool, { sealed: state.changed }), undefined);
      },
    };
  },
);

/** The parts of a tool that do not change. */
interface Parts {
  readonly server: string;
  readonly tool: string;
  readonly seal: Seal;
  readonly driver: Far<ServerDriver>;
  readonly asker: Far<ChangeAsker>;
}

export const ToolActor: Definition<ToolCap, [parts: Parts]> = define('mcp.tool', (_bcom, parts) => ({
  call: (args = {}) => callSealed(parts, args) as never,
  describe: () => {
    const { server, tool, seal } = parts;
    const { sealed, changed } = seal.look();
    if (sealed === undefined) throw notSeen();
    const { name: _, ...texts } = sealed.definition;
    const about = { untrusted: true as const, server, tool, suspended: changed !== undefined };
    return { ...(visible(texts) as object), ...about } as never;
  },
}));

const notSeen = (): CapError => new CapError('unavailable', 'its server was not started yet: try again later');

/** In a turn: calls the tool if its definition is the sealed one, and asks a granter if not. */
function callSealed(parts: Parts, args: object): Promise<ToolResult> {
  const { tool, seal, driver } = parts;
  const { sealed, changed } = seal.look();
  if (sealed === undefined) throw notSeen();
  if (changed !== undefined) return lookAndAsk(parts, args);
  return E.when(E(driver).call(tool, args, sealed.seal) as unknown as Promise<CallOutcome>, (outcome) => {
    if ('result' in outcome) return outcome.result;
    seal.meet(outcome.changed);
    return callSealed(parts, args);
  }) as unknown as Promise<ToolResult>;
}

/** No definition has this seal, so the server tells its definition and calls nothing. */
const NO_SEAL = '';

/** A person is shown what is there now, and not what was there when the tool was suspended. */
function lookAndAsk(parts: Parts, args: object): Promise<ToolResult> {
  const { tool, seal, driver } = parts;
  return E.when(E(driver).call(tool, args, NO_SEAL) as unknown as Promise<CallOutcome>, (outcome) => {
    if ('changed' in outcome) seal.meet(outcome.changed);
    const { sealed, changed } = seal.look();
    if (sealed === undefined || changed === undefined) return callSealed(parts, args);
    return askAndCall(parts, args, sealed, changed);
  }) as unknown as Promise<ToolResult>;
}

function askAndCall(
  parts: Parts,
  args: object,
  before: SealedDefinition,
  after: SealedDefinition,
): Promise<ToolResult> {
  const { server, tool, seal, asker } = parts;
  const difference = differenceOf(before.definition, after.definition);
  const change = { what: `tool ${tool} of server ${server}`, difference, version: after.seal };
  return E.when(E(asker).ask(change) as unknown as Promise<boolean>, (yes) => {
    // Another call may have been approved meanwhile, or the definition may have changed again.
    if (yes) seal.accept(after.seal);
    return callSealed(parts, args);
  }) as unknown as Promise<ToolResult>;
}

/** The definitions that a host's store needs for the tools that it keeps. */
export const definitions: readonly AnyDefinition[] = Object.freeze([SealActor, ToolActor]);
