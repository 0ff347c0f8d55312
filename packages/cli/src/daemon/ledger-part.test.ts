/** The parts `ledger` and `judge` of a manifest, served: with kill -9, with a secret that an agent learned. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verifyLedger } from '@hob/vat';
import { ledgerArguments, openStore } from '@hob/vat/store';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, type HobHome, hobHome, MANIFEST } from '../../test/hob.ts';

const test = requires('linux');
const VALUE = 'INTIMATE-p4ss/w+rd';
const stateOf = (hob: HobHome): string => join(hob.folder, 'home/.local/state/hob/state');

/** The whole lines of the copy. */
function copied(hob: HobHome): readonly string[] {
  const folder = join(hob.folder, 'config/ledger');
  const [name = ''] = existsSync(folder) ? readdirSync(folder) : [];
  return name === '' ? [] : readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
}
const seqs = (lines: readonly string[]): readonly number[] =>
  lines.map((line) => (JSON.parse(line) as { readonly seq: number }).seq);

test('hob serve copies the ledger and drops old lines as the manifest says, also after kill -9; a value of a secret is in no argument', async () => {
  const hob = hobHome(`${MANIFEST}ledger: { path: ledger, keep: 1s, redact: secrets }\n`);
  const set = hob.start('secret', 'set', 'GH_TOKEN');
  set.child.stdin!.end(VALUE);
  expect(await set.ended).toBe(0);
  const first = await hob.serve();
  expect(first.err).not.toMatch(/not used|warning/);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  onTestFinished(() => void agent.child.stdin!.end());
  await agent.shows(/reads one/);
  expect((await hob.run('grant', 'R1')).code).toBe(0);
  await agent.shows(/wrote first/);
  agent.child.stdin!.write(`it is ${VALUE}!\n`);
  await agent.shows(/wrote it is/);
  await hob.until(
    async () => copied(hob).join('\n'),
    (text) => text.includes('"k":"call"'),
  );
  first.child.kill('SIGKILL');
  await first.ended;
  const torn = copied(hob).length;
  const [name = ''] = readdirSync(join(hob.folder, 'config/ledger'));
  writeFileSync(join(hob.folder, 'config/ledger', name), '{"v":1,"se', { flag: 'a' });

  const store = await openStore({ path: stateOf(hob), look: true });
  const args = Array.from({ length: 300 }, (_, n) => ledgerArguments(store, n + 1) ?? '');
  await store.close();
  expect(args.filter((text) => text.includes('it is ⟦secret⟧!'))).not.toEqual([]);
  expect(args.join('\n')).not.toContain('INTIMATE');

  const second = await hob.serve();
  await hob.until(
    async () => copied(hob).length,
    (count) => count > torn,
  );
  second.child.kill('SIGTERM');
  await second.ended;
  const third = await hob.serve();
  // Lines are dropped up to a checkpoint, and a host that ends in good order makes one.
  const dropped = async (): Promise<string> => (await hob.run('ledger', 'verify')).out;
  expect(await hob.until(dropped, (text) => text.includes('were dropped'))).toMatch(/^the ledger is whole/);
  expect(await dropped()).toMatch(/lines 2 to \d+ were dropped by "hob.yaml"/);
  await hob.until(
    async () => copied(hob).join('\n'),
    (text) => text.includes('"k":"cut"'),
  );
  third.child.kill('SIGKILL');
  await third.ended;
  const all = seqs(copied(hob));
  expect(all).toEqual(all.map((_, n) => n + 1));
  expect(await verifyLedger({ file: join(hob.folder, 'config/ledger', name) })).toMatchObject({ ok: true });
}, 400_000);

test('a folder for the ledger inside a root is refused with its line, also by hob check; so is a root inside that folder', async () => {
  const hob = hobHome(`${MANIFEST}ledger: { path: project/ledger }\n`);
  const manifest = join(hob.folder, 'config/hob.yaml');
  const wrong =
    /hob\.yaml:9:17: ledger\.path: this folder lies in the root project.*write a folder outside of every root/;
  expect(await hob.run('check', manifest)).toMatchObject({ code: 1, out: expect.stringMatching(wrong) });
  expect(await hob.run('serve', '--manifest', manifest)).toMatchObject({ code: 1, err: expect.stringMatching(wrong) });
  mkdirSync(join(hob.folder, 'config/project/src'), { recursive: true });
  writeFileSync(manifest, `${MANIFEST.replace('project: project', 'project: project/src').replaceAll('project/src, can', 'project, can')}ledger: { path: project }\n`); // biome-ignore format: one line
  const served = await hob.run('serve', '--manifest', manifest);
  expect(served).toMatchObject({ code: 1, err: expect.stringMatching(/roots\.project: this folder is, contains or lies inside/) }); // biome-ignore format: one line
}, 400_000);

test('a judge without a model to ask is a warning with its line, and one that lacks a part is a mistake', async () => {
  const hob = hobHome(`${MANIFEST}judge: { may: [propose, refuse], model: small }\n`);
  const manifest = join(hob.folder, 'config/hob.yaml');
  const warning = /hob\.yaml:9:1: warning: judge: this judge names no model to ask: every request waits for a person; add api, url and model/; // biome-ignore format: one line
  expect(await hob.run('check', manifest)).toMatchObject({ code: 0, out: expect.stringMatching(warning) });
  expect((await hob.run('check', manifest, '--strict')).code).toBe(3);
  for (const [part, wrong] of [
    ['api: openai, url: "https://api.example.com"', /judge: a judge that is asked has an api, a url and a model/],
    ['model: m, api: openai, url: "http://example.com"', /judge\.url: this is no address of a model/],
    ['model: m, api: other, url: "https://example.com"', /judge\.api/],
  ] as const) {
    writeFileSync(manifest, `${MANIFEST}judge: { may: [refuse], ${part} }\n`);
    expect(await hob.run('check', manifest)).toMatchObject({ code: 1, out: expect.stringMatching(wrong) });
  }
}, 400_000);

test('a judge is asked with the key of a secret, and can refuse; without the secret nothing is served', async () => {
  const seen: (string | undefined)[] = [];
  const model = createServer((request, response) => {
    seen.push(request.headers.authorization);
    request.resume();
    const content = '{"verdict":"refuse","why":"the judge is strict"}';
    response.end(JSON.stringify({ choices: [{ finish_reason: 'stop', message: { content } }] }));
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void model.close());
  const { port } = model.address() as AddressInfo;
  const hob = hobHome(`${MANIFEST}judge: { may: [refuse], model: small, api: openai, url: "http://127.0.0.1:${port}/v1", secret: JUDGE_KEY }\n`); // biome-ignore format: one line
  const refused = await hob.run('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('hob secret set JUDGE_KEY') });
  const set = hob.start('secret', 'set', 'JUDGE_KEY');
  set.child.stdin!.end(VALUE);
  expect(await set.ended).toBe(0);
  const host = await hob.serve();
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  onTestFinished(() => void agent.child.stdin!.end());
  await agent.shows(/reads one/);
  await hob.until(
    async () => (await hob.run('ledger', '--json')).out,
    (lines) => /"k":"deny".*"surface":"judge"/.test(lines),
  );
  expect(seen).toEqual([`Bearer ${VALUE}`]);
  expect(host.err).not.toContain(VALUE);
}, 400_000);
