/**
 * `npm start`: opens a session on a directory, serves it, keeps running.
 *
 * The daemon's entry point. It ends on SIGINT, SIGTERM, SIGHUP and when the program that started it is gone.
 */
import './lockdown.ts';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CapError } from '@hob/vat';
import { isUrl, openOutbound } from '../drivers/checkpoints.ts';
import { endWithProcess } from '../drivers/life.ts';
import { checkRoot } from '../drivers/roots.ts';
import { folderOf, type Outlet, openOutlet, type Secrets } from '../drivers/secrets.ts';
import { leaveNote, openStateDir, removeNote, stopOrder } from '../drivers/state-dir.ts';
import { sentinelHome } from '../drivers/state-home.ts';
import { out, outText, say, sayText } from '../drivers/terminal.ts';
import { openHost } from '../host.ts';
import { nextSteps } from './next-steps.ts';
import { requireSandbox } from './sandboxed.ts';
import { aboutSession, openWorkspace } from './workspace.ts';

const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
/** What the host runs from: granting any of it would grant the host. */
const ownCode = ['packages', 'node_modules', 'scripts', '.toolchain', '.git'].map((name) => resolve(checkout, name));

const usualState = resolve(checkout, '.hob');

/** As long as the grants: an agent may be away between two runs. */
const graceMs = 3_600_000;

const usage = `npm start [-- OPTIONS]
  --root DIR     the directory to open a session on (default: examples/workspace)
  --state DIR    where everything that lasts is kept (default: .hob in the checkout)
  --sentinel DIR where is kept how far the state came, to know one that was put back to an earlier state
                 (default: hob/sentinels in $XDG_STATE_HOME, or in ~/.local/state)
  --checkpoints FILE|URL
                 where a signed checkpoint of the ledger goes each hour: appended, or sent by POST
  --port N       where to listen on 127.0.0.1 (default: any free port)
  --uses N       how many calls the session's grant "workspace" allows (default: 1000)
  --code         grants it "code", too: programs of the agent's own, over what the session holds
  --shell        grants it "shell", too: programs over the directory, in a sandbox without network
  --new-secrets  makes new ones for the session and its granter
  --secrets-to DIR|fd:N
                 where new secrets go: two new files in DIR, for you alone, or a line of JSON to a descriptor of whoever
                 starts the host. Without it they are shown on a terminal, and nowhere else
  --fresh        ends the session of an earlier start, and opens a new one with new grants
  --demo [--sabotage=revoker|limit|symlink|ledger|origin]
                 plays the whole story with real processes and checks each step
`;

/** What this machine cannot do, one line each: the rest works. */
const missing: Partial<Record<NodeJS.Platform, string>> = {
  darwin:
    'on macOS there is no directory cap yet: openFsCap needs Linux, so this session starts without "workspace" and "once"',
  win32:
    'on Windows there is no directory cap yet: openFsCap needs Linux, so this session starts without "workspace" and "once"',
};

