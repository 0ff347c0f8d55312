import { expect, onTestFinished, test } from 'vitest';
import { CapError, openStore, openVats, promise, type Vat } from '../index.ts';
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

test('a reason arrives as it is: an error of any kind with its name and code, and data', async () => {
  const vat = await open();
  for (const join of [(all: Promise<number>[]) => allOf(all), (all: Promise<number>[]) => race(all)])
    for (const reason of [{ tries: 3 }, 'a text', undefined, new TypeError('kind'), new CapError('expired', 'over')]) {
      const { promises, resolvers } = three();
      const joined = vat.turn(() => join([...promises]));
      await vat.turn(() => 'they wait now');
      resolvers[1]?.break(reason as Error);
      const told = await joined.then(
        () => 'resolved',
        (error: unknown) => error,
      );
      expect(told).toEqual(reason);
      if (reason instanceof Error) expect(told).toMatchObject({ name: reason.name, message: reason.message });
    }
});

test('in a durable vat they wait, too: nothing of them is stored', async () => {
  const store = await openStore({ memory: true });
  const vats = await openVats({ store });
  const vat = vats.vat('a');
  const { promises, resolvers } = three();
  const joined = vat.turn(() => [allOf(promises), race(promises)] as const);
  await vat.turn(() => 'they wait now');
  for (const i of [2, 0, 1]) resolvers[i]?.resolve(i * 10);
  const [all, first] = await joined;
  expect([await all, await first]).toEqual([[0, 10, 20], 20]);
  await vats.close();
  await store.close();
});

test('data that the caller changes after allOf stays as it was', async () => {
  const vat = await open();
  const { promises, resolvers } = three();
  const data = { n: 1 };
  const joined = vat.turn(() => {
    const all = allOf<unknown>([promises[0] as Promise<number>, data]);
    data.n = 2;
    return all;
  });
  resolvers[0]?.resolve(0);
  expect(await joined).toEqual([0, { n: 1 }]);
});
