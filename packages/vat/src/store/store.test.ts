/** One contract for every engine, then the promises that only a disk has. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeLine } from '../ledger/line.ts';
import type { StoreEngine } from './engine.ts';
import { engineOn, makeEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import type { LedgerLine } from './records.ts';
import { sqliteRows } from './sqlite.ts';
import { engineOf, openStore } from './store.ts';
import { threadedDisk } from './threaded.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'state');
}

function closing(engine: StoreEngine): StoreEngine {
  onTestFinished(() => engine.close());
  return engine;
}

/** Returns `count` lines that follow the head. */
function linesAfter({ seq, hash }: { seq: number; hash: string }, count: number, pad = ''): LedgerLine[] {
  const lines: LedgerLine[] = [];
  for (let i = 1; i <= count; i += 1) {
    const line = makeLine({ seq: seq + i, t: 0, vt: 0, kind: 'call', fields: { pad }, prev: hash });
    hash = line.hash;
    lines.push(line);
  }
  return lines;
}

const unavailable = expect.objectContaining({ name: 'CapError', code: 'unavailable' });
const engines = {
  memory: async () => makeEngine(memoryRows()),
  sqlite: async () => makeEngine(sqliteRows(scratch())),
  'sqlite in its thread': async () => engineOn(await threadedDisk(scratch())),
};
/** Room for some small commits, none for 4,000 lines of 1 KiB. */
const small = {
  memory: async () => makeEngine(memoryRows({ maxLines: 100 })),
  sqlite: async () => makeEngine(sqliteRows(scratch(), { maxPages: 64 })),
  'sqlite in its thread': async () => engineOn(await threadedDisk(scratch(), { maxPages: 64 })),
};

