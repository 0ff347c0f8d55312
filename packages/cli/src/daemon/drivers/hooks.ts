/**
 * Runs the program of a hook in the sandbox.
 *
 * Promise: what runs is the file that the manifest names by its content. It is read and compared at each call, and
 * the copy that runs is made of the same bytes, so a file that is changed meanwhile never runs. The program has no
 * network and no directory of this machine. Nothing runs outside of the sandbox.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from '@hob/caps-shell';
import type { HookRun, HookRunner } from '@hob/firewall';
import type { PlannedHook } from '@hob/manifest';

const usualMs = 5000;
const largestProgram = 16 << 20;
/** A hook that writes more is ended. What it may say is shorter. */
const outputBytes = 256 * 1024;
const memoryBytes = 512 << 20;

/** `folder` is of the host alone: it holds the copies, each named by its content. */
export function hookRunner({ program, sha256, withinMs = usualMs }: PlannedHook, folder: string): HookRunner {
  return async (input, signal): Promise<HookRun> => {
    const bytes = bytesOf(program);
    if (bytes === undefined) return { ended: 'missing', status: 0, stdout: '' };
    if (hashOf(bytes) !== sha256) return { ended: 'changed', status: 0, stdout: '' };
    const limits = { wallMs: withinMs, cpuMs: withinMs, outputBytes, memoryBytes };
    const job = await startProgram(copyOf(folder, sha256, bytes), [], { mounts: {}, limits }, { ends: [signal] });
    // A hook that does not read its input is not waited for.
    const told = job.write(input).then(() => job.end(), () => {}); // biome-ignore format: one line
    const { ended, status, stdout, truncated } = await job.wait();
    await told.catch(() => {});
    if (ended === 'revoked') throw new Error('the call that it looked at has ended');
    return { ended: truncated ? 'limit' : ended, status, stdout };
  };
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function bytesOf(path: string): Uint8Array | undefined {
  try {
    return statSync(path).size <= largestProgram ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** The copy of these bytes. One that is not as it was made is made again. */
function copyOf(folder: string, sha256: string, bytes: Uint8Array): string {
  const copy = join(folder, sha256);
  if (existsSync(copy) && hashOf(readFileSync(copy)) === sha256) return copy;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const whole = `${copy}.new`;
  rmSync(whole, { force: true });
  writeFileSync(whole, bytes, { mode: 0o555 });
  renameSync(whole, copy);
  return copy;
}
