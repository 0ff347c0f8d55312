/** Gates: what a judge is shown, what goes on, and what comes out. The attacker holds the gated cap. */
import { type Definition, define, driver, E, type Far, openStore, openVats, spawn, type Vats } from '@hob/vat';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { definitions, type GatedCall, gated, type Judge } from '../index.ts';

interface Folder {
  read(): string;
  write(text: string, options?: { readonly version?: number }): number;
  below(name: string): Folder;
  give(what: unknown): string;
}
const Folder: Definition<Folder, [text: string, version: number]> = define('test.folder', (bcom, text, version) => ({
  read: () => text,
  write: (next, { version: wanted } = {}) => {
    if (wanted !== undefined && wanted !== version) throw Object.assign(new Error('changed'), { code: 'STALE' });
    return bcom(Folder(next, version + 1), version + 1);
  },
  below: (name) => spawn(Folder(name, 0)),
  give: () => 'took it',
}));

const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

let vats: Vats;
let folder: Far<Folder>;
let asked: { readonly call: GatedCall; readonly of: object; say(answer: unknown): void }[];
let judge: Far<Judge>;
const next = async (count: number): Promise<(typeof asked)[number]> => {
  while (asked.length < count) await new Promise((resolve) => setImmediate(resolve));
  return asked[count - 1] as (typeof asked)[number];
};
beforeEach(async () => {
  const store = await openStore({ memory: true });
  vats = await openVats({ store, definitions: [...definitions, Folder] });
  const opened = vats;
  onTestFinished(async () => {
    await opened.close();
    await store.close();
  });
  folder = await vats.vat('folders').root('folder', () => Folder('text', 0));
  asked = [];
  judge = driver<Judge>(
    { ask: ([call, of]) => new Promise((say) => void asked.push({ call, of, say: say as never })) },
    { name: 'judge' },
  );
});
const gate = (methods?: readonly string[]): Far<Folder> =>
  gated(folder, judge, methods === undefined ? {} : { methods });

test('only the methods that are named wait; the others go on', async () => {
  const cap = gate(['write']);
  expect(await E(cap).read()).toBe('text');
  const written = E(cap).write('new');
  (await next(1)).say(true);
  expect(await written).toBe(1);
  expect(asked.map(({ call }) => call.method)).toEqual(['write']);
});

test('what comes out waits too, and the judge is told where it came from, also past a method that does not wait', async () => {
  const cap = gate(['write']);
  const secrets = E(E(cap).below('secrets')).below('keys');
  const written = E(secrets).write('mine');
  const { call, of, say } = await next(1);
  expect(call).toEqual({ method: 'write', args: ['mine'], via: ['below("secrets")', 'below("keys")'] });
  expect(await E(of as Far<Folder>).read()).toBe('keys');
  say(false);
  expect(await code(written)).toBe('denied');
  const all = gate();
  const sub = E(all).below('src');
  (await next(2)).say(true);
  const read = code(E(sub).read());
  expect((await next(3)).call).toMatchObject({ method: 'read', via: ['below("src")'] });
  asked[2]?.say(true);
  expect(await read).toBe('ok');
});

test('steps that differ are told apart, however long they are', async () => {
  const cap = gate(['write']);
  const long = 'x'.repeat(5000);
  const ends = ['a', 'b'].map((end) => code(E(E(cap).below(long + end)).write('x')));
  const [first, second] = [await next(1), await next(2)];
  expect(first.call.via).not.toEqual(second.call.via);
  for (const { call } of [first, second]) expect(call.via[0]?.length).toBeLessThan(1200);
  for (const { say } of [first, second]) say(false);
  expect(await Promise.all(ends)).toEqual(['denied', 'denied']);
});

test('a yes with arguments goes on with these, and asks again where they turn out stale', async () => {
  const cap = gate(['write']);
  const written = E(cap).write('mine');
  const first = await next(1);
  // Somebody else was first.
  await E(folder).write('theirs');
  first.say({ with: ['mine', { version: 0 }] });
  const second = await next(2);
  expect(second.call).toEqual(first.call);
  expect(await E(folder).read()).toBe('theirs');
  second.say({ with: ['mine', { version: 1 }] });
  expect(await written).toBe(2);
  expect(await E(folder).read()).toBe('mine');
});

test('the caller’s own STALE is the caller’s: nobody is asked twice for it', async () => {
  const cap = gate(['write']);
  const written = code(E(cap).write('mine', { version: 7 }));
  (await next(1)).say(true);
  expect(await written).toBe('STALE');
  expect(asked.length).toBe(1);
});

test('no odd answer of a judge is a yes', async () => {
  const cap = gate(['write']);
  for (const answer of [{ with: 'mine' }, { with: undefined }, { with: { length: 0 } }, [], ['mine'], 'true', 1]) {
    const written = code(E(cap).write('mine'));
    (await next(asked.length + 1)).say(answer);
    expect(await written).toBe('denied');
  }
  expect(await E(folder).read()).toBe('text');
});

test('arguments that could change after approval are refused before anybody is asked; a method that does not wait takes them', async () => {
  const cap = gate(['give']);
  const never = new Promise<string>(() => {});
  const mine = driver<{ x(): void }>({ x: () => {} });
  for (const what of [folder, { deep: [folder] }, never, [{ never }], mine, new Error('mine')])
    expect(await code(E(cap).give(what))).toBe('invalid');
  expect(asked).toEqual([]);
  expect(await E(gate(['write'])).give(folder)).toBe('took it');
});
