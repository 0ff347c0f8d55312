/**
 * Gated calls: what a judge is shown, what is sent on, and what comes out. The attacker holds the gated cap.
 */
import { type Definition, define, driver, E, type Far, openStore, openVats, spawn, type Vats } from '@hob/vat';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { definitions, type GatedCall, gated, type Judge } from './index.ts';

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
let asked: { readonly call: GatedCall; readonly of: object; readonly stale: unknown; say(answer: unknown): void }[];
let judge: Far<Judge>;
const next = async (count: number): Promise<(typeof asked)[number]> => {
  // The question has arrived long before. If not, the test fails here and does not hang.
  for (let n = 0; n < 100_000 && asked.length < count; n += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(asked.length).toBeGreaterThanOrEqual(count);
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
    { ask: ([call, of, , stale]) => new Promise((say) => void asked.push({ call, of, stale, say: say as never })) },
    { name: 'judge' },
  );
});
const gate = (methods?: readonly string[]): Far<Folder> =>
  gated(folder, judge, methods === undefined ? {} : { methods });

test('only the named methods wait; calls of the others pass', async () => {
  const cap = gate(['write']);
  expect(await E(cap).read()).toBe('text');
  const written = E(cap).write('new');
  (await next(1)).say(true);
  expect(await written).toBe(1);
  expect(asked.map(({ call }) => call.method)).toEqual(['write']);
});

test('calls on an object that came out wait too, and the judge is told its path, also past a method that does not wait', async () => {
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

test('different steps of a path have different texts, however long they are', async () => {
  const cap = gate(['write']);
  const long = 'x'.repeat(5000);
  const ends = ['a', 'b'].map((end) => code(E(E(cap).below(long + end)).write('x')));
  const [first, second] = [await next(1), await next(2)];
  expect(first.call.via).not.toEqual(second.call.via);
  for (const { call } of [first, second]) expect(call.via[0]?.length).toBeLessThan(1200);
  for (const { say } of [first, second]) say(false);
  expect(await Promise.all(ends)).toEqual(['denied', 'denied']);
});

test('steps that differ in the type of an argument, or in an object, have different texts', async () => {
  const cap = gate(['write']);
  const objects = [0, 1].map(() => driver<{ x(): void }>({ x: () => {} }));
  const alike: readonly unknown[] = [
    ...[null, 'null', Number.NaN, 'NaN', undefined, 1n, '1n', 0, -0, new Uint8Array([1]), { bytes: [1] }, 'bae'],
    ...objects,
    ...['an object', [undefined], [null], 'a", "b'],
  ];
  // The folder keeps its name; what else is said in the call is in its text only.
  const below = (...args: readonly unknown[]): Promise<unknown> =>
    code(
      E((E(cap) as unknown as { below(...args: readonly unknown[]): Promise<Folder> }).below('a', ...args)).write('x'),
    );
  const ends = [...alike.map((arg) => below(arg)), below('a', 'b'), below()];
  await next(ends.length);
  for (const { say } of asked) say(false);
  expect(new Set(await Promise.all(ends))).toEqual(new Set(['denied']));
  expect(new Set(asked.map(({ call }) => call.via[0])).size).toBe(ends.length);
});

test('a yes with arguments sends these, and asks again if they turn out stale', async () => {
  const cap = gate(['write']);
  const written = E(cap).write('mine');
  const first = await next(1);
  // Somebody else changed it first.
  await E(folder).write('theirs');
  first.say({ with: ['mine', { version: 0 }], request: 'R1' });
  const second = await next(2);
  // The judge knows which of its answers it was.
  expect([first.stale, second.stale]).toEqual([undefined, { with: ['mine', { version: 0 }], request: 'R1' }]);
  expect(second.call).toEqual(first.call);
  expect(await E(folder).read()).toBe('theirs');
  second.say({ with: ['mine', { version: 1 }] });
  expect(await written).toBe(2);
  expect(await E(folder).read()).toBe('mine');
});

test('a STALE of the caller’s own arguments is the caller’s error: the judge is not asked twice', async () => {
  const cap = gate(['write']);
  const written = code(E(cap).write('mine', { version: 7 }));
  (await next(1)).say(true);
  expect(await written).toBe('STALE');
  expect(asked.length).toBe(1);
});

test('every answer of a judge but true and {with} is a no', async () => {
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
