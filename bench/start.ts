/**
 * How long a person waits for `hob`. Verbs are whole processes, from their start to their end. Their peer is
 * `node -e 0`. `npm start` runs on an existing state, from its start to the line `hob ready`.
 *
 * `hob` is as a user has it: packed, and installed by npm in an empty folder, with Node's cache of compiled code. The
 * first run of each row fills that cache and does not count.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { exportLedger, ledgerLine, openStore, openVats } from '@hob/vat';
import { installed } from '../test/packed/installed.ts';
import type { Case, Goal, Suite } from './measure.ts';

const rounds = 11;
/** The kernel counts the time of ended children in ticks of 10 ms. So a figure is the mean of this many runs. */
const runsPerFigure = 8;
const checkout = new URL('..', import.meta.url).pathname;
const found = await installed();
if (found === undefined) throw new Error('the packages that Hob depends on cannot be installed: is npm online?');
const { folder, remove } = found;
const hob = join(folder, 'node_modules', '@hob', 'cli', 'dist', 'main.js');
const work = mkdtempSync(join(tmpdir(), 'hob-bench-start-'));
// The files are removed also if a case fails.
process.once('exit', () => {
  rmSync(work, { recursive: true, force: true });
  remove();
});
const at = (name: string): string => join(work, name);

writeFileSync(
  at('hob.yaml'),
  'version: 1\nroots: { project: ./root }\nsession:\n  caps:\n    files: { fs: project, can: [read, list] }\n',
);
for (const name of ['state', 'root', 'sentinel']) mkdirSync(at(name));
const lines = 100;
await makeLedger();

/** Makes a store with some lines, and a file with the same lines. */
async function makeLedger(): Promise<void> {
  const store = await openStore({ path: at('ledger') });
  const vats = await openVats({ store });
  const vat = vats.vat('bench');
  for (let i = 0; i < lines; i += 1)
    await vat.turn(() => ledgerLine('call', { session: 'bench', method: 'next', count: i }));
  await vats.settled();
  const text: string[] = [];
  for await (const line of exportLedger(store)) text.push(line);
  writeFileSync(at('ledger.jsonl'), `${text.join('\n')}\n`);
  await vats.close();
  await store.close();
}

/** Runs a process to its end. Returns how long it takes, in ms. Throws if it does not end with `code`. */
function took(args: readonly string[], code: number): number {
  const began = performance.now();
  const { status, error, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  if (error !== undefined) throw error;
  const ms = performance.now() - began;
  if (status !== code) throw new Error(`${args.slice(1).join(' ')} ended with ${status}: ${stderr}`);
  return ms;
}
/** The environment of this process, without the variables of npm, Node and Hob. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|NODE_OPTIONS|HOB_)/.test(name)),
);

/** Returns the processor time of one run, in ms. Other processes do not count. */
function used(args: readonly string[], code: number): number {
  const before = ofChildren();
  for (let run = 0; run < runsPerFigure; run += 1) took(args, code);
  return (ofChildren() - before) / runsPerFigure;
}

/** Returns the processor time of all children that have ended, in ms. */
function ofChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const times: Goal = { text: '<= 1.6 x', met: ({ ratio }) => ratio <= 1.6 };
const verb = (name: string, args: readonly string[], code = 0): readonly Case[] => [
  {
    name: `hob ${name} vs node -e 0`,
    n: 1,
    rounds,
    unit: 'ms',
    ours: () => took([hob, ...args], code),
    peer: () => took(['-e', '0'], 0),
    goal: times,
  },
  {
    name: `hob ${name} vs node -e 0, time of the processor`,
    n: runsPerFigure,
    rounds: 3,
    unit: 'ms',
    ours: () => used([hob, ...args], code),
    peer: () => used(['-e', '0'], 0),
  },
];

/** Returns the time from the start of npm to the line `hob ready`, in ms. */
async function ready(): Promise<number> {
  const began = performance.now();
  const args = ['start', '--', '--root', at('root'), '--sentinel', at('sentinel')];
  const child = spawn('npm', args, {
    cwd: checkout,
    env: { ...env, HOB_STATE: at('state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let told = '';
  child.stderr.on('data', (text) => {
    told += text;
  });
  let ms = Number.NaN;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('hob ready')) continue;
    ms = performance.now() - began;
    child.kill('SIGTERM');
  }
  await ended;
  if (Number.isNaN(ms)) throw new Error(`npm start did not come up: ${told}`);
  return ms;
}

/** Returns the time of npm with two processes of Node that do nothing, in ms. `npm start` needs these, too. */
function bareNpm(): number {
  const began = performance.now();
  const { status } = spawnSync('npm', ['run', '-s', 'node', '--', '-e', '0'], { cwd: checkout, env, stdio: 'ignore' });
  if (status !== 0) throw new Error(`npm ended with ${status}`);
  return performance.now() - began;
}

export const suite: Suite = {
  name: 'start',
  cases: [
    ...verb('--version', ['--version']),
    ...verb('version', ['version']),
    ...verb('--help', ['--help']),
    ...verb('check', ['check', at('hob.yaml')]),
    ...verb('status, no host', ['status', '--state', at('nobody')], 1),
    ...verb(`ledger verify of ${lines} lines in a store`, ['ledger', 'verify', '--state', at('ledger')]),
    ...verb(`ledger verify of ${lines} lines in a file`, ['ledger', 'verify', at('ledger.jsonl')]),
    {
      name: 'npm start, warm to ready, vs npm and two Nodes that do nothing',
      n: 1,
      rounds: 9,
      unit: 'ms',
      ours: ready,
      peer: bareNpm,
      goal: { text: '<= 700 ms', met: ({ ours }) => ours <= 700 },
    },
  ],
};
