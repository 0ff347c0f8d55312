/**
 * A shell whose sandbox was built without some of its steps, for the tests that look whether anybody notices. Never for rows that destroy.
 *
 * The build and the process that starts it are the test parts of `packages/caps-shell`, run as programs of their own: one process for
 * each command, which may have more to lose than it should (`steps/planted.py`).
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '@hob/caps-shell';
import { CapError } from '@hob/vat';
import type { Machine } from './machine.ts';

const SHELL = join(import.meta.dirname, '..', 'packages', 'caps-shell');
const STEPS = join(import.meta.dirname, 'steps');

/** Builds into `folder`, once. */
export function sandboxWithout(folder: string, steps: readonly string[]): string {
  const file = join(folder, 'hob-sandbox');
  if (!fs.existsSync(`${file}.json`)) {
    const args = [join(SHELL, 'sandbox', 'build.mjs'), file, '-DHOB_WITHOUT', '-O1'];
    run(process.execPath, args);
  }
  if (steps.length === 0) return file;
  const without = `${file}.without.${steps.join(',')}`;
  if (!fs.existsSync(without)) fs.linkSync(file, without);
  fs.copyFileSync(`${file}.json`, `${without}.json`);
  return without;
}

/** Builds `steps/tool.c` into `folder`, once: calls of the commands that a shell cannot make. */
export function stepsTool(folder: string): string {
  const file = join(folder, 'tool');
  // At low addresses, for the calls of the 32-bit machine.
  if (!fs.existsSync(file)) run('cc', ['-O1', '-Wall', '-static', '-no-pie', '-o', file, join(STEPS, 'tool.c')]);
  return file;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
}

interface Grant {
  readonly path: string;
  readonly writable?: boolean;
  /** The directory that lay at this place when it was granted. */
  readonly covers?: { readonly dev: bigint; readonly ino: bigint };
}
/** In place of a granter's: for the steps that are about what is granted, and how much. */
export interface Launched {
  /** More of them, or others: where each appears. */
  readonly grants?: Readonly<Record<string, Grant>>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly trees?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly is?: { readonly dev: bigint; readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint };
  /** The directories are not the ones that were granted. */
  readonly changed?: boolean;
  /** The things that only the launching process has. */
  readonly planted?: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly outcome?: { readonly code?: number; readonly stdout: string; readonly stderr: string };
  readonly code?: string;
}

/** The work directory for writing and `srv` for reading, the tool. The error of one that did not start has its code. */
export async function runLeaky(
  machine: Machine,
  python: string,
  { built, tool, text, launched = {} }: { built: string; tool: string; text: string; launched?: Launched },
): Promise<Ended> {
  const { planted, grants = {}, trees = {}, ...rest } = launched;
  const driver = join(SHELL, 'test', 'driver.ts');
  const child =
    planted === undefined
      ? fork(driver, [], { serialization: 'advanced', execArgv: ['--no-warnings'] })
      : fork(driver, [], {
          serialization: 'advanced',
          execPath: python,
          execArgv: [join(STEPS, 'planted.py'), JSON.stringify(planted), process.execPath, '--no-warnings'],
        });
  try {
    if ((await answerOf(child)).code === 'gone') throw new Error('what was to start it did not start');
    const answer = answerOf(child);
    const options = {
      built,
      grants: {
        [machine.work]: { path: machine.work },
        [join(machine.base, 'srv')]: { path: join(machine.base, 'srv'), writable: false },
        ...grants,
      },
      trees: { '/opt/tool': tool, ...trees },
      env: { HOME: machine.home },
      timeoutMs: 20_000,
      ...rest,
    };
    child.send({ id: 1, text, options });
    const { outcome, code } = await answer;
    if (outcome === undefined) throw new CapError(code ?? 'gone', 'nothing ran');
    const { stdout, stderr } = outcome;
    const usage = { wallMs: 0, cpuMs: 0, peakBytes: 0 };
    return { status: outcome.code ?? -1, stdout, stderr, truncated: false, ended: 'exit', usage };
  } finally {
    const gone = child.exitCode !== null || child.signalCode !== null;
    const exit = new Promise((done) => child.once('exit', done));
    if (child.connected) child.disconnect();
    if (!gone) await exit;
  }
}

function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((done) => {
    const gone = (): void => done({ code: 'gone' });
    child.once('exit', gone);
    child.once('message', (answer: Answer) => {
      child.off('exit', gone);
      done(answer);
    });
  });
}
