/**
 * The cost of many idle sessions for a host, and the cost of one flooding session for the others.
 *
 * The host, the working agents and the flooding agent are processes of their own. The peer of the flood is
 * a process that keeps a processor as busy and asks nothing. So the comparison shows the host, not the machine.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Case, percentile, type Suite } from './measure.ts';
import type { Task } from './sessions-agent.ts';
import type { Memory, Opened, Order } from './sessions-host.ts';
import { slowDisk } from './slow-disk.ts';

const SESSIONS = 10_000;
const WORKERS = 20;
const folder = mkdtempSync(join(tmpdir(), 'hob-bench-sessions-'));
const children = new Set<ChildProcess>();

function start(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: [...process.execArgv, '--expose-gc'], env });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Returns the next message of a process. */
async function told<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const gone = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a process of the bench ended');
  });
  gone.catch(() => {});
  const [said] = await Promise.race([once(child, 'message', { signal: ended.signal }), gone]);
  ended.abort();
  return said as T;
}

async function end(child: ChildProcess, order?: Order): Promise<void> {
  const gone = once(child, 'exit');
  if (order === undefined) child.disconnect();
  else child.send(order);
  await gone;
}

interface House {
  readonly host: ChildProcess;
  readonly opened: Opened;
  fill(n: number): Promise<readonly string[]>;
  memory(): Promise<Memory>;
}
async function open(state: string, env?: NodeJS.ProcessEnv): Promise<House> {
  const host = start('./sessions-host.ts', [join(folder, state)], env);
  const opened = await told<Opened>(host);
  const ask = <T>(order: Order): Promise<T> => {
    const answer = told<T>(host);
    host.send(order);
    return answer;
  };
  return { host, opened, fill: (n) => ask({ fill: n }), memory: () => ask('memory') };
}

function agents(task: Task): { readonly child: ChildProcess; readonly answer: Promise<unknown> } {
  const child = start('./sessions-agent.ts');
  const answer = told<unknown>(child);
  child.send(task);
  return { child, answer };
}

const MiB = (bytes: number): number => bytes / (1 << 20);
let secrets: readonly string[] | undefined;
let empty: number | undefined;
/** Makes 10,000 sessions, each with a grant, and ends the host that made them. Returns their secrets. */
async function filled(): Promise<readonly string[]> {
  if (secrets !== undefined) return secrets;
  const { host, fill, memory } = await open('many');
  empty = (await memory()).rss;
  secrets = await fill(SESSIONS);
  await end(host, 'close');
  return secrets;
}

const figures: string[] = [];
async function many(pick: (house: House, secrets: readonly string[]) => Promise<number>): Promise<number> {
  const known = await filled();
  const house = await open('many');
  if (house.opened.sessions !== SESSIONS)
    throw new Error(`${house.opened.sessions} sessions are there, not ${SESSIONS}`);
  const figure = await pick(house, known);
  await end(house.host, 'close');
  return figure;
}

/** Returns the p99 of the working agents, in ms, beside a process that does `what`. An fsync takes `diskMs` longer. */
async function beside(what: 'flood' | 'burn', ms: number, diskMs = 0): Promise<number> {
  const env = diskMs === 0 ? undefined : slowDisk(folder, diskMs);
  const { host, opened, fill } = await open(`${what}-${Math.random()}`, env);
  const [hostile = '', ...others] = await fill(WORKERS + 1);
  const other = agents({ url: opened.url, secrets: what === 'flood' ? [hostile] : [], what });
  const { child, answer } = agents({ url: opened.url, secrets: others, what: 'work', ms });
  const took = (await answer) as readonly number[];
  other.child.send('enough');
  figures.push(`${what}: ${took.length} calls of others; ${JSON.stringify(await other.answer)}`);
  await Promise.all([end(child), end(other.child)]);
  await end(host, 'close');
  return percentile(took, 99);
}

const cases: readonly Case[] = [
  {
    name: '10,000 idle sessions, each with a grant: memory of the host (RSS)',
    n: SESSIONS,
    rounds: 1,
    unit: 'MiB',
    slow: true,
    ours: () => many(async ({ memory }) => MiB((await memory()).rss)),
    goal: { text: '<= 1 GiB', met: ({ ours }) => ours <= 1024 },
  },
  {
    name: '10,000 idle sessions: from the start of the host to its open door',
    n: SESSIONS,
    rounds: 3,
    unit: 'ms',
    slow: true,
    ours: () => many(async ({ opened }) => opened.ms),
  },
  {
    name: 'p99 of 20 sessions that work, beside one that floods, vs beside a busy processor',
    n: 4000,
    rounds: 3,
    unit: 'ms',
    slow: true,
    ours: (ms) => beside('flood', ms),
    peer: (ms) => beside('burn', ms),
    goal: { text: '<= 1.5 x', met: ({ ratio }) => ratio <= 1.5 },
  },
  {
    name: 'the same on a disk whose fsync takes 20 ms longer',
    n: 4000,
    rounds: 3,
    unit: 'ms',
    slow: true,
    ours: (ms) => beside('flood', ms, 20),
    peer: (ms) => beside('burn', ms, 20),
    goal: { text: '<= 1.5 x', met: ({ ratio }) => ratio <= 1.5 },
  },
];

export const suite: Suite = {
  name: 'sessions',
  cases,
  async close() {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    if (process.send === undefined) process.stdout.write(`${figures.join('\n')}\nempty host: ${empty}\n`);
  },
};
