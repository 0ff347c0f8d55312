/** Whether a host runs. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { inherited } from '../../../../test/mutants/environment.ts';
import { requires } from '../../../../test/needs.ts';
import { holdsState } from './life.ts';

function state(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-life-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'store.db'), '');
  return folder;
}

requires('linux')('a process holds a state while it has its store open, and at no other time', async () => {
  const folder = state();
  expect(holdsState(process.pid, folder)).toBe(false);
  const descriptor = openSync(join(folder, 'store.db'), 'r');
  expect(holdsState(process.pid, folder)).toBe(true);
  closeSync(descriptor);
  expect(holdsState(process.pid, folder)).toBe(false);
  const child = spawn('true');
  await once(child, 'exit');
  expect(holdsState(child.pid as number, folder)).toBe(false);
  rmSync(join(folder, 'store.db'));
  expect(holdsState(process.pid, folder)).toBe(false);
});

requires('linux')('a state whose store is a FIFO, or a link to one, is held by nobody, and nobody waits for it', () => {
  const [planted, linked] = [state(), state()];
  for (const folder of [planted, linked]) rmSync(join(folder, 'store.db'));
  expect(spawnSync('mkfifo', [join(planted, 'store.db')]).status).toBe(0);
  symlinkSync(join(planted, 'store.db'), join(linked, 'store.db'));
  const program = `const { holderOf } = await import(${JSON.stringify(new URL('./life.ts', import.meta.url).href)});
    for (const folder of process.argv.slice(1)) console.log(holderOf(folder));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program, planted, linked], {
    encoding: 'utf8',
    // Without an end, opening the FIFO would take the test with it.
    timeout: 15_000,
    killSignal: 'SIGKILL',
    env: { PATH: process.env['PATH'], ...inherited() },
  });
  expect(stdout).toBe('nobody\nnobody\n');
});

requires('linux', 'unprivileged')('a process that is ending is no fault, at whatever moment it is looked at', () => {
  const folder = state();
  chmodSync(folder, 0o755);
  const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
  const program = join(import.meta.dirname, '../../test/watch-an-end.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [program, folder], { encoding: 'utf8', ...user });
  expect(stderr).toBe('');
  expect(Number(stdout)).toBeGreaterThan(0);
});

requires('linux', 'nonroot')('a process of another user is not taken for one that does not run', () => {
  expect(() => holdsState(1, state())).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

requires('linux', 'nonroot')('a store that may not be looked at is not taken for one that nobody holds', () => {
  const folder = state();
  chmodSync(folder, 0);
  try {
    expect(() => holdsState(process.pid, folder)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  } finally {
    chmodSync(folder, 0o700);
  }
});
