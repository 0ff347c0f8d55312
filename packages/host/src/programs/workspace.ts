/**
 * What `npm start` opens: a session on a directory.
 *
 * Promise: an earlier start's session goes on with what is left of it, and a start that grants nothing says so and names `--fresh`.
 * An offer is called after its directory, so a grant of one directory never leads to another one.
 */
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap, spawnConfined } from '@hob/caps-shell';
import { openGuests } from '@hob/guest';
import { hashSecret } from '@hob/vat';
import type { Grant } from '../granters/grants.ts';
import type { StartOptions } from '../granters/start.ts';
import type { Host, Started } from '../types.ts';
import { enterOwner } from './owner.ts';

const hour = 3_600_000;

export interface Chosen {
  /** The directory, without links: by another way to it the same grants are found again. */
  readonly root: string;
  /** This machine has no directory cap. */
  readonly lacking: boolean;
  readonly uses: number;
  /** The person said how many. */
  readonly usesGiven: boolean;
  readonly code: boolean;
  readonly shell: boolean;
  readonly fresh: boolean;
  readonly newSecrets: boolean;
}

/** Secrets are known only when they are made. */
export interface Opened {
  readonly started: Started;
  readonly secret: string | undefined;
  readonly granterSecret: string | undefined;
}

export async function openWorkspace(host: Host, chosen: Chosen): Promise<Opened> {
  const { root, lacking, shell, newSecrets } = chosen;
  const { secret: granterSecret } = await enterOwner(host, { newSecret: newSecrets });
  const place = hashSecret(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 12);
  const [purpose, programs] = [`directory-${place}`, `shell-${place}`];
  // Where there is no sandbox, the first program fails with the remedy.
  await host.offerCode(() => openGuests({ spawnConfined, pool: 1 }));
  if (!lacking) {
    const directory = await openFsCap(root);
    await host.offer(purpose, directory);
    // Without this offer an earlier grant of it is `unavailable`: each start says anew whether programs run.
    if (shell) await host.offer(programs, await makeShellCap({ mounts: { '/workspace': directory } }));
  }
  const started = await host.startSession({
    name: 'workspace',
    granter: 'owner',
    purpose,
    grants: grantsOf(chosen, purpose, programs),
    fresh: chosen.fresh,
  });
  if (started.how === 'opened') return { started, secret: started.session.secret, granterSecret };
  if (started.how === 'ended' || !newSecrets) return { started, secret: undefined, granterSecret };
  return { started, secret: (await started.session.rotate()).secret, granterSecret };
}

function grantsOf({ lacking, uses, code, shell }: Chosen, directory: string, programs: string): StartOptions['grants'] {
  return [
    ...(lacking
      ? []
      : [
          { petname: 'workspace', offered: directory, terms: { uses, for: hour } },
          { petname: 'once', offered: directory, terms: { uses: 1, for: hour } },
        ]),
    ...(shell ? [{ petname: 'shell', offered: programs, terms: { uses, for: hour } }] : []),
    ...(code ? [{ petname: 'code', offered: 'code', terms: { for: hour } }] : []),
  ];
}

const states: Readonly<Record<Grant['state'], string>> = {
  live: 'live',
  revoked: 'revoked',
  expired: 'its time is over',
  exhausted: 'used up',
  suspended: 'waits for its granter: npm run -s hob -- trust',
};

function left({ petname, state, usesLeft, until }: Grant, now: number): string {
  const uses = usesLeft === undefined ? 'any number of calls' : `${usesLeft} ${usesLeft === 1 ? 'call' : 'calls'} left`;
  const minutes = Math.max(0, Math.ceil((until - now) / 60_000));
  return `  "${petname}"  ${state === 'live' ? `${uses}, for ${minutes} min` : states[state]}`;
}

/** What a person is told of the session that was opened, or was not. */
export function aboutSession(started: Started, chosen: Chosen, now: number): readonly string[] {
  const { uses, code, shell, lacking } = chosen;
  if (started.how === 'ended')
    return [
      'The session of an earlier start on this directory has ended. This start opens none and grants nothing.',
      'For a new session with new grants, start again with --fresh.',
    ];
  const wanted = [...(lacking ? [] : ['workspace', 'once']), ...(shell ? ['shell'] : []), ...(code ? ['code'] : [])];
  if (started.how === 'opened')
    return [
      ...(lacking
        ? []
        : [`It holds "workspace" (the directory, for ${uses} calls) and "once" (the same, for a single call), for one hour.`]), // biome-ignore format: one line
      ...(shell ? ['It also holds "shell": programs over the directory, at /workspace, in a sandbox without network.'] : []), // biome-ignore format: one line
      ...(code ? ['It also holds "code": programs of the agent’s own, over what the session holds.'] : []),
    ];
  const { grants } = started;
  const never = wanted.filter((petname) => !grants.some((grant) => grant.petname === petname));
  const over = grants.some(({ state }) => state !== 'live' && state !== 'suspended');
  return [
    'It is the session of an earlier start. A start grants nothing anew: this is left of its grants.',
    ...grants.map((grant) => left(grant, now)),
    ...never.map((petname) => `  "${petname}"  was not granted to it`),
    ...(chosen.usesGiven ? ['--uses counts for a new session only: this one keeps what it has.'] : []),
    ...(over || never.length > 0 || chosen.usesGiven
      ? ['To end this session and open one with new grants, start again with --fresh.']
      : []),
  ];
}
