/** A store that was put back to an earlier state is noticed. A backup is one file and restores completely. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import type { Definition, Far } from '../core/types.ts';
import { crc } from '../drivers/hash.ts';
import { E } from '../eventual/eventual.ts';
import { exportLedger } from '../ledger/export.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { define } from '../turn/portrait.ts';
import { storeEra, suspended } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { restoreStore } from './drivers/backup.ts';
import { backup, openStore, type Store } from './store.ts';

/** A cap with a limit of uses, as a grant keeps it. */
interface Uses {
  use(): number;
}
const Uses: Definition<Uses, [left: number, era: number]> = define('Uses', (bcom, left, era) => ({
  use() {
    if (suspended(era)) throw new Error('suspended');
    if (left === 0) throw new Error('exhausted');
    return bcom(Uses(left - 1, era), left - 1);
  },
}));

function scratch() {
  const above = mkdtempSync(join(tmpdir(), 'hob-history-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  return { above, path: join(above, 'state'), copy: join(above, 'copy'), sentinel: sentinelOf(join(above, 'state')) };
}

/** Where the sentinel of each store here is, unless a test says otherwise. */
const sentinelOf = (path: string): string => join(dirname(path), 'sentinels');

/** Runs one process. */
async function life<R>(
  path: string,
  body: (vats: Vats, uses: Far<Uses>, store: Store) => Promise<R>,
  sentinel: string | undefined = sentinelOf(path),
): Promise<R> {
  const store = await openStore({ path, sentinel });
  try {
    const vats = await openVats({ store, definitions: [Uses] });
    try {
      return await body(vats, await vats.vat('v').root('uses', () => Uses(3, storeEra())), store);
    } finally {
      await vats.close();
    }
  } finally {
    await store.close();
  }
}
const use = (path: string, sentinel?: string): Promise<number> => life(path, (_vats, uses) => E(uses).use(), sentinel);
/** Returns why the store counts as put back. */
const because = (path: string, sentinel?: string): Promise<string | undefined> =>
  life(path, async (vats) => vats.restoredBecause, sentinel);
const kinds = async (store: Store): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const line of exportLedger(store)) found.push((JSON.parse(line) as { k: string }).k);
  return found;
};

test('a store that is opened again and again is what it was', async () => {
  const { path } = scratch();
  expect([await use(path), await use(path)]).toEqual([2, 1]);
  expect(await life(path, async (vats) => vats.restored)).toBe(false);
});

test('one that was put back is known: limited grants wait until a person has looked, and the ledger says so', async () => {
  const { path, copy } = scratch();
  await use(path);
  cpSync(path, copy, { recursive: true });
  expect([await use(path), await use(path)]).toEqual([1, 0]);
  // Two uses come back to life with the old state.
  rmSync(path, { recursive: true });
  cpSync(copy, path, { recursive: true });
  await life(path, async (vats, uses, store) => {
    expect(vats.restored).toBe(true);
    await expect(E(uses).use()).rejects.toThrow('suspended');
    // Grants made now are not suspended.
    expect(await vats.vat('v').turn(() => spawn(Uses(1, storeEra())).use())).toBe(0);
    expect(await kinds(store)).toContain('restored');
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
  });
  // It stays suspended at every start.
  await expect(use(path)).rejects.toThrow('suspended');
  await life(path, async (vats, uses, store) => {
    await expect(vats.trust('')).rejects.toMatchObject({ code: 'invalid' });
    await vats.trust('Ada');
    expect(vats.restored).toBe(false);
    expect(await E(uses).use()).toBe(1);
    expect((await kinds(store)).filter((kind) => kind === 'restored' || kind === 'trust')).toEqual([
      'restored',
      'trust',
    ]);
  });
  expect(await use(path)).toBe(0);
  // The same copy, put back once more, is noticed once more.
  rmSync(path, { recursive: true });
  cpSync(copy, path, { recursive: true });
  await expect(use(path)).rejects.toThrow('suspended');
});

