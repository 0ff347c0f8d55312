/**
 * `npm run agent -- FILE`: runs an agent's program in a locked-down process.
 *
 * FILE's default export is called with `{url, secret, say}`. The secret is taken out of the environment first, so that nothing
 * else in the process, and no child of it, finds it there.
 */
import './lockdown.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What an agent's program is given. */
export interface AgentPowers {
  readonly url: string;
  readonly secret: string;
  readonly say: (line: string) => void;
}

const fail = (text: string): never => {
  process.stderr.write(`hob agent: ${text}\n`);
  process.exit(2);
};

const [file] = process.argv.slice(2);
const url = process.env['HOB_URL'];
const secret = process.env['HOB_SECRET'];
delete process.env['HOB_URL'];
delete process.env['HOB_SECRET'];
if (file === undefined) fail('name the program to run: npm run agent -- examples/first-session.ts');
if (url === undefined || secret === undefined)
  fail('HOB_URL and HOB_SECRET say which session to enter: npm start prints both');

const program = (await import(pathToFileURL(resolve(file as string)).href)) as {
  readonly default?: (powers: AgentPowers) => Promise<unknown>;
};
if (typeof program.default !== 'function') fail('the program has no default export to call');
try {
  await program.default?.({
    url: url as string,
    secret: secret as string,
    say: (line) => void process.stdout.write(`${line}\n`),
  });
  process.exit(0);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
