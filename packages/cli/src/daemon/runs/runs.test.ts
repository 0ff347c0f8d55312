/**
 * Scheduled runs of a real `hob serve`, whose clocks run fast. The attacker is the session that asks for runs, and the
 * agent of a run: it reads a task that it wrote itself.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { calls, ends, grantOfRuns, KEY, manifest, type Row, type Scheduled, served } from '../../../test/scheduled.ts';

const test = requires('linux');

test('a run is a fresh session with what its schedule gives; sessions, grants, ledger and log show it by name', async () => {
  const hob = await served();
  const host = await hob.serve();
  const asker = await hob.asker();
  // A shell, a template and a reader of options would each do something with this.
  const task = `${calls(['src', 'readText', 'a.txt'], ['plans', 'readText', 'src/a.txt'], ['nightly', 'list']).slice(0, -1)},"x":"--yes $(touch /tmp/hob-evil) \`id\`; \\u0000 {{gives}}"}`; // biome-ignore format: one line
  expect(await asker.call('nightly', 'every', '* * * * *', task)).toMatchObject(['ok', { id: 's1', runs: 0 }]);
  await hob.sees('ends', 2);
  const [begun] = hob.seen();
  expect(begun?.task).toBe(task);
  expect(begun?.['argv']).toEqual([join(hob.folder, 'seen')]);
  expect(String(begun?.['cwd'])).toMatch(/hob-entry-.*\/work$/);
  const variables = ['HOB_MCP_CONFIG', 'HOB_SECRET_FILE', 'HOB_URL', 'HOME', 'MODEL_KEY', 'PATH', 'TMPDIR'];
  const passed = (begun?.['env'] ?? []) as readonly string[];
  expect(passed.filter((name) => !name.startsWith('LC_'))).toEqual(variables);
  expect(existsSync(String(begun?.['cwd']))).toBe(false);
  for (const { caps } of hob.seen().filter(({ what }) => what === 'entered') as readonly { readonly caps?: unknown }[])
    expect(caps).toEqual(['edit', 'src']);
  const none = ['no-such-object'];
  expect(ends(hob).slice(0, 3)).toEqual([['ok', 'one\n'], none, none]);

  await host.shows(/run nightly-s1-1 begins[\s\S]*run nightly-s1-1 is over/);
  const sessions = await hob.json<readonly Row[]>('sessions');
  const own = sessions.find(({ name }) => name === 'nightly-schedule');
  expect(own?.parent).toBeUndefined();
  expect(await grantOfRuns(hob)).toMatchObject({ cap: 'runs', session: own?.id, state: 'live' });
  const ledger = await hob.ledger();
  expect(ledger.filter(({ k, what, session }) => k === 'session' && what === 'open' && /^nightly-s1-\d+-/.test(String(session))).length).toBeGreaterThanOrEqual(2); // biome-ignore format: one line
  expect(ledger.filter(({ k, method }) => k === 'call' && method === 'run').length).toBeGreaterThanOrEqual(2);
}, 120_000);

test('uses are runs: after the last one the schedules are gone', async () => {
  const hob = await served(manifest().replace('uses: 50', 'uses: 2'));
  await hob.serve();
  const asker = await hob.asker();
  await asker.call('nightly', 'every', '* * * * *', calls());
  await hob.until(() => asker.call<readonly Scheduled[]>('nightly', 'list'), ([, all]) => all.length === 0); // biome-ignore format: one line
  expect(hob.seen().filter(({ what }) => what === 'begun')).toHaveLength(2);
  expect((await asker.call('nightly', 'every', '1h', 'x'))[0]).toBe('unavailable');
}, 120_000);

test('a run that was due while the host was down runs late, once, and costs one use', async () => {
  const hob = await served(manifest(), 300);
  const host = await hob.serve();
  const asker = await hob.asker();
  const due = hob.now() + 3_600_000;
  expect((await asker.call('nightly', 'at', new Date(due).toISOString(), calls()))[0]).toBe('ok');
  host.child.kill('SIGKILL');
  await host.ended;
  asker.running.child.kill('SIGKILL');
  await hob.until(
    () => new Promise<number>((resolve) => setTimeout(() => resolve(hob.now()), 50)),
    (now) => now > due + 300_000,
  );
  const again = await hob.serve();
  await again.shows(/run nightly-s1-1 is over/);
  const second = await hob.asker();
  expect(await hob.until(() => second.call<readonly Scheduled[]>('nightly', 'list'), ([, all]) => all.length === 0)).toEqual(['ok', []]); // biome-ignore format: one line
  expect(hob.seen().filter(({ what }) => what === 'begun')).toHaveLength(1);
  expect((await grantOfRuns(hob))?.usesLeft).toBe(49);
}, 120_000);

test('how a run ends: failed with the end of its errors and no secret, and too long', async () => {
  const hob = await served(manifest().replace('lasts: 20m', 'lasts: 5m'));
  const host = await hob.serve();
  const asker = await hob.asker();
  await asker.call('nightly', 'every', '* * * * *', JSON.stringify({ exit: 7, say: 'it broke', leak: true }));
  await host.shows(/run nightly-s1-1 failed with 7: it broke/);
  expect(hob.seen()[0]?.['key']).toBe(KEY.length);
  expect(host.err).not.toContain(KEY);
  await hob.until(() => asker.call<readonly Scheduled[]>('nightly', 'list'), ([, [one]]) => one?.last === 'failed'); // biome-ignore format: one line
  await asker.call('nightly', 'cancel', 's1');
  await asker.call('nightly', 'every', '* * * * *', JSON.stringify({ stay: true }));
  await host.shows(/run nightly-s2-1 took longer than it may, and was ended/);
  await host.shows(/run nightly-s2-2 begins/);
  expect((await asker.call<readonly Scheduled[]>('nightly', 'list'))[1]).toMatchObject([{ id: 's2' }]);
}, 180_000);

test('an agent that is not on the machine is told when the host begins', async () => {
  const hob = await served(manifest().replace('{agent}', '[no-such-agent]'));
  expect((await hob.run('serve', '--manifest', join(hob.folder, 'config/hob.yaml'))).err).toMatch(/agents\.worker: there is no program no-such-agent on this machine/); // biome-ignore format: one line
});

test('a request of a run waits its time to live and is then denied; in a mode that asks, every waits for a person', async () => {
  const hob = await served(manifest().replace('mode: autonomous', 'mode: cautious').replace('lasts: 20m', 'lasts: 3h'), 120); // biome-ignore format: one line
  await hob.serve();
  const asker = await hob.asker();
  const asked = asker.call('nightly', 'every', '0 0 1 1 *', 'x');
  const [request] = await hob.until(() => hob.json<readonly { readonly id: string; readonly effect: string }[]>('inbox'), ({ length }) => length > 0); // biome-ignore format: one line
  expect(request?.effect).toMatch(/every/);
  await hob.run('refuse', String(request?.id));
  expect((await asked)[0]).toBe('denied');

  const later = asker.call(
    'nightly',
    'at',
    new Date(hob.now() + 1_800_000).toISOString(),
    calls(['edit', 'write', 'a.txt', 'by a run']),
  );
  const [again] = await hob.until(() => hob.json<readonly { readonly id: string }[]>('inbox'), ({ length }) => length > 0); // biome-ignore format: one line
  expect((await hob.run('grant', String(again?.id))).code).toBe(0);
  expect((await later)[0]).toBe('ok');
  await hob.sees('called', 1);
  expect(ends(hob)[0]).toEqual(['denied']);
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('one\n');
}, 120_000);
