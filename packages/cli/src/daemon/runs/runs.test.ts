/**
 * Scheduled runs of a real `hob serve`, whose clocks run fast. The attacker is the session that asks for runs, and the
 * agent of a run: it reads a task that it wrote itself.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { type ScheduledHome, scheduledHome } from '../../../test/scheduled.ts';

const test = requires('linux');

const KEY = 'model-key-0123456789abcdef';
const AGENTS = `version: 1
roots: { project: project }
agents:
  worker: { command: {agent}, secrets: [MODEL_KEY] }
`;
const manifest = (nightly = '', more = ''): string => `${AGENTS}session:
  deadline: 30d
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write] }
    plans: { fs: project, can: [read, list] }
    nightly: { schedule: worker, gives: [src, edit], uses: 50, lasts: 20m${nightly} }
  ask:
    edit: { fs: project/src, can: [read, write], offer: { uses: 1 } }
${more}`;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly cap: string;
  readonly state: string;
  readonly session: string;
  readonly usesLeft?: number;
  readonly parent?: string;
}
interface Scheduled {
  readonly id: string;
  readonly runs: number;
  readonly last?: string;
}

async function served(text: string = manifest(), factor?: number): Promise<ScheduledHome> {
  const hob = scheduledHome(text, factor === undefined ? {} : { factor });
  const setting = hob.start('secret', 'set', 'MODEL_KEY');
  setting.child.stdin?.end(KEY);
  await setting.ended;
  return hob;
}
const grantOfRuns = async (hob: ScheduledHome): Promise<Row | undefined> =>
  (await hob.json<readonly Row[]>('list')).find(({ cap }) => cap === 'runs');
const calls = (...all: readonly (readonly unknown[])[]): string => JSON.stringify({ calls: all });
const ends = (hob: ScheduledHome): readonly unknown[] => hob.seen().filter(({ what }) => what === 'called').map(({ ended }) => ended); // biome-ignore format: one line

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
  const hob = await served(manifest(), 600);
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

test('a manifest that says something else ends the schedules, also if only a cap that they give is another one; the same one does not', async () => {
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

test('how a run ends: failed with the end of its errors and no secret, and too long', async () => {
  const hob = await served(manifest().replace('lasts: 20m', 'lasts: 5m'));
  const host = await hob.serve();
  const asker = await hob.asker();
  await asker.call('nightly', 'at', new Date(hob.now() + 30_000).toISOString(), JSON.stringify({ exit: 7, say: 'it broke', leak: true })); // biome-ignore format: one line
  await host.shows(/run nightly-s1-1 failed with 7: it broke/);
  expect(hob.seen()[0]?.['key']).toBe(KEY.length);
  expect(host.err).not.toContain(KEY);
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
  const hob = await served(manifest().replace('mode: autonomous', 'mode: cautious').replace('lasts: 20m', 'lasts: 3h'), 300); // biome-ignore format: one line
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
    new Date(hob.now() + 600_000).toISOString(),
    calls(['edit', 'write', 'a.txt', 'by a run']),
  );
  const [again] = await hob.until(() => hob.json<readonly { readonly id: string }[]>('inbox'), ({ length }) => length > 0); // biome-ignore format: one line
  expect((await hob.run('grant', String(again?.id))).code).toBe(0);
  expect((await later)[0]).toBe('ok');
  await hob.sees('called', 1);
  expect(ends(hob)).toEqual([['denied']]);
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('one\n');
}, 120_000);
