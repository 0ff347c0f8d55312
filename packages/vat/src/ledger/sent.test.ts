/** Sent checkpoints: when they are sent, and what they show later. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { ledgerLine } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { checkpointsIn } from './note.ts';
import { verifyLedger } from './verify.ts';

const hour = 3_600_000;
const sizeOf = (note: string): number => Number(note.split('\n')[1]);

async function opened(path: string, onCheckpoint: (checkpoint: string) => void | Promise<void>) {
  const clock = testClock();
  const store = await openStore({ path });
  const vats = await openVats({ store, clock, definitions: [], onCheckpoint });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await vats.close();
    await store.close();
  };
  onTestFinished(close);
  return { clock, store, vats, close };
}
const line = (vats: Vats): Promise<unknown> => vats.vat('v').turn(() => ledgerLine('call', {}));
const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-sent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'state');
};
/** Waits until the disk has done everything, which takes a round or two. */
const settled = async (store: Store, until: () => boolean): Promise<void> => {
  for (let rounds = 0; !until() && rounds < 1000; rounds += 1) {
    await verifyLedger(store);
    await new Promise(setImmediate);
  }
  expect(until()).toBe(true);
};

test('a checkpoint goes out each hour, at the close and at the next opening, only where there is a new one, and is on the disk', async () => {
  const path = scratch();
  const sent: string[] = [];
  const first = await opened(path, (checkpoint) => void sent.push(checkpoint));
  await line(first.vats);
  expect(sent).toEqual([]);
  first.clock.advance(hour);
  await settled(first.store, () => sent.length === 1);
  expect(await verifyLedger(first.store, { against: sent })).toMatchObject({ ok: true });
  first.clock.advance(hour);
  await line(first.vats);
  first.clock.advance(hour);
  await settled(first.store, () => sent.length === 2);
  await line(first.vats);
  await first.close();
  expect(sent).toHaveLength(3);
  // The last one again, because a killed process may not have sent it.
  const second = await opened(path, (checkpoint) => void sent.push(checkpoint));
  await settled(second.store, () => sent.length === 4);
  expect(sent[3]).toBe(sent[2]);
  expect(sent.map(sizeOf)).toEqual([...sent.map(sizeOf)].sort((a, b) => a - b));
  expect(await verifyLedger(second.store, { against: sent })).toMatchObject({ ok: true });
});

test('who takes checkpoints and fails, or is slow, harms nothing; the close waits for what is under way', async () => {
  const path = scratch();
  let calls = 0;
  const { vats, close } = await opened(path, () => {
    calls += 1;
    throw new Error('no');
  });
  await line(vats);
  await close();
  expect(calls).toBe(1);
  const slow = Promise.withResolvers<void>();
  const later = await opened(path, () => slow.promise);
  await line(later.vats);
  let isClosed = false;
  const closing = later.close().then(() => {
    isClosed = true;
  });
  for (let n = 0; n < 100; n += 1) await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  slow.resolve();
  await closing;
});

test('a ledger that was cut behind a checkpoint that was sent, or written anew, does not hold against it', async () => {
  const path = scratch();
  const other = scratch();
  const sent: string[] = [];
  const theirs: string[] = [];
  for (const [at, to] of [
    [path, sent],
    [path, sent],
    [other, theirs],
  ] as const) {
    const { vats, close } = await opened(at, (checkpoint) => void to.push(checkpoint));
    await line(vats);
    await close();
  }
  const store = await openStore({ path, look: true });
  onTestFinished(() => store.close());
  expect(await verifyLedger(store, { against: [...theirs, ...sent] })).toMatchObject({ ok: true });
  // None of this ledger; one of this ledger that was changed; one of more lines than there are.
  expect(await verifyLedger(store, { against: theirs })).toMatchObject({ ok: false, badLine: 1 });
  const changed = sent.map((note) => note.replace(/\n(\d+)\n/, (_, size: string) => `\n${Number(size) + 1}\n`));
  expect(await verifyLedger(store, { against: changed })).toMatchObject({ ok: false });
  await expect(verifyLedger(store, { against: [] })).rejects.toMatchObject({ code: 'invalid' });
  await expect(verifyLedger(store, { against: ['x'] })).rejects.toMatchObject({ code: 'invalid' });
});

test('of a file of checkpoints each whole one is found, also where a kill cut one short', async () => {
  const path = scratch();
  const sent: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const { vats, close } = await opened(path, (checkpoint) => void sent.push(checkpoint));
    await line(vats);
    await close();
  }
  const [one = '', two = ''] = sent;
  expect(checkpointsIn(`${one}\n${two}\n`)).toEqual([one, two]);
  for (let kept = 0; kept < one.length; kept += 1)
    expect(checkpointsIn(`${one.slice(0, kept)}\n${two}\n`)).toContain(two);
  expect(checkpointsIn('nothing')).toEqual([]);
});
