import { expect, onTestFinished, test } from 'vitest';
import { E, openVats, spawn, type Vats } from '../index.ts';
import { Cell, makeCell, readOnly, WriteOnlyCell, writeOnly } from './cell.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

test('a cell returns the last written value, within the turn and in the next', async () => {
  const vat = (await open()).vat('a');
  const { cell, seen } = await vat.turn(() => {
    const cell = makeCell<unknown>('first');
    const before = cell.read();
    cell.write({ n: 1 });
    return { cell, seen: [before, cell.read()] };
  });
  expect(seen).toEqual(['first', { n: 1 }]);
  expect(await E(cell).read()).toEqual({ n: 1 });
  await E(cell).write(undefined);
  expect(await E(cell).read()).toBe(undefined);
});

test('a value that a failing turn wrote is not there', async () => {
  const vat = (await open()).vat('a');
  const cell = await vat.spawn(Cell('kept'));
  const failing = vat.turn(() => {
    (cell as unknown as Cell).write('lost');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await E(cell).read()).toBe('kept');
});

test('a view does the one and refuses the other, near and by message, and leads to no cell', async () => {
  const vat = (await open()).vat('a');
  const { cell, reader, writer } = await vat.turn(() => {
    const cell = makeCell(1);
    const [reader, writer] = [readOnly(cell), writeOnly(cell)];
    for (const [view, method] of [
      [reader, 'write'],
      [writer, 'read'],
    ] as const) {
      expect(() => (view as unknown as Record<string, () => void>)[method]?.()).not.toThrow();
      expect((view as unknown as Record<string, unknown>)[method]).toBe(undefined);
      expect(Reflect.ownKeys(view)).toEqual([]);
    }
    writer.write(reader.read() + 1);
    return { cell, reader, writer };
  });
  await E(writer).write(7);
  expect(await E(reader).read()).toBe(7);
  await expect(E(reader as unknown as typeof cell).write(8)).rejects.toMatchObject({ code: 'no-such-method' });
  await expect(E(writer as unknown as typeof cell).read()).rejects.toMatchObject({ code: 'no-such-method' });
  expect(await E(cell).read()).toBe(7);
});

test('a view of a cell in another vat sends', async () => {
  const vats = await open();
  const cell = await vats.vat('a').spawn(Cell(1));
  const writer = await vats.vat('b').turn(() => spawn(WriteOnlyCell(cell as unknown as WriteOnlyCell)));
  await E(writer).write(2);
  expect(await E(cell).read()).toBe(2);
});
