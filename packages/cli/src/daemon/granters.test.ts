/** Several people: the granters of a manifest, each with a secret of their own, and the user of the socket who is none. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, type HobHome, hobHome, MANIFEST, type Ran } from '../../test/hob.ts';

const test = requires('linux');

async function withSecret(hob: HobHome, secret: string, ...args: readonly string[]): Promise<Ran> {
  const running = hob.start(...args);
  running.child.stdin!.end(`${secret}\n`);
  return { code: await running.ended, out: running.out, err: running.err };
}

/** A new secret for that granter. */
async function secretOf(hob: HobHome, name: string, file: string): Promise<string> {
  expect(await hob.run('granter', 'secret', name, '--secret-to', join(hob.folder, file))).toEqual({ code: 0, out: '', err: '' }); // biome-ignore format: one line
  expect(statSync(join(hob.folder, file)).mode & 0o777).toBe(0o600);
  return readFileSync(join(hob.folder, file), 'utf8').trim();
}

test('each granter of a manifest sees, answers and revokes with a secret of their own; the user of the socket, who is none, does not', async () => {
  const hob = hobHome(`${MANIFEST}granters: [Ann, bob_2]\n`);
  const host = await hob.serve();
  expect(host.err).toContain('hob granter secret ann --secret-to FILE makes the secret for --url');
  expect(host.err).toContain('only ann, bob-2 can see, answer and revoke what these sessions hold');
  expect(await hob.json('granter', 'list')).toEqual([
    { name: 'ann', by: 'secret' },
    { name: 'bob-2', by: 'secret' },
  ]);
  const { url } = await hob.json<{ readonly url: string }>('status');
  const [ann, bob] = [await secretOf(hob, 'ann', 'ann'), await secretOf(hob, 'bob-2', 'bob')];
  const as = (secret: string, ...args: readonly string[]): Promise<Ran> =>
    withSecret(hob, secret, ...args, '--url', url);

  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  await hob.until(
    () => as(ann, 'inbox', '--json'),
    ({ out }) => out.includes('"R1"'),
  );
  // The user of the socket sees nothing of it, and can do nothing about it.
  expect(await hob.json('inbox')).toEqual([]);
  expect(await hob.json('sessions')).toEqual([]);
  expect(await hob.json('list')).toEqual([]);
  for (const line of [
    ['grant', 'R1'],
    ['refuse', 'R1'],
    ['revoke', 'G1'],
    ['end', 'S1'],
    ['narrow', 'G1', '--uses', '1'],
  ])
    expect((await hob.run(...line)).code, line.join(' ')).toBe(1);
  await hob.run('revoke', '--all');
  expect((await as(bob, 'list', '--json')).out).toContain('"state":"live"');

  expect((await as(bob, 'grant', 'R1', '--uses', '1')).code).toBe(0);
  await agent.shows(/wrote first/);
  const yes = (await as(ann, 'ledger', '--json')).out.split('\n').find((line) => line.includes('"k":"approve"'));
  expect(JSON.parse(yes ?? '{}')).toMatchObject({ by: 'bob-2', surface: 'wire' });
  const listed = JSON.parse((await as(ann, 'list', '--json')).out) as readonly { readonly id: string; readonly cap: string }[]; // biome-ignore format: one line
  const src = listed.find(({ cap }) => cap === 'src')!;
  expect(await as(ann, 'revoke', src.id)).toMatchObject({ code: 0, out: `revoked ${src.id}\n` });

  // Each opens the page as the granter of that secret; the user of the socket would see nothing there.
  expect((await hob.run('console', '--json')).err).toMatch(/opens the page with hob console --url and a secret/);
  const { link } = JSON.parse((await as(ann, 'console', '--json')).out) as { readonly link: string };
  const page = await connect<Granter>(url, { secret: new URL(link).hash.slice('#k='.length) });
  expect((await E(page.bootstrap).sessions()).map(({ id }) => id)).toHaveLength(1);
  await E(page.bootstrap).setName((await E(page.bootstrap).sessions())[0]!.id, 'of-ann');
  page.close();
  await page.closed;
  expect((await as(ann, 'name', '--json')).out).toContain('of-ann');
  expect((await as(bob, 'name', '--json')).out).not.toContain('of-ann');

  // A new secret ends the one before it.
  const again = await secretOf(hob, 'ann', 'ann-2');
  expect((await as(ann, 'list')).code).toBe(1);
  expect((await as(again, 'sessions', '--json')).out).toContain('"S1"');
  for (const name of ['owner', 'carol'])
    expect((await hob.run('granter', 'secret', name, '--secret-to', join(hob.folder, name))).err).toMatch(/^hob: the manifest has no granter of that name/); // biome-ignore format: one line

  // Its hob start ends the session, though its user is no granter of it.
  agent.child.stdin!.end('end\n');
  expect(await agent.ended).toBe(4);
  expect((await as(again, 'sessions', '--json')).out).toBe('[]\n');

  // A granter finds the lines of an ended grant or session by its short id. The user of the socket gets no such line
  // and cannot tell that there is one: the answer is the same as for an id that was never used.
  const found = (await as(again, 'ledger', 'show', '--grant', src.id, '--json')).out.trim().split('\n');
  const { grant, session } = JSON.parse(found[0]!) as { readonly grant: string; readonly session: string };
  expect(found.map((line) => (JSON.parse(line) as { readonly grant?: string }).grant)).toEqual(found.map(() => grant));
  expect((await as(bob, 'ledger', 'show', '--session', 's1')).out).toContain(src.id);
  const ids = ['--grant', src.id, '--grant', src.id.toLowerCase(), '--grant', grant, '--session', 'S1', '--session', session]; // biome-ignore format: one line
  for (let n = 0; n < ids.length; n += 2) {
    const [option = '', id = ''] = ids.slice(n, n + 2);
    const nobodys = option === '--grant' ? 'G999' : 'S999';
    const nothing = await hob.run('ledger', 'show', option, nobodys);
    const said = await hob.run('ledger', 'show', option, id);
    expect(said).toEqual({ ...nothing, err: nothing.err.replace(nobodys, id) });
    expect([said.code, said.out]).toEqual([1, '']);
  }
  const number = (JSON.parse(found[0]!) as { readonly seq: number }).seq;
  expect((await hob.run('ledger', '--why', `E${number}`)).err).toMatch(/there is no line E\d+ of your sessions/);
  expect((await hob.run('ledger')).out).not.toContain(src.id);
}, 400_000);

test('a manifest without granters has the user of the socket, and one that names owner has both', async () => {
  const hob = hobHome(`${MANIFEST}granters: [ann, owner]\n`);
  const host = await hob.serve();
  expect(host.err).not.toContain('only ann');
  expect(await hob.json('granter', 'list')).toEqual([
    { name: 'ann', by: 'secret' },
    { name: 'owner', by: 'socket' },
  ]);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await hob.until(
    () => hob.json<readonly unknown[]>('inbox'),
    (found) => found.length === 1,
  );
  expect((await hob.run('grant', 'R1')).code).toBe(0);
  await agent.shows(/wrote first/);
}, 400_000);
