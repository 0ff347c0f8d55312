/** The program in the README, run as a reader does: copied into an empty folder, from an empty home. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { blocks } from './readme.ts';
import { programs } from './readme-programs.ts';
import { filesIn, ROOT, read } from './sources.ts';

const { text } = read('README.md');

test('each of them hardens its intrinsics in its first line, and so does each file of examples/', () => {
  const agents = filesIn().filter((file) => /^examples\/[^/]+(?<!\.test)\.ts$/.test(file));
  expect(agents.length).toBeGreaterThan(3);
  // A manifest is data: its package needs no hardened intrinsics, and knows nothing of the others.
  const holders = programs.filter(({ page }) => page !== 'packages/manifest/README.md');
  const hardened = [...holders.map(({ program }) => program), ...agents.map((file) => read(file).text)];
  const firsts = hardened.map((program) => /^import .*/m.exec(program)?.[0]);
  expect(firsts.filter((line) => !/^import '@hob\/(?:vat|host)\/lockdown';$/.test(line ?? ''))).toEqual([]);
});

test('the examples of the README files are found', () => {
  expect(new Set(programs.map(({ page }) => page)).size).toBeGreaterThanOrEqual(7);
});

requires('linux')('the ten lines of the README run and print what it says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'here')];
  mkdirSync(home);
  mkdirSync(cwd);
  const [program = ''] = blocks(text, 'ts');
  writeFileSync(join(cwd, 'try.ts'), program);
  const hook = join(ROOT, 'scripts', 'resolve.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', hook, 'try.ts'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home },
  });
  expect([stdout, stderr]).toEqual([blocks(text, 'text')[0], '']);
  const statements = program.split('\n').filter((line) => line !== '' && !line.startsWith('import '));
  expect(statements.length).toBeLessThanOrEqual(10);
});
