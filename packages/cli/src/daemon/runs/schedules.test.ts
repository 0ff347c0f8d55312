/**
 * The life of schedules in a real `hob serve`, whose clocks run fast: they outlive the session that asked, and never their
 * grant, their granter's manifest or their host.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import {
  calls,
  grantOfRuns,
  manifest,
  type Row,
  type Scheduled,
  type ScheduledHome,
  served,
} from '../../../test/scheduled.ts';

const test = requires('linux');

test('schedules outlive the session that asked, and are those of the next one; revoking their grant ends them and the run under way', async () => {
  const hob = await served();
  const host = await hob.serve();
  const first = await hob.asker();
  await first.call('nightly', 'every', '* * * * *', calls(['src', 'list', '']));
  await first.end();
  const before = hob.seen().length;
  await hob.sees('ends', 2);
  expect(hob.seen().length).toBeGreaterThan(before);

  const second = await hob.asker();
  expect(await second.call('nightly', 'list')).toMatchObject(['ok', [{ id: 's1', when: '* * * * *' }]]);
  expect(await second.call('nightly', 'cancel', 's1')).toEqual(['ok', true]);
  await second.call('nightly', 'every', '* * * * *', JSON.stringify({ stay: true }));
  await host.shows(/run nightly-s2-1 begins/);
  await hob.until(async () => hob.seen().at(-1), (last) => last?.what === 'entered'); // biome-ignore format: one line
  const pid = hob.seen().findLast(({ what }) => what === 'begun')?.pid;
  const run = (await hob.json<readonly Row[]>('sessions')).find(({ name }) => name === 'nightly-s2-1');
  const grant = await grantOfRuns(hob);
  expect(run?.parent).toBe(grant?.session);
  expect((await hob.run('revoke', String(grant?.id))).code).toBe(0);
  // When the revocation is over, nothing works under it.
  expect((await hob.json<readonly Row[]>('sessions')).map(({ name }) => name)).not.toContain('nightly-s2-1');
  expect(host.err).not.toMatch(/run nightly-s2-1 took longer/);
  await hob.until(async () => isAlive(pid), (lives) => !lives); // biome-ignore format: one line
  const count = hob.seen().length;
  expect(await hob.until(() => second.call<readonly Scheduled[]>('nightly', 'list'), ([, all]) => all.length === 0)).toEqual(['ok', []]); // biome-ignore format: one line
  expect((await second.call('nightly', 'every', '1h', 'x'))[0]).toBe('unavailable');

  const third = await hob.asker();
  expect(await third.call('nightly', 'every', '* * * * *', calls())).toMatchObject(['ok', { id: 's1' }]);
  await hob.until(async () => hob.seen().length, (now) => now > count); // biome-ignore format: one line
}, 180_000);

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a manifest that says something else ends the schedules, also if only a granter left or a cap that they give is another one; the same one does not', async () => {
  const hob = await served();
  const stop = async (host: Awaited<ReturnType<ScheduledHome['serve']>>): Promise<void> => {
    host.child.kill('SIGTERM');
    await host.ended;
  };
  let host = await hob.serve();
  await (await hob.asker()).call('nightly', 'every', '6h', calls());
  await stop(host);
  hob.write(manifest('', 'ledger: { keep: 90d }\n'));
  host = await hob.serve();
  expect(await (await hob.asker()).call('nightly', 'list')).toMatchObject(['ok', [{ id: 's1' }]]);
  const changes = [
    // Another granter comes, and goes again.
    manifest('', 'granters: [ann, owner]\n'),
    manifest(),
    manifest().replace(
      'src: { fs: project/src, can: [read, list, write] }',
      'src: { fs: project/src, can: [read, list] }',
    ),
    manifest(', zone: Europe/Berlin'),
    manifest().replace('mode: autonomous', 'mode: supervised'),
  ];
  for (const text of changes) {
    await stop(host);
    hob.write(text);
    host = await hob.serve();
    expect(host.err).toMatch(/the schedules of nightly end: the manifest says something else about them now/);
    expect(await grantOfRuns(hob)).toBeUndefined();
    const asker = await hob.asker();
    expect(await asker.call('nightly', 'list')).toEqual(['ok', []]);
    const asked = asker.call('nightly', 'every', '6h', calls());
    if (text.includes('supervised')) break;
    expect((await asked)[0]).toBe('ok');
  }
  await stop(host);
  hob.write(manifest().replace(/ {4}nightly.*\n/, ''));
  expect((await hob.serve()).err).not.toMatch(/run nightly/);
  expect(await grantOfRuns(hob)).toBeUndefined();
}, 240_000);

test('hob stop ends them, and the next start has none', async () => {
  const hob = await served();
  const host = await hob.serve();
  const asker = await hob.asker();
  await asker.call('nightly', 'every', '* * * * *', calls());
  await hob.sees('begun', 1);
  expect((await hob.run('stop')).code).toBe(0);
  await host.ended;
  const count = hob.seen().filter(({ what }) => what === 'begun').length;
  await hob.serve();
  expect(await grantOfRuns(hob)).toBeUndefined();
  expect(await (await hob.asker()).call('nightly', 'list')).toEqual(['ok', []]);
  expect(hob.seen().filter(({ what }) => what === 'begun')).toHaveLength(count);
}, 120_000);

test('a layer of one session that narrows what runs would hold takes the schedule out of that session', async () => {
  const hob = await served();
  await hob.serve();
  const layer = join(hob.folder, 'less.yaml');
  for (const [text, has] of [
    ['session: { caps: { src: { fs: project/src, can: [read] } } }', false],
    ['session: { mode: plan }', false],
    ['session: { deny: [plans] }', true],
  ] as const) {
    writeFileSync(layer, `version: 1\n${text}\n`);
    const asker = await hob.asker('--layer', `flags=${layer}`);
    const [code] = await asker.call('nightly', 'list');
    expect([text, code]).toEqual([text, has ? 'ok' : 'no-such-object']);
    if (!has) expect(asker.running.err).toMatch(/nightly is left out: it goes on after this session/);
    await asker.end();
  }
}, 120_000);

test('a restored state begins no run before somebody confirms the grant of its runs', async () => {
  const hob = await served();
  const host = await hob.serve();
  const asker = await hob.asker();
  await asker.call('nightly', 'every', '* * * * *', calls());
  await hob.sees('begun', 1);
  expect((await hob.run('backup', 'copy.db')).code).toBe(0);
  expect((await hob.run('stop')).code).toBe(0);
  await host.ended;
  const state = join(hob.folder, 'restored');
  expect((await hob.run('restore', '--state', state, 'copy.db')).code).toBe(0);
  const count = (): number => hob.seen().filter(({ what }) => what === 'begun').length;
  const before = count();
  const again = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--state', state, '--secrets-key', join(hob.folder, 'home/.local/state/hob/state.secrets.key')); // biome-ignore format: one line
  await again.shows(/see its requests/);
  const later = hob.now() + 240_000;
  const grants = await hob.until(
    () => hob.json<readonly Row[]>('list', '--all', '--state', state),
    () => hob.now() > later,
  );
  const runs = grants.find(({ cap }) => cap === 'runs');
  expect(runs?.state).toBe('suspended');
  expect(count()).toBe(before);
  expect((await hob.run('confirm', String(runs?.id), '--state', state)).code).toBe(0);
  await hob.until(async () => count(), (now) => now > before); // biome-ignore format: one line
}, 180_000);
