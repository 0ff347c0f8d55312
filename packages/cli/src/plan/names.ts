/** The names of a manifest as names of a host, which are made of a–z, 0–9 and -. */

import type { Plan } from '@hob/manifest';

/** Manifests refuse names that look alike, also by case and by _ and -, so two names stay two. */
export const petnameOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/-+$/, (dashes) => 'x'.repeat(dashes.length));

/** The granter whom the socket of a host belongs to. */
export const OWNER = 'owner';

/** The granter who sits at an editor: `hob acp` reaches it over the socket of the host. */
export const EDITOR = 'editor';

/** The granters of the sessions of a plan: those who see them, answer their requests and revoke their grants. */
export const grantersOf = ({ granters = [OWNER] }: Pick<Plan, 'granters'>): readonly string[] => [
  ...new Set(granters.map(petnameOf)),
];

/** The granter in whose name the caps of the manifest are granted when a session starts. */
export function makerOf(plan: Pick<Plan, 'granters'>): string {
  const names = grantersOf(plan);
  return names.includes(OWNER) ? OWNER : (names[0] as string);
}
