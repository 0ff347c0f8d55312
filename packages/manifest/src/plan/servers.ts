/** The servers of a manifest, and the caps of their tools. */
import type { ArgumentBound, McpCap, Server } from '../file/types.ts';
import type { Finding, Path } from '../text/mistakes.ts';
import { quoted } from '../text/mistakes.ts';
import type { Base } from './command.ts';
import { directoryOf, orNearest } from './directories.ts';
import { skeleton } from './names.ts';
import type { Plan, PlannedBound, PlannedMcp } from './plan.ts';

/** What a cap of tools may name. */
interface Known {
  readonly servers: Plan['servers'];
  readonly roots: Plan['roots'];
}

/** The roots that a server names have to be there. */
export function rootsOfServers(servers: Readonly<Record<string, Server>>, roots: Plan['roots']): readonly Finding[] {
  return Object.entries(servers).flatMap(([name, server]) =>
    (['roots', 'writes'] as const).flatMap((part) =>
      (('command' in server ? server[part] : undefined) ?? []).flatMap(
        (root, n) =>
        Object.hasOwn(roots, root)
          ? []
          : [{ path: ['servers', name, part, n], wrong: `there is no root ${quoted(root)}`, write: orNearest(root, Object.keys(roots)) }], // biome-ignore format: one line
      ),
    ),
  );
}

/** A cap of tools, with the directories of its bounds resolved. Pushes what is wrong. */
export function mcpOf(cap: McpCap, base: Base, path: Path, { servers, roots }: Known, findings: Finding[]): PlannedMcp {
  const server = Object.hasOwn(servers, cap.mcp) ? servers[cap.mcp] : undefined;
  if (server === undefined)
    findings.push({ path: [...path, 'mcp'], wrong: `there is no server ${cap.mcp}`, write: orNearest(cap.mcp, Object.keys(servers)) }); // biome-ignore format: one line
  const tools = [...new Set(cap.tools)].sort();
  findings.push(...alikeTools(tools, path));
  const seen = server !== undefined && 'command' in server ? [...(server.roots ?? []), ...(server.writes ?? [])] : [];
  const where =
    cap.where === undefined ? {} : { where: boundsOf(cap.where, [...path, 'where'], { seen, roots, findings }) };
  return { ...base, kind: 'mcp', server: cap.mcp, tools, ...where };
}

/** The petname of a tool is made of letters, digits and -, so tools may become alike. */
function alikeTools(tools: readonly string[], path: Path): readonly Finding[] {
  const seen = new Map<string, string>();
  return tools.flatMap((tool) => {
    const look = skeleton(tool.replaceAll(/[^A-Za-z0-9]/g, '-'));
    const other = seen.get(look);
    seen.set(look, tool);
    return other === undefined ? [] : [{ path: [...path, 'tools'], wrong: `the tool ${quoted(tool)} looks like ${quoted(other)}`, write: 'make a cap of each' }]; // biome-ignore format: one line
  });
}

interface Bounding {
  /** The roots that the server sees. */
  readonly seen: readonly string[];
  readonly roots: Plan['roots'];
  readonly findings: Finding[];
}

function boundsOf(
  given: Readonly<Record<string, ArgumentBound>>,
  path: Path,
  of: Bounding,
): Readonly<Record<string, PlannedBound>> {
  return Object.fromEntries(Object.entries(given).map(([name, bound]) => [name, boundOf(bound, [...path, name], of)]));
}

function boundOf(given: ArgumentBound, path: Path, of: Bounding): PlannedBound {
  if (typeof given !== 'object' || given === null) return { is: given };
  if ('fields' in given) return { fields: boundsOf(given.fields, [...path, 'fields'], of) };
  if ('optional' in given) return { optional: boundOf(given.optional, [...path, 'optional'], of) };
  if (!('beneath' in given)) return given as PlannedBound;
  const directory = directoryOf(given.beneath, [...path, 'beneath'], of.roots, of.findings);
  if (directory !== undefined && !of.seen.includes(directory.root))
    of.findings.push({ path: [...path, 'beneath'], wrong: `the server does not see ${quoted(directory.root)}`, write: 'name that root in roots or writes of the server' }); // biome-ignore format: one line
  return { beneath: directory ?? { root: '', path: '' } };
}