test('a store without its sentinel, or with another one’s or a damaged one, waits too', async () => {
  for (const harm of [
    (file: string) => unlinkSync(file),
    (file: string) => writeFileSync(file, 'x'),
    (file: string) =>
      writeFileSync(file, readFileSync(file, 'latin1').replaceAll(/ [0-9a-f]{32} /g, ` ${'0'.repeat(32)} `)),
  ]) {
    const { path, sentinel } = scratch();
    await use(path);
    harm(join(sentinel, readdirSync(sentinel)[0] as string));
    expect(await because(path)).toMatch(/^the sentinel of this state is not .* suspended until you confirm them$/);
    await expect(use(path)).rejects.toThrow('suspended');
    await life(path, (vats) => vats.trust('Ada'));
    expect(await use(path)).toBe(1);
  }
});

test('a backup is one file of its owner, taken while the store goes on; restored it verifies and waits', async () => {
  const { above, path } = scratch();
  const file = join(above, 'hob.backup');
  await life(path, async (_vats, uses, store) => {
    await E(uses).use();
    const written = backup(store, file);
    const meanwhile = E(uses).use();
    await Promise.all([written, meanwhile]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(above).filter((name) => name.startsWith('hob.backup'))).toEqual(['hob.backup']);
    await expect(backup(store, file)).rejects.toMatchObject({ code: 'invalid' });
    await expect(backup(store, join(above, 'nowhere', 'x'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining(above),
    });
    expect(await E(uses).use()).toBe(0);
  });
  const again = join(above, 'again');
  await restoreStore(file, { path: again });
  await expect(restoreStore(file, { path: again })).rejects.toMatchObject({ code: 'invalid' });
  await expect(restoreStore(join(above, 'none'), { path: join(above, 'other') })).rejects.toMatchObject({
    code: 'unavailable',
  });
  await life(again, async (vats, uses, store) => {
    // The ledger goes on with the same key, which is in its file again and no longer in the database.
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
    expect(readFileSync(join(again, 'ledger.key'))).toEqual(readFileSync(join(path, 'ledger.key')));
    expect(vats.restored).toBe(true);
    await expect(E(uses).use()).rejects.toThrow('suspended');
    await vats.trust('Ada');
    expect([0, 1]).toContain(await E(uses).use());
  });
  const secret = readFileSync(join(path, 'ledger.key'), 'latin1').split('\n')[1] as string;
  for (const name of readdirSync(again))
    if (name.startsWith('store.db')) expect(readFileSync(join(again, name), 'latin1')).not.toContain(secret);
});

test('a store in memory has no backup', async () => {
  const store = await openStore({ memory: true });
  await expect(backup(store, 'x')).rejects.toMatchObject({ code: 'unavailable' });
  expect(existsSync('x')).toBe(false);
  await store.close();
});

test('a store that was moved, or is opened through a link or as another user names it, is what it was', async () => {
  const { above, path, sentinel } = scratch();
  await use(path, sentinel);
  symlinkSync(path, join(above, 'link'));
  expect(await use(join(above, 'link'), sentinel)).toBe(1);
  mkdirSync(join(above, 'elsewhere'));
  renameSync(path, join(above, 'elsewhere', 'moved'));
  expect(await because(join(above, 'elsewhere', 'moved'), sentinel)).toBeUndefined();
  expect(await use(`${join(above, 'elsewhere')}/./moved/`, sentinel)).toBe(0);
});

test('two stores share a folder for their sentinels; a copy that goes on beside its original is known, and so is the original', async () => {
  const { above, path, copy, sentinel } = scratch();
  const other = join(above, 'other');
  await use(path, sentinel);
  await use(other, sentinel);
  expect(readdirSync(sentinel)).toHaveLength(2);
  expect([await use(path, sentinel), await use(other, sentinel)]).toEqual([1, 1]);
  cpSync(path, copy, { recursive: true });
  await use(path, sentinel);
  expect(await because(copy, sentinel)).toMatch(/^this state was put back: its last \d+ commits are missing\./);
  await expect(use(copy, sentinel)).rejects.toThrow('suspended');
  await expect(use(path, sentinel)).rejects.toThrow('suspended');
  expect(await use(other, sentinel)).toBe(0);
});

test('where the folder of the sentinel is not kept, or not named, what was granted waits, and new grants do not', async () => {
  const { above, path, sentinel } = scratch();
  await use(path);
  rmSync(sentinel, { recursive: true });
  // As a container starts, again and again.
  for (const _ of [1, 2]) {
    await expect(use(path)).rejects.toThrow('suspended');
    rmSync(sentinel, { recursive: true });
  }
  await life(path, async (vats, uses) => {
    expect(vats.restored).toBe(true);
    expect(await vats.vat('v').turn(() => spawn(Uses(1, storeEra())).use())).toBe(0);
    await vats.trust('Ada');
    expect(await E(uses).use()).toBe(1);
  });
  expect(await because(path)).toBeUndefined();
  const store = await openStore({ path });
  const vats = await openVats({ store, definitions: [Uses] });
  expect(vats.restoredBecause).toMatch(/^this state has a sentinel, and no folder was named /);
  await vats.close();
  await store.close();
  // A look without the sentinel does not make it a store without one.
  await expect(use(path, join(above, 'another'))).rejects.toThrow('suspended');
});

test('a folder that cannot be written is refused before anything changes, and the state opens with another one', async () => {
  const { above, path, sentinel } = scratch();
  await use(path);
  const file = join(above, 'file');
  writeFileSync(file, '');
  const bytes = (): Buffer => readFileSync(join(path, 'store.db'));
  const before = bytes();
  await expect(openStore({ path, sentinel: file })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/--sentinel DIR$/),
  });
  await expect(openStore({ path, sentinel: join(path, 'inside') })).rejects.toMatchObject({ code: 'invalid' });
  rmSync(join(path, 'inside'), { recursive: true });
  expect(bytes().equals(before)).toBe(true);
  expect(await use(path, sentinel)).toBe(1);
});

