/** A program of a run that cannot be started. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';

requires('linux')('a run for which the host has no descriptors left fails, and does not end the host', async () => {
  const node = [
    process.execPath,
    '--import',
    new URL('../../../../../scripts/resolve.mjs', import.meta.url).href,
    new URL('../../../test/few-descriptors-child.ts', import.meta.url).pathname,
  ];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node]);
  expect(JSON.parse(stdout)).toEqual(['said', 'its program cannot be run (EMFILE)', 'said']);
});
