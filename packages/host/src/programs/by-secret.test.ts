/** The granter's verbs with the secret of a granter, as processes, against a host in this one that has no socket. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backup, connect, E, openStore } from '@hob/vat';
import { restoreStore } from '@hob/vat/store';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Program } from '../../../../test/processes.ts';
import { code, lines, type TestHost, testHost } from '../../test/test-host.ts';
import { openHost } from '../index.ts';

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
  await home.host.offer('bell', { ring: async () => 'ding' });
});
afterEach(() => home.close());

async function hob(
  args: readonly string[],
  stdin = `${home.granterSecret}\n`,
): Promise<{ code: number | string; said: string }> {
  const program = new Program(
    'hob',
    [...args, ...(args.includes('--state') || args.length === 0 ? [] : ['--state', join(home.folder, 'state')])],
    { stdin },
  );
  const ended = await program.ended;
  const said = program.lines.join('\n');
  // Whatever happens, no secret is printed: this is no terminal.
  expect(said).not.toMatch(/hob1_/);
  return { code: ended, said };
}

test('list, revoke, ledger verify and ledger export work', async () => {
  expect(await hob(['list'])).toEqual({ code: 0, said: 'no live grants' });
  const { id } = (await E(home.granter).grant(home.session.id, 'bell', 'bell', { uses: 2 })) as { id: string };
  await E(home.granter).grant(home.session.id, 'other', 'bell', { for: 60_000 });
  const shown = await hob(['list']);
  expect(shown.said.split('\n')).toEqual([
    expect.stringMatching(/^G1\tS1\tbell\tlive\t2\t90 days\t/),
    expect.stringMatching(/^G2\tS1\tother\tlive\tany\t1 min\t/),
  ]);
  const revoked = await hob(['revoke', id]);
  expect(revoked).toEqual({ code: 0, said: `revoked ${id}` });
  const bell = await home.session.cap<{ ring(): Promise<string> }>('bell');
  expect(await code(E(bell).ring())).toBe('revoked');
  expect((await hob(['ledger', 'verify'])).said).toMatch(/^the ledger is whole: \d+ lines/);
  const file = join(home.folder, 'ledger.jsonl');
  const exported = await hob(['ledger', 'export', file]);
  expect(exported).toEqual({ code: 0, said: expect.stringMatching(/^wrote \d+ lines$/) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await hob(['ledger', 'verify', file])).code).toBe(0);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"uses":2', '"uses":9'));
  const forged = await hob(['ledger', 'verify', file]);
  expect(forged.code).toBe(1);
  expect(forged.said).toMatch(/NOT whole: line \d+: /);
  const printed = await hob(['ledger', 'export']);
  expect(printed.said.split('\n').every((line) => JSON.parse(line).v === 1)).toBe(true);
});

test('sturdyref mint, list and rotate work, and the secret opens one cap', async () => {
  await E(home.granter).grant(home.session.id, 'bell', 'bell', { scope: 'permanent' });
  const [file, another] = [join(home.folder, 'ref'), join(home.folder, 'another')];
  const mint = ['sturdyref', 'mint', home.session.id, 'bell', '--uses', '3', '--for', '30m'];
  const minted = await hob([...mint, '--secret-to', file]);
  const shown = minted.said;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const secret = readFileSync(file, 'utf8').trim();
  expect(shown).toMatch(/^g\S+ {2}\S+ {2}“bell” {2}3 uses left {2}\d+ min left {2}“bell”$/);
  const id = shown.split(' ')[0] as string;
  const opened = await connect<{ ring(): Promise<string> }>(home.url, { secret });
  expect(await E(opened.bootstrap).ring()).toBe('ding');
  opened.close();
  await opened.closed;
  // Without a file for it, and on no terminal, no secret is made; nor where the file is there already.
  for (const lost of [
    mint,
    ['sturdyref', 'rotate', id],
    [...mint, '--secret-to', file],
    ['sturdyref', 'rotate', id, '--secret-to', file],
  ])
    expect((await hob(lost)).code).toBe(1);
  expect(await E(home.granter).sturdyrefs()).toHaveLength(1);
  expect((await hob(['sturdyref', 'rotate', 'g999', '--secret-to', another])).code).toBe(1);
  expect(existsSync(another)).toBe(false);
  expect(await hob(['sturdyref', 'rotate', id, '--secret-to', another])).toEqual({ code: 0, said: '' });
  const rotated = readFileSync(another, 'utf8').trim();
  const again = await connect<{ ring(): Promise<string> }>(home.url, { secret: rotated });
  again.close();
  await again.closed;
  expect(await code(connect(home.url, { secret }))).toBe('denied');
  expect((await hob(['sturdyref', 'list'])).said).toMatch(/^G\d+\tS1\tbell\tlive\t2\t\d+ min\t/);
  expect((await hob(['revoke', id])).code).toBe(0);
  expect((await hob(['sturdyref', 'list'])).said).toMatch(/\tbell\trevoked\t/);
  for (const terms of [
    ['--uses', 'many'],
    ['--uses', '0x10'],
    ['--for', '0'],
    ['--until', 'one day'],
    ['--for', '30'],
    ['--for', '1m', '--until', '2100-01-01'],
  ])
    expect((await hob(['sturdyref', 'mint', home.session.id, 'bell', ...terms])).code).toBe(2);
});

test('confirm shows the grants of a restored store that wait, and confirms one or all of them', async () => {
  const state = join(home.folder, 'state');
  expect((await hob(['confirm'])).said).toMatch(/^no grant waits/);
  for (const petname of ['a', 'b', 'c']) await E(home.granter).grant(home.session.id, petname, 'bell', { uses: 2 });
  await home.host.close();
  const store = await openStore({ path: state });
  await backup(store, join(home.folder, 'copy'));
  await store.close();
  const again = join(home.folder, 'again');
  await restoreStore(join(home.folder, 'copy'), { path: again });
  const host = await openHost({ stateDir: again });
  onTestFinished(() => host.close());
  await host.serve();
  const shown = await hob(['confirm', '--state', again]);
  expect(shown.said.split('\n')).toEqual([
    ...['a', 'b', 'c'].map((petname) => expect.stringMatching(new RegExp(`^G\\d\tS1\t${petname}\tsuspended\t2\t`))),
    expect.stringMatching(/^the state was put back to an earlier one/),
  ]);
  expect((await hob(['list', '--state', again])).said).toBe('no live grants');
  // The older names are those verbs.
  expect((await hob(['grants', '--state', again])).said.split('\n')).toEqual(['hob: hob grants is hob list', 'no live grants']); // biome-ignore format: one line
  expect((await hob(['trust', 'G1', '--state', again])).said.split('\n')).toEqual(['hob: hob trust is hob confirm', 'G1 is confirmed']); // biome-ignore format: one line
  expect((await hob(['confirm', 'all', '--state', again])).said.split('\n')).toHaveLength(2);
  expect((await hob(['confirm', '--state', again])).said).toMatch(/^no grant waits/);
  expect((await lines(host, 'confirm')).map(({ by }) => by)).toEqual(['owner', 'owner', 'owner']);
  expect((await hob(['confirm', 'G999', '--state', again])).code).toBe(1);
});

test('without the granter’s secret no command does anything: wrong, empty, not in the first line, the secret of a session', async () => {
  const { id } = (await E(home.granter).grant(home.session.id, 'bell', 'bell', {})) as { id: string };
  const tries = ['hob1_wrong\n', '', '\n', `\n${home.granterSecret}\n`, 'with spaces and ünïcødé\n'];
  for (const { code: ended, said } of await Promise.all(tries.map((stdin) => hob(['revoke', id], stdin)))) {
    expect(ended).toBe(1);
    expect(said).toMatch(/^hob: [^\n]+$/);
  }
  // A session is let in, and finds nothing there to do.
  expect(await hob(['revoke', id], `${home.session.secret}\n`)).toEqual({
    code: 1,
    said: expect.stringMatching(/^hob: this is the secret of a session/),
  });
  expect(await E(home.granter).list({ live: true })).toHaveLength(1);
  expect((await hob(['list'], `  ${home.granterSecret}  \nmore\n`)).code).toBe(0);
});

test('what it does not understand is exit 2 and says so, before any secret is asked for', async () => {
  const tries = [['list', 'x'], ['refuse'], ['grant'], ['ledger', 'burn'], ['grant', 'R1', '--use', '1'], ['approve', 'R1', 'aaaaaaaaaaaa', '--use', '1']]; // biome-ignore format: one line
  for (const { code: ended, said } of await Promise.all(tries.map((args) => hob(args, '')))) {
    expect(ended).toBe(2);
    expect(said).toMatch(
      /^(?:hob: hob approve is hob grant\n)?hob: [^\n]+\nusage: hob [^\n]+\n[^\n]+--help says more$/,
    );
  }
});

test('a missing host, a host that has ended and a malformed address file are one line each; an export of the ledger needs no host', async () => {
  const state = join(home.folder, 'state');
  const gone = await hob(['revoke', 'G999']);
  expect(gone).toEqual({ code: 1, said: expect.stringMatching(/^hob: [^\n]*grant[^\n]*$/) });
  await home.host.close();
  // The last note names a port that may be another program's by now: it is not told the secret.
  const deaf = JSON.stringify({ url: home.url, pid: process.pid });
  for (const note of [undefined, 'junk', '{"url":7,"pid":1}', deaf]) {
    if (note !== undefined) writeFileSync(join(state, 'host.json'), note);
    expect(await hob(['list'])).toEqual({ code: 1, said: expect.stringMatching(/^hob: no host serves this state/) });
  }
  expect((await hob(['list', '--url', home.url])).said).toMatch(/^hob: no host answers at this address/);
  const file = join(home.folder, 'x');
  expect((await hob(['ledger', 'export', file])).code).toBe(0);
  expect(existsSync(file)).toBe(true);
});
