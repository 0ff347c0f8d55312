/**
 * The lines of `hob workspace` that tell a person what to do next. They hold no secret, because they are copied
 * to other places.
 */
import type { SecretFiles, Secrets } from '../drivers/secrets.ts';

interface StartOutcome {
  readonly url: string;
  /** The state that this host serves. */
  readonly state: string;
  readonly secrets: Secrets;
  /** The session has ended. */
  readonly ended: boolean;
  /** The files with the new secrets. Undefined if there are none. */
  readonly files: SecretFiles | undefined;
  /** Nobody sees new secrets: no terminal shows them, and no file takes them. */
  readonly lost: boolean;
}

/** How a person calls the commands here: in a checkout, or where they are installed. */
export interface CommandWords {
  readonly hob: string;
  readonly agent: string;
  /** The state that these words work on where none is named. */
  readonly state: string;
}

/** The words that a person types for a command on this state. They name the state if it is not the usual one. */
export const commandLine = ({ hob, state: usual }: CommandWords, command: string, state: string): string =>
  `${hob} ${command}${state === usual ? '' : ` --state ${quoted(state)}`}`;

export function nextSteps(
  { url, state, secrets, ended, files, lost }: StartOutcome,
  words: CommandWords,
): readonly string[] {
  // Only with the same directory and the same state does the next start find this session.
  const again = `stop, and start again with the same options and --new-secrets${lost ? ' --secrets-to DIR' : ''}`;
  const { session, granter } = secrets;
  const isNew = session.secret !== undefined || granter.secret !== undefined;
  const agentsFile = session.secret === undefined ? undefined : files?.session;
  const grantersFile = granter.secret === undefined ? '' : files === undefined ? '' : ` < ${quoted(files.granter)}`;
  const lines: string[] = [];
  if (isNew && lost)
    lines.push(`Secrets are shown on a terminal only, and standard output is not one. To get secrets: ${again}`);
  else if (!ended && session.secret === undefined)
    lines.push(`The session has the secret of an earlier start, which is not stored. To get a new one: ${again}`);
  else if (session.secret !== undefined && granter.secret === undefined)
    lines.push(`The granter has the secret of an earlier start, which is not stored. To get a new one: ${again}`);
  lines.push('');
  if (!ended) {
    const how =
      agentsFile === undefined ? 'it asks for the session’s secret' : 'the agent removes the file when it has read it';
    const given = agentsFile === undefined ? '' : `HOB_SECRET_FILE=${quoted(agentsFile)} `;
    lines.push(`Run an agent in it, in a second terminal (${how}):`);
    lines.push(`  HOB_URL=${url} ${given}${words.agent}`);
  }
  lines.push('List and revoke grants, in another terminal (each command asks for the granter’s secret):');
  for (const command of ['list', 'revoke ID']) lines.push(`  ${commandLine(words, command, state)}${grantersFile}`);
  lines.push('');
  return lines;
}

/** As a shell takes it. */
const quoted = (path: string): string => (/^[\w/.,+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
