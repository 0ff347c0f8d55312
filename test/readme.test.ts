/** The program in the README, run as a reader does: copied into an empty folder, from an empty home. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { blocks } from './readme.ts';
import { filesIn, ROOT, read } from './sources.ts';

const { text } = read('README.md');

/** Those that stand by themselves; the second of `packages/vat` goes on where the first ended, and its own test runs it twice. */
const examples = filesIn()
  .filter((file) => file.endsWith('README.md'))
  .flatMap((page) => blocks(read(page).text, 'ts').map((program, n) => ({ page, n, program })))
  .filter(({ page, n, program }) => program.startsWith('import ') && !(page === 'packages/vat/README.md' && n === 1));

for (const { page, n, program } of examples)
  requires('linux', ...(/caps-shell|guest/.test(program) ? (['cc', 'userns'] as const) : []))(
    `${page}: its example ${n + 1} runs a second time in the same folder`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'hob-readme-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'try.ts'), program);
      const args = ['--import', join(ROOT, 'scripts', 'resolve.mjs'), 'try.ts'];
      const env = { PATH: process.env['PATH'], HOME: folder };
      const run = () => promisify(execFile)(process.execPath, args, { cwd: folder, env });
      const [first, second] = [await run(), await run()];
      const withoutPort = (text: string): string => text.replace(/:\d+/g, '');
      expect(withoutPort(second.stdout)).toBe(withoutPort(first.stdout));
      expect(second.stderr).toBe('');
    },
  );

test('each of them hardens its intrinsics in its first line, and so does each file of examples/', () => {
  const agents = filesIn().filter((file) => /^examples\/[^/]+(?<!\.test)\.ts$/.test(file));
  expect(agents.length).toBeGreaterThan(3);
  // A manifest is data: its package needs no hardened intrinsics, and knows nothing of the others.
  const holders = examples.filter(({ page }) => page !== 'packages/manifest/README.md');
  const programs = [...holders.map(({ program }) => program), ...agents.map((file) => read(file).text)];
  const firsts = programs.map((program) => /^import .*/m.exec(program)?.[0]);
  expect(firsts.filter((line) => !/^import '@hob\/(?:vat|host)\/lockdown';$/.test(line ?? ''))).toEqual([]);
});

test('the examples of the README files are found', () => {
  expect(new Set(examples.map(({ page }) => page)).size).toBeGreaterThanOrEqual(7);
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
