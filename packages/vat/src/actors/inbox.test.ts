import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, E, openStore, openVats, type Vat } from '../index.ts';
import { inboxDefinitions } from './definitions.ts';
import { type Inbox, type InboxReader, type InboxWriter, makeInbox } from './inbox.ts';

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

test('values that came in before the stop can still be read', async () => {
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

test('near, a value that is there is returned at once, and a promise only if there is none', async () => {
  const vat = await open();
  const later = await vat.turn(() => {
    const { writer, reader } = makeInbox<string>();
    writer.write('there');
    expect(reader.read()).toBe('there');
    const waits = reader.read();
    expect(waits).toBeInstanceOf(Promise);
    writer.write('then');
    return waits;
  });
  expect(later).toBe('then');
});

test('deviation: stopping twice is no error, and a stopped inbox still gives what came before (Goblins: both fail)', async () => {
  const vat = await open();
  await vat.turn(() => {
    const { writer, reader, stopper } = makeInbox<string>();
    writer.write('before');
    stopper.stop();
    stopper.stop();
    expect(reader.read()).toBe('before');
  });
});

/** Holds an inbox over a restart. */
const Post: Definition<{ ends(): Inbox }, [inbox: Inbox | undefined]> = define('inbox.test.Post', (bcom, inbox) => ({
  ends: () => {
    const made = inbox ?? makeInbox();
    return bcom(Post(made), made);
  },
}));

test('deviation: in a durable vat nobody can wait at an empty inbox; values wait there, also over a restart (Goblins: a promise)', async () => {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  for (const round of ['one', 'two']) {
    const vats = await openVats({ store, definitions: [Post, ...inboxDefinitions] });
    const post = await vats.vat('a').root('post', () => Post(undefined));
    const { reader, writer } = await E(post).ends();
    // The value that was written before the restart is there. Then the inbox is empty.
    if (round === 'two') expect(await E(reader).read()).toBe('from one');
    // A promise would not survive a restart, and nobody would be told.
    await expect(E(reader).read()).rejects.toMatchObject({ code: 'invalid' });
    // The refused reader does not stand in the queue: the next value waits for the next reader.
    await E(writer).write(`from ${round}`);
    await vats.close();
  }
});
