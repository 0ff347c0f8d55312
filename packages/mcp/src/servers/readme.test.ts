/** Runs the examples of servers as a reader copies them, and compares what they print. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { blocks } from '../../../../test/readme.ts';
import { scratch } from '../../test/servers/world.ts';

const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

async function runs(heading: string): Promise<void> {
  const section = page.slice(page.indexOf(heading));
  const [[program], [said]] = [blocks(section, 'ts'), blocks(section, 'text')];
  const folder = scratch();
  writeFileSync(join(folder, 'example.ts'), program as string);
  const resolve = new URL('../../../../scripts/resolve.mjs', import.meta.url).href;
  const env = { PATH: process.env['PATH'], HOME: folder };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', resolve, 'example.ts'], {
    cwd: folder,
    env,
  });
  expect([stdout, stderr]).toEqual([said, '']);
}

requires(
  'linux',
  'cc',
  'userns',
)('the example of servers prints what the README says', () => runs('## Servers as caps'));
test('the example of a server at an address prints what the README says', () => runs('## Servers at an address'));
