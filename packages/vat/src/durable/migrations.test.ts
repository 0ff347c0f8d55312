/** Definitions that change: versions that follow each other, and labels. */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { AnyDefinition, Definition } from '../core/types.ts';
import { define, E, openStore, openVats, type Store, spawn, type Vats } from '../index.ts';

interface Note {
  read(): unknown;
  write(text: string): void;
}
type Args = readonly unknown[];

/** Definitions of one kind, as the program had them in its versions 0, 1, 2, …; `label` may change with them. */
const versionOf = (version: number, label: string, options: object): Definition<Note, Args> =>
  define<Note, Args>(
    label,
    ((bcom: (next: unknown) => unknown, ...args: unknown[]) => ({
      read: () => args,
      write: (text: string) => bcom(note(...args.slice(0, -1), text)),
    })) as never,
    { version, ...options } as never,
  );
let note: (...args: unknown[]) => unknown;

async function run<R>(
  store: Store,
  definitions: readonly AnyDefinition[],
  body: (vats: Vats) => Promise<R>,
): Promise<R> {
  const vats = await openVats({ store, definitions });
  try {
    return await body(vats);
  } finally {
    await vats.close();
  }
}

/** A store that a program of the definition `old` left: it holds one note with these arguments. */
async function storeOf(old: Definition<Note, Args>, ...args: Args): Promise<Store> {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  note = old;
  await run(store, [old], async (vats) => {
    await vats.vat('a').root('note', () => old(...args));
  });
  return store;
}

test('migrations chain version by version, and each runs once for an actor', async () => {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  const ran: string[] = [];
  const step = (name: string, args: Args): Args => {
    ran.push(name);
    return args;
  };
  const migrations = {
    1: (text: string) => step('1', ['by nobody', text]),
    2: (by: string, text: string) => step('2', [by, 0, text]),
    3: (by: string, at: number, text: string) => step('3', [{ by, at }, text]),
  };
  const old = versionOf(0, 'Note', {});
  note = old;
  await run(store, [old], async (vats) => {
    await vats.vat('a').root('note', () => old('first'));
  });
  const today = versionOf(3, 'Note', { migrations });
  note = today;
  const seen = await run(store, [today], async (vats) => {
    const it = await vats.vat('a').root('note', () => today());
    await E(it).write('second');
    return E(it).read();
  });
  expect(seen).toEqual([{ by: 'by nobody', at: 0 }, 'second']);
  expect(ran).toEqual(['1', '2', '3']);
  await run(store, [today], async (vats) => {
    expect(await E(await vats.vat('a').root('note', () => today())).read()).toEqual(seen);
  });
  expect(ran).toEqual(['1', '2', '3']);
});

test('a label and a version change together: `formerly` finds the actors, the migrations bring them on', async () => {
  const store = await storeOf(versionOf(1, 'Note', {}), 'a', 'text');
  const today = versionOf(3, 'Memo', {
    formerly: ['Note'],
    migrations: { 2: (...args: unknown[]) => ['two', ...args], 3: (...args: unknown[]) => ['three', ...args] },
  });
  note = today;
  for (let restart = 0; restart < 2; restart += 1)
    await run(store, [today], async (vats) => {
      const it = await vats.vat('a').root('note', () => today());
      expect(await E(it).read()).toEqual(['three', 'two', 'a', 'text']);
      await E(it).write('text');
    });
});

test('a gap among the migrations is refused when the store opens, with the version; a straight upgrade closes it', async () => {
  const store = await storeOf(versionOf(0, 'Note', {}), 'text');
  const migrations = { 1: (...args: unknown[]) => [1, ...args], 3: (...args: unknown[]) => [3, ...args] };
  await expect(openVats({ store, definitions: [versionOf(3, 'Note', { migrations })] })).rejects.toThrow(
    /"Note" in version 0.*migrations\[1\]/,
  );
  const straight = versionOf(3, 'Note', { migrations, upgrade: { 1: (...args: unknown[]) => ['straight', ...args] } });
  await run(store, [straight], async (vats) => {
    expect(await E(await vats.vat('a').root('note', () => straight())).read()).toEqual(['straight', 1, 'text']);
  });
});

test('a migration that returns no list, or throws, leaves the actor as it was: a later program reads it', async () => {
  const store = await storeOf(versionOf(0, 'Note', {}), 'text');
  const fail = (): never => {
    throw new Error('not yet');
  };
  for (const bad of [() => 'text', fail]) {
    const wrong = versionOf(2, 'Note', { migrations: { 1: (...args: unknown[]) => args, 2: bad } });
    await run(store, [wrong], async (vats) => {
      const it = await vats.vat('a').root('note', () => wrong());
      await expect(E(it).read()).rejects.toThrow(/returned no list|not yet/);
    });
  }
  const good = versionOf(2, 'Note', {
    migrations: { 1: (...args: unknown[]) => args, 2: (text: string) => [text, 2] },
  });
  await run(store, [good], async (vats) => {
    expect(await E(await vats.vat('a').root('note', () => good())).read()).toEqual(['text', 2]);
  });
});

test('whatever versions a store went through, an actor comes to the same arguments', async () => {
  const migrations = Object.fromEntries(
    Array.from({ length: 5 }, (_, i) => [i + 1, (...args: unknown[]) => [...args, i + 1]]),
  );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 4 })), fc.boolean(), async (between, changes) => {
      const store = await openStore({ memory: true });
      for (const version of [0, ...between.sort((a, b) => a - b), 5]) {
        const now = versionOf(version, 'Note', { migrations });
        note = (...args: unknown[]) => now(...args);
        await run(store, [now], async (vats) => {
          const it = await vats.vat('a').root('note', () => now('text'));
          const args = (await E(it).read()) as unknown[];
          expect(args).toEqual(['text', ...Array.from({ length: version }, (_, i) => i + 1)]);
          // Written again in this version, or left in the one before.
          if (changes) await E(it).write(args.at(-1) as string);
        });
      }
      await store.close();
    }),
    { numRuns: 15 },
  );
});

test('a migration may spawn: what it makes is written with the actor', async () => {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  const old = versionOf(0, 'Note', {});
  note = old;
  const Page = define<{ text(): string }, [text: string]>('Page', (_bcom, text) => ({ text: () => text }));
  await run(store, [old], async (vats) => {
    await vats.vat('a').root('note', () => old('text'));
  });
  const today = versionOf(2, 'Note', {
    migrations: { 1: (text: string) => [spawn(Page(text))], 2: (page: object) => [page, 2] },
  });
  note = today;
  const texts: unknown[] = [];
  for (let restart = 0; restart < 2; restart += 1)
    await run(store, [today, Page], async (vats) => {
      const [page] = (await E(await vats.vat('a').root('note', () => today())).read()) as [{ text(): string }];
      texts.push(await E(page).text());
    });
  expect(texts).toEqual(['text', 'text']);
});
