/** The command `hob` as processes, in a home of its own. For tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { hobProgram } from '../../../test/hob-program.ts';
import { inherited } from '../../../test/mutants/environment.ts';
import { Lines, type Ran, resolveHook } from './lines.ts';

export { type Ran, resolveHook };

/** A program that runs, and all that it has printed. */
export class Running {
  readonly child: ChildProcess;
  out = '';
  err = '';
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    this.child = spawn(program, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
    );
  }

  /** Waits until it has printed that. Throws with all that it printed if it ends first. */
  async shows(pattern: RegExp): Promise<void> {
    let over = false;
    this.ended.then(() => {
      over = true;
    });
    for (;;) {
      if (pattern.test(this.out) || pattern.test(this.err)) return;
      if (over) throw new Error(`it ended without ${pattern}:\n${this.out}${this.err}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A home with a project, a manifest outside of it, and `hob`. */
export interface HobHome {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The words with which a shell calls hob. */
  readonly words: readonly string[];
  run(...args: readonly string[]): Promise<Ran>;
  start(...args: readonly string[]): Running;
  /** Does the same as `run`, faster: one process runs all these lines. Only for verbs that leave nothing running. */
  line(...args: readonly string[]): Promise<Ran>;
  /** The parsed `--json` of such a line. */
  jsonLine<T>(...args: readonly string[]): Promise<T>;
  /** The parsed `--json` of a verb. */
  json<T>(...args: readonly string[]): Promise<T>;
  /** Asks again until the answer is as wanted. */
  until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T>;
  /** Ends another program with this home. */
  track(running: Running): void;
  /** Serves `manifest`. */
  serve(): Promise<Running>;
}

export const MANIFEST = `version: 1
roots: { project: project }
session:
  deadline: 8h
  caps:
    src: { fs: project/src, can: [read, list] }
  ask:
    edit: { fs: project/src, can: [read, write], offer: { uses: 20, for: 1h } }
`;

/** `more` are variables of every process. */
export function hobHome(manifest: string = MANIFEST, more: Readonly<Record<string, string>> = {}): HobHome {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hob-home-')));
  for (const name of ['home', 'tmp', 'config/project/src']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'config/project/src/a.txt'), 'one\n');
  writeFileSync(join(folder, 'config/hob.yaml'), manifest);
  const { PATH = '' } = process.env;
  const mutant = inherited();
  const env: Record<string, string> = {
    PATH,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    ...mutant,
    ...more,
  };
  // Both: a mutant that `more` hides would survive each test.
  if (mutant.NODE_OPTIONS !== undefined && more['NODE_OPTIONS'] !== undefined)
    env['NODE_OPTIONS'] = `${mutant.NODE_OPTIONS} ${more['NODE_OPTIONS']}`;
  const words = [process.execPath, ...hobProgram()];
  const open = new Set<Running>();
  const track = (running: Running): void => {
    open.add(running);
    running.ended.then(() => open.delete(running));
  };
  const start = (...args: readonly string[]): Running => {
    const running = new Running(words[0] as string, [...words.slice(1), ...args], env, folder);
    track(running);
    return running;
  };
  let lines: Lines | undefined;
  const line = (...args: readonly string[]): Promise<Ran> => {
    lines ??= new Lines(env, folder);
    return lines.run(...args);
  };
  onTestFinished(async () => {
    await lines?.end();
    for (const running of open) {
      running.child.kill('SIGTERM');
      const timer = setTimeout(() => running.child.kill('SIGKILL'), 30_000);
      await running.ended;
      clearTimeout(timer);
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const run = async (...args: readonly string[]): Promise<Ran> => {
    const running = start(...args);
    running.child.stdin?.end();
    const code = await running.ended;
    return { code, out: running.out, err: running.err };
  };
  const parsed =
    (how: typeof run) =>
    async <T>(...args: readonly string[]): Promise<T> => {
      const { code, out, err } = await how(...args, '--json');
      if (code !== 0) throw new Error(`hob ${args.join(' ')} ended with ${code}: ${err}`);
      return JSON.parse(out) as T;
    };
  return {
    folder,
    env,
    words,
    run,
    start,
    track,
    line,
    json: parsed(run),
    jsonLine: parsed(line),
    async until(ask, wanted) {
      for (;;) {
        const began = performance.now();
        const answer = await ask();
        if (wanted(answer)) return answer;
        // If `ask` starts a process, it slows the host that the test waits for. So it runs at most half of the time.
        await new Promise((resolve) => setTimeout(resolve, Math.max(50, performance.now() - began)));
      }
    },
    async serve() {
      const host = start('serve', '--manifest', join(folder, 'config/hob.yaml'));
      await host.shows(/see its requests/);
      return host;
    },
  };
}

/** An agent that reads, writes through the cap that asks, and then writes again for each line that it gets. */
export const AGENT = `
import '@hob/vat/lockdown';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const file = process.env.HOB_SECRET_FILE;
const secret = readFileSync(file, 'utf8').trim();
rmSync(file);
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
console.log('caps', (await E(session).caps()).join(' '));
console.log('reads', (await E(E(session).cap('src')).readText('a.txt')).trim());
const write = (text) => E(E(session).cap('edit')).write('a.txt', text + '\\n').then(() => console.log('wrote', text), (error) => console.log('refused', error.code));
await write('first');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  await write(line);
}
close();
process.exit(4);
`;

/** The arguments with which node runs it. */
export function agentIn(folder: string): readonly string[] {
  writeFileSync(join(folder, 'agent.mjs'), AGENT);
  return [process.execPath, '--import', resolveHook, join(folder, 'agent.mjs')];
}
