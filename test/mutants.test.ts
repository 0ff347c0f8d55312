/** `npm run mutants` tells a mutant that is caught from one that nothing notices. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './sources.ts';

async function mutants(table: string, ...names: string[]): Promise<{ code: number | null; output: string }> {
  const flags = ['--sources', 'test/fixtures/mutants', '--config', 'test/fixtures/vitest.config.ts'];
  const program = join(ROOT, 'scripts', 'mutants.ts');
  const child = spawn(process.execPath, [program, '--table', `test/fixtures/mutants/${table}`, ...flags, ...names], {
    cwd: ROOT,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, output };
}

test('a mutant that a test catches is named with that test; one that is missed fails the command', async () => {
  const { code, output } = await mutants('table.ts');
  expect(output).toMatch(/^caught +turnstile-open +nobody passes without a coin$/m);
  expect(output).toMatch(/^MISSED +turnstile-free +the turnstile takes no coin$/m);
  expect(output).toMatch(/^passes +\(nothing left out\)/m);
  expect(code).toBe(1);
});

test('with every mutant caught it exits 0', async () => {
  const { code, output } = await mutants('table.ts', 'turnstile-open');
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('1 of 1 mutants caught') });
});

test('a table that does not fit the sources fails', async () => {
  const { code, output } = await mutants('stale-table.ts');
  expect(output).toContain("turnstile-gone: no source says mutant('turnstile-gone')");
  expect(output).toContain('turnstile-open: is in the sources, but not in the table');
  expect(output).toContain('gone.ts does not exist');
  expect(code).toBe(1);
});
