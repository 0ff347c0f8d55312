/**
 * Calls from Python: `hob` beside bare `websockets` with JSON, in one Python process, each with a server of
 * its own in another process.
 *
 * capnweb has no peer in Python: py-capnweb 0.5.0 sends calls over a WebSocket that capnweb 0.12.0 does not
 * answer.
 *
 * Promise: both make the same calls, one round after the other. Times are by the clock of Python.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setUpPython } from '../scripts/python.mjs';
import type { Ports } from './captp-server.ts';
import type { Case, Side, Suite } from './measure.ts';

const { python, missing } = await setUpPython();
if (python === undefined) throw new Error(missing);
const server = fork(new URL('captp-server.ts', import.meta.url), { execArgv: process.execArgv });
const [ports] = (await once(server, 'message')) as [Ports];
const client: ChildProcess = spawn(
  python,
  [fileURLToPath(new URL('python_client.py', import.meta.url)), String(ports['hob.1']), String(ports.bare)],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: fileURLToPath(new URL('../packages/bridge-python/src', import.meta.url)),
    },
  },
);
const lines = createInterface({ input: client.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
const next = async (): Promise<string> => {
  const { value, done } = await lines.next();
  if (done === true) throw new Error('the Python process ended');
  return value;
};
await next();

const ask =
  (
    what: 'ours' | 'bare',
    how: 'sequential' | 'pipelined' | 'hop' | 'offered' | 'offered-pipelined' | 'import' | 'needs',
  ): Side =>
  async (n) => {
    client.stdin?.write(`${JSON.stringify({ what, how, n })}\n`);
    return Number(await next());
  };

const cases: readonly Case[] = [
  {
    name: 'sequential call',
    ours: ask('ours', 'sequential'),
    peer: ask('bare', 'sequential'),
    n: 500,
    goal: { text: '<= 2.5 x bare', met: ({ ratio }) => ratio <= 2.5 },
  },
  {
    name: '1,000 calls at once',
    ours: ask('ours', 'pipelined'),
    peer: ask('bare', 'pipelined'),
    n: 1000,
    goal: { text: '<= 4 x bare', met: ({ ratio }) => ratio <= 4 },
  },
  {
    name: '1,000 calls of an object that is not there yet, vs calls',
    ours: ask('ours', 'hop'),
    peer: ask('bare', 'pipelined'),
    n: 1000,
    goal: { text: '<= 4 x bare', met: ({ ratio }) => ratio <= 4 },
  },
  // Through a host whose state is on disk: a call of a grant waits for its line in the ledger.
  {
    name: 'an offered Python object, through grant and ledger',
    ours: ask('ours', 'offered'),
    peer: ask('bare', 'offered'),
    n: 200,
    goal: { text: '<= 2.5 x bare', met: ({ ratio }) => ratio <= 2.5 },
  },
  {
    name: '1,000 of those calls at once',
    ours: ask('ours', 'offered-pipelined'),
    peer: ask('bare', 'offered-pipelined'),
    n: 1000,
    goal: { text: '<= 1.5 x bare', met: ({ ratio }) => ratio <= 1.5 },
  },
  {
    name: 'import',
    ours: ask('ours', 'import'),
    peer: ask('bare', 'import'),
    n: 1,
    rounds: 9,
    unit: 'ms',
    goal: { text: '<= 150 ms', met: ({ ours }) => ours <= 150 },
  },
  {
    name: 'import, with what connecting needs',
    ours: ask('ours', 'needs'),
    peer: ask('bare', 'needs'),
    n: 1,
    rounds: 9,
    unit: 'ms',
  },
];

export const suite: Suite = {
  name: 'python',
  cases,
  async close() {
    client.stdin?.end();
    await once(client, 'exit');
    server.disconnect();
  },
};
