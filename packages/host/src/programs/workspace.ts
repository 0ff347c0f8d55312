/**
 * Opens the session of `hob workspace` on a directory.
 *
 * Promise: the session of an earlier start goes on with what is left of it, and a flag that it was not opened with is
 * refused. A start that grants nothing says so and names `--new-session`. An offer is named after its directory, and
 * a directory to be read only is an offer of its own, so a grant of one never leads to the other.
 */
import { basename } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { hashSecret } from '@hob/vat/forwarder';
import type { Grant } from '../granters/own-rows.ts';
import type { StartOptions } from '../granters/start.ts';
import type { Host, Started } from '../types.ts';
import { enterOwner } from './owner.ts';
import { checkFlags, flagsOf, noteOf, type SessionFlags } from './session-flags.ts';

interface StartSettings {
  /** The directory, without links: by another way to it the same grants are found again. */
  readonly root: string;
  /** This machine has no directory cap. */
  readonly lacking: boolean;
  readonly flags: SessionFlags;
  /** Those of `flags` that the person gave. */
  readonly given: ReadonlySet<keyof SessionFlags>;
  readonly fresh: boolean;
  readonly newSecrets: boolean;
}

/** Secrets are known only when they are made. */
interface OpenedWorkspace {
  readonly started: Started;
  readonly secret: string | undefined;
  readonly granterSecret: string | undefined;
}

/** The names of what is offered of one directory. */
interface OfferNames {
  readonly directory: string;
  readonly reading: string;
  readonly shell: string;
  readonly readingShell: string;
}

/**
 * Loads the packages that run programs. This takes 60 ms, so a host does it after it has begun to serve, and no session
 * waits for it. The host does not leave it to the first program: by then an update may have replaced the packages.
 */
export function loadPrograms(): Promise<readonly [typeof import('@hob/caps-shell'), typeof import('@hob/guest')]> {
  return Promise.all([import('@hob/caps-shell'), import('@hob/guest')]);
}

/** Errors: `invalid` (a flag that the session of an earlier start does not have). */
export async function openWorkspace(host: Host, chosen: StartSettings): Promise<OpenedWorkspace> {
  const { root, lacking, flags, newSecrets } = chosen;
  const owner = await enterOwner(host, { newSecret: false });
  const names: OfferNames = {
    directory: await host.nameFor('directory', root),
    reading: await host.nameFor('reading', root),
    shell: await host.nameFor('shell', root),
    readingShell: await host.nameFor('reading-shell', root),
  };
  // If there is no sandbox, the first program fails, and its error names the remedy.
  await host.offerCode(async () => {
    const [{ spawnConfined }, { openGuests }] = await loadPrograms();
    return await openGuests({ spawnConfined, pool: 1 });
  });
  if (!lacking) await offerDirectory(host, root, names, flags.shell);
  const started = await host.startSession({
    name: 'workspace',
    granter: 'owner',
    // No agent is told a purpose.
    purpose: purposeOf(root),
    grants: grantsOf(chosen, names),
    fresh: chosen.fresh,
    note: noteOf(flags),
  });
  if (started.how === 'again') checkFlags(flagsOf(started.note, started.grants), chosen);
  // Only now: a start that is refused makes no secret that the one before cannot be used any more.
  const granterSecret = newSecrets ? (await enterOwner(host, { newSecret: true })).secret : owner.secret;
  if (started.how === 'opened') return { started, secret: started.session.secret, granterSecret };
  if (started.how === 'ended' || !newSecrets) return { started, secret: undefined, granterSecret };
  return { started, secret: (await started.session.rotate()).secret, granterSecret };
}

/** Stored by every version in this form. */
const purposeOf = (root: string): string =>
  `directory-${hashSecret(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 12)}`;

