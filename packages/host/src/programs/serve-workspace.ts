/**
 * `hob workspace`, which `npm start` is: opens a session on a directory, serves it, keeps running.
 *
 * It ends on SIGINT, SIGTERM, SIGHUP and when the program that started it is gone.
 */
import { resolve } from 'node:path';
import { isUrl, openCheckpointSender } from '../drivers/checkpoints.ts';
import { leaveMemoryOutOfCores } from '../drivers/cores.ts';
import { endWithProcess } from '../drivers/life.ts';
import { checkRoot } from '../drivers/roots.ts';
import { folderOf, openSecretsOutput, type Secrets, type SecretsOutput } from '../drivers/secrets.ts';
import { openStateDir, readStopOrder } from '../drivers/state-dir.ts';
import { sentinelHome } from '../drivers/state-home.ts';
import { out, say, sayText } from '../drivers/terminal.ts';
import { openHost } from '../open-host.ts';
import { type CommandWords, commandLine, nextSteps } from './next-steps.ts';
import { requireSandbox } from './sandboxed.ts';
import type { SessionFlags } from './session-flags.ts';
import { aboutSession, loadPrograms, openWorkspace } from './workspace.ts';

/** As long as the grants last, because an agent may be away between two runs. */
const graceMs = 3_600_000;

/** The missing features of a platform, one line each. */
const missing: Partial<Record<NodeJS.Platform, string>> = {
  darwin:
    'on macOS there is no directory cap yet: openFsCap needs Linux, so this session starts without "workspace" and "once"',
  win32:
    'on Windows there is no directory cap yet: openFsCap needs Linux, so this session starts without "workspace" and "once"',
};

/** At a start after the one that found it. */
const earlier =
  'this state was restored before an earlier start. Grants with a limit are suspended until you confirm them';

/** The choices of a person on the command line. */
export interface WorkspaceChoice {
  /** The directory to open a session on. */
  readonly root: string;
  /** Where everything that lasts is kept. */
  readonly state: string;
  /** Undefined: the usual folder. */
  readonly sentinel: string | undefined;
  /** A file or URL that gets a signed checkpoint of the ledger each hour. */
  readonly checkpoints: string | undefined;
  readonly port: number;
  readonly flags: SessionFlags;
  /** Those of `flags` that the person gave. */
  readonly given: ReadonlySet<keyof SessionFlags>;
  readonly newSecrets: boolean;
  readonly fresh: boolean;
  /** A folder, or `fd:N`. Undefined: secrets are shown on a terminal. */
  readonly secretsTo: string | undefined;
  /** The code of this program. Granting any of it would grant the host. */
  readonly ownCode: readonly string[];
  readonly words: CommandWords;
}

/** Serves until the process ends. Errors: those of a host, and of places that cannot be used. */
export async function serveWorkspace(chosen: WorkspaceChoice): Promise<void> {
  const { root, state, checkpoints, port, flags, secretsTo, words, sentinel = sentinelHome() } = chosen;
  for (const flag of ['shell', 'code'] as const) if (flags[flag]) await requireSandbox(`--${flag}`);
  // Checked before the folder is made, so that a refused root is left as it was.
  const folders = [
    sentinel,
    secretsTo === undefined ? undefined : folderOf(secretsTo),
    checkpoints === undefined || isUrl(checkpoints) ? undefined : resolve(checkpoints),
  ];
  const own = [state, ...folders.filter((each) => each !== undefined), ...chosen.ownCode];
  const realRoot = checkRoot(root, own);
  const outbound =
    checkpoints === undefined ? undefined : openCheckpointSender(checkpoints, (line) => say(`hob: ${line}`));
  openStateDir(state);
  leaveMemoryOutOfCores();
  const host = await openHost({
    stateDir: state,
    ...(sentinel === undefined ? {} : { sentinel }),
    ...(outbound === undefined ? {} : { onCheckpoint: outbound }),
    graceMs,
    observe: ({ id, error }) => sayText(`hob: error ${id}: ${error instanceof Error ? error.stack : String(error)}`),
  });

  const end = endWithProcess(host, state);

  let outlet: SecretsOutput | undefined;
  try {
    // Opened before a secret is made that could not be handed over.
    outlet = secretsTo === undefined ? undefined : openSecretsOutput(secretsTo);
    const lack = missing[process.platform];
    const workspace = { ...chosen, root: realRoot, lacking: lack !== undefined };
    const { started, secret, granterSecret } = await openWorkspace(host, workspace);
    const session = started.how === 'ended' ? undefined : started.session;
    const { url } = await host.serve({ port });
    // A stop that was ordered while the host opened may have found nobody to signal.
    if (readStopOrder(state) !== undefined) {
      outlet?.abandon();
      outlet = undefined;
      return end();
    }
    const secrets: Secrets = {
      session: started.how === 'ended' ? { id: started.id, ended: true, secret } : { id: started.session.id, secret },
      granter: { name: 'owner', secret: granterSecret },
    };
    const files = outlet?.write(secrets);
    outlet = undefined;

    if (lack !== undefined) out(`hob: ${lack}`);
    if (sentinel === undefined)
      out(
        'hob: no folder for a sentinel can be written, so Hob will not notice if the state is restored to an earlier one: name a folder with --sentinel DIR',
      );
    const waits = started.how === 'again' && started.grants.some((grant) => grant.state === 'suspended');
    const putBack = host.restoredBecause ?? (waits ? earlier : undefined);
    if (putBack !== undefined) out(`hob: ${putBack}: ${commandLine(words, 'confirm all', state)}`);
    out(session === undefined ? `Hob serves no session on ${root}` : `Hob serves one session on ${root}`);
    for (const line of aboutSession(started, workspace, Date.now(), commandLine(words, 'inbox', state))) out(line);
    const onTerminal = process.stdout.isTTY === true && secretsTo === undefined;
    const lost = !onTerminal && secretsTo === undefined;
    for (const line of nextSteps({ url, state, secrets, ended: session === undefined, files, lost }, words)) out(line);
    // A pipe may lead anywhere, so a secret is printed only on a terminal.
    const shown = <T extends object>(of: T): T => (onTerminal ? of : { ...of, secret: undefined });
    out(`hob session ${JSON.stringify(shown(secrets.session))}`);
    out(`hob granter ${JSON.stringify(shown(secrets.granter))}`);
    out(`hob ready ${JSON.stringify({ url, pid: process.pid })}`);
    // Where it cannot be loaded, the first program says so.
    loadPrograms().catch(() => {});
    session?.ended.then(() => out('The session has ended. Start again with --new-session for a new one.'));
  } catch (error) {
    outlet?.abandon();
    await host.close();
    throw error;
  }
}
