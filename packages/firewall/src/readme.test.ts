/** Runs the example of the README as a reader copies it, and compares what it prints. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '../../../test/readme.ts';

const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

test('the example prints what stands below it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'try.ts'), blocks(page, 'ts')[0] as string);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', resolve, 'try.ts'], { cwd: folder });
  expect(stdout.trim()).toBe((blocks(page, 'text')[0] as string).trim());
});
