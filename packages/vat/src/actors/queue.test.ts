import { expect, onTestFinished, test } from 'vitest';
import { E, openVats, type Vat } from '../index.ts';
import { makeQueue, type Queue } from './queue.ts';

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}

test('values come out in the order they went in, also more than ten', async () => {
  const vat = await open();
  await vat.turn(() => {
    const queue = makeQueue<number>();
    for (let i = 0; i < 12; i += 1) queue.enqueue(i);
    expect(queue.dequeue()).toBe(0);
    queue.enqueue(12);
    const rest: number[] = [];
    while (!queue.isEmpty()) rest.push(queue.dequeue());
    expect(rest).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(queue.length()).toBe(0);
  });
});

test('an empty queue throws, and undefined is a value like another', async () => {
  const vat = await open();
  const queue = await vat.turn(() => makeQueue());
  await expect(E(queue).dequeue()).rejects.toMatchObject({ code: 'unavailable' });
  await E(queue).enqueue(undefined);
  expect(await E(queue).length()).toBe(1);
  expect(await E(queue).dequeue()).toBe(undefined);
});

test('a turn that fails puts back what it took', async () => {
  const vat = await open();
  const queue = await vat.turn(() => makeQueue<string>());
  for (const value of ['a', 'b']) await E(queue).enqueue(value);
  const failing = vat.turn(() => {
    const near = queue as unknown as Queue<string>;
    near.dequeue();
    near.dequeue();
    near.enqueue('c');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect([await E(queue).dequeue(), await E(queue).dequeue(), await E(queue).isEmpty()]).toEqual(['a', 'b', true]);
});
