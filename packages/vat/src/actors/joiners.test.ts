import { expect, onTestFinished, test } from 'vitest';
import { CapError, openVats, promise, type Vat } from '../index.ts';
import { allOf, race } from './joiners.ts';

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}

function three() {
  const made = [promise<number>(), promise<number>(), promise<number>()] as const;
  // Some break before a turn has looked at them.
  for (const each of made) each.promise.catch(() => {});
  return { promises: made.map((each) => each.promise), resolvers: made.map((each) => each.resolver) };
}

test('all of them: the values in the order of asking, whatever the order of arriving', async () => {
  const vat = await open();
  const { promises, resolvers } = three();
  const joined = vat.turn(() => allOf<unknown>([...promises, 'data', undefined]));
  for (const i of [2, 0, 1]) resolvers[i]?.resolve(i * 10);
  expect(await joined).toEqual([0, 10, 20, 'data', undefined]);
});

test('all of more than ten come in order, too, and all of none at once', async () => {
  const vat = await open();
  const many = Array.from({ length: 25 }, (_, i) => i);
  expect(await vat.turn(() => allOf(many))).toEqual(many);
  expect(await vat.turn(() => allOf([]))).toEqual([]);
});

test('the first break breaks all, with its code, and what comes later changes nothing', async () => {
  const vat = await open();
  const { promises, resolvers } = three();
  const joined = vat.turn(() => allOf(promises));
  await vat.turn(() => 'they wait now');
  resolvers[0]?.resolve(0);
  resolvers[2]?.break(new CapError('expired', 'first'));
  resolvers[1]?.break(new Error('second'));
  await expect(joined).rejects.toMatchObject({ code: 'expired', message: 'first' });
});

test('a race is decided by the first, be it a value or a break', async () => {
  const vat = await open();
  const [a, b] = [three(), three()];
  const [won, lost] = [vat.turn(() => race(a.promises)), vat.turn(() => race(b.promises))];
  await vat.turn(() => 'they wait now');
  a.resolvers[1]?.resolve(1);
  a.resolvers[0]?.break(new Error('too late'));
  b.resolvers[2]?.break(new Error('broken first'));
  b.resolvers[0]?.resolve(0);
  expect(await won).toBe(1);
  await expect(lost).rejects.toThrow('broken first');
});

test('a turn that fails joins nothing', async () => {
  const vat = await open();
  const failing = vat.turn(() => {
    allOf([1, 2]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
});
