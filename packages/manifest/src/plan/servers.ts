/** The servers of a manifest, and the caps of their tools. */
import type { ArgumentBound, McpCap, Server } from '../file/types.ts';
import type { Finding, Path } from '../text/mistakes.ts';
import { quoted } from '../text/mistakes.ts';
import type { Base } from './command.ts';
import { directoryOf, orNearest } from './directories.ts';
import { skeleton } from './names.ts';
import type { Plan, PlannedBound, PlannedMcp } from './plan.ts';

type Where = Readonly<Record<string, PlannedBound>>;

/** What a host would refuse in bounds whose shape is right, with the remedy after a colon. */
export type BoundsFault = (where: Where) => string | undefined;

/** What a cap of tools may name. */
interface Known {
  readonly servers: Plan['servers'];
  readonly roots: Plan['roots'];
  readonly boundsFault: BoundsFault | undefined;
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
export function mcpOf(
  cap: McpCap,
  base: Base,
  path: Path,
  { servers, roots, boundsFault }: Known,
  findings: Finding[],
): PlannedMcp {
  const server = Object.hasOwn(servers, cap.mcp) ? servers[cap.mcp] : undefined;
  if (server === undefined)
    findings.push({ path: [...path, 'mcp'], wrong: `there is no server ${cap.mcp}`, write: orNearest(cap.mcp, Object.keys(servers)) }); // biome-ignore format: one line
  const tools = [...new Set(cap.tools)].sort();
  findings.push(...alikeTools(tools, path));
  const seen = server !== undefined && 'command' in server ? [...(server.roots ?? []), ...(server.writes ?? [])] : [];
  if (cap.where === undefined) return { ...base, kind: 'mcp', server: cap.mcp, tools };
  const where = boundsOf(cap.where, [...path, 'where'], { seen, roots, findings });
  findings.push(...faultsOf(where, [...path, 'where'], boundsFault));
  return { ...base, kind: 'mcp', server: cap.mcp, tools, where };
}

/** The first argument whose bound a host would refuse, or all of them if they are too much together. */
function faultsOf(where: Where, path: Path, boundsFault: BoundsFault | undefined): readonly Finding[] {
  if (boundsFault === undefined) return [];
  const each = Object.entries(where).map(([name, bound]) => ({ at: [...path, name], part: { [name]: bound } }));
  for (const { at, part } of [...each, { at: path, part: where }]) {
    const fault = boundsFault(part);
    if (fault === undefined) continue;
    const [wrong = fault, ...write] = fault.split(': ');
    return [{ path: at, wrong, write: write.length === 0 ? 'write another bound' : write.join(': ') }];
  }
  return [];
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
