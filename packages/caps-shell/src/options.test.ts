/** An option that nobody reads is refused: a misspelt limit would let a program run without it. */
import { expect, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { needs } from '../../../test/needs.ts';
import { code, directory, shell } from '../test/shell.ts';
import { makeCommandCap, makeShellCap, spawnConfined } from './index.ts';

test('an option of another name is refused everywhere, nothing runs, and the one that was meant is named', async () => {
  const work = await directory();
  const sh = await shell({ mounts: { '/here': work } });
  const limits = { wallM: 1 } as never;
  await expectRefused({
    makeShellCap: [() => makeShellCap({ mount: {} } as never), 'mount', 'mounts'],
    'makeShellCap, limits': [() => makeShellCap({ mounts: {}, limits }), 'wallM', 'wallMs'],
    makeCommandCap: [() => makeCommandCap('/bin/true', { mounts: {}, arg: [] } as never), 'arg', 'args'],
    'makeCommandCap, args': [
      () => makeCommandCap('/bin/true', { mounts: {}, args: [{ oneOf: ['a'], res: 'any' } as never] }),
      'res',
      'rest',
    ],
    run: [() => sh.run('touch /here/a', { timeout: 1 } as never), 'timeout', 'timeoutMs'],
    'run, limits': [() => sh.run('touch /here/a', { limits }), 'wallM', 'wallMs'],
    spawn: [() => sh.spawn('touch /here/a', { nam: 'x' } as never), 'nam', 'name'],
    attenuate: [() => sh.attenuate({ readonly: true } as never), 'readonly', 'readOnly'],
    spawnConfined: [() => spawnConfined(['node'], { limit: {} } as never), 'limit', 'limits'],
    'spawnConfined, limits': [() => spawnConfined(['node'], { limits }), 'wallM', 'wallMs'],
  });
  expect(await work.list()).toEqual([]);
  // Where a sandbox can be built, the same shell runs.
  if (needs('linux') && needs('cc') && needs('userns')) expect(await code(sh.run('true'))).toBe('ok');
});
