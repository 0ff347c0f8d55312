/** The effects of the tools of a server as words, and a warning for a tool whose effect the manifest does not state. */
import type { Server, ToolEffect } from '../file/types.ts';
import type { Finding } from '../text/mistakes.ts';
import type { Plan, PlannedCap, PlannedMcp } from './plan.ts';

const DOES: Readonly<Record<ToolEffect['class'], string>> = {
  A: 'reads',
  B: 'changes this machine',
  C: 'has an effect outside',
  D: 'is critical',
};

/** The effect that the manifest declares. Undefined for a tool that may do anything. */
const effectOf = (server: Server | undefined, tool: string): ToolEffect | undefined =>
  server?.effects !== undefined && Object.hasOwn(server.effects, tool) ? server.effects[tool] : undefined;

/** The tools of a cap with what they do. Empty without an enforcing firewall: nothing depends on it then. */
export function toolsText({ firewall, servers }: Plan, { server, tools }: PlannedMcp): string {
  if (firewall?.mode !== 'enforce') return '';
  return tools.map((tool) => `; ${tool} ${doesText(effectOf(servers[server], tool))}`).join('');
}

function doesText(effect: ToolEffect | undefined): string {
  if (effect === undefined) return 'may do anything, so each call waits';
  const { class: of, undo, outbound } = effect;
  return [
    DOES[of],
    ...(of === 'A' || undo === undefined ? [] : [{ easy: 'can be undone', hard: 'is hard to undo', impossible: 'cannot be undone' }[undo]]), // biome-ignore format: one line
    ...(outbound === false ? ['tells nobody outside'] : []),
  ].join(', ');
}

/** An enforcing firewall makes each call of a tool wait of which nobody says what it does. */
export const silentTools = (
  caps: Readonly<Record<string, PlannedCap>>,
  { servers, firewall }: Pick<Plan, 'servers' | 'firewall'>,
): readonly Finding[] =>
  firewall?.mode !== 'enforce'
    ? []
    : Object.values(caps).flatMap((cap) =>
        cap.kind !== 'mcp' || cap.terms.alwaysHuman === true
          ? []
          : cap.tools
              .filter((tool) => effectOf(servers[cap.server], tool) === undefined)
              .map((tool) => ({
                severity: 'warning' as const,
                path: ['session', cap.how === 'ask' ? 'ask' : 'caps', cap.name, 'tools'],
                wrong: `nobody says what ${tool} does, so the firewall makes each call of it wait`,
                write: `write servers: { ${cap.server}: { effects: { ${tool}: { class: A } } } }, if it only reads`,
              })),
      );
