/**
 * `npm run agent -- FILE`: runs an agent's program in a locked-down process.
 *
 * FILE's default export is called with `{url, secret, say}`. The secret comes from the file that HOB_SECRET_FILE names, which is removed, or from the
 * terminal or standard input: so neither this process, nor the ones that started it, nor a program that it starts have it in their environment.
 */
import './lockdown.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { secretOfAgent } from '../drivers/secrets.ts';
import { outText, say } from '../drivers/terminal.ts';

/** What an agent's program is given. */
export interface AgentPowers {
  readonly url: string;
  readonly secret: string;
  readonly say: (line: string) => void;
}

const fail = (text: string): never => {
  say(`hob agent: ${text}`);
  process.exit(2);
};

const [file] = process.argv.slice(2);
const url = process.env['HOB_URL'];
delete process.env['HOB_URL'];
if (file === undefined) fail('name the program to run: npm run agent -- examples/first-session.ts');
if (url === undefined) fail('HOB_URL says which host to enter: npm start prints the line');
const secret = await secretOfAgent().catch((error: Error) => fail(error.message));
if (secret === '')
  fail('no secret was given: type it, pipe it in as the first line, or name its file in HOB_SECRET_FILE');

const program = (await import(pathToFileURL(resolve(file as string)).href)) as {
  readonly default?: (powers: AgentPowers) => Promise<unknown>;
};
if (typeof program.default !== 'function') fail('the program has no default export to call');
try {
  await program.default?.({
    url: url as string,
    secret,
    // What a program says may have several lines.
    say: (line) => outText(String(line)),
  });
  process.exit(0);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
