/** The agents of a manifest, and the caps of what they run later. */

import { milliseconds } from '../file/terms.ts';
import type { Agent, ScheduleCap } from '../file/types.ts';
import { type Finding, type Path, quoted } from '../text/mistakes.ts';
import type { Base } from './command.ts';
import { orNearest } from './directories.ts';
import type { Plan, PlannedAgent, PlannedCap, PlannedSchedule } from './plan.ts';
import { type Machine, type Origin, placeOf } from './roots.ts';

interface Around {
  readonly roots: Plan['roots'];
  readonly machine: Machine;
  readonly origin: Origin | undefined;
  readonly findings: Finding[];
}

/**
 * The agents with their paths resolved. A session that could change a file of the command line would run what it likes,
 * outside of the sandbox, so such a file lies in no root.
 */
export function agentsOf(
  agents: Readonly<Record<string, Agent>>,
  { roots, machine: { home, holds }, origin, findings }: Around,
): Plan['agents'] {
  const planned = (name: string, { command, secrets = [] }: Agent): PlannedAgent => ({
    command: command.map((word, n) => {
      if (!/^(?:~?|\.)\//.test(word)) return word;
      const path = ['agents', name, 'command', n];
      const place = placeOf(word, origin?.folder, home);
      if (place === undefined)
        findings.push({ path, wrong: `${quoted(word)} is not a place`, write: 'write a path like /srv/agents/a.mjs or ~/agents/a.mjs' }); // biome-ignore format: one line
      for (const [root, folder] of Object.entries(roots))
        if (place !== undefined && folder !== undefined && holds?.(folder, place) === true)
          findings.push({ path, wrong: `this lies in the root ${root}, so a session could change it`, write: 'write a path outside of every root' }); // biome-ignore format: one line
      return place ?? word;
    }),
    secrets: [...new Set(secrets)].sort(),
  });
  return Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, planned(name, agent)]));
}

interface Known {
  readonly agents: Plan['agents'];
  /** The names of the caps of the session, and the kinds of those that are schedules. */
  readonly caps: ReadonlyMap<string, { readonly isSchedule: boolean }>;
  readonly findings: Finding[];
}

/** A cap of an agent. Pushes what is wrong. */
export function scheduleOf(
  cap: ScheduleCap,
  base: Base,
  path: Path,
  { agents, caps, findings }: Known,
): PlannedSchedule {
  const { schedule, gives, shortest, missed, zone, lasts } = cap;
  if (!Object.hasOwn(agents, schedule))
    findings.push({ path: [...path, 'schedule'], wrong: `there is no agent ${quoted(schedule)}`, write: orNearest(schedule, Object.keys(agents)) }); // biome-ignore format: one line
  for (const [n, name] of gives.entries()) {
    const given = caps.get(name);
    const at = [...path, 'gives', n];
    if (given === undefined)
      findings.push({ path: at, wrong: `there is no cap ${quoted(name)}`, write: orNearest(name, [...caps.keys()].filter((one) => caps.get(one)?.isSchedule === false)) }); // biome-ignore format: one line
    else if (given.isSchedule)
      findings.push({ path: at, wrong: 'a run makes no schedules, or it would go on for ever', write: 'leave it out' });
  }
  return {
    ...base,
    kind: 'schedule',
    agent: schedule,
    gives: [...new Set(gives)].sort(),
    ...(shortest === undefined ? {} : { shortestMs: milliseconds(shortest) }),
    ...(missed === undefined ? {} : { missed }),
    ...(zone === undefined ? {} : { zone }),
    ...(lasts === undefined ? {} : { lastsMs: milliseconds(lasts) }),
  };
}

/** Takes caps that are not there out of what runs hold. */
export function followGives(caps: Record<string, PlannedCap>, isThere: (name: string) => boolean): void {
  for (const cap of Object.values(caps))
    if (cap.kind === 'schedule') caps[cap.name] = { ...cap, gives: cap.gives.filter(isThere) };
}

/** A schedule over two layers: fewer caps, longer waits, shorter runs. Undefined if a run would hold nothing. */
export function narrowedSchedule(
  own: PlannedSchedule,
  wanted: PlannedSchedule,
  gives: readonly string[],
  drop: (wrong: string) => void,
): Omit<PlannedSchedule, 'name' | 'how' | 'terms' | 'offer'> | undefined {
  if ((wanted.zone ?? own.zone ?? 'UTC') !== (own.zone ?? 'UTC'))
    drop('another zone than in the layer above: that of the layer above holds');
  const shortestMs = Math.max(own.shortestMs ?? 0, wanted.shortestMs ?? 0);
  const lastsMs = Math.min(own.lastsMs ?? Number.POSITIVE_INFINITY, wanted.lastsMs ?? Number.POSITIVE_INFINITY);
  const missed = own.missed === 'never' || wanted.missed === 'never' ? 'never' : (own.missed ?? wanted.missed);
  if (gives.length === 0) return undefined;
  return {
    ...{ kind: 'schedule', agent: own.agent, gives },
    ...(shortestMs === 0 ? {} : { shortestMs }),
    ...(missed === undefined ? {} : { missed }),
    ...(own.zone === undefined ? {} : { zone: own.zone }),
    ...(lastsMs === Number.POSITIVE_INFINITY ? {} : { lastsMs }),
  };
}
