/**
 * `npm run demo:chaos -- --kills N [--seed S]`: one of the three processes is killed outright at a random moment, again and again.
 *
 * Promise: afterwards no process is left over, every file in the workspace is whole (the agent writes files whose content can be
 * checked), no acknowledged write is missing, and the one ledger that all those hosts wrote verifies.
 */
import '../lockdown.ts';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verifyLedger } from '@hob/vat';
import { outText, sayText } from '../../drivers/terminal.ts';
import { randomFrom } from './chance.ts';
import { Program, type Ready, readiness } from './processes.ts';

const writer = fileURLToPath(new URL('./chaos-agent.ts', import.meta.url));
const say = outText;

interface Tally {
  kills: Record<'host' | 'agent' | 'granter', number>;
  /** Writes that an agent was told are done. */
  readonly acknowledged: Set<string>;
  readonly faults: string[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } });
  const kills = Number(values.kills ?? '200');
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
    sayText('hob: --kills and --seed are whole numbers');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hob-chaos-'));
  const root = join(folder, 'workspace');
  const state = join(folder, 'state');
  mkdirSync(root);
  writeFileSync(join(root, 'notes.txt'), 'for the agent\n');
  say(`${kills} kills, seed ${seed}`);
  const tally: Tally = { kills: { host: 0, agent: 0, granter: 0 }, acknowledged: new Set(), faults: [] };
  const chance = randomFrom(seed);
  const running = new Set<Program>();
  const start = (...of: ConstructorParameters<typeof Program>): Program => {
    const program = new Program(...of);
    running.add(program);
    program.ended.then(() => running.delete(program));
    return program;
  };
  const begun = Date.now();
  try {
    await storm({ kills, root, state, chance, start, tally });
    await Promise.all([...running].map((program) => program.stop()));
    // Whatever the last kill left behind: a host starts on it and ends in good order.
    const last = start('main.ts', ['--root', root, '--state', state]);
    await readiness(last);
    if ((await last.stop()) !== 0) tally.faults.push('the last host did not end in good order');
    await judge(root, state, tally);
  } finally {
    for (const program of running) program.kill('SIGKILL');
    await Promise.all([...running].map((program) => program.ended));
    rmSync(folder, { recursive: true, force: true });
  }
  const { host, agent, granter } = tally.kills;
  say(
    `killed: host ${host}, agent ${agent}, granter ${granter}; ${tally.acknowledged.size} acknowledged writes; ${Math.round((Date.now() - begun) / 1000)} s`,
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
  readonly chance: (below: number) => number;
  readonly start: (...of: ConstructorParameters<typeof Program>) => Program;
  readonly tally: Tally;
}

async function storm({ kills, root, state, chance, start, tally }: Storm): Promise<void> {
  let host: Program | undefined;
  let ready: Ready | undefined;
  let known: Ready | undefined;
  for (let done = 0; done < kills; ) {
    if (host === undefined || ready === undefined) {
      host = start('main.ts', ['--root', root, '--state', state, '--uses', '1000000']);
      try {
        ready = await readiness(host, known);
        known = ready;
      } catch (error) {
        // After kill -9 a host must start again on what is there, every time.
        tally.faults.push((error as Error).message);
        return;
      }
    }
    const { url, session, granter } = ready;
    const agent = start('agent.ts', [writer], { env: { HOB_URL: url }, stdin: `${session.secret}\n` });
    const command = start('cli.ts', [...(chance(2) === 0 ? ['grants'] : ['ledger', 'verify']), '--state', state], {
      stdin: `${granter.secret}\n`,
    });
    const victims = { host, agent, granter: command };
    const whom = (['host', 'agent', 'granter'] as const)[chance(3)] as 'host' | 'agent' | 'granter';
    // One in three dies while it is starting, the others well into the agent's work.
    if (chance(3) > 0) await agent.line((line) => line.startsWith('wrote '), 10_000);
    await new Promise((resolve) => setTimeout(resolve, chance(600)));
    victims[whom].kill('SIGKILL');
    await victims[whom].ended;
    tally.kills[whom] += 1;
    done += 1;
    if (whom === 'host') [host, ready] = [undefined, undefined];
    // The others notice by themselves, or are done.
    const codes = await Promise.all([ended(agent, whom !== 'host'), ended(command, false)]);
    if (codes.includes(undefined)) tally.faults.push(`kill ${done} (${whom}): a process did not end by itself`);
    collect(agent, tally);
    if (done % 25 === 0) say(`  ${done} kills`);
  }
}

/** Its exit code; undefined if it had to be made to end. An agent works until it is asked to stop, or its host is gone. */
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

async function judge(root: string, state: string, tally: Tally): Promise<void> {
  const names = readdirSync(root).filter((name) => name.startsWith('w-'));
  for (const name of names) {
    const [head, ...rest] = readFileSync(join(root, name), 'utf8').split('\n');
    // The first line says what every other line is, and how many there are.
    const [text, count] = (head ?? '').split(' ');
    const lines = rest.slice(0, -1);
    if (text === undefined || text === '' || lines.length !== Number(count) || lines.some((line) => line !== text))
      tally.faults.push(`the file ${name} is not whole`);
  }
  for (const name of tally.acknowledged)
    if (!names.includes(name)) tally.faults.push(`the acknowledged write ${name} is missing`);
  if (existsSync(join(state, 'host.json'))) tally.faults.push('the last host left its note behind');
  const verdict = await verifyLedger(await openAgain(state, tally));
  if (!verdict.ok) tally.faults.push(`the ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);
  else say(`  the ledger has ${verdict.lines} lines`);
}

async function openAgain(state: string, tally: Tally): Promise<{ readonly file: string }> {
  // Through a host of its own, as a person would.
  const { openHost } = await import('../../host.ts');
  const host = await openHost({ stateDir: state });
  const file = join(state, 'chaos-export.jsonl');
  try {
    const verdict = await host.verify();
    if (!verdict.ok) tally.faults.push(`the store's ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);
    const lines: string[] = [];
    for await (const line of host.ledger()) lines.push(`${line.trimEnd()}\n`);
    writeFileSync(file, lines.join(''));
  } finally {
    await host.close();
  }
  return { file };
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    sayText(`hob: ${(error as Error).stack ?? String(error)}`);
    process.exit(1);
  },
);
