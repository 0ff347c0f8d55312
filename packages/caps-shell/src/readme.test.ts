/** Runs the examples of the README as a reader copies them, and compares what they print. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { blocks } from '../../../test/readme.ts';
import { scratch } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns');
const programs = blocks(readFileSync(new URL('../README.md', import.meta.url), 'utf8'), 'ts');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

for (const [n, program] of programs.entries())
  test(`example ${n + 1} runs and prints what the README says`, async () => {
    const folder = scratch();
    const file = join(folder, 'example.ts');
    // The examples make their folders there, and leave them to the reader.
    writeFileSync(file, program.replaceAll("'/tmp/", `'${folder}/`));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', resolve, file]);
    const said = [...program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, text]) => text).join(' ');
    expect([stdout.trim().replace(/\s+/g, ' '), stderr]).toEqual([said, '']);
  });

test('the README has two examples', () => {
  expect(programs).toHaveLength(2);
});
