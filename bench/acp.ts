/** An agent behind `hob acp`, beside the same agent at a bare pipe. All are processes, and one editor speaks to both. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-acp-'));
mkdirSync(join(folder, 'project'));
mkdirSync(join(folder, 'config'));
writeFileSync(join(folder, 'config/hob.yaml'), 'version: 1\nroots: { project: ../project }\nsession:\n  caps:\n    src: { fs: project, can: [read, list] }\n'); // biome-ignore format: one line
const env = { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_RUNTIME_DIR: folder };
const main = process.env['HOB_BENCH_CLI'] ?? fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const agent = [process.execPath, fileURLToPath(new URL('acp-agent.mjs', import.meta.url))];

const host = spawn(process.execPath, [main, 'serve', '--manifest', join(folder, 'config/hob.yaml')], { env, stdio: ['ignore', 'pipe', 'pipe'] }); // biome-ignore format: one line
await new Promise<void>((resolve, reject) => {
  let said = '';
  const heard = (part: Buffer): void => {
    said += part;
    if (/see its requests/.test(said)) resolve();
  };
  host.stdout.on('data', heard);
  host.stderr.on('data', heard);
  host.once('exit', () => reject(new Error(`hob serve ended: ${said}`)));
});

interface Editor {
  readonly child: ChildProcess;
  /** One turn with so many updates. */
  turn(updates: number): Promise<void>;
}

async function editor(words: readonly string[]): Promise<Editor> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let answered: (result: { readonly sessionId?: string }) => void = () => {};
  let shown = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result } = JSON.parse(line) as { id?: number; method?: string; result: { sessionId?: string } };
    if (method === 'session/update') shown += 1;
    else if (id !== undefined) answered(result);
  });
  let last = 0;
  const ask = (method: string, params: object): Promise<{ readonly sessionId?: string }> =>
    new Promise((resolve) => {
      answered = resolve;
      last += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  await ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await ask('session/new', { cwd: folder, mcpServers: [] });
  return {
    child,
    async turn(updates) {
      shown = 0;
      await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: String(updates) }] });
      if (shown !== updates) throw new Error(`${shown} updates instead of ${updates}`);
    },
  };
}

const ours = await editor([process.execPath, main, 'acp', '--', ...agent]);
const bare = await editor(agent);
const turns =
  ({ turn }: Editor) =>
  async (n: number): Promise<void> => {
    // A prompt, an update and an answer.
    for (let frames = 0; frames < n; frames += 3) await turn(1);
  };
const stream =
  ({ turn }: Editor) =>
  (n: number): Promise<void> =>
    turn(n - 2);
const goal = {
  text: '<= 0.5 ms more',
  met: ({ ours: wrapped, peer }: { readonly ours: number; readonly peer: number }) => wrapped - peer <= 500_000,
};

export const suite: Suite = {
  name: 'acp',
  cases: [
    { name: 'a frame of short turns, one after the other', n: 300, ours: turns(ours), peer: turns(bare), goal },
    { name: 'a frame of a turn with 2,000 updates', n: 2_000, ours: stream(ours), peer: stream(bare), goal },
  ],
  async close() {
    for (const { child } of [ours, bare]) {
      child.stdin?.end();
      await once(child, 'exit');
    }
    host.kill('SIGTERM');
    await once(host, 'exit');
    rmSync(folder, { recursive: true });
  },
};
