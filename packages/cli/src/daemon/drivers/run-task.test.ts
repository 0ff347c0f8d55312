/** The program of a run cannot be started. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';

requires('linux')('if the host has no descriptors left, a run fails and the host goes on', async () => {
  const node = [
    process.execPath,
    '--import',
    new URL('../../../../../scripts/resolve.mjs', import.meta.url).href,
    new URL('../../../test/few-descriptors-child.ts', import.meta.url).pathname,
  ];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node]);
  expect(JSON.parse(stdout)).toEqual(['said', 'its program cannot be run (EMFILE)', 'said']);
});
