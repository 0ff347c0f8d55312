import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { inherited } from '../../../../../test/mutants/environment.ts';

const resolveHook = new URL('../../../../../scripts/resolve.mjs', import.meta.url).href;

test('a process that loads a host has not loaded fetch', () => {
  const loads = "await import('@hob/host/lockdown'); await import('@hob/host');";
  const tells = "console.log(process.moduleLoadList.filter((name) => name.endsWith('/undici')).length);";
  const program = ['--import', resolveHook, '--input-type=module', '--eval', loads + tells];
  const { stdout, status } = spawnSync(process.execPath, program, { env: { ...inherited() } });
  expect([status, String(stdout)]).toEqual([0, '0\n']);
});
