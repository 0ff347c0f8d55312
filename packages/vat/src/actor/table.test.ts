/** Tables: rolled back row by row, ordered by UTF-8 bytes, charged to the session that wrote the row. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { attempt, type Definition, define, E, spawn, type Table, table, type Vats } from '../index.ts';

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));

interface Book {
  set(key: string, value: unknown): void;
  setAndFail(key: string, value: unknown): void;
  delete(key: string): boolean;
  all(): readonly (readonly [string, unknown])[];
  rows(): Table<unknown>;
}
const Book: Definition<Book, [rows: Table<unknown>]> = define('Book', (_bcom, rows) => ({
  set: (key, value) => rows.set(key, value),
  setAndFail: (key, value) => {
    rows.set(key, value);
    rows.delete('kept');
    throw new Error('no');
  },
  delete: (key) => rows.delete(key),
  all: () => [...rows.entries()],
  rows: () => rows,
}));

test('rows that a failed turn wrote are gone, and rows that it deleted are back in their order', async () => {
  const book = await vats.vat('a').turn(() => spawn(Book(table())));
  for (const key of ['a', 'kept', 'z']) await E(book).set(key, 1);
  await expect(E(book).setAndFail('a', 2)).rejects.toThrow('no');
  await expect(E(book).setAndFail('new', 2)).rejects.toThrow('no');
  expect(await E(book).all()).toEqual([
    ['a', 1],
    ['kept', 1],
    ['z', 1],
  ]);
});

test('keys walk in the order of their UTF-8 bytes, from a key, up to a limit', async () => {
  const keys = ['\u{1f47a}', '\uffff', 'é', 'z', 'a', '', 'aa', '\ue000', 'Z'];
  const walked = await vats.vat('a').turn(() => {
    const rows = table<number>();
    for (const key of keys) rows.set(key, 1);
    return [
      [...rows.entries()].map(([key]) => key),
      [...rows.entries('a', 2)].map(([key]) => key),
      [...rows.entries('b')].map(([key]) => key)[0],
      [...rows.entries('\u{1f47b}')],
    ] as const;
  });
  const byBytes = [...keys].sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
  expect(walked).toEqual([byBytes, ['a', 'aa'], 'z', []]);
});

test('a walk sees rows as they are when it comes to them, and does not stumble over deletions', async () => {
  const seen = await vats.vat('a').turn(() => {
    const rows = table<number>();
    for (const key of ['a', 'b', 'c']) rows.set(key, 1);
    const met: string[] = [];
    for (const [key] of rows.entries()) {
      met.push(key);
      if (key === 'a') {
        rows.delete('a');
        rows.delete('b');
        rows.set('d', 2);
      }
    }
    return met;
  });
  expect(seen).toEqual(['a', 'c', 'd']);
});

test('a walk among keys that come and go finds each that is there when it comes by, once, in order', async () => {
  const name = (n: number): string => String(n).padStart(4, '0');
  // More than a chunk of keys, so that a walk goes from one chunk to the next.
  const some = fc.nat(1599);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ step: fc.nat(799), n: some, comes: fc.boolean() }), { maxLength: 60 }),
      some,
      async (changes, from) => {
        await vats.vat('a').turn(() => {
          const rows = table<number>();
          const there = new Set<number>();
          const change = (n: number, comes: boolean): void => {
            if (comes) rows.set(name(n), n);
            else rows.delete(name(n));
            if (comes) there.add(n);
            else there.delete(n);
          };
          for (let n = 0; n < 1600; n += 2) change(n, true);
          const firstFrom = (least: number): number | undefined => {
            for (let n = least; n < 1600; n += 1) if (there.has(n)) return n;
            return undefined;
          };
          let expected = firstFrom(from);
          let step = 0;
          for (const [key, value] of rows.entries(name(from))) {
            if (key !== name(expected ?? -1) || value !== expected) expect([key, value]).toEqual([expected, expected]);
            for (const { step: when, n, comes } of changes) if (when === step) change(n, comes);
            // The row that the walk is at goes as well, and so does the one after it.
            if (step % 97 === 0) change(value, false);
            if (step % 89 === 0) change(value + 2, false);
            step += 1;
            expected = firstFrom(value + 1);
          }
          expect(expected).toBeUndefined();
        });
      },
    ),
    { numRuns: 50 },
  );
});

test('a table is near only in its own vat, and names who to ask elsewhere', async () => {
  const book = await vats.vat('a').turn(() => spawn(Book(table())));
  const rows = (await E(book).rows()) as unknown as Table<unknown>;
  for (const use of [() => rows.get('k'), () => rows.set('k', 1), () => rows.size, () => [...rows.entries()]])
    await expect(vats.vat('b').turn(use)).rejects.toMatchObject({ code: 'not-callable' });
});

test('a full budget refuses a new row and still overwrites and frees its own', async () => {
  const meter = vats.meter('small', { rows: 2 });
  const book = await vats.vat('a', { meter }).turn(() => spawn(Book(table())));
  await E(book).set('a', 1);
  await E(book).set('b', 1);
  await expect(E(book).set('c', 1)).rejects.toMatchObject({ code: 'limit' });
  await E(book).set('a', 2);
  expect(meter.used()['rows']).toBe(2);
  await E(book).delete('b');
  await E(book).set('c', 3);
  expect(await E(book).all()).toEqual([
    ['a', 2],
    ['c', 3],
  ]);
});

test('the session that overwrites a row pays for it from then on', async () => {
  const one = vats.meter('one', { rows: 5 });
  const two = vats.meter('two', { rows: 5 });
  const book = await vats.vat('a', { meter: one }).turn(() => spawn(Book(table())));
  await E(book).set('k', 'x'.repeat(100));
  const writer = vats.vat('b', { meter: two });
  await writer.turn(() => E(book).set('k', 'y'));
  expect([one.used()['rows'], two.used()['rows']]).toEqual([0, 1]);
  await expect(writer.turn(() => E(book).setAndFail('k', 'z'))).rejects.toThrow('no');
  expect([one.used()['rows'], two.used()['rows']]).toEqual([0, 1]);
});

test('a table that nobody holds gives its rows back to a limited budget', async () => {
  const meter = vats.meter('small', { rows: 1000 });
  await vats.vat('a', { meter }).turn(() => {
    const rows = table<number>();
    for (let i = 0; i < 100; i += 1) rows.set(`k${i}`, i);
  });
  for (let i = 0; i < 50 && meter.used()['rows'] !== 0; i += 1) {
    globalThis.gc?.();
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(meter.used()).toMatchObject({ rows: 0, portraitBytes: 0 });
});

type Step = readonly ['set' | 'delete' | 'attempt' | 'fail', string, number];
const step = fc.tuple(
  fc.constantFrom('set', 'delete', 'attempt', 'fail'),
  fc.string({ maxLength: 2 }),
  fc.nat(9),
) as fc.Arbitrary<Step>;

test('any steps, undone or kept, leave what a plain map with copies would hold', async () => {
  const vat = vats.vat('a');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.array(step, { maxLength: 12 }), fc.boolean())), async (turns) => {
      let model = new Map<string, number>();
      const book = await vat.turn(() => spawn(Book(table())));
      for (const [steps, fails] of turns) {
        const next = new Map(model);
        const act = (rows: Table<unknown>, map: Map<string, number>): void => {
          for (const [what, key, value] of steps) {
            if (what === 'set') {
              rows.set(key, value);
              map.set(key, value);
            } else if (what === 'delete') expect(rows.delete(key)).toBe(map.delete(key));
            else {
              try {
                attempt(() => {
                  rows.set(key, value);
                  rows.delete('a');
                  if (what === 'fail') throw new Error('undo');
                });
                map.set(key, value);
                map.delete('a');
              } catch {}
            }
            expect(rows.size).toBe(map.size);
          }
        };
        await vat
          .turn(() => {
            act((book as unknown as Book).rows(), next);
            if (fails) throw new Error('no');
          })
          .catch((error: Error) => expect(error.message).toBe('no'));
        if (!fails) model = next;
        const rows = await E(book).all();
        expect(rows).toEqual([...model].sort(([x], [y]) => Buffer.compare(Buffer.from(x), Buffer.from(y))));
      }
    }),
    { numRuns: 60 },
  );
});
