/** The mode plan, as processes: an agent ends, and its drafts are answered afterwards. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome, MANIFEST, resolveHook } from '../../test/hob.ts';

const test = requires('linux');

/** An agent that writes and appends, says how that ended, and ends itself with 4. */
const WRITER = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret: readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim() });
const src = E(session).cap('src');
const told = (call) => call.then(() => 'done', (error) => error.code);
console.log('write', await told(E(src).write('a.txt', 'two\\n')), 'append', await told(E(src).append('b.txt', 'new\\n')));
console.log('reads', (await E(src).readText('a.txt')).trim());
close();
process.exit(4);
`;

interface Asked {
  readonly id: string;
  readonly draft?: boolean;
}

test('hob start waits until the drafts of its agent are answered, and ends as the agent did; or it discards them', async () => {
  const hob = hobHome(MANIFEST.replace('  deadline: 8h', '  mode: plan').replace('can: [read, list] }', 'can: [read, list, write] }')); // biome-ignore format: one line
  const file = join(hob.folder, 'config/project/src/a.txt');
  writeFileSync(join(hob.folder, 'writer.mjs'), WRITER);
  writeFileSync(join(hob.folder, 'config/project/src/b.txt'), 'b\n');
  const agent = [process.execPath, '--import', resolveHook, join(hob.folder, 'writer.mjs')];
  await hob.serve();
  const running = hob.start('start', '--', ...agent);
  await running.shows(/the agent ended with 4 and left 2 drafts/);
  expect(running.out).toBe('write drafted append drafted\nreads one\n');
  expect(readFileSync(file, 'utf8')).toBe('one\n');
  const waiting = await hob.json<readonly Asked[]>('inbox');
  expect(waiting).toMatchObject([{ draft: true }, { draft: true }]);
  expect((await hob.run('inbox', waiting[0]!.id)).out).toMatch(
    /a DRAFT, for which no caller waits[\s\S]*-one\n +\+two/,
  );
  await hob.json('grant', waiting[0]!.id);
  await hob.until(
    async () => readFileSync(file, 'utf8'),
    (text) => text === 'two\n',
  );
  expect((await hob.run('refuse', waiting[1]!.id)).code).toBe(0);
  expect(await running.ended).toBe(4);
  expect(await hob.json('sessions')).toEqual([]);
  expect(readFileSync(join(hob.folder, 'config/project/src/b.txt'), 'utf8')).toBe('b\n');

  const discarding = await hob.run('start', '--discard-drafts', '--', ...agent);
  expect([discarding.code, discarding.err]).toEqual([4, expect.not.stringContaining('drafts')]);
  const signalled = hob.start('start', '--', ...agent);
  await signalled.shows(/left 2 drafts/);
  signalled.child.kill('SIGINT');
  expect(await signalled.ended).toBe(4);
  expect(await hob.json('inbox')).toEqual([]);
  expect(await hob.json('sessions')).toEqual([]);
}, 400_000);