for (const kind of ['memory', 'sqlite', 'sqlite in its thread'] as const) {
  describe(kind, () => {
    test('what is committed is there, in order, byte for byte, and the head is its last line', async () => {
      const engine = closing(await engines[kind]());
      expect(engine.head()).toEqual({ seq: 0, hash: '' });
      const lines = linesAfter(engine.head(), 10);
      engine.commit(engine.epoch, { lines: lines.slice(0, 3) });
      engine.commit(engine.epoch, { lines: lines.slice(3) });
      expect(engine.head()).toEqual({ seq: 10, hash: lines.at(-1)?.hash });
      const plain = (from: number, limit: number) =>
        engine.lines(from, limit).map(({ seq, bytes }) => [seq, Buffer.from(bytes).toString()]);
      const expected = lines.map(({ seq, bytes }) => [seq, Buffer.from(bytes).toString()]);
      expect(plain(1, 100)).toEqual(expected);
      expect(plain(4, 2)).toEqual(expected.slice(3, 5));
      expect(plain(-5, 2)).toEqual(expected.slice(0, 2));
      expect(plain(11, 5)).toEqual([]);
    });

    test('who reads a line cannot change it, nor who wrote it', async () => {
      const engine = closing(await engines[kind]());
      const [line] = linesAfter(engine.head(), 1);
      const before = Buffer.from(line!.bytes).toString();
      engine.commit(engine.epoch, { lines: [line!] });
      line!.bytes.fill(0);
      engine.lines(1, 1)[0]?.bytes.fill(1);
      expect(Buffer.from(engine.lines(1, 1)[0]!.bytes).toString()).toBe(before);
    });

    test('an older or invented epoch is refused, and that harms nobody', async () => {
      const engine = closing(await engines[kind]());
      const lines = linesAfter(engine.head(), 1);
      for (const epoch of [engine.epoch - 1, engine.epoch + 1, Number.NaN]) {
        expect(() => engine.commit(epoch, { lines })).toThrow(unavailable);
      }
      expect(engine.head().seq).toBe(0);
      engine.commit(engine.epoch, { lines });
      expect(engine.head().seq).toBe(1);
    });

    test('lines that do not follow the head are refused: none is overwritten, none left out', async () => {
      const engine = closing(await engines[kind]());
      const lines = linesAfter(engine.head(), 4);
      engine.commit(engine.epoch, { lines: lines.slice(0, 2) });
      for (const wrong of [lines.slice(0, 2), lines.slice(1), lines.slice(3), [lines[2]!, lines[2]!]]) {
        expect(() => engine.commit(engine.epoch, { lines: wrong })).toThrow(
          expect.objectContaining({ code: 'invalid' }),
        );
      }
      engine.commit(engine.epoch, { lines: lines.slice(2) });
      expect(engine.lines(1, 10).length).toBe(4);
    });

    test('a commit that the disk refuses leaves nothing of itself, and is the last', async () => {
      const engine = closing(await small[kind]());
      engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 3) });
      const head = engine.head();
      let told = 0;
      engine.onCommit(() => (told += 1));
      const large = linesAfter(head, 4000, 'x'.repeat(1000));
      expect(() => engine.commit(engine.epoch, { lines: large })).toThrow(unavailable);
      expect(engine.head()).toEqual(head);
      expect(engine.lines(1, 10_000).length).toBe(3);
      // A small commit would fit, but it was prepared after the failed one and must not be written.
      expect(() => engine.commit(engine.epoch, { lines: linesAfter(head, 1) })).toThrow(unavailable);
      expect(engine.lines(1, 10_000).length).toBe(3);
      expect(told).toBe(0);
    });

    test('listeners hear of each commit after it is done, of the close while lines can be read, and of nothing once stopped', async () => {
      const engine = closing(await engines[kind]());
      const heard: string[] = [];
      const hear = (name: string) => () => void heard.push(`${name} ${engine.lines(1, 10).length}`);
      const stop = engine.onCommit(hear('first'));
      engine.onCommit(hear('second'));
      engine.onClose(hear('closing'));
      engine.onClose(hear('never'))();
      engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 2) });
      stop();
      engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1) });
      engine.commit(engine.epoch, { lines: [] });
      await engine.close();
      await engine.close();
      expect(heard).toEqual(['first 2', 'second 2', 'second 3', 'closing 3']);
    });

    test('a closed store says so', async () => {
      const engine = await engines[kind]();
      const lines = linesAfter(engine.head(), 1);
      await engine.close();
      expect(() => engine.commit(engine.epoch, { lines })).toThrow(unavailable);
      expect(() => engine.lines(1, 1)).toThrow(unavailable);
      expect(engine.head()).toEqual({ seq: 0, hash: '' });
    });

    /** Requests commits. Returns their results in order. */
    const later = (engine: StoreEngine) => {
      const told: string[] = [];
      const give = (name: string, writes: Parameters<StoreEngine['commit']>[1]): Promise<void> =>
        new Promise((resolve) =>
          engine.commitLater(engine.epoch, writes, (error) => {
            told.push(`${name} ${error === undefined ? 'done' : (error as { code: string }).code}`);
            resolve();
          }),
        );
      return { told, give };
    };
    const cell = (key: string, value: string) => ({ lines: [], cells: new Map([[key, value]]) });

    test('commits that are given are done in order, each on the one before; what is committed at once comes after them', async () => {
      const engine = closing(await engines[kind]());
      const { told, give } = later(engine);
      const given = [];
      for (const name of ['a', 'b', 'c']) given.push(give(name, { lines: linesAfter(engine.head(), 2) }));
      expect(engine.head().seq).toBe(6);
      engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1), cells: new Map([['a/x', '1']]) });
      expect([engine.head().seq, engine.lines(1, 100).length, engine.get('a/x')]).toEqual([7, 7, '1']);
      await Promise.all(given);
      expect(told).toEqual(['a done', 'b done', 'c done']);
      await give('nothing', { lines: [] });
      expect(await engine.getAllLater(['a/x', 'a/y'])).toEqual(['1', undefined]);
      expect(await engine.pageLater('a/', 'a/', 9)).toEqual([['a/x', '1']]);
    });

    test('what was given to follow a commit that failed is not done, also where it would fit; the head is the last that was done', async () => {
      const engine = closing(await small[kind]());
      engine.commit(engine.epoch, cell('a/before', 'x'));
      const { told, give } = later(engine);
      const first = give('fits', { lines: linesAfter(engine.head(), 3) });
      const head = engine.head();
      const large = give('large', { lines: linesAfter(head, 4000, 'x'.repeat(1000)) });
      const follower = give('follower', cell('a/follower', 'x'));
      const behind = give('lines', { lines: linesAfter(engine.head(), 1) });
      await Promise.all([first, large, follower, behind]);
      expect(told).toEqual(['fits done', 'large unavailable', 'follower unavailable', 'lines unavailable']);
      expect(engine.head()).toEqual(head);
      expect([engine.get('a/before'), engine.get('a/follower'), engine.lines(1, 9999).length]).toEqual([
        'x',
        undefined,
        3,
      ]);
      expect([engine.full, engine.failed]).toEqual([true, false]);
      await give('later', cell('a/later', 'x'));
      expect(told.at(-1)).toBe('later unavailable');
      const ending = linesAfter(head, 1).map((line) => ({ ...line, urgency: 'ends' as const }));
      await give('ends', { lines: ending, cells: new Map([['a/revoked', 'x']]) });
      if (kind !== 'memory') expect([told.at(-1), engine.get('a/revoked')]).toEqual(['ends done', 'x']);
    });

    test('whoever gave a commit is told, also where the store is closed meanwhile', async () => {
      const engine = await engines[kind]();
      const { told, give } = later(engine);
      const given = [give('a', cell('a/a', 'x')), give('b', { lines: linesAfter(engine.head(), 1) })];
      const over = engine.close();
      await Promise.all([...given, over]);
      await give('late', cell('a/c', 'x'));
      expect(told).toEqual(['a done', 'b done', 'late unavailable']);
    });
  });
}

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
