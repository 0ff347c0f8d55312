/** Wish lists of a served manifest, as processes. The agent writes in the root, and is the attacker. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type HobHome, hobHome, MANIFEST, resolveHook } from '../../test/hob.ts';
import type { WishRow } from './daemon.ts';

const test = requires('linux');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const WISHES = 'version: 1\nsession: { ask: { notes: { fs: project, can: [read, list], offer: { uses: 2 } } } }\n';

/** An agent that says what it holds, and reads through `notes` for each line that it gets. */
const READER = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret: readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim() });
console.log('caps', (await E(session).caps()).join(' '));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  await E(E(session).cap('notes')).readText('notes.txt').then((text) => console.log('read', line, text.trim()), (error) => console.log('refused', line, error.code));
}
close();
process.exit(0);
`;

interface Scene extends HobHome {
  readonly file: string;
  readonly agent: readonly string[];
  list(): Promise<WishRow>;
  /** The caps of a session that starts now. */
  caps(): Promise<string>;
  accept(): Promise<void>;
  /** Waits for a state of the list. */
  is(state: WishRow['state']): Promise<void>;
}

function wishScene(manifest = MANIFEST): Scene {
  const hob = hobHome(manifest);
  const file = join(hob.folder, 'config/project/hob.yaml');
  writeFileSync(join(hob.folder, 'config/project/notes.txt'), 'notes\n');
  writeFileSync(file, WISHES);
  writeFileSync(join(hob.folder, 'reader.mjs'), READER);
  const agent = [process.execPath, '--import', resolveHook, join(hob.folder, 'reader.mjs')];
  const list = async (): Promise<WishRow> => (await hob.json<readonly WishRow[]>('wishes'))[0]!;
  return {
    ...hob,
    file,
    agent,
    list,
    async caps() {
      const running = hob.start('start', '--', ...agent);
      running.child.stdin!.end();
      await running.ended;
      return /^caps (.*)$/m.exec(running.out)![1]!;
    },
    async accept() {
      await hob.json('accept', 'project/hob.yaml', '--hash', sha256(readFileSync(file, 'utf8')));
    },
    async is(state) {
      await hob.until(list, (row) => row.state === state);
    },
  };
}

test('a wish list adds nothing before a granter accepts its text; then it asks; revoking it removes what it filled', async () => {
  const hob = wishScene();
  const host = await hob.serve();
  expect(host.err).toContain('project/hob.yaml wishes for one cap: hob accept project/hob.yaml shows them');
  expect(await hob.caps()).toBe('edit src');
  expect(await hob.list()).toMatchObject({ name: 'project/hob.yaml', hash: sha256(WISHES), state: 'waits', asks: [{ cap: 'notes', does: 'may list, read beneath project' }] }); // biome-ignore format: one line
  // No terminal can ask, and another hash is another text.
  expect((await hob.run('accept', 'project/hob.yaml')).code).toBe(2);
  expect((await hob.run('accept', 'project/hob.yaml', '--hash', sha256('else'))).err).toMatch(/is another text now/);
  expect((await hob.run('accept', 'other/hob.yaml', '--hash', sha256(WISHES))).err).toMatch(
    /no root has the wish list/,
  );
  expect(await hob.caps()).toBe('edit src');

  await hob.accept();
  expect(await hob.json('status')).toMatchObject({ wishes: [{ name: 'project/hob.yaml', state: 'accepted' }] });
  const agent = hob.start('start', '--', ...hob.agent);
  await agent.shows(/caps edit notes src/);
  agent.child.stdin!.write('one\n');
  const [asked] = await hob.until(
    () => hob.json<readonly { readonly id: string; readonly cap: string }[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect(asked).toMatchObject({ cap: 'notes' });
  await hob.json('grant', asked!.id);
  await agent.shows(/read one notes/);
  expect((await hob.run('revoke', '--wish', 'project/hob.yaml')).out).toBe('revoked project/hob.yaml\n');
  agent.child.stdin!.write('two\n');
  await agent.shows(/refused two revoked/);
  agent.child.stdin!.write('end\n');
  await agent.ended;
  expect(await hob.caps()).toBe('edit src');
  const ledger = (await hob.run('ledger', 'show')).out;
  expect(ledger).toMatch(new RegExp(`accept .*what=begin  name=project/hob.yaml  sha256=${sha256(WISHES)}  by=owner  surface=socket`)); // biome-ignore format: one line
  expect(ledger).toMatch(/accept .*what=end .*surface=socket .*grants=1/);
  expect((await hob.run('revoke', '--wish', 'project/hob.yaml')).code).toBe(1);
}, 400_000);

test('an agent that changes the file, swaps it by a link or puts the old text back holds nothing, until a granter accepts again', async () => {
  const hob = wishScene();
  await hob.serve();
  await hob.accept();
  const agent = hob.start('start', '--', ...hob.agent);
  await agent.shows(/caps edit notes src/);
  writeFileSync(hob.file, WISHES.replace('uses: 2', 'uses: 200'));
  await hob.is('waits');
  agent.child.stdin!.write('one\n');
  await agent.shows(/refused one revoked/);
  // The old text is not accepted any more: a person answered for it once.
  writeFileSync(hob.file, WISHES);
  expect(await hob.list()).toMatchObject({ state: 'waits', hash: sha256(WISHES) });
  expect(await hob.caps()).toBe('edit src');
  agent.child.stdin!.write('end\n');
  await agent.ended;

  await hob.accept();
  expect(await hob.caps()).toBe('edit notes src');
  rmSync(hob.file);
  const outside = join(hob.folder, 'outside.yaml');
  writeFileSync(outside, WISHES);
  symlinkSync(outside, hob.file);
  const { state, mistakes } = await hob.list();
  expect([state, mistakes]).toEqual(['mistaken', ['project/hob.yaml: it cannot be read (RESOLVED_OUTSIDE)']]);
  expect(await hob.caps()).toBe('edit src');
  rmSync(hob.file);
  writeFileSync(hob.file, WISHES);
  expect((await hob.list()).state).toBe('waits');

  // Accepted without anybody looking: the host sees the change by itself.
  await hob.accept();
  writeFileSync(hob.file, `${WISHES}#\n`);
  await hob.until(
    () => hob.run('ledger', 'show'),
    ({ out }) => (out.match(/accept .*what=end .*why=the file has changed/g) ?? []).length === 2,
  );
}, 400_000);

