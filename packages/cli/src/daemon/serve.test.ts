/** `hob serve` and `hob start` with the verbs of a granter, as processes. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, hobHome, MANIFEST } from '../../test/hob.ts';

const test = requires('linux');

interface Row {
  readonly id: string;
  readonly state: string;
  readonly cap: string;
  readonly usesLeft?: number;
  readonly until: number;
}
interface Asked {
  readonly id: string;
  readonly effect: string;
  readonly digest: string;
  readonly waiting: boolean;
}

test('attack: a manifest that is named by a link in a root is refused: the agent could lead the link to its own manifest', async () => {
  const hob = hobHome();
  const link = join(hob.folder, 'config/project/hob.yaml');
  symlinkSync('../hob.yaml', link);
  const host = hob.start('serve', '--manifest', link);
  await host.shows(/see its requests|lies inside/);
  expect(host.err).toMatch(/^hob: roots\.project: this folder is, contains or lies inside/);
  expect(await host.ended).toBe(1);
});

test('an agent gets a session of the manifest, asks, is granted for a time, used, narrowed and revoked; the ledger names the way', async () => {
  const hob = hobHome();
  await hob.serve();
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  expect(agent.out).toContain('caps edit src');
  const [asked] = await hob.until(
    () => hob.jsonLine<readonly Asked[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect(asked!.effect).toMatch(/use “project\/src”, as “edit”: 20 calls, within 60 min; first it calls write$/);
  const file = join(hob.folder, 'config/project/src/a.txt');
  expect(readFileSync(file, 'utf8')).toBe('one\n');

  // A yes for what another request shows answers none.
  expect((await hob.line('grant', asked!.id, `${asked!.digest.slice(0, 11)}0`)).code).toBe(1);
  expect(await hob.json('grant', asked!.id, asked!.digest.slice(0, 12), '--uses', '5', '--for', '15m')).toEqual({
    request: 'R1',
    granted: true,
  });
  await agent.shows(/wrote first/);
  const lease = async (): Promise<Row> =>
    (await hob.jsonLine<readonly Row[]>('list', '--all')).find(({ id }) => id === 'G3')!;
  expect(await lease()).toMatchObject({ cap: 'edit', state: 'live', usesLeft: 4 });
  expect((await lease()).until - Date.now()).toBeLessThanOrEqual(15 * 60_000);
  agent.child.stdin!.write('second\n');
  await agent.shows(/wrote second/);

  expect(await hob.jsonLine('narrow', 'G3', '--uses', '1')).toMatchObject({ id: 'G3', usesLeft: 1 });
  expect(await hob.jsonLine('narrow', 'G3', '--uses', '9')).toMatchObject({ usesLeft: 1 });
  expect((await hob.run('revoke', 'G3')).out).toBe('revoked G3\n');
  expect(await lease()).toMatchObject({ state: 'revoked' });
  agent.child.stdin!.write('third\n');
  const [again] = await hob.until(
    () => hob.jsonLine<readonly Asked[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect((await hob.run('refuse', again!.id, 'not', 'now')).code).toBe(0);
  await agent.shows(/refused denied/);
  expect(readFileSync(file, 'utf8')).toBe('second\n');

  agent.child.stdin!.write('end\n');
  expect(await agent.ended).toBe(4);
  expect(await hob.jsonLine('sessions')).toEqual([]);
  expect((await hob.run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  const why = (await hob.line('ledger', 'show')).out.split('\n').find((line) => /method=write {2}use=2/.test(line))!;
  const behind = (await hob.line('ledger', 'show', '--why', why.split(' ')[0]!)).out;
  expect(behind).toMatch(/ request .*\n.* approve .*surface=socket.*\n.* grant .*request=R1.*\n.* call .*use=2/);
  // The entry of the agent went with it, and no secret is in what people are shown.
  expect(readdirSync(join(hob.folder, 'tmp'))).toEqual([]);
  expect(agent.out + agent.err + why).not.toMatch(/hob1_/);
}, 400_000);

test('a second serve on the same state says which process has it; stop ends the host, and then nobody serves', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const second = await hob.run('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  expect([second.code, second.err]).toEqual([1, `hob: process ${host.child.pid} serves this state already: hob status shows it, hob stop ends it\n`]); // biome-ignore format: one line
  expect(await hob.json('status')).toMatchObject({ pid: host.child.pid, mode: 'cautious', sessions: 0, requests: 0 });
  expect((await hob.run('stop')).out).toMatch(/^stopped/);
  expect(await host.ended).toBe(0);
  for (const verb of ['status', 'inbox', 'list', 'sessions']) {
    const { code, err } = await hob.line(verb);
    expect([code, err], verb).toEqual([1, 'hob: no host serves this state: start one with hob serve, or name its state with --state\n']); // biome-ignore format: one line
  }
  expect((await hob.run('ledger')).err).toMatch(
    /--state\. Without a host, hob ledger verify and hob ledger export work\n$/,
  );
  for (const verb of ['verify', 'export']) expect((await hob.run('ledger', verb)).code, verb).toBe(0);
});

test('the granter’s socket is in a folder of mode 0700, and a folder that others may open is not trusted', async () => {
  const hob = hobHome();
  await hob.serve();
  const folder = join(hob.folder, 'home/.local/state/hob/state/granter');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  chmodSync(folder, 0o755);
  const { code, err } = await hob.line('list');
  expect([code, err]).toEqual([1, expect.stringMatching(/^hob: the folder of a granter’s socket must belong to you/)]);
  chmodSync(folder, 0o700);
  expect((await hob.line('list')).code).toBe(0);
});

test('a mistake in the manifest has its line; a root that holds the manifest or the state is refused; nothing is left', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'config/hob.yaml');
  const state = join(hob.folder, 'home/.local/state/hob/state');
  const refused: Readonly<Record<string, RegExp>> = {
    [MANIFEST.replace('can: [read, list]', 'can: [reed]')]: /hob\.yaml:6:\d+: session\.caps\.src/,
    [MANIFEST.replace('project: project', 'project: .')]:
      /roots\.project: (?:this root holds|this folder is, contains)/,
    [MANIFEST.replace('project: project', `project: ${join(hob.folder, 'home')}`)]:
      /roots\.project: this folder is, contains/,
    [MANIFEST.replace('project: project', 'project: nowhere')]: /roots\.project: there is no folder/,
    [MANIFEST.replace('{ fs: project/src, can: [read, list] }', '{ message: "slack:#eng" }')]: /src\.message: there is no channel "slack"/, // biome-ignore format: one line
  };
  for (const [text, why] of Object.entries(refused)) {
    writeFileSync(file, text);
    const { code, err } = await hob.line('serve', '--manifest', file);
    expect([code, err], text).toEqual([1, expect.stringMatching(why)]);
    expect(err).not.toMatch(/^\s+at /m);
  }
  expect(existsSync(join(state, 'granter'))).toBe(false);
  expect((await hob.run('serve', '--manifest', join(hob.folder, 'none.yaml'))).err).toMatch(
    /^hob: there is no manifest/,
  );
});

test('limits, ids and options that are wrong are refused with 2 before anything is asked', async () => {
  const hob = hobHome();
  for (const args of [
    ['grant', 'G7'],
    ['grant', 'R7', '--uses', '0'],
    ['grant', 'R7', '--for', '5'],
    ['revoke'],
    ['revoke', 'G1', '--all'],
    ['narrow', 'G1'],
    ['renew', 'G1'],
    ['give', 'G1'],
  ]) {
    // biome-ignore format: one line
    const { code, err } = await hob.line(...args);
    const expected = args[1] === 'G7' ? 1 : 2;
    expect([args, code, err]).toEqual([args, expected, expect.stringMatching(/^hob: [^\n]+\n$/)]);
  }
});

test('what a state was backed up is restored with its ledger, and its limited grants wait for a person', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  const copy = join(hob.folder, 'copy.db');
  host.child.kill('SIGTERM');
  await host.ended;
  expect((await hob.run('backup', copy)).code).toBe(0);
  expect((await hob.run('restore', copy)).code).toBe(1);
  const state = join(hob.folder, 'restored');
  expect((await hob.run('restore', '--state', state, copy)).code).toBe(0);
  const again = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--state', state);
  await again.shows(/see its requests/);
  const grants = await hob.jsonLine<readonly Row[]>('list', '--all', '--state', state);
  expect(new Set(grants.map(({ state: now }) => now))).toEqual(new Set(['suspended']));
  expect((await hob.line('ledger', 'verify', '--state', state)).out).toMatch(/^the ledger is whole/);
  expect((await hob.line('confirm', 'G1', '--state', state)).out).toBe('G1 is confirmed\n');
  agent.child.kill('SIGTERM');
  await agent.ended;
});
