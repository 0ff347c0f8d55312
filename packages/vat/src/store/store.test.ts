/** One contract for every engine, then the promises that only a disk has. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closing, type EngineKind, linesAfter, storeSuite, unavailable } from '../../../../test/store-suite.ts';
import { engineOn, makeEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import { sqliteRows } from './sqlite.ts';
import { engineOf, openStore } from './store.ts';
import { threadedDisk } from './threaded.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'state');
}

const kinds: Readonly<Record<string, EngineKind>> = {
  memory: {
    open: async () => makeEngine(memoryRows()),
    small: async () => makeEngine(memoryRows({ maxLines: 100 })),
    reserve: false,
  },
  sqlite: {
    open: async () => makeEngine(sqliteRows(scratch())),
    small: async () => makeEngine(sqliteRows(scratch(), { maxPages: 64 })),
    reserve: true,
  },
  'sqlite in its thread': {
    open: async () => engineOn(await threadedDisk(scratch())),
    small: async () => engineOn(await threadedDisk(scratch(), { maxPages: 64 })),
    reserve: true,
  },
};
for (const [name, kind] of Object.entries(kinds)) storeSuite(name, kind);

test('a program holds a store that it can close and nothing else', async () => {
  const store = await openStore({ memory: true });
  expect(Reflect.ownKeys(store)).toEqual(['close', Symbol.asyncDispose]);
  expect(engineOf(store).head().seq).toBe(0);
  expect(() => engineOf({ close: async () => {}, [Symbol.asyncDispose]: async () => {} })).toThrow(
    expect.objectContaining({ code: 'invalid' }),
  );
  await store.close();
  await store.close();
});

describe('on a disk', () => {
  test('opened again it goes on where it was, under a later epoch; a full disk that has room again heals so', () => {
    const path = scratch();
    const first = closing(makeEngine(sqliteRows(path, { maxPages: 64 })));
    first.commit(first.epoch, { lines: linesAfter(first.head(), 5) });
    expect(() => first.commit(first.epoch, { lines: linesAfter(first.head(), 4000, 'x'.repeat(1000)) })).toThrow();
    first.close();
    const second = closing(makeEngine(sqliteRows(path)));
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.head()).toEqual(first.head());
    expect(() => second.commit(first.epoch, { lines: linesAfter(second.head(), 1) })).toThrow(unavailable);
    second.commit(second.epoch, { lines: linesAfter(second.head(), 1) });
    expect(second.lines(1, 10).length).toBe(6);
  });

  test('a store held by somebody is refused at once, without its path, and its holder notices nothing', async () => {
    const path = scratch();
    const url = JSON.stringify(new URL('./store.ts', import.meta.url).href);
    const program = `import { openStore } from ${url};
      try { await openStore({ path: ${JSON.stringify(path)} }); console.log('opened'); }
      catch (error) { console.log(error.code, error.message); }`;
    const tryToOpen = () => execFileSync(process.execPath, ['--input-type=module', '-e', program]).toString().trim();
    const held = 'unavailable another process uses this store: stop that host first, or give another --state folder';

    const engine = closing(makeEngine(sqliteRows(path)));
    engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1) });
    expect(tryToOpen()).toBe(held);
    // Also within one process. The refused opening must not have dropped the holder's lock (POSIX would, on a
    // close).
    expect(() => sqliteRows(path)).toThrow(unavailable);
    expect(tryToOpen()).toBe(held);
    engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1) });
    engine.close();
    expect(tryToOpen()).toBe('opened');
  });

  test('a newer store is refused and left as it is, byte for byte', () => {
    const path = scratch();
    makeEngine(sqliteRows(path)).close();
    const file = join(path, 'store.db');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    const before = readFileSync(file);
    expect(() => sqliteRows(path)).toThrow(expect.objectContaining({ code: 'invalid' }));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('what is no store is refused, without a path in the message', () => {
    const cases: Record<string, (path: string) => void> = {
      'a file of somebody else': (path) => writeFileSync(join(path, 'store.db'), 'hello '.repeat(999)),
      'a link to one': (path) => symlinkSync('/etc/hostname', join(path, 'store.db')),
    };
    for (const [name, put] of Object.entries(cases)) {
      const path = mkdtempSync(join(tmpdir(), 'hob-store-'));
      onTestFinished(() => rmSync(path, { recursive: true }));
      put(path);
      expect(() => sqliteRows(path), name).toThrow(
        expect.objectContaining({ code: 'invalid', message: expect.not.stringContaining(path) }),
      );
    }
    expect(() => sqliteRows('/proc/nowhere/at all')).toThrow(
      expect.objectContaining({ code: 'unavailable', message: expect.not.stringContaining('nowhere') }),
    );
  });

  test('nobody else may read it: folder 0700, each file 0600, also one found wider', () => {
    const path = join(scratch(), 'deep', 'er');
    const modes = () =>
      ['', '..', 'store.db', 'store.db-wal'].map((name) => (statSync(join(path, name)).mode & 0o777).toString(8));
    const first = makeEngine(sqliteRows(path));
    expect(modes()).toEqual(['700', '700', '600', '600']);
    first.close();
    chmodSync(join(path, 'store.db'), 0o644);
    const second = closing(makeEngine(sqliteRows(path)));
    second.commit(second.epoch, { lines: linesAfter(second.head(), 1) });
    expect(modes()).toEqual(['700', '700', '600', '600']);
  });

  test('the lock of a killed holder is free at once', async () => {
    const path = scratch();
    const url = JSON.stringify(new URL('./store.ts', import.meta.url).href);
    const program = `import { openStore } from ${url};
      const store = await openStore({ path: ${JSON.stringify(path)} }); console.log('holding'); setInterval(() => store, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(() => sqliteRows(path)).toThrow(unavailable);
    const over = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await over;
    closing(makeEngine(sqliteRows(path)));
  });
});
