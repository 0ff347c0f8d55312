/**
 * The cost of a gated call. Nobody's use is spent where nobody was asked; and no refund lets a call through
 * that was not paid for.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { connect, E, type Far, promise } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { HostProcess } from '../../test/host-process.ts';
import { code, held, lines, scratch } from '../../test/test-host.ts';
import type { Grant, Request, SessionFace } from '../index.ts';
import { askingLimits } from './pending.ts';

const hour = 3_600_000;

const gated = async (at: Scene, petname: string, terms: object = {}): Promise<Far<FsCap>> => {
  await E(at.owner).grant(at.session.id, petname, 'notes', { gated: ['write'], for: 24 * hour, ...terms });
  return held<FsCap>(at.agent, petname);
};
const grantOf = async (at: Scene, petname = 'work'): Promise<Grant> =>
  (await E(at.owner).list()).find((grant) => grant.petname === petname) as Grant;
const left = async (at: Scene, petname?: string): Promise<number | undefined> => (await grantOf(at, petname)).usesLeft;

/** Waits until so many were asked in all. Nobody is shown them. */
async function filed(at: Scene, count: number): Promise<void> {
  while ((await lines(at.host, 'request')).length < count) await new Promise((resolve) => setImmediate(resolve));
}

test('a refusal with limit costs no use: too many requests wait, the same one too often, or too many within the hour', async () => {
  const at = await scene();
  const cap = await gated(at, 'work', { uses: 2 });
  const other = await gated(at, 'other');
  // The same 64 times and once more; then as many as may wait.
  const together = Array.from({ length: askingLimits['together'] as number }, () =>
    later(E(other).write('a.txt', 'x')),
  );
  await filed(at, 1);
  while ((await at.inbox(1))[0]!.count < together.length);
  expect(await code(E(other).write('a.txt', 'x'))).toBe('limit');
  const more = Array.from({ length: (askingLimits['pending'] as number) - 1 }, (_, n) =>
    later(E(other).write(`${n}.txt`, 'x')),
  );
  await filed(at, askingLimits['pending'] as number);
  for (let n = 0; n < 5; n += 1) expect(await code(E(cap).write('a.txt', `${n}`))).toBe('limit');
  expect(await grantOf(at)).toMatchObject({ usesLeft: 2, state: 'live' });
  for (const asked of await at.inbox(askingLimits['pending'])) await at.answer(asked, { refuse: 'no' });
  await Promise.all([...together, ...more].map(code));
  // As much as may be asked within the hour.
  const flood = Array.from({ length: 300 }, (_, n) => code(E(other).write(`${n}.txt`, 'y')));
  let over = false;
  const all = Promise.all(flood).finally(() => {
    over = true;
  });
  while (!over)
    for (const asked of (await E(at.owner).inbox()) as readonly Request[])
      await code(at.answer(asked, { refuse: 'no' }));
  expect((await all).at(-1)).toBe('limit');
  for (let n = 0; n < 5; n += 1) expect(await code(E(cap).write('a.txt', `${n}`))).toBe('limit');
  expect(await grantOf(at)).toMatchObject({ usesLeft: 2, state: 'live' });
  // The ledger says what was charged and what came back.
  const { id } = await grantOf(at);
  expect((await lines(at.host, 'give-back')).filter(({ grant }) => grant === id).map(({ uses }) => uses)).toEqual(Array(10).fill(1)); // biome-ignore format: one line
});

test('the last use is given back too, and the grant stays live', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  const cap = await gated(at, 'work', { uses: 1 });
  const written = code(E(cap).write('a.txt', 'x'));
  await filed(at, 1);
  expect(await grantOf(at)).toMatchObject({ usesLeft: 0, state: 'exhausted' });
  clock.advance(hour);
  expect(await written).toBe('expired');
  expect(await grantOf(at)).toMatchObject({ usesLeft: 1, state: 'live' });
  const again = later(E(cap).write('a.txt', 'x'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  await again;
  expect(await grantOf(at)).toMatchObject({ usesLeft: 0, state: 'exhausted' });
});

test('promises in the arguments and a lasting no are refused without asking anybody, and cost no use', async () => {
  const at = await scene();
  const cap = await gated(at, 'work', { uses: 3 });
  const { promise: open } = promise<string>();
  expect(await code(E(cap).write('a.txt', open as never))).toBe('invalid');
  expect(await left(at)).toBe(3);
  const no = code(E(cap).write('a.txt', 'x'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { refuse: 'never', lasting: true } as never);
  expect(await no).toBe('denied');
  // A person said this one.
  expect(await left(at)).toBe(2);
  for (let n = 0; n < 5; n += 1) expect(await code(E(cap).write('a.txt', 'x'))).toBe('denied');
  expect(await left(at)).toBe(2);
});

test('a call that no granter saw in time costs no use; one that a granter saw costs one, answered or not', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  const cap = await gated(at, 'work', { uses: 5 });
  const unseen = [code(E(cap).write('a.txt', 'x')), code(E(cap).write('a.txt', 'x')), code(E(cap).write('b.txt', 'x'))];
  await filed(at, 2);
  clock.advance(hour);
  expect(await Promise.all(unseen)).toEqual(['expired', 'expired', 'expired']);
  expect(await left(at)).toBe(5);
  const seen = code(E(cap).write('c.txt', 'x'));
  await at.inbox(1);
  clock.advance(hour);
  expect(await seen).toBe('expired');
  expect(await left(at)).toBe(4);
});

test('a call whose asker has gone costs no use if no granter saw it', async () => {
  const clock = testClock();
  const at = await scene({ clock, graceMs: 60_000 });
  await E(at.owner).grant(at.session.id, 'work', 'notes', {
    gated: ['write'],
    uses: 5,
    until: clock.wall() + 24 * hour,
  });
  const gone = code(E(held<FsCap>(at.agent, 'work')).write('a.txt', 'x'));
  await filed(at, 1);
  at.agent.close();
  await at.agent.closed;
  await gone;
  while ((await lines(at.host, 'withdraw')).length === 0) {
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await left(at)).toBe(5);
});

test('a call through a child gives its use back to the child and to the one above', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  await gated(at, 'work', { uses: 5 });
  const { id, secret } = await at.child('helper');
  await E(at.owner).delegate(at.session.id, 'work', id, { as: 'mine', uses: 2 });
  const helper = await at.enterAs<SessionFace>(secret);
  const asked = code(E(held<FsCap>(helper, 'mine')).write('a.txt', 'x'));
  await filed(at, 1);
  expect([await left(at), await left(at, 'mine')]).toEqual([4, 1]);
  clock.advance(hour);
  expect(await asked).toBe('expired');
  expect([await left(at), await left(at, 'mine')]).toEqual([5, 2]);
});

