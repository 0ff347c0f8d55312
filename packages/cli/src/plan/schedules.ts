/**
 * The schedule caps of a plan, as data: what their runs are made of, and the limits of all runs together.
 *
 * Promise: two schedules with the same text run the same program with the same caps, over the same directories, on the
 * same terms. Whoever changes any of it in the manifest makes another schedule, and the one before it ends.
 */
import type { GrantTerms, OfferOptions } from '@hob/host';
import type { Plan, PlannedCap, PlannedSchedule } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';
import type { RealRoots } from './directories.ts';
import type { Machine } from './machine.ts';
import { grantersOf } from './names.ts';
import { limits } from './terms.ts';

/** Makes the objects behind schedule caps. They go on after the sessions that hold them. */
export interface ScheduleMaker {
  /** The schedules of that text, which are those of all sessions. New ones if there are none whose grant goes on. */
  face(text: string, cap: PlannedSchedule): Promise<object>;
}

/** All parts of a schedule as one text. `directories` returns those of a cap. */
export function scheduleText(
  plan: Plan,
  cap: PlannedSchedule,
  roots: RealRoots,
  directories: (cap: PlannedCap) => readonly { readonly root: string }[],
): string {
  const { name, agent, gives, shortestMs, missed, zone, lastsMs } = cap;
  const { uses, forMs, untilMs } = cap.terms;
  const given = gives.flatMap((one) => plan.caps[one] ?? []);
  const places = [...new Set(given.flatMap((one) => directories(one).map(({ root }) => root)))].sort();
  const behind = given.map((one) => {
    if (one.kind === 'mcp') return plan.servers[one.server];
    if (one.kind === 'message') return plan.channels[one.channel];
    if (one.kind !== 'command' && one.kind !== 'shell') return undefined;
    return [...one.mounts, ...(one.net ?? [])].map((behindIt) => plan.caps[behindIt]);
  });
  return JSON.stringify([
    ...[name, plan.agents[agent], shortestMs, missed, zone, lastsMs, uses, forMs, untilMs],
    ...[plan.mode, plan.deadlineMs, grantersOf(plan)],
    ...[given, behind, places.map((root) => [root, roots[root]])],
  ]);
}

/** The terms of the grant that all runs are uses of. */
export const runTerms = ({ terms: { uses, forMs, untilMs } }: PlannedSchedule, now: number): GrantTerms =>
  limits(
    {
      ...(uses === undefined ? {} : { uses }),
      ...(forMs === undefined ? {} : { forMs }),
      ...(untilMs === undefined ? {} : { untilMs }),
    },
    undefined,
    now,
  );

/** The program of an agent of the plan, and its arguments. Errors: `Mistake`. */
export function agentOf(
  { agents }: Plan,
  { agent: name }: Pick<PlannedSchedule, 'agent'>,
  { findProgram }: Pick<Machine, 'findProgram'>,
): { readonly program: string; readonly args: readonly string[]; readonly secrets: readonly string[] } {
  const { command: [word = '', ...args] = [], secrets = [] } = agents[name] ?? {};
  const program = findProgram(word);
  if (program !== undefined) return { program, args, secrets };
  throw new Mistake(
    `agents.${name}: there is no program ${word} on this machine: install it, or write its absolute path`,
  );
}

/** The values of the secrets that an agent gets, by the names of their variables. Errors: `Mistake`. */
export function agentSecrets(
  agent: string,
  names: readonly string[],
  { secret }: Pick<Machine, 'secret'>,
): Readonly<Record<string, string>> {
  const stored = (name: string): string => {
    const value = secret(name);
    if (value !== undefined) return value;
    throw new Mistake(`agents.${agent}: the secret ${name} is not stored, or cannot be opened: hob secret set ${name}`);
  };
  return Object.fromEntries(names.map((name) => [name, stored(name)]));
}

/** The text about an offer of schedules that people see. */
export const scheduleShownAs = ({ agent, gives }: PlannedSchedule): OfferOptions => ({
  label: `later runs of ${agent}, with ${gives.join(', ')}`.slice(0, 100),
  methods: ['every', 'at', 'list', 'cancel'],
  reads: ['list'],
});
