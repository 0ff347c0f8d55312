/**
 * `makeTools`: the tools of one server as caps that a host can offer.
 *
 * Promise: the seal of a tool is in the store of the host, under a name that the caller chooses for the server and its
 * world. The same name leads to the same seal after a restart.
 */
import type { Host } from '@hob/host';
import { driver, E, type Far } from '@hob/vat';
import { type Effects, takeOptions } from '@hob/vat/forwarder';
import { toolEffect } from './effect.ts';
import type { ToolServer } from './server.ts';
import { SealActor, type ServerDriver, ToolActor, type ToolCap } from './tool.ts';

/** A tool that can be offered. */
export interface MadeTool {
  readonly cap: Far<ToolCap>;
  /** Its definition is not the one that was approved. Its first call asks a granter. */
  readonly suspended: boolean;
  /** For `offer`, if the caller said what the tool does. */
  readonly effects?: Effects;
}

/** The vat of all tools of a host. */
const VAT = 'tools';

/**
 * Makes the caps of these tools. `key` names the server with everything that it is made of: use `host.nameFor`. Errors:
 * `TOOL_GONE`, and those of the server.
 */
export async function makeTools(
  host: Pick<Host, 'vats' | 'changeAsker'>,
  server: ToolServer,
  options: {
    readonly key: string;
    readonly tools: readonly string[];
    /** The effects of the tools, by name. The granter states them. */
    readonly effects?: Effects;
  },
): Promise<Readonly<Record<string, MadeTool>>> {
  const { key, tools, effects = {} } = takeOptions(options, 'makeTools', { key: true, tools: true, effects: true });
  const calls = driver<ServerDriver>(
    { call: ([tool, args, seal], { signal }) => server.call(tool, args, seal, signal) },
    { name: `hob-tools:${key}` },
  );
  const asker = await host.changeAsker();
  const vat = host.vats.vat(VAT);
  const made: Record<string, MadeTool> = {};
  for (const tool of new Set(tools)) {
    const now = await server.sealed(tool);
    const seal = await vat.root(`${key} seal ${tool}`, () => SealActor(server.name, tool, {}));
    const live = await E(seal).meet(now);
    const parts = { server: server.name, tool, seal: seal as never, driver: calls, asker };
    const cap = await vat.root(`${key} tool ${tool}`, () => ToolActor(parts));
    const said = Object.hasOwn(effects, tool) ? effects[tool] : undefined;
    const call = said === undefined ? undefined : toolEffect(said, now.definition.annotations);
    made[tool] = { cap, suspended: live !== true, ...(call && { effects: { call, describe: { class: 'A' } } }) };
  }
  return made;
}
