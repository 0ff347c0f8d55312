/** The command line of `npm start`. */
import { resolve } from 'node:path';
import { changingMethods, readingMethods } from '@hob/caps-fs';
import { type Command, InvalidArgumentError } from 'commander';
import { count, given, newCommand, once, showUsage } from './read-line.ts';
import type { SessionFlags } from './session-flags.ts';

interface StartLine {
  readonly root: string | undefined;
  readonly state: string | undefined;
  readonly sentinel: string | undefined;
  readonly checkpoints: string | undefined;
  readonly port: number;
  readonly flags: SessionFlags;
  /** Those of `flags` that the person gave. */
  readonly given: ReadonlySet<keyof SessionFlags>;
  readonly newSecrets: boolean;
  readonly fresh: boolean;
  readonly secretsTo: string | undefined;
}

/** As long as a grant can last: 90 days. */
const mostMinutes = 90 * 24 * 60;

export function startCommand(): Command {
  const start = newCommand('npm start --')
    .description('Serves a session on a directory, until it is stopped.')
    .usage('[OPTIONS]')
    .option('--root <dir>', 'the directory to open a session on (default: examples/workspace)', given)
    .option('--state <dir>', 'where everything that lasts is kept (default: .hob in the checkout)', given)
    .option('--sentinel <dir>', 'where is kept how far the state came, to know one that was put back to an earlier state (default: hob/sentinels in $XDG_STATE_HOME, or in ~/.local/state)', once) // biome-ignore format: one line
    .option('--checkpoints <file|url>', 'where a signed checkpoint of the ledger goes each hour: appended, or sent by POST', once) // biome-ignore format: one line
    .option('--port <n>', 'where to listen on 127.0.0.1 (default: any free port)', count(0, 65_535))
    .option('--uses <n>', 'how many calls the session’s grants allow (default: 1000)', count(1, 1_000_000))
    .option('--for <minutes>', 'how long they last (default: 60)', count(1, mostMinutes))
    .option('--read-only', 'the directory may be read, and not changed')
    .option('--gate [methods]', 'each call waits for a granter’s yes, or each call of these methods of the directory: changes (all that change something), or names such as write,remove', list) // biome-ignore format: one line
    .option('--code', 'grants "code", too: programs of the agent’s own, over what the session holds')
    .option('--shell', 'grants "shell", too: programs over the directory, in a sandbox without network')
    .option('--new-session', 'ends the session of an earlier start, and opens a new one with new grants')
    .option('--fresh', 'the same')
    .option('--new-secrets', 'makes new ones for the session and its granter')
    .option('--secrets-to <dir|fd:n>', 'where new secrets go: two new files in DIR, for you alone, or a line of JSON to a descriptor of whoever starts the host. Without it they are shown on a terminal, and nowhere else', once) // biome-ignore format: one line
    .option('--demo', 'plays the demo, and checks each step')
    .option('--sabotage <name>', 'with --demo: leaves one mechanism of the host out', once);
  showUsage(start);
  return start;
}

/** A misspelt one would leave calls free that should wait. */
const gateable: readonly string[] = [...changingMethods, ...readingMethods];

function list(text: string, earlier: unknown): readonly string[] {
  const names = once(text, earlier === undefined ? undefined : '').split(',');
  const unknown = names.find((name) => name !== 'changes' && !gateable.includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Give "changes", or names of methods of a directory: ${gateable.join(',')}`);
  return [...new Set(names.flatMap((name): readonly string[] => (name === 'changes' ? changingMethods : [name])))];
}

/** Throws a `CommanderError`, which has been written, for what is no command line, and for `--help` and `--version`. */
export function parseStart(args: readonly string[]): StartLine {
  const start = startCommand();
  start.parse([...args], { from: 'user' });
  const { uses = 1000, for: minutes = 60, readOnly = false, gate = false, code = false, shell = false, ...more } = start.opts(); // biome-ignore format: one line
  if (more['demo'] === true || more['sabotage'] !== undefined)
    start.error('--sabotage is an option of --demo, and that one comes first: npm start -- --demo --sabotage=revoker');
  const named: readonly (keyof SessionFlags)[] = ['uses', 'minutes', 'readOnly', 'gate', 'code', 'shell'];
  return {
    root: more['root'],
    state: more['state'],
    sentinel: more['sentinel'] === undefined ? undefined : resolve(more['sentinel']),
    checkpoints: more['checkpoints'],
    port: more['port'] ?? 0,
    flags: { uses, minutes, readOnly, gate, code, shell },
    given: new Set(named.filter((name) => start.getOptionValueSource(name === 'minutes' ? 'for' : name) === 'cli')),
    newSecrets: more['newSecrets'] === true,
    fresh: more['fresh'] === true || more['newSession'] === true,
    secretsTo: more['secretsTo'],
  };
}