function options(): {
  readonly root: string;
  readonly state: string;
  readonly sentinel: string | undefined;
  readonly checkpoints: string | undefined;
  readonly port: number;
  readonly uses: number;
  readonly usesGiven: boolean;
  readonly code: boolean;
  readonly shell: boolean;
  readonly demo: boolean;
  readonly sabotage: string | undefined;
  readonly newSecrets: boolean;
  readonly fresh: boolean;
  readonly secretsTo: string | undefined;
} {
  const { values } = parseArgs({
    options: {
      root: { type: 'string' },
      state: { type: 'string' },
      sentinel: { type: 'string' },
      checkpoints: { type: 'string' },
      port: { type: 'string' },
      uses: { type: 'string' },
      code: { type: 'boolean' },
      shell: { type: 'boolean' },
      demo: { type: 'boolean' },
      sabotage: { type: 'string' },
      'new-secrets': { type: 'boolean' },
      fresh: { type: 'boolean' },
      'secrets-to': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    outText(usage);
    process.exit(0);
  }
  const whole = (text: string | undefined, otherwise: number, most: number): number => {
    const number = text === undefined ? otherwise : Number(text);
    if (!Number.isInteger(number) || number < 0 || number > most)
      throw new CapError('invalid', `"${text}" is not a whole number from 0 to ${most}`);
    return number;
  };
  return {
    root: resolve(values.root ?? resolve(checkout, 'examples/workspace')),
    state: resolve(values.state ?? usualState),
    sentinel: values.sentinel === undefined ? sentinelHome() : resolve(values.sentinel),
    checkpoints: values.checkpoints,
    port: whole(values.port, 0, 65_535),
    uses: whole(values.uses, 1000, 1_000_000),
    usesGiven: values.uses !== undefined,
    code: values.code ?? false,
    shell: values.shell ?? false,
    demo: values.demo ?? false,
    sabotage: values.sabotage,
    newSecrets: values['new-secrets'] ?? false,
    fresh: values.fresh ?? false,
    secretsTo: values['secrets-to'],
  };
}

/** At a start after the one that found it. */
const earlier =
  'this state was put back before an earlier start. What was granted with a limit waits until you let it go on';

async function serve(chosen: ReturnType<typeof options>): Promise<void> {
  const { root, state, sentinel, checkpoints, port, shell, secretsTo } = chosen;
  if (shell) await requireSandbox();
  // Before the folder is made, so that a root that is refused is left as it was.
  const folders = [
    sentinel,
    secretsTo === undefined ? undefined : folderOf(secretsTo),
    checkpoints === undefined || isUrl(checkpoints) ? undefined : resolve(checkpoints),
  ];
  const own = [state, ...folders.filter((each) => each !== undefined), ...ownCode, dirname(process.execPath)];
  const realRoot = checkRoot(root, own);
  const outbound = checkpoints === undefined ? undefined : openOutbound(checkpoints, (line) => say(`hob: ${line}`));
  openStateDir(state);
  const host = await openHost({
    stateDir: state,
    ...(sentinel === undefined ? {} : { sentinel }),
    ...(outbound === undefined ? {} : { onCheckpoint: outbound }),
    graceMs,
    observe: ({ id, error }) => sayText(`hob: error ${id}: ${error instanceof Error ? error.stack : String(error)}`),
  });

  const end = endWithProcess(host, state);

  let outlet: Outlet | undefined;
  try {
    // Before a secret is made that could not be handed over then.
    outlet = secretsTo === undefined ? undefined : openOutlet(secretsTo);
    const lack = missing[process.platform];
    const workspace = { ...chosen, root: realRoot, lacking: lack !== undefined };
    const { started, secret, granterSecret } = await openWorkspace(host, workspace);
    const session = started.how === 'ended' ? undefined : started.session;
    const { url } = await host.serve({ port });
    leaveNote(state, { url, pid: process.pid });
    // Whoever ordered a stop while there was no note yet could tell nobody.
    if (stopOrder(state) !== undefined) {
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
        'hob: no folder for a sentinel can be written, so a state that is put back to an earlier one will not be known: name one with --sentinel DIR',
      );
    const waits = started.how === 'again' && started.grants.some((grant) => grant.state === 'suspended');
    const putBack = host.restoredBecause ?? (waits ? earlier : undefined);
    if (putBack !== undefined)
      out(`hob: ${putBack}: npm run -s hob -- trust all${state === usualState ? '' : ` --state ${state}`}`);
    out(session === undefined ? `Hob serves no session on ${root}` : `Hob serves one session on ${root}`);
    for (const line of aboutSession(started, workspace, Date.now())) out(line);
    const onTerminal = process.stdout.isTTY === true && secretsTo === undefined;
    const lost = !onTerminal && secretsTo === undefined;
    for (const line of nextSteps({ url, secrets, ended: session === undefined, files, lost })) out(line);
    // A pipe may lead anywhere: a secret is in these lines on a terminal only, and where it is new.
    const shown = <T extends object>(of: T): T => (onTerminal ? of : { ...of, secret: undefined });
    out(`hob session ${JSON.stringify(shown(secrets.session))}`);
    out(`hob granter ${JSON.stringify(shown(secrets.granter))}`);
    out(`hob ready ${JSON.stringify({ url, pid: process.pid })}`);
    session?.ended.then(() => out('The session has ended. Start again with --fresh for a new one.'));
  } catch (error) {
    outlet?.abandon();
    removeNote(state);
    await host.close();
    throw error;
  }
}

async function main(): Promise<void> {
  const chosen = options();
  if (!chosen.demo) {
    if (chosen.sabotage !== undefined) throw new CapError('invalid', '--sabotage goes with --demo');
    return serve(chosen);
  }
  const { playDemo } = await import('./demo/demo.ts');
  process.exit(await playDemo(chosen.sabotage));
}

main().catch((error: unknown) => {
  const known = error instanceof CapError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  if (known) say(`hob: ${(error as Error).message.split('\n', 1)[0]}`);
  else sayText(`hob: ${(error as Error).stack ?? String(error)}`);
  process.exit(1);
});
