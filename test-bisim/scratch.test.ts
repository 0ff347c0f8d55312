/** A run leaves no folder and no process behind, in whatever way it ends. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Ends, scratch, sweep } from './scratch.ts';

const MODULE = join(import.meta.dirname, 'scratch.ts');
const program = (rest: string): string[] => [
  '--no-warnings',
  '--input-type=module',
  '-e',
  `import { exitOnSignals, scratch } from ${JSON.stringify(MODULE)};
   import fs from 'node:fs';
   exitOnSignals();
   const { path } = scratch('test');
   fs.mkdirSync(path + '.beside/closed', { recursive: true });
   fs.chmodSync(path + '.beside/closed', 0);
   console.log(path);
   ${rest}`,
];

test('what a process has made is gone with it: at its end, by a throw, by a signal', async () => {
  for (const rest of ['', 'throw new Error("no");']) {
    const path = spawnSync(process.execPath, program(rest), { encoding: 'utf8' }).stdout.trim();
    expect(path).toContain('hob-bisim-test-');
    expect([path, `${path}.beside`].filter((each) => fs.existsSync(each))).toEqual([]);
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const child = spawn(process.execPath, program('setInterval(() => {}, 1000);'), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const path = String(line).trim();
    expect(fs.existsSync(path)).toBe(true);
    const over = once(child, 'close');
    child.kill(signal);
    expect(await over).toEqual([code, null]);
    expect([path, `${path}.beside`].filter((each) => fs.existsSync(each))).toEqual([]);
  }
}, 120_000);

test('what a killed process has left the next one takes away, and nothing of one that lives', async () => {
  const child = spawn(process.execPath, program('setInterval(() => {}, 1000);'), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const path = String((await once(child.stdout, 'data'))[0]).trim();
  const own = scratch('test');
  onTestFinished(() => own.remove());
  sweep([os.tmpdir()]);
  expect([path, own.path].filter((each) => !fs.existsSync(each))).toEqual([]);
  const over = once(child, 'close');
  child.kill('SIGKILL');
  await over;
  expect(fs.existsSync(path)).toBe(true);
  sweep([os.tmpdir()]);
  expect([path, `${path}.beside`].filter((each) => fs.existsSync(each))).toEqual([]);
  expect(fs.existsSync(own.path)).toBe(true);
}, 120_000);

test('one end that fails does not keep the others', async () => {
  const ends = new Ends();
  const said: string[] = [];
  ends.add(() => said.push('first'));
  ends.add(() => Promise.reject(new Error('no')));
  ends.add(() => said.push('last'));
  await expect(ends.close()).rejects.toThrow('no');
  expect(said).toEqual(['last', 'first']);
});
