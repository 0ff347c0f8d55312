import { expect, onTestFinished, test } from 'vitest';
import { E, openVats, type Vat } from '../index.ts';
import { type InboxReader, type InboxWriter, makeInbox } from './inbox.ts';

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}

const closed = { code: 'unavailable' };

test('readers that wait and values that wait find each other, one each, in order', async () => {
  const vat = await open();
  const { writer, reader } = await vat.turn(() => makeInbox<number>());
  const early = [E(reader).read(), E(reader).read()];
  for (let i = 0; i < 4; i += 1) await E(writer).write(i);
  expect(await Promise.all(early)).toEqual([0, 1]);
  expect([await E(reader).read(), await E(reader).read()]).toEqual([2, 3]);
});

test('stop breaks the readers that wait, and refuses writers and later readers', async () => {
  const vat = await open();
  const { writer, reader, stopper } = await vat.turn(() => makeInbox());
  const waiting = [E(reader).read(), E(reader).read()];
  const broken = waiting.map((each) => expect(each).rejects.toMatchObject(closed));
  await E(stopper).stop();
  await Promise.all(broken);
  await expect(E(writer).write(1)).rejects.toMatchObject(closed);
  await expect(E(reader).read()).rejects.toMatchObject(closed);
  await E(stopper).stop();
});

test('what came in before the stop can still be read', async () => {
  const vat = await open();
  const { writer, reader, stopper } = await vat.turn(() => makeInbox<string>());
  await E(writer).write('last');
  await E(stopper).stop();
  expect(await E(reader).read()).toBe('last');
  await expect(E(reader).read()).rejects.toMatchObject(closed);
});

test('a write in a failing turn reaches no reader, and the reader goes on waiting', async () => {
  const vat = await open();
  const { writer, reader } = await vat.turn(() => makeInbox<string>());
  const waiting = E(reader).read();
  const failing = vat.turn(() => {
    (writer as unknown as InboxWriter<string>).write('never');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await E(writer).write('then');
  expect(await waiting).toBe('then');
});

test('a writer cannot read, a reader can neither write nor stop', async () => {
  const vat = await open();
  const { writer, reader } = await vat.turn(() => makeInbox<string>());
  const refused = { code: 'no-such-method' };
  await expect(E(writer as unknown as InboxReader).read()).rejects.toMatchObject(refused);
  await expect(E(reader as unknown as InboxWriter).write('x')).rejects.toMatchObject(refused);
  await expect(E(reader as unknown as { stop(): void }).stop()).rejects.toMatchObject(refused);
});