test('the sentinel that an earlier version kept beside the folder moves to the named one, once, and still tells', async () => {
  const { above, path, copy, sentinel } = scratch();
  await use(path);
  const [name = ''] = readdirSync(sentinel);
  const id = name.replace('.sentinel', '');
  const beside = join(above, 'state.sentinel');
  /** A store as 0.1 left it, with this many commits. */
  const asBefore = (): void => {
    const database = new DatabaseSync(join(path, 'store.db'));
    const commits = Number(database.prepare('SELECT commits FROM history').get()?.['commits']);
    database.exec('UPDATE history SET watched = 1');
    database.close();
    const text = `${id} ${commits}`;
    writeFileSync(beside, `${crc(text)} ${text}`.padEnd(127).concat('\n').repeat(2));
    rmSync(sentinel, { recursive: true, force: true });
  };
  asBefore();
  cpSync(path, copy, { recursive: true });
  expect(await use(path)).toBe(1);
  expect([existsSync(beside), readdirSync(sentinel)]).toEqual([false, [name]]);
  expect(await use(path)).toBe(0);
  // A store that was put back before its sentinel moved is noticed by the old one.
  asBefore();
  rmSync(path, { recursive: true });
  cpSync(copy, path, { recursive: true });
  expect(await because(path)).toMatch(/^this state was put back: /);
  // A store whose old sentinel is gone cannot be judged.
  asBefore();
  rmSync(beside);
  expect(await because(path)).toMatch(/^the sentinel of this state is not /);
});

test('what is restored from a backup waits also where no sentinel is kept at all', async () => {
  const { above, path } = scratch();
  const store = await openStore({ path });
  const vats = await openVats({ store, definitions: [Uses] });
  await vats.vat('v').root('uses', () => Uses(3, storeEra()));
  await backup(store, join(above, 'backup'));
  await vats.close();
  await store.close();
  const again = join(above, 'again');
  await restoreStore(join(above, 'backup'), { path: again });
  const restored = await openStore({ path: again });
  const later = await openVats({ store: restored, definitions: [Uses] });
  expect(later.restoredBecause).toMatch(/^this state was restored from a backup\. /);
  await expect(E(await later.vat('v').root('uses', () => Uses(3, 0))).use()).rejects.toThrow('suspended');
  await later.close();
  await restored.close();
});