test('an acceptance is kept over kill -9 and a restart, unless the file has changed meanwhile', async () => {
  const hob = wishScene();
  const first = await hob.serve();
  await hob.accept();
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await hob.serve();
  expect((await hob.list()).state).toBe('accepted');
  expect(await hob.caps()).toBe('edit notes src');
  second.child.kill('SIGKILL');
  await second.ended;
  writeFileSync(hob.file, `${WISHES}#\n`);
  await hob.serve();
  writeFileSync(hob.file, WISHES);
  await hob.is('waits');
  expect(await hob.caps()).toBe('edit src');
  expect((await hob.run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
}, 400_000);

test('kill -9 around the act leaves all of it or nothing: a line of the ledger is there if and only if the list is accepted', async () => {
  const hob = wishScene();
  for (const wait of [0, 150, 300, 450]) {
    const host = await hob.serve();
    const act = hob.start('accept', 'project/hob.yaml', '--hash', sha256(WISHES));
    await new Promise((resolve) => setTimeout(resolve, wait));
    host.child.kill('SIGKILL');
    await Promise.all([host.ended, act.ended]);
    const again = await hob.serve();
    const begun = (await hob.run('ledger', 'show')).out.match(/accept .*what=(?:begin|end)/g) ?? [];
    const isAccepted = begun.at(-1)?.endsWith('begin') === true;
    expect((await hob.list()).state).toBe(isAccepted ? 'accepted' : 'waits');
    if (act.out.includes('accepted project/hob.yaml')) expect(isAccepted).toBe(true);
    if (isAccepted) await hob.json('revoke', '--wish', 'project/hob.yaml');
    again.child.kill('SIGKILL');
    await again.ended;
  }
}, 400_000);

test('a wish list that is wrong, huge, a folder, a pipe or no text adds nothing, and stops nobody', async () => {
  const hob = wishScene();
  await hob.serve();
  const ask = (text: string): string => `version: 1\nsession: { ask: { ${text} } }\n`;
  const many = Array.from({ length: 100 }, (_, n) => `w${n}x: { fs: project, can: [read] }`).join(', ');
  const wrong: Readonly<Record<string, RegExp>> = {
    [ask('etc: { fs: /etc, can: [read] }')]: /there is no root|is no folder|root/,
    [ask('up: { fs: project/../.., can: [read] }')]: /project\/hob\.yaml:2/,
    [ask('Src: { fs: project, can: [read] }')]: /Src looks like src/,
    [ask('src: { fs: project, can: [read] }')]: /the manifest has src already/,
    [ask(many)]: /more than 32 caps/,
    [`version: 1\nsession: { caps: { x: { fs: project, can: [write] } } }\n`]: /it can only ask/,
    [`version: 1\nsession: { mode: autonomous }\n`]: /it can only ask/,
    ['\u0000']: /project\/hob\.yaml/,
    ['x'.repeat(300_000)]: /256 KiB/,
  };
  for (const [text, why] of Object.entries(wrong)) {
    writeFileSync(hob.file, text);
    const { state, mistakes } = await hob.list();
    expect([text.slice(0, 60), state, mistakes.join('\n')]).toEqual([text.slice(0, 60), 'mistaken', expect.stringMatching(why)]); // biome-ignore format: one line
    expect((await hob.run('accept', 'project/hob.yaml', '--hash', sha256(text))).code).toBe(1);
  }
  writeFileSync(hob.file, new Uint8Array([0xff, 0xfe]));
  expect((await hob.list()).mistakes).toEqual(['project/hob.yaml: it is no text in UTF-8']);
  rmSync(hob.file);
  mkdirSync(hob.file);
  expect((await hob.list()).state).toBe('mistaken');
  rmSync(hob.file, { recursive: true });
  expect(await hob.json('wishes')).toEqual([]);
  expect(await hob.caps()).toBe('edit src');

  // An accepted wish that this machine cannot make is left out, and the rest is there.
  writeFileSync(hob.file, ask('notes: { fs: project, can: [read] }, none: { command: no-such-program-here, argv: [[a]] }, sub: { fs: project/none, can: [read] }')); // biome-ignore format: one line
  await hob.accept();
  expect(await hob.caps()).toBe('edit notes src');
}, 400_000);

test('layers are served and said, a session can be made narrower, and what a layer would widen is dropped with its line', async () => {
  const hob = hobHome();
  const at = (name: string): string => join(hob.folder, name);
  writeFileSync(at('org.yaml'), 'version: 1\nsession: { deadline: 1h, mode: supervised }\n');
  writeFileSync(at('flags.yaml'), 'version: 1\nsession: { deny: [edit], caps: { more: { fs: project, can: [write] } } }\n'); // biome-ignore format: one line
  writeFileSync(at('reader.mjs'), READER);
  const host = hob.start('serve', '--manifest', at('config/hob.yaml'), '--layer', `org=${at('org.yaml')}`);
  await host.shows(/see its requests/);
  expect(host.out).toMatch(/in the mode supervised\n {2}layer organisation: .*org\.yaml\n {2}layer user: /);
  expect(await hob.json('status')).toMatchObject({ mode: 'supervised', layers: [{ layer: 'organisation' }, { layer: 'user' }] }); // biome-ignore format: one line
  const agent = [process.execPath, '--import', resolveHook, at('reader.mjs')];
  const run = async (...layers: readonly string[]): Promise<{ readonly out: string; readonly err: string; readonly code: number | string }> => hob.run('start', ...layers, '--', ...agent); // biome-ignore format: one line
  expect((await run()).out).toMatch(/^caps edit src$/m);
  const narrow = await run('--layer', `flags=${at('flags.yaml')}`);
  expect(narrow.out).toMatch(/^caps src$/m);
  expect(narrow.err).toMatch(/flags\.yaml:2:\d+: warning: session\.caps\.more: no layer above has more/);
  for (const [layer, why] of [
    [`org=${at('flags.yaml')}`, /a session cannot have another layer organisation/],
    [`flags=${at('none.yaml')}`, /none\.yaml:1:1: .*there is no such file/],
    ['what=x', /write LAYER=FILE/],
  ] as const) {
    const { code, err, out } = await run('--layer', layer);
    expect([layer, code === 0, out, err]).toEqual([layer, false, '', expect.stringMatching(why)]);
    expect(err).not.toMatch(/^\s+at /m);
  }
  renameSync(at('org.yaml'), at('gone.yaml'));
  expect(existsSync(at('org.yaml'))).toBe(false);
  expect((await run()).out).toMatch(/^caps edit src$/m);
}, 400_000);
