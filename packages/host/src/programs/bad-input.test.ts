/** Places that a user names and that cannot be used: each is one clear message, and nothing of the host is in it. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync, writeSync } from 'node:fs'; // biome-ignore format: one line
import { join } from 'node:path';
import { CapError, E, openStore } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { scratch } from '../../test/test-host.ts';
import { checkRoot } from '../drivers/roots.ts';
import { openSecretsOutput } from '../drivers/secrets.ts';
import { openStateDir } from '../drivers/state-dir.ts';
import { openHost } from '../index.ts';
import { endOf } from './end-of.ts';

function place(): string {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function refusal(act: () => unknown, folder: string): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(CapError);
    expect((error as Error).message).not.toContain(folder);
    return (error as Error).message;
  }
  return 'it was taken';
}

const failure = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'it was opened',
    (error: Error) => (error instanceof CapError ? error.message : `no CapError: ${error.stack}`),
  );

test('--state at a file, below a file, and where no folder can be made: said at once, and nothing hangs', async () => {
  const folder = place();
  writeFileSync(join(folder, 'letter'), 'mine');
  expect(refusal(() => openStateDir(join(folder, 'letter')), folder)).toMatch(
    /^the folder for the state is a file.*--state$/,
  );
  expect(refusal(() => openStateDir(join(folder, 'letter', 'below')), folder)).toMatch(/is a file, or lies below one/);
  expect(refusal(() => openStateDir('/dev/null/x/y'), folder)).toMatch(/is a file, or lies below one/);
  expect(await failure(openHost({ stateDir: join(folder, 'letter') }))).toMatch(/is a file/);
});

requires('linux')('--state and --secrets-to in /proc do not hang', () => {
  expect(refusal(() => openStateDir('/proc/x/y'), '/proc')).toMatch(/^the folder for the state cannot be made/);
  expect(refusal(() => openSecretsOutput('/proc/x/y'), '/proc')).toMatch(/^the folder for the secrets cannot be made/);
});

requires('linux', 'nonroot')(
  'a folder that may not be written, a root that may not be read, a port of root',
  async () => {
    const folder = place();
    mkdirSync(join(folder, 'shut'));
    chmodSync(join(folder, 'shut'), 0o500);
    expect(refusal(() => openStateDir(join(folder, 'shut', 'state')), folder)).toMatch(
      /may not be written by this user/,
    );
    chmodSync(join(folder, 'shut'), 0o000);
    expect(refusal(() => checkRoot(join(folder, 'shut'), []), folder)).toMatch(/may not be read by the user/);
    chmodSync(join(folder, 'shut'), 0o700);
  },
);

test('a root that is not there, or is a file, is told apart', () => {
  const folder = place();
  writeFileSync(join(folder, 'letter'), 'mine');
  expect(refusal(() => checkRoot(join(folder, 'none'), []), folder)).toMatch(/is not there.*--root$/);
  expect(refusal(() => checkRoot(join(folder, 'letter'), []), folder)).toMatch(/is a file.*--root$/);
});

async function usedState(folder: string): Promise<string> {
  const state = join(folder, 'state');
  const host = await openHost({ stateDir: state, sentinel: join(folder, 'sentinels') });
  const { granter } = await host.ensureGranter('alice');
  const session = await host.ensureSession({ name: 'demo', granters: ['alice'] });
  await host.offer('bell', { ring: async () => 'ding' });
  for (let n = 0; n < 30; n += 1) await E(granter).grant(session.id, `bell-${String.fromCharCode(97 + (n % 26))}${n}`, 'bell', {}); // biome-ignore format: one line
  await host.close();
  return state;
}

test('an emptied store beside its sentinel is refused, and stays as it is: it does not start anew', async () => {
  const folder = place();
  const state = await usedState(folder);
  truncateSync(join(state, 'store.db'), 0);
  const opening = (): Promise<string> => failure(openHost({ stateDir: state, sentinel: join(folder, 'sentinels') }));
  expect(await opening()).toMatch(/^this store was emptied.*[Rr]estore a backup/);
  expect(await opening()).toMatch(/^this store was emptied/);
  rmSync(join(state, 'store.db'));
  expect(await opening()).toMatch(/^the folder for the state holds other files/);
  expect(await failure(openStore({ path: state }))).toMatch(/^this store was emptied/);
});

test('a state that was emptied, and lost its key too, is refused: its sentinel knows the place', async () => {
  const folder = place();
  const state = await usedState(folder);
  const opening = (at = state): Promise<string> =>
    failure(openHost({ stateDir: at, sentinel: join(folder, 'sentinels') }));
  for (const name of readdirSync(state)) rmSync(join(state, name), { recursive: true });
  expect(await opening()).toMatch(/^this store was emptied: its sentinel saw \d+ commits.*[Rr]estore a backup/);
  expect(await opening()).toMatch(/^this store was emptied/);
  // The folder itself was removed, or is reached through a link.
  rmSync(state, { recursive: true });
  expect(await opening()).toMatch(/^this store was emptied/);
  symlinkSync(folder, join(folder, 'link'));
  expect(await opening(join(folder, 'link', 'state'))).toMatch(/^this store was emptied/);
  // Another folder is another state.
  await (await openHost({ stateDir: join(folder, 'other'), sentinel: join(folder, 'sentinels') })).close();
});

test('where a state was moved away from and opened elsewhere, a new one may begin', async () => {
  const folder = place();
  const state = await usedState(folder);
  const options = { sentinel: join(folder, 'sentinels') };
  renameSync(state, join(folder, 'moved'));
  await (await openHost({ stateDir: join(folder, 'moved'), ...options })).close();
  const fresh = await openHost({ stateDir: state, ...options });
  expect(await fresh.sessions()).toEqual([]);
  await fresh.close();
  const moved = await openHost({ stateDir: join(folder, 'moved'), ...options });
  expect((await moved.sessions()).length).toBe(1);
  await moved.close();
});

test('a damaged page is told as damage, and not as a full disk', async () => {
  const folder = place();
  const state = await usedState(folder);
  const file = join(state, 'store.db');
  const descriptor = openSync(file, 'r+');
  // All pages but the first: SQLite notices when it reads one.
  for (let page = 1; page < 12; page += 1) writeSync(descriptor, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
  closeSync(descriptor);
  expect(await failure(openHost({ stateDir: state, sentinel: join(folder, 'sentinels') }))).toMatch(/^this store is damaged.*restore a backup/); // biome-ignore format: one line
});

test('what the system refuses elsewhere is one line without a path or a stack', () => {
  const folder = place();
  const said: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = ((text: string) => said.push(text) > 0) as never;
  try {
    for (const name of ['none', 'none/below']) {
      try {
        openSync(join(folder, name), 'r');
      } catch (error) {
        expect(endOf(error)).toBe(1);
      }
    }
  } finally {
    process.stderr.write = write;
  }
  expect(said).toHaveLength(2);
  for (const line of said) expect(line).toMatch(/^hob: [^\n/]*\(ENOENT\)\n$/);
  expect(existsSync(join(folder, 'none'))).toBe(false);
});
