/** `reveal`: what a host program sees behind forwarders, and that nobody else can ask. */
import { type Definition, define, driver, E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { Box, code, jobs, lines, say, slowDriver, world } from '../../test/world.ts';
import { bound, facet, forward, gated, type Judge, membrane, reveal, revocable } from '../index.ts';

test('grants that only end are transparent to the host, in any stack and any vat', async () => {
  const { box, vats } = await world();
  expect((await reveal(box)).inner).toBe(box);
  const one = revocable(box, {}).cap;
  const two = revocable(one, { for: 1000 }).cap;
  const three = (await vats.vat('other').turn(() => revocable(two, { for: 500 }).cap)) as unknown as Far<Box>;
  const seen = await reveal(three);
  expect(seen.inner).toBe(box);
  expect(seen.grants).toHaveLength(3);
  seen.done();
  // The same holds for what came out of one.
  const sub = (await E(three).open('a')) as unknown as Far<Box>;
  const below = await reveal(sub);
  expect(await E(below.inner).read()).toBe('box/a');
  expect(below.inner).not.toBe(sub);
  below.done();
});

test('forwarders that filter, count, gate, wrap or have a state refuse', async () => {
  const { box } = await world();
  const judge = driver<Judge>({ ask: () => true });
  for (const cap of [
    revocable(box, { uses: 5 }).cap,
    revocable(box, { methods: ['read'] }).cap,
    revocable(box, { where: { write: { 0: { is: 'x' } } } }).cap,
    revocable(box, { audited: true }).cap,
    facet(box, ['read']),
    bound(box, { write: { 0: { is: 'x' } } }),
    gated(box, judge),
    membrane(box, {}).cap,
    forward<readonly []>('mine', {})(box),
    // A transparent one in front does not change that.
    revocable(revocable(box, { uses: 5 }).cap, {}).cap,
    revocable(facet(box, ['read']), { for: 1000 }).cap as unknown as Far<Box>,
  ])
    expect(await code(reveal(cap as Far<object>))).toBe('denied');
});

test('an audited grant reveals only if its terms say mount, and writes one line for it', async () => {
  const { box, store } = await world();
  const { cap } = revocable(box, { audited: true, mount: true });
  (await reveal(cap)).done();
  const mounts = (await lines(store)).filter(({ what }) => what === 'mount');
  expect(mounts.map(({ k }) => k)).toEqual(['call']);
});

test('an ended grant shows nothing', async () => {
  const { box, clock } = await world();
  const gone = revocable(box, {});
  await E(gone.revoker).revoke();
  expect(await code(reveal(gone.cap))).toBe('revoked');
  const late = revocable(box, { for: 10 }).cap;
  await E(late).read();
  clock.advance(10);
  expect(await code(reveal(late))).toBe('expired');
});

test('the use of a revealed object ends with the grant: the signal aborts, and revoke waits for done', async () => {
  const { box } = await world();
  const { cap, revoker } = revocable(box, {});
  const seen = await reveal(cap);
  expect(seen.ended.aborted).toBe(false);
  let revoked = false;
  const revoking = E(revoker).revoke().then(() => (revoked = true)); // biome-ignore format: one line
  await jobs();
  expect(seen.ended.aborted).toBe(true);
  expect((seen.ended.reason as { code: string }).code).toBe('revoked');
  expect(revoked).toBe(false);
  seen.done();
  seen.done();
  await revoking;
});

test('if the grant ends by time, the signal aborts at the end of the grace', async () => {
  const { box, clock } = await world();
  const { cap } = revocable(box, { for: 1000 });
  const seen = await reveal(cap);
  clock.advance(1000);
  await jobs();
  expect(seen.ended.aborted).toBe(false);
  clock.advance(100);
  await jobs();
  expect(seen.ended.aborted).toBe(true);
  seen.done();
});

test('no actor can ask: not in a turn, not by a message, not through an accomplice', async () => {
  const { box, vats } = await world();
  const vat = vats.vat('one');
  const { cap } = revocable(box, {});
  const Thief: Definition<{ steal(victim: object): unknown; see(victim: object): unknown }, []> = define(
    'Thief',
    () => ({
      steal: (victim) => reveal(victim as Far<object>) as unknown,
      see: (victim) => E(victim as { reveal(): unknown }).reveal(),
    }),
  );
  expect(await code(vat.turn(() => void reveal(cap).catch(() => {})))).toBe('ok'); // it breaks, the turn does not
  const inTurn: Promise<unknown>[] = [];
  await vat.turn(() => void inTurn.push(reveal(cap)));
  expect(await code(inTurn[0])).toBe('not-callable');
  const thief = await vat.spawn(Thief());
  expect(['async-behaviour', 'not-callable']).toContain(await code(say(thief, 'steal', cap)));
  expect(await code(say(thief, 'see', cap))).toBe('no-such-method');
  for (const method of ['reveal', 'inner', 'unwrap', 'onFulfilled', 'callNear', 'latch', 'begin', 'look', 'revoke'])
    expect(await code(say(cap, method, box, false, 'read', [], true)), method).toBe('no-such-method');
});

test('a forwarder of a callback shows nothing to the host', async () => {
  const { vats } = await world();
  const Keeper: Definition<{ keep(what: object): void; kept(): unknown }, [what: object | null]> = define('Keeper', (bcom, what) => ({ keep: (next) => bcom(Keeper(next)), kept: () => what })); // biome-ignore format: one line
  const keeper = await vats.vat('boxes').spawn(Keeper(null));
  const callback = await vats.vat('holder').spawn(Box('callback'));
  const { cap } = membrane(keeper, {});
  await say(cap, 'keep', callback);
  const kept = (await E(keeper).kept()) as Far<object>;
  expect(kept).not.toBe(callback);
  expect(await code(reveal(kept))).toBe('denied');
});

test('reveal returns the driver behind a grant itself', async () => {
  await world();
  const { cap: slow } = slowDriver();
  const { cap } = revocable(slow, {});
  const seen = await reveal(cap);
  expect(seen.inner).toBe(slow);
  seen.done();
});
