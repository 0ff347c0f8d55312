/**
 * A shell whose sandbox was built without one of its steps, for the tests that look whether anybody notices. Never for rows that destroy.
 *
 * The build and the process that starts it are the test parts of `packages/caps-shell`, run as programs of their own.
 */
import { fork, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Ended, ShellCap } from '@hob/caps-shell';
import { driver } from '@hob/vat';
import type { Offered } from './cap.ts';
import type { Machine } from './machine.ts';

const SHELL = join(import.meta.dirname, '..', 'packages', 'caps-shell');

/** Builds into `folder`, once; undefined leaves nothing out. */
export function sandboxWithout(folder: string, step: string | undefined): string {
  const file = join(folder, 'hob-sandbox');
  if (!fs.existsSync(`${file}.json`)) {
    const args = [join(SHELL, 'sandbox', 'build.mjs'), file, '-DHOB_WITHOUT', '-O1'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
  if (step === undefined) return file;
  const without = `${file}.without.${step}`;
  if (!fs.existsSync(without)) fs.linkSync(file, without);
  fs.copyFileSync(`${file}.json`, `${without}.json`);
  return without;
}

interface Answer {
  readonly id: number;
  readonly outcome?: { readonly code?: number; readonly stdout: string; readonly stderr: string };
  readonly code?: string;
}

/** The work directory for writing and `srv` for reading. */
export const leakyShell =
  (built: string) =>
  async (machine: Machine): Promise<Offered> => {
    const child = fork(join(SHELL, 'test', 'driver.ts'), [], {
      serialization: 'advanced',
      execArgv: ['--no-warnings'],
    });
    const waiting = new Map<number, (answer: Answer) => void>();
    const answerTo = (id: number): Promise<Answer> => new Promise((done) => waiting.set(id, done));
    const ready = answerTo(0);
    child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
    child.once('exit', () => {
      for (const done of waiting.values()) done({ id: 0, code: 'gone' });
    });
    await ready;
    let next = 0;
    const run = async (text: string): Promise<Ended> => {
      next += 1;
      const answer = answerTo(next);
      const grants = {
        [machine.work]: { path: machine.work },
        [join(machine.base, 'srv')]: { path: join(machine.base, 'srv'), writable: false },
      };
      child.send({ id: next, text, options: { built, grants, env: { HOME: machine.home }, timeoutMs: 15_000 } });
      const { outcome, code } = await answer;
      if (outcome === undefined) throw new Error(`nothing ran: ${code}`);
      const usage = { wallMs: 0, cpuMs: 0, peakBytes: 0 };
      return {
        status: outcome.code ?? -1,
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        truncated: false,
        ended: 'exit',
        usage,
      };
    };
    return {
      offered: driver<Pick<ShellCap, 'run'>>({ run: ([text]) => run(text) }),
      close: async () => {
        const gone = new Promise((done) => child.once('exit', done));
        child.disconnect();
        await gone;
      },
    };
  };
