/** The command line of `npm run agent`. */
import type { Command } from 'commander';
import { newCommand, showUsage } from './read-line.ts';

export function agentCommand(): Command {
  const agent = newCommand('npm run agent --')
    .description('Runs an agent’s program in the session whose secret is asked for, or is in the file HOB_SECRET_FILE.')
    .argument('<file>', 'the program, such as examples/first-session.ts; HOB_URL says which host to enter');
  showUsage(agent);
  return agent;
}
