/** The agent card of a manifest, with its folders as paths. */
import type { A2aPart } from '../../file/types.ts';
import { type Finding, quoted } from '../../text/mistakes.ts';
import type { Plan, PlannedA2a } from '../plan.ts';
import { type Machine, type Origin, placeOf } from '../roots.ts';

interface Around {
  readonly roots: Plan['roots'];
  readonly machine: Machine;
  readonly origin: Origin | undefined;
  readonly findings: Finding[];
}

/** Pushes what is wrong. A session that could change a skill would decide what the card says. */
export function a2aOf(given: A2aPart, { roots, machine: { home, holds }, origin, findings }: Around): PlannedA2a {
  const { name, description, version, url, provider, key, skills = [], disabled = [], serve = false } = given;
  const folders = skills.map((written, n): string => {
    const path = ['a2a', 'skills', n];
    const place = placeOf(written, origin?.folder, home);
    if (place === undefined)
      findings.push({ path, wrong: `${quoted(written)} is not a place`, write: 'write a path like /srv/skills or ~/skills' }); // biome-ignore format: one line
    for (const [root, folder] of Object.entries(roots))
      if (place !== undefined && folder !== undefined && holds?.(folder, `${place}/SKILL.md`) === true)
        findings.push({ path, wrong: `this folder lies in the root ${root}, so a session could change what the card says`, write: 'write a folder outside of every root' }); // biome-ignore format: one line
    return place ?? written;
  });
  if (serve && url === undefined)
    findings.push({ path: ['a2a', 'serve'], key: true, wrong: 'a card that is served says where the agent takes tasks', write: 'add url: https://agent.example.com/a2a' }); // biome-ignore format: one line
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
  };
}
