/** The example of the README, run as a reader copies it: what it prints is what stands beside. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { blocks } from '../../../test/readme.ts';

const test = requires('linux', 'cc', 'userns');
const programs = blocks(readFileSync(new URL('../README.md', import.meta.url), 'utf8'), 'ts');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

test('the README has an example', () => {
  expect(programs).toHaveLength(1);
});

for (const program of programs)
  test('the example runs and prints what the README says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hob-guest-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'example.ts');
    writeFileSync(file, program);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', resolve, file]);
    const said = [...program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, text]) => text).join(' ');
    expect([stdout.trim().replace(/\s+/g, ' '), stderr]).toEqual([said, '']);
  }, 400_000);
