import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, E, openVats, type Vats } from '../index.ts';
import { facet } from './facet.ts';

interface Door {
  knock(): string;
  open(key: string): string;
  self(): Door;
}
const Door: Definition<Door, [opened: number]> = define('Door', (bcom, opened) => ({
  knock: () => `knocked, opened ${opened} times`,
  open: (key) => bcom(Door(opened + 1), `open by ${key}`),
  self: () => bcom.self,
}));

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

test('a facet passes on what it names, at once where the object is near', async () => {
  const vat = (await open()).vat('a');
  const door = await vat.spawn(Door(0));
  const outside = await vat.turn(() => {
    const outside = facet(door as unknown as Door, 'knock', 'open');
    expect(outside.open('k')).toBe('open by k');
    expect(outside.knock()).toBe('knocked, opened 1 times');
    return outside;
  });
  expect(await E(outside).knock()).toBe('knocked, opened 1 times');
});

test('a facet of a far object sends, and returns its answer', async () => {
  const vats = await open();
  const door = await vats.vat('a').spawn(Door(0));
  const outside = await vats.vat('b').turn(() => facet(door as unknown as Door, 'knock'));
  expect(await E(outside).knock()).toBe('knocked, opened 0 times');
});

test('every other method is denied, alike whether the object has it or not', async () => {
  const vat = (await open()).vat('a');
  const door = await vat.spawn(Door(0));
  const outside = await vat.turn(() => facet(door as unknown as Door, 'knock'));
  const attempts = ['open', 'self', 'nothing', '', 'toString', 'hasOwnProperty', 'inner', 'methods', 'knock '];
  const answers = new Set<string>();
  for (const method of attempts) {
    const to = E(outside as never) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const asked = method === '' ? (to as unknown as () => Promise<unknown>)() : to[method]?.('key');
    const error = await asked?.then(
      () => expect.fail(`${method} was let through`),
      (error: { code: string; message: string }) => error,
    );
    answers.add(`${error?.code}: ${error?.message}`);
  }
  expect([...answers]).toEqual([expect.stringMatching(/^denied: /)]);
  expect(await E(door).knock()).toBe('knocked, opened 0 times');
});

test('near, too, a denied method is denied, and the facet shows nothing of the object', async () => {
  const vat = (await open()).vat('a');
  const door = await vat.spawn(Door(0));
  await vat.turn(() => {
    const outside = facet(door as unknown as Door, 'knock') as unknown as Door;
    expect(() => outside.open('key')).toThrow(expect.objectContaining({ code: 'denied' }));
    expect(Reflect.ownKeys(outside)).toEqual([]);
    expect(String(Object.prototype.toString.call(outside))).not.toContain('Door');
  });
});

test('a later change of the list of methods has no effect', async () => {
  const vat = (await open()).vat('a');
  const door = await vat.spawn(Door(0));
  const methods: ('knock' | 'open')[] = ['knock'];
  const outside = await vat.turn(() => facet(door as unknown as Door, ...methods));
  methods.push('open');
  await expect(E(outside as unknown as Door).open('key')).rejects.toMatchObject({ code: 'denied' });
});
