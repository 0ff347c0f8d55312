/** A leftover of a suite in the temporary directory is named, fails the run, and is removed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './sources.ts';

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-temporary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Runs a suite that is this program, as `npm test` runs its suites. */
function running(program: string, folder: string): ChildProcess {
  const code = `
    const { runTests, TESTS } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'scripts/test.mjs')).href)});
    TESTS.own = () => [{ name: 'own', args: ['--input-type=module', '-e', ${JSON.stringify(program)}] }];
    process.exitCode = await runTests(process.execPath, 'own', []);
  `;
  const env = { PATH: process.env['PATH'], TMPDIR: folder, TEMP: folder, TMP: folder };
  return spawn(process.execPath, ['--input-type=module', '-e', code], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}
async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly said: string }> {
  let said = '';
  child.stdout?.on('data', (text) => (said += text));
  return { code: await new Promise((done) => child.once('close', done)), said };
}
const makes = (name: string): string =>
  `import fs from 'node:fs'; import os from 'node:os'; fs.mkdirSync(os.tmpdir() + '/${name}');`;

test('a suite that leaves something in the temporary directory fails, by the name of what it left; one that does not passes', async () => {
  const folder = scratch();
  expect(await ended(running(makes('left-here'), folder))).toEqual({
    code: 1,
    said: expect.stringMatching(/\nleft in the temporary directory.*: left-here\n1 passed, 1 failed, 0 skipped\n$/),
  });
  expect(readdirSync(folder)).toEqual([]);
  const tidy = `${makes('gone')} fs.rmdirSync(os.tmpdir() + '/gone');`;
  expect(await ended(running(tidy, folder))).toMatchObject({ code: 0 });
  expect(readdirSync(folder)).toEqual([]);
});

test('a run that a signal ends leaves nothing there either', async () => {
  const folder = scratch();
  const child = running(`${makes('left-here')} console.log('there'); setInterval(() => {}, 1000);`, folder);
  const end = ended(child);
  await new Promise((there) => child.stdout?.once('data', there));
  expect(readdirSync(folder)).toHaveLength(1);
  child.kill('SIGTERM');
  expect((await end).code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});
