/**
 * `npm run demo:chaos -- --kills N [--seed S]`: kills one of three processes with SIGKILL at a random moment, N times.
 *
 * Promise: at the end no process is left, every file that the agent wrote is whole, no acknowledged write is missing,
 * and the ledger that all the hosts wrote verifies.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from '../../test/command.ts';
import { Program, type Ready, readiness } from '../../test/processes.ts';
import { randomFrom } from './random.ts';

const writer = fileURLToPath(new URL('./chaos-agent.ts', import.meta.url));
const say = (line: string): void => console.log(line);

interface Tally {
  kills: Record<'host' | 'agent' | 'granter', number>;
  /** The files whose write was acknowledged. */
  readonly acknowledged: Set<string>;
  readonly faults: string[];
}

async function main(): Promise<number> {
  const values = commandLine('npm run demo:chaos --')
    .description('Kills one of three processes at a random moment, N times, then checks what is left.')
    .option('--kills <n>', 'how often (default: 200)')
    .option('--seed <n>', 'repeats an earlier run')
    .parse()
    .opts<{ kills?: string; seed?: string }>();
  const kills = Number(values.kills ?? '200');
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
    console.error('hob: --kills and --seed take whole numbers');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hob-chaos-'));
  const root = join(folder, 'workspace');
  const state = join(folder, 'state');
  mkdirSync(root);
  writeFileSync(join(root, 'notes.txt'), 'for the agent\n');
  say(`${kills} kills, seed ${seed}`);
  const tally: Tally = { kills: { host: 0, agent: 0, granter: 0 }, acknowledged: new Set(), faults: [] };
  const random = randomFrom(seed);
  const running = new Set<Program>();
  const start = (...of: ConstructorParameters<typeof Program>): Program => {
    const program = new Program(...of);
    running.add(program);
    program.ended.then(() => running.delete(program));
    return program;
  };
  const began = Date.now();
  const setting = { kills, root, state, random, start, tally };
  try {
    await storm(setting);
    await Promise.all([...running].map((program) => program.stop()));
    // A host must start on the state that the last kill left, and end in good order.
    const last = start('workspace', ['--root', root, '--state', state]);
    await readiness(last);
    if ((await last.stop()) !== 0) tally.faults.push('the last host did not end in good order');
    await check(setting);
  } finally {
    for (const program of running) program.kill('SIGKILL');
    await Promise.all([...running].map((program) => program.ended));
    rmSync(folder, { recursive: true, force: true });
  }
  const { host, agent, granter } = tally.kills;
  say(
    `killed: host ${host}, agent ${agent}, granter ${granter}; ${tally.acknowledged.size} acknowledged writes; ${Math.round((Date.now() - began) / 1000)} s`,
  );
  for (const fault of tally.faults.slice(0, 20)) say(`FAILED  ${fault}`);
  if (tally.faults.length === 0)
    say('No process left over, no file corrupt, no acknowledged write lost, the ledger verifies.');
  return tally.faults.length === 0 ? 0 : 1;
}

interface Storm {
  readonly kills: number;
  readonly root: string;
  readonly state: string;
  readonly random: (below: number) => number;
  readonly start: (...of: ConstructorParameters<typeof Program>) => Program;
  readonly tally: Tally;
}

async function storm({ kills, root, state, random, start, tally }: Storm): Promise<void> {
  let host: Program | undefined;
  let ready: Ready | undefined;
  let known: Ready | undefined;
  for (let done = 0; done < kills; ) {
    if (host === undefined || ready === undefined) {
      host = start('workspace', ['--root', root, '--state', state, '--uses', '1000000']);
      try {
        ready = await readiness(host, known);
        known = ready;
      } catch (error) {
        // After each kill -9 a host must start again on the same state.
        tally.faults.push((error as Error).message);
        return;
      }
    }
    const { url, session, granter } = ready;
    const agent = start('agent.ts', [writer], { env: { HOB_URL: url }, stdin: `${session.secret}\n` });
    const command = start('hob', [...(random(2) === 0 ? ['list'] : ['ledger', 'verify']), '--state', state], {
      stdin: `${granter.secret}\n`,
    });
    const victims = { host, agent, granter: command };
    const whom = (['host', 'agent', 'granter'] as const)[random(3)] as 'host' | 'agent' | 'granter';
    // A third of the kills hit during the start, the others during the agent's work.
    if (random(3) > 0) await agent.line((line) => line.startsWith('wrote '), 10_000);
    await new Promise((resolve) => setTimeout(resolve, random(600)));
    victims[whom].kill('SIGKILL');
    await victims[whom].ended;
    tally.kills[whom] += 1;
    done += 1;
    if (whom === 'host') [host, ready] = [undefined, undefined];
    // The other processes must end by themselves.
    const codes = await Promise.all([ended(agent, whom !== 'host'), ended(command, false)]);
    if (codes.includes(undefined)) tally.faults.push(`kill ${done} (${whom}): a process did not end by itself`);
    collect(agent, tally);
    if (done % 25 === 0) say(`  ${done} kills`);
  }
}

/** Returns the exit code, or undefined if the process had to be killed. `ask` sends SIGTERM first. */
async function ended(program: Program, ask: boolean): Promise<number | string | undefined> {
  if (ask) program.kill('SIGTERM');
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    program.kill('SIGKILL');
  }, 10_000);
  const code = await program.ended;
  clearTimeout(timer);
  return late ? undefined : code;
}

function collect(agent: Program, tally: Tally): void {
  for (const line of agent.lines) if (line.startsWith('wrote ')) tally.acknowledged.add(line.slice('wrote '.length));
}

async function check({ root, state, start, tally }: Storm): Promise<void> {
  const names = readdirSync(root).filter((name) => name.startsWith('w-'));
  for (const name of names) {
    const [head, ...rest] = readFileSync(join(root, name), 'utf8').split('\n');
    // The first line holds the text of every other line, and their number.
    const [text, count] = (head ?? '').split(' ');
    const lines = rest.slice(0, -1);
    if (text === undefined || text === '' || lines.length !== Number(count) || lines.some((line) => line !== text))
      tally.faults.push(`the file ${name} is not whole`);
  }
  for (const name of tally.acknowledged)
    if (!names.includes(name)) tally.faults.push(`the acknowledged write ${name} is missing`);
  if (existsSync(join(state, 'host.json'))) tally.faults.push('the last host left its note behind');
  const file = join(state, '../ledger.jsonl');
  for (const args of [['verify'], ['export', file], ['verify', file]]) {
    const program = start('hob', ['ledger', ...args, '--state', state]);
    if ((await program.ended) !== 0) tally.faults.push(`ledger ${args[0]}: ${program.lines.join(' ')}`);
    else say(`  ${program.lines[0]}`);
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`hob: ${(error as Error).stack ?? String(error)}`);
    process.exit(1);
  },
);
