/** The mounts of a world, and what attenuation leaves of them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, mark, processesWith, scratch, shell } from '../test/shell.ts';
import { makeShellCap, type ShellLimits } from './index.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('each directory is at its path, and writable only if its cap is', async () => {
  const [a, b] = [scratch(), scratch()];
  writeFileSync(join(b, 'there'), 'b');
  const sh = await shell({ mounts: { '/a': await directory(a), '/deep/er/b': await (await directory(b)).readOnly() } });
  const { stdout } = await sh.run('pwd; echo 1 > x; cat /deep/er/b/there; echo 2 > /deep/er/b/there || echo refused');
  expect(stdout).toBe('/a\nbrefused\n');
  expect(readFileSync(join(a, 'x'), 'utf8')).toBe('1\n');
});

test('a subdirectory with fewer rights can be mounted at its own path; a path that does not exist is a conflict', async () => {
  const folder = scratch();
  mkdirSync(join(folder, '.git'));
  const cap = await directory(folder);
  const sh = await shell({ mounts: { '/ws': cap, '/ws/.git': await (await cap.subdir('.git')).readOnly() } });
  expect((await sh.run('echo 1 > a; echo 2 > .git/hook || echo refused')).stdout).toBe('refused\n');
  rmSync(join(folder, '.git'), { recursive: true });
  expect(await code(sh.run('true'))).toMatch(/E_MOUNT_CONFLICT|E_MOUNT_STALE/);
  const other = await shell({ mounts: { '/ws': cap, '/ws/none': await directory() } });
  expect(await code(other.run('true'))).toBe('E_MOUNT_CONFLICT');
});

test('reserved, double and invalid paths are refused', async () => {
  const cap = await directory();
  for (const at of ['/', '/usr', '/usr/local/x', '/etc', '/proc/1', '/tmp/x', '/dev', '/opt', '/opt/hob/bin'])
    expect([at, await code(shell({ mounts: { [at]: cap } }))]).toEqual([
      at,
      at === '/' ? 'invalid' : 'E_MOUNT_CONFLICT',
    ]);
  for (const at of ['work', '', '/a/../b', '/a//b', './a', '/a\0', '/.', `/${'x'.repeat(300)}`])
    expect([at, await code(shell({ mounts: { [at]: cap } }))]).toEqual([at, 'invalid']);
  expect(await code(shell({ mounts: { '/ws': cap, '/ws/': cap } }))).toBe('E_MOUNT_CONFLICT');
});

test('only a plain directory cap of this host, read-only or not, is mounted', async () => {
  const cap = await directory();
  const bad: FsCap[] = [
    await cap.except(['.env']),
    await cap.withQuota({ bytes: 10 }),
    await cap.only(['readText']),
    { ...cap },
    {} as FsCap,
  ];
  for (const one of bad) expect(await code(shell({ mounts: { '/ws': one } }))).toBe('E_NOT_MOUNTABLE');
  expect(await code(makeShellCap({ mounts: { '/ws': 'x' as never } }))).toBe('E_NOT_MOUNTABLE');
});

test('a deleted directory is stale; closing one ends its jobs', async () => {
  const folder = scratch();
  const gone = await directory(join(folder, 'gone'));
  const sh = await shell({ mounts: { '/ws': gone } });
  rmSync(join(folder, 'gone'), { recursive: true });
  expect(await code(sh.run('true'))).toBe('E_MOUNT_STALE');
  const cap = await directory(join(folder, 'kept'));
  const other = await shell({ mounts: { '/ws': cap } });
  const job = await other.spawn(`trap "" TERM; sleep ${mark('916.1803')}`);
  await cap.close();
  // After close nobody writes there any more.
  expect(processesWith(mark('916.1803'))).toEqual([]);
  expect(await job.wait()).toMatchObject({ ended: 'revoked' });
  expect(await code(other.run('true'))).toBe('revoked');
});

test('closing a directory waits for its jobs, also for one that is starting', async () => {
  const cap = await directory();
  const sh = await shell({ mounts: { '/ws': cap } });
  const runs = Array.from({ length: 12 }, () => code(sh.run(`sleep ${mark('914.1421')}`)));
  await later();
  await cap.close();
  expect(processesWith(mark('914.1421'))).toEqual([]);
  await Promise.all(runs);
});

test('attenuation drops mounts, makes them read-only, lowers limits; it never adds', async () => {
  const folder = scratch();
  const [a, b] = [await directory(folder), await directory()];
  const sh = await shell({ mounts: { '/a': a, '/b': b }, limits: { processes: 100 } });
  const less = await sh.attenuate({ mounts: ['/a'], readOnly: true, limits: { processes: 50 } });
  expect(await less.describe()).toMatchObject({ mounts: { '/a': 'ro' }, cwd: '/a', limits: { processes: 50 } });
  const { stdout } = await less.run('ls -d /a /b 2>/dev/null; echo 1 > /a/x || echo refused');
  expect(stdout).toBe('/a\nrefused\n');
  expect(await code(less.attenuate({ limits: { processes: 51 } }))).toBe('E_NOT_ATTENUATION');
  expect(await code(less.attenuate({ mounts: ['/b'] }))).toBe('E_NOT_ATTENUATION');
  expect((await (await less.attenuate({ readOnly: false })).describe()).mounts).toEqual({ '/a': 'ro' });
  expect((await (await sh.attenuate({ mounts: ['/b'] })).describe()).cwd).toBe('/b');
  expect((await (await sh.attenuate({ mounts: [] })).run('pwd')).stdout).toBe('/\n');
  expect(await code(less.run('true', { limits: { processes: 51 } }))).toBe('E_NOT_ATTENUATION');
  expect(await code(sh.attenuate({ mounts: '/a' } as never))).toBe('invalid');
  expect(await code(sh.attenuate({ network: true } as never))).toBe('invalid');
});

test('after any sequence of attenuations no cap allows more than the one it was made from', async () => {
  const sh = await shell({ mounts: { '/a': await directory(), '/b': await directory() }, limits: { processes: 100 } });
  const limits = fc.record(
    { processes: fc.integer({ min: 1, max: 200 }), wallMs: fc.integer({ min: 1, max: 240_000 }) },
    { requiredKeys: [] },
  );
  const less = fc.record({ limits, mounts: fc.subarray(['/a', '/b']), readOnly: fc.boolean() }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(fc.array(less, { maxLength: 5 }), async (wishes) => {
      let cap = sh;
      for (const wish of wishes) {
        const before = await cap.describe();
        const made = await cap.attenuate(wish as { limits: ShellLimits }).catch(() => undefined);
        if (made === undefined) continue;
        const after = await made.describe();
        for (const [at, rights] of Object.entries(after.mounts)) {
          expect(before.mounts[at]).toBeDefined();
          if (before.mounts[at] === 'ro') expect(rights).toBe('ro');
        }
        for (const [name, value] of Object.entries(after.limits))
          expect(value).toBeLessThanOrEqual(before.limits[name as keyof ShellLimits]);
        cap = made;
      }
    }),
    { numRuns: 40 },
  );
});
