/** What `npm start` tells a person to do next. No secret is in these lines: they are copied into other terminals, scripts and environments. */
import type { Files, Secrets } from '../drivers/secrets.ts';

export interface Situation {
  readonly url: string;
  readonly secrets: Secrets;
  /** No agent can enter it any more. */
  readonly ended: boolean;
  /** Where the new secrets are now; undefined where they are in no file. */
  readonly files: Files | undefined;
  /** Nobody gets to see the new secrets. */
  readonly lost: boolean;
}

const again = 'npm start -- --new-secrets --secrets-to DIR';

export function nextSteps({ url, secrets, ended, files, lost }: Situation): readonly string[] {
  const { session, granter } = secrets;
  const isNew = session.secret !== undefined || granter.secret !== undefined;
  const agentsFile = session.secret === undefined ? undefined : files?.session;
  const grantersFile = granter.secret === undefined ? '' : files === undefined ? '' : ` < ${quoted(files.granter)}`;
  const lines: string[] = [];
  if (isNew && lost) lines.push(`Secrets are shown on a terminal only, and this is none. To get some: ${again}`);
  else if (!ended && session.secret === undefined)
    lines.push(`Its secret was handed over when it was made, and is kept nowhere. Another one: ${again}`);
  lines.push('');
  if (!ended) {
    const how = agentsFile === undefined ? 'it asks for the session’s secret' : 'the file is removed when it was read';
    const given = agentsFile === undefined ? '' : `HOB_SECRET_FILE=${quoted(agentsFile)} `;
    lines.push(`Run an agent in it, in a second terminal (${how}):`);
    lines.push(`  HOB_URL=${url} ${given}npm run -s agent -- examples/first-session.ts`);
  }
  lines.push('See and end what was granted, in another terminal (asks for the granter’s secret):');
  for (const command of ['grants', 'revoke ID']) lines.push(`  npm run -s hob -- ${command}${grantersFile}`);
  lines.push('');
  return lines;
}

/** As a shell takes it. */
const quoted = (path: string): string => (/^[\w/.,+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
