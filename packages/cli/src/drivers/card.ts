/** The agent card of a manifest on this machine: names from the environment and of the machine, and files of skills. */
import { hostname } from 'node:os';
import { type AgentCard, buildAgentCard, firstOf, readSkills, skillsOf } from '@hob/a2a';
import { version as hobVersion } from '@hob/host/line';
import type { PlannedA2a } from '@hob/manifest';
import { CapError } from '@hob/vat';

/** The options of a command line. */
interface CardFlags {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

const DESCRIPTION = 'An agent whose every act is by a capability that a person granted';

/**
 * A flag holds before the environment (`HOB_AGENT_NAME` or `AGENT_NAME`, and so on), that before the manifest, and the
 * name of the machine is last. Errors: `invalid`.
 */
export function agentCard(planned: PlannedA2a | undefined, flags: CardFlags = {}): AgentCard {
  const { skills = [], disabled = [], provider } = planned ?? {};
  const url = firstOf(flags.url, set('A2A_URL'), planned?.url);
  if (url === undefined)
    throw new CapError('invalid', 'the card says where the agent takes tasks: give --url, or a2a: {url: …} in the manifest'); // biome-ignore format: one line
  return buildAgentCard({
    name: firstOf(flags.name, set('AGENT_NAME'), planned?.name, hostname().split('.')[0]) ?? '',
    description: firstOf(flags.description, set('AGENT_DESCRIPTION'), planned?.description, DESCRIPTION) ?? '',
    version: planned?.version ?? hobVersion,
    url,
    provider,
    ...(planned?.peers === undefined ? {} : { streaming: true, signed: true }),
    skills: skillsOf(skills.flatMap(readSkills), { disabled, platform: process.platform }),
  });
}

/** A variable of Hob's own, or the plain one that agents share. */
const set = (name: string): string | undefined => firstOf(process.env[`HOB_${name}`], process.env[name]);