async function offerDirectory(host: Host, root: string, names: OfferNames, shell: boolean): Promise<void> {
  const directory = await openFsCap(root);
  const reading = await directory.readOnly();
  const label = basename(root) || root;
  await host.offer(names.directory, directory, { label });
  await host.offer(names.reading, reading, { label });
  // Without these an earlier grant of them is `unavailable`: each start says anew whether programs run.
  if (!shell) return;
  const { makeShellCap } = await import('@hob/caps-shell');
  const about = { label: `programs in ${label}`.slice(0, 100) };
  await host.offer(names.shell, await makeShellCap({ mounts: { '/workspace': directory } }), about);
  await host.offer(names.readingShell, await makeShellCap({ mounts: { '/workspace': reading } }), about);
}

function grantsOf({ lacking, flags }: StartSettings, names: OfferNames): StartOptions['grants'] {
  const { uses, minutes, readOnly, gate, code, shell } = flags;
  const time = { for: minutes * 60_000 };
  const directory = readOnly ? names.reading : names.directory;
  const gated = gate === false ? {} : { gated: gate };
  // A list names methods of the directory. Programs could change it, too, so each of theirs waits.
  const programsGated = gate === false ? {} : { gated: true as const };
  return [
    ...(lacking
      ? []
      : [
          { petname: 'workspace', offered: directory, terms: { uses, ...time, ...gated } },
          { petname: 'once', offered: directory, terms: { uses: 1, ...time, ...gated } },
        ]),
    ...(shell ? [{ petname: 'shell', offered: readOnly ? names.readingShell : names.shell, terms: { uses, ...time, ...programsGated } }] : []), // biome-ignore format: one line
    ...(code ? [{ petname: 'code', offered: 'code', terms: { ...time, ...programsGated } }] : []),
  ];
}

const stateTexts: Readonly<Record<Grant['state'], string>> = {
  live: 'live',
  revoked: 'revoked',
  expired: 'expired',
  exhausted: 'used up',
  suspended: 'suspended until its granter confirms it',
};

function grantLine({ petname, state, usesLeft, until }: Grant, now: number): string {
  const uses = usesLeft === undefined ? 'any number of calls' : `${usesLeft} ${usesLeft === 1 ? 'call' : 'calls'} left`;
  const minutes = Math.max(0, Math.ceil((until - now) / 60_000));
  return `  "${petname}"  ${state === 'live' ? `${uses}, for ${minutes} min` : stateTexts[state]}`;
}

/** The lines that tell a person about the session. `inbox`: how the person calls this command. */
export function aboutSession(started: Started, chosen: StartSettings, now: number, inbox: string): readonly string[] {
  const { flags, lacking } = chosen;
  const { uses, minutes, readOnly, gate, code, shell } = flags;
  if (started.how === 'ended')
    return [
      'The session of an earlier start on this directory has ended. This start opens none and grants nothing.',
      'For a new session with new grants, start again with --new-session.',
    ];
  if (started.how === 'opened') {
    const directory = readOnly ? 'the directory, to be read' : 'the directory';
    return [
      ...(lacking
        ? []
        : [`It holds "workspace" (${directory}, for ${uses} calls) and "once" (the same, for a single call), for ${minutesText(minutes)}.`]), // biome-ignore format: one line
      ...(shell ? ['It also holds "shell": programs on the directory, at /workspace, in a sandbox without network.'] : []), // biome-ignore format: one line
      ...(code ? ['It also holds "code": the agent’s own programs, with the caps of the session.'] : []),
      ...(gate === false ? [] : [`${gate === true ? 'Each call' : `Each call of ${(gate as readonly string[]).join(', ')}`} waits for a yes: ${inbox}`]), // biome-ignore format: one line
    ];
  }
  const { grants, note } = started;
  const over = grants.some(({ state }) => state !== 'live' && state !== 'suspended');
  return [
    'This session is from an earlier start, and this start grants nothing. Its grants:',
    ...grants.map((grant) => grantLine(grant, now)),
    ...(flagsOf(note, grants).shell === true && !shell ? ['"shell" is off in this run: with --shell its programs run again.'] : []), // biome-ignore format: one line
    ...(over ? ['To end this session and open one with new grants, start again with --new-session.'] : []),
  ];
}

const minutesText = (minutes: number): string => (minutes === 60 ? 'one hour' : `${minutes} minutes`);
