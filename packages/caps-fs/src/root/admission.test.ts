/** Fair shares: whatever one holder asks, its neighbours are let in. */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';
import type { FsCap } from '../index.ts';
import { Admission } from './admission.ts';
import { Holder } from './holder.ts';

/** A tree that no search finishes on the main thread. */
function plantTree(at: (name: string) => string): void {
  for (let d = 0; d < 12; d++) {
    fs.mkdirSync(at(`tree/${d}`), { recursive: true });
    for (let i = 0; i < 60; i++) fs.writeFileSync(at(`tree/${d}/${i}`), 'x'.repeat(2_000));
  }
  fs.writeFileSync(at('f'), 'content');
}

test('beside a holder with more waiting searches than there are places a neighbour’s read is never refused, and does not wait for them', async () => {
  await using s = await scratch({ maxSearchMs: 600_000 });
  plantTree(s.at);
  const hostile = await s.cap.readOnly();
  const neighbour = await s.cap.readOnly();
  let over = 0;
  const asked = Array.from({ length: 4_104 }, () =>
    hostile.search('nowhere', { path: 'tree' }).finally(() => {
      over += 1;
    }),
  );
  const searches = Promise.allSettled(asked);
  for (let i = 0; i < 50; i++) expect(await neighbour.readText('f')).toBe('content');
  // They were all made while the searches still waited.
  expect(over).toBeLessThan(4_104);
  await hostile.close();
  await searches;
});

test('24 searches of a holder do not keep a neighbour’s read waiting, nor its search until all of them are done', async () => {
  await using s = await scratch({ maxSearchMs: 600_000 });
  plantTree(s.at);
  const hostile = await s.cap.readOnly();
  const neighbour = await s.cap.readOnly();
  const order: string[] = [];
  const searches = Array.from({ length: 24 }, () =>
    hostile.search('nowhere', { path: 'tree' }).then(() => order.push('hostile')),
  );
  const read = neighbour.readText('f').then(() => order.push('read'));
  const search = neighbour.search('nowhere', { path: 'tree' }).then(() => order.push('search'));
  await Promise.all([...searches, read, search]);
  expect(order.indexOf('read')).toBeLessThan(12);
  expect(order.indexOf('search')).toBeLessThan(20);
});

test('a neighbour of a holder that fills the queue pushes out that holder’s last operation', async () => {
  await using s = await scratch({ maxConcurrent: 2, maxWaiting: 20 });
  fs.writeFileSync(s.at('f'), 'x'.repeat(300_000));
  const hostile = await s.cap.readOnly();
  const neighbour = await s.cap.readOnly();
  const asked = Array.from({ length: 21 }, () => code(hostile.readText('f')));
  const read = code(neighbour.readText('f'));
  const codes = await Promise.all(asked);
  expect(await read).toBe('ok');
  expect(codes.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'ok'));
  expect(codes[20]).toBe('FS_LIMIT');
  // Alone, a holder may have all that may wait, and is refused itself beyond it.
  const alone = await Promise.all(Array.from({ length: 22 }, () => code(hostile.readText('f'))));
  expect(alone.filter((one) => one === 'FS_LIMIT').length).toBe(1);
});

test('of descriptors a holder has its share, however many caps it makes, and a neighbour has one, too', async () => {
  await using s = await scratch({ maxSubdirs: 32, maxStreams: 32 });
  fs.mkdirSync(s.at('d'));
  fs.writeFileSync(s.at('f'), 'x');
  const hostile = await s.cap.readOnly();
  const neighbour = await s.cap.readOnly();
  const held: FsCap[] = [];
  const takeAll = async (from: FsCap): Promise<number> => {
    const before = held.length;
    for (let at = from, tries = 0; tries < 100; tries++) {
      const sub = await at.subdir('.').catch(() => undefined);
      if (sub) held.push(sub);
      // A chain of caps, then again from the first.
      at = sub ?? from;
    }
    return held.length - before;
  };
  expect(await takeAll(hostile)).toBeLessThanOrEqual(16);
  expect(await takeAll(neighbour)).toBeGreaterThanOrEqual(5);
  const streams: unknown[] = [];
  for (let i = 0; i < 40; i++) streams.push(await hostile.openRead('f').catch(() => undefined));
  expect(streams.filter(Boolean).length).toBe(16);
  expect(await code(neighbour.openRead('f'))).toBe('ok');
});

test('holders take turns, at each level of the tree', async () => {
  const root = Holder.root();
  const admission = new Admission(root, { places: 1, maxWaiting: 100, maxBytes: 0, pause: () => undefined });
  const a = root.below();
  const b = root.below();
  const [b1, b2] = [b.below(), b.below()];
  const order: string[] = [];
  const asked = (name: string, holder: Holder, times: number): void => {
    for (let i = 0; i < times; i++) void admission.enter(holder, 0)?.then(() => order.push(name));
  };
  expect(admission.enter(root, 0)).toBeUndefined();
  asked('a', a, 6);
  asked('b1', b1, 4);
  asked('b2', b2, 2);
  let last: Holder = root;
  for (let i = 0; i < 12; i++) {
    admission.leave(last);
    for (let tick = 0; tick < 5; tick++) await Promise.resolve();
    last = { a, b1, b2 }[order.at(-1) as 'a' | 'b1' | 'b2'];
  }
  expect(order.join(' ')).toBe('a b1 a b2 a b1 a b2 a b1 a b1');
});

// ------------------------------------------------------------------------------------- whatever is asked, in which order

test('no more run than there are places, nobody waits for a place that he may have, and each holder’s own come in order', async () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant('enter' as const), holder: fc.nat(5), bytes: fc.nat(5) }),
    fc.record({ op: fc.constant('leave' as const), which: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (places, steps) => {
      const root = Holder.root();
      const [a, b] = [root.below(), root.below()];
      const holders = [root, a, b, a.below(), a.below(), b.below().below()];
      const admission = new Admission(root, { places, maxWaiting: 10, maxBytes: 20, pause: () => undefined });
      const running: Holder[] = [];
      const waiting: { readonly holder: Holder; readonly id: number }[] = [];
      const begun = new Map<Holder, number>();
      const settled = async (): Promise<void> => {
        for (let i = 0; i < 5; i++) await Promise.resolve();
      };
      for (const [id, one] of steps.entries()) {
        if (one.op === 'leave') {
          const [holder] = running.splice(one.which % Math.max(1, running.length), 1);
          if (holder) admission.leave(holder);
        } else {
          const holder = holders[one.holder] ?? root;
          const begin = (): void => {
            expect(begun.get(holder) ?? -1).toBeLessThan(id);
            begun.set(holder, id);
            running.push(holder);
          };
          try {
            const wait = admission.enter(holder, one.bytes);
            if (!wait) begin();
            else {
              const entry = { holder, id };
              waiting.push(entry);
              const gone = (): void => void waiting.splice(waiting.indexOf(entry), 1);
              void wait.then(begin, () => {}).finally(gone);
            }
          } catch (error) {
            expect((error as { code?: string }).code).toBe('FS_LIMIT');
          }
        }
        await settled();
        expect(running.length).toBeLessThanOrEqual(places);
        expect(waiting.length).toBeLessThanOrEqual(10);
        // With a free place, whoever waits has something running already: it has its share.
        if (running.length === 0) expect(waiting).toEqual([]);
        expect(admission.waitingOf(root)).toBe(waiting.length);
      }
      while (running.length > 0) {
        admission.leave(running.pop() ?? root);
        await settled();
      }
      expect(waiting).toEqual([]);
    }),
  );
});
