#!/usr/bin/env node
/**
 * `hob-agent FILE`, in a checkout `npm run agent -- FILE`: runs an agent's program in a locked-down process.
 *
 * The default export of FILE is called with `{url, secret, say}`. The secret comes from the file in
 * HOB_SECRET_FILE, which is removed, or from the terminal or standard input. So no process has it in its
 * environment.
 */
import './lockdown.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { secretOfAgent } from '../drivers/secrets.ts';
import { outText, say } from '../drivers/terminal.ts';
import type { AgentPowers } from '../types.ts';
import { agentCommand } from './agent-line.ts';
import { endOf } from './end-of.ts';

const fail = (text: string): never => {
  say(`hob agent: ${text}`);
  process.exit(2);
};

/** Throws for what is no command line, and for `--help` and `--version`; it has been written then. */
function fileToRun(): string {
  const agent = agentCommand(process.env['npm_lifecycle_event'] === 'agent' ? 'npm run agent --' : 'hob-agent');
  agent.parse(process.argv.slice(2), { from: 'user' });
  return agent.args[0] as string;
}

let file = '';
try {
  file = fileToRun();
} catch (error) {
  process.exit(endOf(error));
}
const url = process.env['HOB_URL'];
delete process.env['HOB_URL'];
if (url === undefined) fail('HOB_URL says which host to enter: set it to the address that the host prints');
const secret = await secretOfAgent().catch((error: Error) => fail(error.message));
if (secret === '')
  fail('no secret was given: type it, pipe it in as the first line, or name its file in HOB_SECRET_FILE');

const program = (await import(pathToFileURL(resolve(file)).href)) as {
  readonly default?: (powers: AgentPowers) => Promise<unknown>;
};
if (typeof program.default !== 'function') fail('the program has no default export to call');
try {
  await program.default?.({
    url: url as string,
    secret,
    // The message of a program may have several lines.
    say: (line) => outText(String(line)),
  });
  process.exit(0);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
