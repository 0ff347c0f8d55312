/**
 * `npm run agentdojo [-- OPTIONS]`: installs AgentDojo if it is not there, and runs `python -m dojo`, or with `--attacks`
 * `python -m attacks`. The exit code is that of Python.
 */
import { spawn } from 'node:child_process';
import { agentdojoPython, DOJO, dojoEnvironment, setUpAgentdojo } from '../../scripts/agentdojo.mjs';
import { commandLine } from '../../test/command.ts';

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
const program = commandLine('npm run agentdojo --')
  .description('AgentDojo through a real Hob host. An option that is given twice adds.')
  .option('--version <version>', 'v1.1.2 has 629 pairs, v1.2.2 has 949 (default: v1.1.2)', several)
  .option('--suite <name>', 'workspace, travel, banking, slack (default: all but workspace)', several)
  .option('--mode <mode>', 'none, coarse, fine, ask (default: all)', several)
  .option('--task <number>', "the user's tasks with this number only", several)
  .option('--attacker <number>', 'the attackers with this number only', several)
  .option('--all', 'both versions, all suites: half an hour')
  .option('--every <n>', 'each Nth pair only')
  .option('--show', 'name the pairs: in none the attacks that failed, in others those that did not')
  .option('--record', 'write what each pair came to into outcomes.json, and compare with nothing')
  .option('--workers <n>', 'pairs at a time')
  .option('--attacks [words...]', 'the attacks that know about caps; with words those whose name has one')
  .parse();
const { attacks, ...given } = program.opts<Record<string, string | boolean | readonly string[]>>();

process.exitCode = await main();
// The channel to npm's process would keep us here.
if (process.connected) process.disconnect();

async function main(): Promise<number> {
  await setUpAgentdojo();
  const { python, missing } = agentdojoPython();
  if (python === undefined) {
    process.stderr.write(`hob: ${missing}\n`);
    return 1;
  }
  const words =
    attacks === undefined ? ['dojo', ...dojoWords()] : ['attacks', ...(attacks === true ? [] : [attacks].flat())];
  const env = dojoEnvironment(process.env);
  const child = spawn(python, ['-m', ...words.map(String)], { cwd: DOJO, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  process.on('disconnect', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** The options as Python takes them. */
function dojoWords(): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [value].flat().flatMap((each) => [`--${name}`, String(each)]),
  );
}
