/**
 * Hermes' verdicts, without a cage: the shim over one version of the real `hermes-agent`, asked what it would say.
 *
 * Promise: nothing is executed. `tool` lines are refused here; whoever lets Hermes execute does so in a cage (`hermes.ts`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hermesPython } from '../scripts/hermes.mjs';

const SHIM = join(import.meta.dirname, '..', 'packages', 'bridge-python', 'src');

export type Verdict = Readonly<Record<string, unknown>>;

export interface Shim {
  /** Where its world is: `home`, `home/.hermes`, `work` are in it. */
  readonly root: string;
  ask<T extends object = Verdict>(op: string, fields: object): Promise<T>;
  close(): Promise<void>;
}

export function openShim(version: string, root: string): Shim {
  const { python, missing } = hermesPython(version);
  if (python === undefined) throw new Error(missing);
  const child = spawn(python, ['-m', 'hob.hermes_shim', '--root', root], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], PYTHONPATH: SHIM, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    root,
    ask: async <T extends object>(op: string, fields: object): Promise<T> => {
      if (op === 'tool') throw new Error('a tool executes: that belongs into a cage');
      child.stdin.write(`${JSON.stringify({ op, ...fields })}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the shim is gone');
      const { verdict } = JSON.parse(value);
      if (verdict.error?.code !== undefined) throw new Error(`${op}: ${verdict.error.code}: ${verdict.error.message}`);
      return verdict as T;
    },
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}
