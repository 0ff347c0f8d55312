/** `npm run mutants` tells a mutant that is caught from one that nothing notices; the product has no switch for any. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { environmentOf } from './mutants/environment.ts';
import { filesIn, isTest, ROOT } from './sources.ts';

async function mutants(table: string, ...names: string[]): Promise<{ code: number | null; output: string }> {
  const program = join(ROOT, 'scripts', 'mutants.ts');
  const child = spawn(process.execPath, [program, '--config', 'test/fixtures/vitest.config.ts', ...names], {
    cwd: ROOT,
    env: { ...process.env, HOB_MUTANTS: `test/fixtures/mutants/${table}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, output };
}

/** Each starts vitest some times; a busy machine takes its time. */
const MINUTES = 600_000;

test('a mutant that a test catches is named with that test; one that is missed fails the command', {
  timeout: MINUTES,
}, async () => {
  const { code, output } = await mutants('table.ts');
  expect(output).toMatch(/^caught +turnstile-open +nobody passes without a coin$/m);
  expect(output).toMatch(/^MISSED +turnstile-free +the turnstile takes no coin$/m);
  expect(output).toMatch(/^passes +\(nothing left out\)/m);
  expect(code).toBe(1);
});

test('with every mutant caught it exits 0', { timeout: MINUTES }, async () => {
  const { code, output } = await mutants('table.ts', 'turnstile-open');
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('1 of 1 mutants caught') });
});

test('a row whose text is not in its file, or is there twice, fails the command', async () => {
  const { code, output } = await mutants('stale-table.ts');
  expect(output).toContain('gone: mutant: in test/fixtures/mutants/turnstile.ts this stands 0 times');
  expect(output).toMatch(/twice: mutant: in test\/fixtures\/mutants\/turnstile.ts this stands \d times, not once/);
  expect(output).toContain('untested: test/fixtures/mutants/gone.ts does not exist');
  expect(code).toBe(1);
});

test('no source of a package has a switch for a mutant', () => {
  const sources = filesIn('packages').filter((file) => /\.(ts|mjs|js|py|c|h)$/.test(file) && !isTest(file));
  const named = sources.filter((file) => /HOB_MUTANT/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(named).toEqual([]);
});

const url = (file: string): string => JSON.stringify(pathToFileURL(join(ROOT, file)).href);
/** Says how many calls a grant of one use lets through. */
const countsUses = `
  import ${url('packages/host/src/programs/lockdown.ts')};
  const { driver, E, openVats } = await import(${url('packages/vat/src/index.ts')});
  const { revocable } = await import(${url('packages/revocable/src/index.ts')});
  const vats = await openVats();
  const { cap } = revocable(driver({ ring: () => 'ding' }), { uses: 1, for: 60_000 });
  const calls = await Promise.allSettled([E(cap).ring(), E(cap).ring(), E(cap).ring()]);
  console.log(calls.filter(({ status }) => status === 'fulfilled').length);
  await vats.close();`;

async function usesWith(env: Record<string, string>): Promise<string> {
  const args = ['--input-type=module', '-e', countsUses];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } });
  return stdout.trim();
}

test('HOB_MUTANT in the environment leaves nothing out of a program that uses the packages', async () => {
  expect(await usesWith({ HOB_MUTANT: 'limit', NODE_OPTIONS: '' })).toBe('1');
});

test('a child process of a test runs without the mechanism', async () => {
  expect(await usesWith(environmentOf('limit'))).toBe('3');
});
