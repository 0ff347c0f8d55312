/** The agent card of a manifest, with its folders as paths, and the agents that may send tasks. */
import type { A2aPart, A2aPeer } from '../../file/a2a-part.ts';
import { milliseconds } from '../../file/terms.ts';
import { type Finding, quoted } from '../../text/mistakes.ts';
import { orNearest } from '../directories.ts';
import type { Plan, PlannedA2a, PlannedPeer } from '../plan.ts';
import { type Machine, type Origin, placeOf } from '../roots.ts';

interface Around {
  readonly roots: Plan['roots'];
  readonly machine: Machine;
  readonly origin: Origin | undefined;
  readonly agents: Plan['agents'];
  /** The names of the caps of the session, and the kinds of those that are schedules. */
  readonly caps: ReadonlyMap<string, { readonly isSchedule: boolean }>;
  readonly findings: Finding[];
}

const HOUR_MS = 3_600_000;

/** Pushes what is wrong. A session that could change a skill would decide what the card says. */
export function a2aOf(given: A2aPart, around: Around): PlannedA2a {
  const { findings } = around;
  const { name, description, version, url, provider, key, peers, skills = [], disabled = [], serve = false } = given;
  const folders = foldersOf(skills, around);
  if (serve && url === undefined)
    findings.push({ path: ['a2a', 'serve'], key: true, wrong: 'a card that is served says where the agent takes tasks', write: 'add url: https://agent.example.com/a2a' }); // biome-ignore format: one line
  if (peers !== undefined && url === undefined)
    findings.push({ path: ['a2a', 'peers'], key: true, wrong: 'a peer signs its requests for the address where the agent takes tasks', write: 'add url: https://agent.example.com/a2a' }); // biome-ignore format: one line
  if (key !== undefined && !serve)
    findings.push({ path: ['a2a', 'key'], key: true, wrong: 'the key signs the card that is served, and none is', write: 'add serve: true, or remove key' }); // biome-ignore format: one line
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(version === undefined ? {} : { version }),
    ...(url === undefined ? {} : { url }),
    ...(provider === undefined ? {} : { provider }),
    ...(key === undefined ? {} : { key }),
    ...{ skills: folders, disabled: [...new Set(disabled)].sort(), serve },
    ...(peers === undefined ? {} : { peers: peersOf(peers, around) }),
  };
}

function foldersOf(
  skills: readonly string[],
  { roots, machine: { home, holds }, origin, findings }: Around,
): readonly string[] {
  return skills.map((written, n): string => {
    const path = ['a2a', 'skills', n];
    const place = placeOf(written, origin?.folder, home);
    if (place === undefined)
      findings.push({ path, wrong: `${quoted(written)} is not a place`, write: 'write a path like /srv/skills or ~/skills' }); // biome-ignore format: one line
    for (const [root, folder] of Object.entries(roots))
      if (place !== undefined && folder !== undefined && holds?.(folder, `${place}/SKILL.md`) === true)
        findings.push({ path, wrong: `this folder lies in the root ${root}, so a session could change what the card says`, write: 'write a folder outside of every root' }); // biome-ignore format: one line
    return place ?? written;
  });
}

function peersOf(
  peers: Readonly<Record<string, A2aPeer>>,
  { agents, caps, findings }: Around,
): NonNullable<PlannedA2a['peers']> {
  const keys = new Map<string, string>();
  const planned = (name: string, { key, gives = [], asks = [], agent, lasts }: A2aPeer): PlannedPeer => {
    const path = ['a2a', 'peers', name];
    const other = keys.get(key.x);
    if (other !== undefined)
      findings.push({ path: [...path, 'key'], wrong: `this is the key of ${other}, so nobody knows which of them signs`, write: 'give each peer a key of its own' }); // biome-ignore format: one line
    keys.set(key.x, name);
    if (agent !== undefined && !Object.hasOwn(agents, agent))
      findings.push({ path: [...path, 'agent'], wrong: `there is no agent ${quoted(agent)}`, write: orNearest(agent, Object.keys(agents)) }); // biome-ignore format: one line
    for (const [part, names] of [['gives', gives], ['asks', asks]] as const)
      for (const [n, cap] of names.entries()) {
        const known = caps.get(cap);
        const at = [...path, part, n];
        if (known === undefined)
          findings.push({ path: at, wrong: `there is no cap ${quoted(cap)}`, write: orNearest(cap, [...caps.keys()].filter((one) => caps.get(one)?.isSchedule === false)) }); // biome-ignore format: one line
        else if (known.isSchedule)
          findings.push({ path: at, wrong: 'a task makes no schedules, which would go on after it', write: 'leave it out' }); // biome-ignore format: one line
        else if (part === 'asks' && gives.includes(cap))
          findings.push({ path: at, wrong: 'its tasks hold this cap already', write: 'leave it out of gives, or of asks' }); // biome-ignore format: one line
      } // biome-ignore format: pairs
    return {
      ...{ key, gives: [...new Set(gives)].sort(), asks: [...new Set(asks)].sort() },
      ...(agent === undefined ? {} : { agent }),
      lastsMs: lasts === undefined ? HOUR_MS : milliseconds(lasts),
    };
  };
  return Object.fromEntries(Object.entries(peers).map(([name, peer]) => [name, planned(name, peer)]));
}