test('uses that were narrowed away while a call waited are not given back', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  const cap = await gated(at, 'work', { uses: 5 });
  const asked = code(E(cap).write('a.txt', 'x'));
  await filed(at, 1);
  const { id } = await grantOf(at);
  await E(at.owner).narrow(id, { uses: 4 });
  clock.advance(hour);
  expect(await asked).toBe('expired');
  expect(await left(at)).toBe(4);
  // A call that is charged later does.
  const later = code(E(cap).write('a.txt', 'x'));
  await filed(at, 2);
  clock.advance(hour);
  expect(await later).toBe('expired');
  expect(await left(at)).toBe(4);
});

test('for any answers, no more calls continue than the grant has uses, and each call that nobody saw is free', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('yes', 'no', 'late', 'unseen'), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (fates, uses) => {
        const clock = testClock();
        const at = await scene({ clock });
        let ran = 0;
        await at.host.offer('bell', { ring: async () => String((ran += 1)) });
        await E(at.owner).grant(at.session.id, 'bell', 'bell', { gated: true, uses, for: 24 * hour });
        const bell = held<{ ring(n: number): Promise<string> }>(at.agent, 'bell');
        let [spent, went] = [0, 0];
        for (const [n, fate] of fates.entries()) {
          const call = code(E(bell).ring(n));
          if (spent === uses) {
            expect(await call).toBe('exhausted');
            continue;
          }
          if (fate === 'unseen')
            await filed(at, (await lines(at.host, 'withdraw')).length + (await lines(at.host, 'approve')).length + (await lines(at.host, 'deny')).length + 1); // biome-ignore format: one line
          else {
            const [asked] = await at.inbox();
            spent += 1;
            if (fate === 'yes') went += 1;
            if (fate !== 'late') await at.answer(asked!, fate === 'yes' ? { grant: {} } : { refuse: 'no' });
          }
          if (fate === 'late' || fate === 'unseen') clock.advance(hour);
          expect(await call).toBe({ yes: 'ok', no: 'denied', late: 'expired', unseen: 'expired' }[fate]);
          expect(await left(at, 'bell')).toBe(uses - spent);
        }
        expect(ran).toBe(went);
      },
    ),
    { numRuns: 6 },
  );
});

test('after kill -9 a waiting call costs no use if nobody saw it, and one use if a granter did', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = (): HostProcess => {
    const host = new HostProcess(join(folder, 'state'));
    onTestFinished(() => host.kill());
    return host;
  };
  const first = start();
  await first.do('offer');
  await first.do('addGranter', 'owner');
  const { id, secret } = await first.do<{ id: string; secret: string }>('openSession', { name: 'work', granters: ['owner'] }); // biome-ignore format: one line
  const other = await first.do<{ id: string; secret: string }>('openSession', { name: 'other', granters: ['owner'] });
  for (const [session, petname] of [[id, 'unseen'], [other.id, 'seen']] as const) // biome-ignore format: one line
    await first.do('granter', 'owner', 'grant', session, petname, 'bell', { gated: true, uses: 3 });
  const enter = async (of: string): Promise<Connected<SessionFace>> => {
    const connection = await connect<SessionFace>(await first.url, { secret: of });
    onTestFinished(async () => {
      connection.close();
      await connection.closed;
    });
    return connection;
  };
  const ring = (of: Connected<SessionFace>, petname: string): Promise<string> =>
    code(E(held<{ ring(): Promise<string> }>(of, petname)).ring());
  const usesLeft = async (host: HostProcess): Promise<Readonly<Record<string, number | undefined>>> =>
    Object.fromEntries(((await host.do('granter', 'owner', 'list')) as readonly Grant[]).map((grant) => [grant.petname, grant.usesLeft])); // biome-ignore format: one line
  const seen = ring(await enter(other.secret), 'seen');
  while ((await first.do<readonly Request[]>('granter', 'owner', 'inbox')).length === 0);
  const unseen = ring(await enter(secret), 'unseen');
  const asked = async (): Promise<boolean> =>
    ((await first.do('lines')) as readonly string[]).filter((line) => line.includes('"k":"request"')).length === 2;
  while (!(await asked()));
  expect(await usesLeft(first)).toEqual({ seen: 2, unseen: 2 });
  await first.kill();
  await Promise.all([seen, unseen]);
  const second = start();
  expect(await usesLeft(second)).toEqual({ seen: 2, unseen: 3 });
  await second.kill();
  // Once.
  expect(await usesLeft(start())).toEqual({ seen: 2, unseen: 3 });
});
