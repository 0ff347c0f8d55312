/** The command line of `hob-agent`, which is `npm run agent` in a checkout. */
import type { Command } from 'commander';
import { newCommand, showUsage } from './read-line.ts';

/** `name` is how it was called. */
export function agentCommand(name: string): Command {
  const agent = newCommand(name)
    .description('Runs an agent’s program in the session whose secret is asked for, or is in the file HOB_SECRET_FILE.')
    .argument('<file>', 'the program, with a default export; HOB_URL says which host to enter');
  showUsage(agent);
  return agent;
}
