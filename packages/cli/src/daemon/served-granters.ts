/**
 * The granters of the manifest that a host serves.
 *
 * Promise: a granter's secret is made only when the user of the socket asks for it, is told to that user once, and ends
 * the one before it. Nobody gets one for `owner`, who has the socket.
 */
import type { Granter, Host } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { CapError, type Far } from '@hob/vat';
import { EDITOR, grantersOf, makerOf, OWNER } from '../plan/names.ts';
import { allRequests } from './find.ts';

/** A granter of the manifest, for a person. */
export interface GranterRow {
  readonly name: string;
  /** Reached over the socket, or with a secret. */
  readonly by: 'socket' | 'secret';
}

/** The granters that a host serves. */
export interface ServedGranters {
  /** In whose name sessions hold their caps. */
  readonly maker: Far<Granter>;
  /** Undefined if `owner` is no granter of the sessions. */
  readonly owner: Far<Granter> | undefined;
  /** Whoever sits at an editor that runs `hob acp`. Undefined if the manifest does not name it. */
  readonly editor: Far<Granter> | undefined;
  rows(): readonly GranterRow[];
  /** Errors: `invalid` (no granter of the manifest has that name, or it is `owner`). */
  secret(name: string): Promise<string>;
  /** How many drafts of a session nobody has answered. */
  drafts(session: string): Promise<number>;
}

/** Makes the accounts that are not there yet. `say` is told of each: nobody can enter it before it has a secret. */
export async function servedGranters(
  host: Host,
  plan: Pick<Plan, 'granters'>,
  say: (line: string) => void,
): Promise<ServedGranters> {
  const { granter: account } = await host.ensureGranter(OWNER);
  const names = grantersOf(plan);
  for (const name of names) {
    const { secret } = await host.ensureGranter(name);
    if (secret !== undefined && name !== OWNER && name !== EDITOR)
      say(`hob: the granter ${name} is new: hob granter secret ${name} --secret-to FILE makes the secret for --url`);
  }
  const owner = names.includes(OWNER) ? account : undefined;
  if (owner === undefined)
    say(
      `hob: only ${names.join(', ')} can see, answer and revoke what these sessions hold: not the user of the socket${names.includes(EDITOR) ? ', except in an editor that runs hob acp' : ''}`,
    );
  const maker = await host.granter(makerOf(plan));
  const editor = names.includes(EDITOR) ? await host.granter(EDITOR) : undefined;
  return {
    maker,
    owner,
    editor,
    rows: () => names.map((name) => ({ name, by: name === OWNER || name === EDITOR ? 'socket' : 'secret' })),
    async secret(name) {
      if (name === OWNER || !names.includes(name))
        throw new CapError('invalid', `the manifest has no granter of that name who enters with a secret: it has ${names.join(', ')}`); // biome-ignore format: one line
      return (await host.renewGranter(name)).secret;
    },
    drafts: async (session) =>
      (await allRequests(maker)).filter(({ draft, asker }) => draft === true && asker.includes(session)).length,
  };
}
