/**
 * `hob mcp` over standard input and output, with its grant and its ledger, beside the reference server for files, which
 * has neither. Both are processes, and one client speaks to both.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Files, openMcp } from './fs-peers.ts';
import type { Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-mcp-'));
const root = join(folder, 'root');
mkdirSync(root);
writeFileSync(join(root, 'file'), 'x'.repeat(4095).concat('\n'));

const host = fork(new URL('mcp-host.ts', import.meta.url), [join(folder, 'state'), root]);
const [entry] = (await once(host, 'message')) as [
  { readonly url: string; readonly secret: string; readonly others: readonly string[] },
];
const secretFile = join(folder, 'secret');
writeFileSync(secretFile, entry.secret, { mode: 0o600 });

interface Ours {
  readonly child: ChildProcess;
  ask(method: string, params: object): Promise<{ readonly result?: unknown }>;
}
const servers: ChildProcess[] = [];

async function openOurs(): Promise<Ours> {
  // That of an installed package runs without the part of Node that strips types.
  const main = process.env['HOB_BENCH_CLI'] ?? fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
  // As the configuration that `hob start` writes.
  const args = ['--max-semi-space-size=1', main, 'mcp', '--url', entry.url, '--secret-file', secretFile];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  servers.push(child);
  const waiting = new Map<number, (reply: { readonly result?: unknown }) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as { readonly id?: number; readonly result?: unknown };
    if (reply.id === undefined) return;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  let last = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask: Ours['ask'] = (method, params) => {
    last += 1;
    const id = last;
    const answered = new Promise<{ readonly result?: unknown }>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return answered;
  };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }); // biome-ignore format: one line
  send({ method: 'notifications/initialized' });
  return { child, ask };
}

const ours = await openOurs();
const theirs: Files = await openMcp(root);
const readOurs = async (): Promise<void> => {
  const { result } = await ours.ask('tools/call', { name: 'read', arguments: { cap: 'files', path: 'file' } });
  const { text } = (result as { readonly structuredContent: { readonly text: string } }).structuredContent;
  if (text.length !== 4096) throw new Error(`${text.length} characters instead of 4096`);
};
const readTheirs = async (): Promise<void> => void (await theirs.read('file'));
const inTurn =
  (read: () => Promise<void>) =>
  async (n: number): Promise<void> => {
    for (let i = 0; i < n; i += 1) await read();
  };
const atOnce =
  (read: () => Promise<void>) =>
  async (n: number): Promise<void> => {
    for (let i = 0; i < n; i += 32) await Promise.all(Array.from({ length: 32 }, read));
  };

/** The memory of one more server when others of its kind run, in MiB. */
async function oneMore(): Promise<number> {
  while (servers.length < 4) await (await openOurs()).ask('tools/list', {});
  const last = servers.at(-1) as ChildProcess;
  // What it made while it started is collected when it is idle.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${last.pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
}

/** Begins with eight sessions over HTTP. Returns the processes that the host has more. */
async function processesOverHttp(): Promise<number> {
  const children = (): number => readFileSync(`/proc/${host.pid}/task/${host.pid}/children`, 'utf8').split(' ').length;
  const before = children();
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  for (const secret of entry.others) {
    const answer = await fetch(`${entry.url.replace('ws', 'http')}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${secret}`, connection: 'close' },
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    });
    if (!(await answer.text()).includes('protocolVersion')) throw new Error(`HTTP ${answer.status}`);
  }
  return children() - before;
}

const tokens = async (): Promise<number> =>
  Buffer.byteLength(JSON.stringify((await ours.ask('tools/list', {})).result)) / 4;

export const suite: Suite = {
  name: 'mcp',
  cases: [
    {
      name: 'read of 4 KB, one after the other',
      n: 200,
      ours: inTurn(readOurs),
      peer: inTurn(readTheirs),
      goal: { text: '<= 1.0 x its time', met: ({ ratio }) => ratio <= 1 },
    },
    {
      name: 'read of 4 KB, 32 at once',
      n: 640,
      ours: atOnce(readOurs),
      peer: atOnce(readTheirs),
      goal: { text: '<= 0.7 x its time', met: ({ ratio }) => ratio <= 0.7 },
    },
    { name: 'definitions, bytes / 4', n: 1, rounds: 1, unit: 'tokens', ours: tokens, goal: { text: '<= 2,500', met: (row) => row.ours <= 2500 } }, // biome-ignore format: one line
    { name: 'one more session over stdio, PSS', n: 1, rounds: 1, unit: 'MiB', ours: oneMore, goal: { text: '<= 40 MiB', met: (row) => row.ours <= 40 } }, // biome-ignore format: one line
    { name: 'eight more sessions over HTTP', n: 1, rounds: 1, unit: 'processes', ours: processesOverHttp, goal: { text: '0', met: (row) => row.ours === 0 } }, // biome-ignore format: one line
  ],
  async close() {
    await theirs.close();
    for (const server of servers) {
      server.stdin?.end();
      await once(server, 'exit');
    }
    host.disconnect();
    await once(host, 'exit');
    rmSync(folder, { recursive: true });
  },
};
