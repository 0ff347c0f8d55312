/** Runs the examples of the README as a reader copies them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '../../../test/readme.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
const programs = blocks(readme, 'ts');
const prints = blocks(readme, 'text');

test.each(programs.map((program, n) => [n + 1, program, prints[n]]))(
  'example %i runs and prints what the README says',
  async (_n, program, text) => {
    const cwd = mkdtempSync(join(tmpdir(), 'hob-readme-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, 'example.ts'), program as string);
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--import', resolve, join(cwd, 'example.ts')],
      { cwd },
    );
    expect([stdout, stderr]).toEqual([text, '']);
  },
);

test('the README has two examples: the first one, and a forwarder in ten lines', () => {
  expect(programs).toHaveLength(2);
  const policy = /forward<[\s\S]*?^\}\);/m.exec(programs[1] ?? '')?.[0] ?? '';
  expect(policy.split('\n').length).toBeLessThanOrEqual(10);
});
