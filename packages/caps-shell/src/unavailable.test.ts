/** If the sandbox cannot be built, nothing runs. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { scratch } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns', 'unshare');
const withJobs = requires('linux', 'cc', 'userns');

test('without user namespaces every call is E_SANDBOX_UNAVAILABLE with the remedy, and nothing runs', async () => {
  const folder = scratch();
  const node = [
    process.execPath,
    '--import',
    new URL('../../../scripts/resolve.mjs', import.meta.url).href,
    new URL('../test/unavailable-child.ts', import.meta.url).pathname,
    folder,
  ];
  // In a namespace in which no further one may be made.
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
  const { stdout } = await promisify(execFile)('unshare', [
    '-U',
    '--map-user=1000',
    '--keep-caps',
    'sh',
    '-c',
    forbid,
    'sh',
    ...node,
  ]);
  const said = JSON.parse(stdout) as string[];
  expect(said).toHaveLength(3);
  for (const one of said) expect(one).toMatch(/^E_SANDBOX_UNAVAILABLE .*userns.*sysctl/);
  expect(readdirSync(folder)).toEqual([]);
});

withJobs('if a session starts more jobs than its host has descriptors for, the host goes on', async () => {
  const node = [
    process.execPath,
    '--import',
    new URL('../../../scripts/resolve.mjs', import.meta.url).href,
    new URL('../test/few-descriptors-child.ts', import.meta.url).pathname,
  ];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node]);
  const said = JSON.parse(stdout) as string[];
  expect([...new Set(said)].sort()).toEqual(['E_SANDBOX_UNAVAILABLE', 'ran']);
  expect(said.at(-1)).toBe('ran');
});
