/** `hob suggest` as a process, over the ledger of a host that runs, of a stopped one, and of an export. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { agentIn, type HobHome, hobHome, MANIFEST, type Running } from '../../../test/hob.ts';

const test = requires('linux');

interface Said {
  readonly compared: boolean;
  readonly suggestions: readonly { cap: string; uses?: number; for?: string; lines: readonly string[] }[];
  readonly left: readonly { cap: string; why: string }[];
  readonly diff: string;
}

/** Says yes to so many requests of one agent, each for one use, and to none before it is shown. */
async function grantAgain(hob: HobHome, agent: Running, answers: readonly (readonly string[])[]): Promise<void> {
  for (const [n, [verb = '', ...more]] of answers.entries()) {
    const [asked] = await hob.until(
      () => hob.json<readonly { id: string }[]>('inbox'),
      ({ length }) => length === 1,
    );
    await hob.json(verb, asked!.id, ...more);
    await agent.shows(verb === 'grant' ? new RegExp(`wrote ${n}`) : /refused denied/);
    agent.child.stdin!.write(`${n + 1}\n`);
  }
}
const YES = ['grant', '--uses', '1', '--for', '15m'];

/** The agent writes 0, 1, 2 and so on: the first by itself. */
function start(hob: HobHome): Running {
  const words = agentIn(hob.folder);
  const file = join(hob.folder, 'agent.mjs');
  writeFileSync(file, readFileSync(file, 'utf8').replace("write('first')", "write('0')"));
  return hob.start('start', '--', ...words);
}

test('what was granted again and again is printed as a diff that compiles, with the strictest limits and the lines of the answers', async () => {
  const hob = hobHome(MANIFEST.replace('caps:', '# of the agent\n  caps:'));
  const manifest = join(hob.folder, 'config/hob.yaml');
  const before = readFileSync(manifest, 'utf8');
  const host = await hob.serve();
  const agent = start(hob);
  await grantAgain(hob, agent, [YES, ['grant', '--uses', '1'], YES]);
  await hob.until(
    () => hob.json<readonly unknown[]>('inbox'),
    ({ length }) => length === 1,
  );

  expect((await hob.json<Said>('suggest')).suggestions).toEqual([]);
  const said = await hob.json<Said>('suggest', '--from', '3');
  expect(said).toMatchObject({ compared: true, left: [], suggestions: [{ cap: 'edit', uses: 1 }] });
  expect(said.suggestions[0]!.for).toMatch(/^(?:15m|89\ds)$/);
  const lines = (await hob.run('ledger', 'show', '--json')).out.trim().split('\n').map((one) => JSON.parse(one) as { seq: number; k: string }); // biome-ignore format: one line
  const approved = lines.filter(({ k }) => k === 'approve').map(({ seq }) => `E${seq}`);
  expect(said.suggestions[0]!.lines).toEqual(approved);
  expect(said.diff).toContain(`# granted 3 times: ${approved.join(' ')}\n`);
  expect(said.diff.match(/^[+-] .*$/gm)).toHaveLength(3);
  // It wrote nothing, and patch takes it.
  expect(readFileSync(manifest, 'utf8')).toBe(before);
  const { out } = await hob.run('suggest', '--from', '3');
  expect(spawnSync('patch', ['-p0', '-s', '-o', '-', manifest], { input: out }).stdout.toString()).toContain(
    '\n    edit: {',
  );
  const patched = spawnSync('patch', ['-p0', '-s', '-o', '-', manifest], { input: out }).stdout.toString();
  writeFileSync(join(hob.folder, 'config/new.yaml'), patched);
  expect((await hob.run('check', '--strict', join(hob.folder, 'config/new.yaml'))).out).toBe('no mistakes\n');

  // The manifest is another one now: `edit` means more than what was granted.
  writeFileSync(
    manifest,
    before.replace('fs: project/src, can: [read, write]', 'fs: project, can: [read, write, remove]'),
  );
  const changed = await hob.run('suggest', '--from', '3');
  expect([changed.code, changed.out]).toEqual([1, '']);
  expect(changed.err).toContain('the ledger is about what it said then');
  writeFileSync(manifest, before);

  const file = join(hob.folder, 'ledger.jsonl');
  await hob.run('ledger', 'export', file);
  agent.child.stdin!.write('end\n');
  await hob.run('stop');
  await host.ended;
  await agent.ended;
  for (const from of [[], ['--ledger', file]]) {
    const later = await hob.run('suggest', '--from', '3', '--manifest', manifest, ...from);
    expect([later.code, later.out]).toEqual([0, out]);
    expect(later.err).toContain('nobody compared');
  }
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('"k":"deny"', '"k":"dent"').replace('"k":"approve"', '"k":"approvf"'),
  );
  expect((await hob.run('suggest', '--ledger', file, '--manifest', manifest)).err).toContain('is no whole ledger');
}, 400_000);

test('the page of the console gets the same diff, and none once the manifest is another one', async () => {
  const hob = hobHome();
  const manifest = join(hob.folder, 'config/hob.yaml');
  await hob.serve();
  const agent = start(hob);
  await grantAgain(hob, agent, [YES, YES, YES, YES, YES]);
  const { diff } = await hob.json<Said>('suggest');
  expect(diff).not.toBe('');
  const url = new URL((await hob.json<{ link: string }>('console')).link);
  const page = await connect<Granter>(`ws://127.0.0.1:${url.port}`, { secret: url.hash.slice('#k='.length) });
  onTestFinished(async () => {
    page.close();
    await page.closed;
  });
  expect(await E(page.bootstrap).suggestions()).toEqual({ diff, notes: [] });
  writeFileSync(manifest, `${readFileSync(manifest, 'utf8')}# other\n`);
  expect(await E(page.bootstrap).suggestions()).toEqual({
    diff: '',
    notes: [expect.stringContaining('is not what the host serves')],
  });
}, 400_000);

test('a refusal begins the count anew', async () => {
  const hob = hobHome();
  await hob.serve();
  const agent = start(hob);
  await grantAgain(hob, agent, [YES, YES, ['refuse', 'no'], YES]);
  expect((await hob.json<Said>('suggest', '--from', '2')).suggestions).toEqual([]);
  expect((await hob.json<Said>('suggest', '--from', '1')).suggestions).toMatchObject([{ lines: [expect.any(String)] }]);
}, 400_000);

test('a manifest of another host has nothing to suggest, and no mistake prints a stack', async () => {
  const hob = hobHome();
  const none = await hob.run('suggest');
  expect([none.code, none.err]).toEqual([1, expect.stringMatching(/^hob: no host serves this state/)]);
  expect((await hob.run('suggest', '--from', '0')).code).toBe(2);
  const lost = await hob.run('suggest', '--ledger', join(hob.folder, 'nowhere'));
  expect(lost.code).toBe(1);
  for (const { err } of [none, lost]) expect(err).not.toMatch(/^\s+at /m);
});
