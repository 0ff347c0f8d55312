/** Approvals by their names. */
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { type Box, code, jobs, lines, world } from '../test/world.ts';
import { approveFor, approveOnce, approvePermanent, approveSession, definitions } from './index.ts';

test('once: one call', async () => {
  const { box } = await world();
  const { cap } = await approveOnce(box);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('once ends after 15 minutes, unused', async () => {
  const { box, clock } = await world();
  const { cap } = await approveOnce(box);
  clock.advance(15 * 60_000);
  expect(await code(E(cap).read())).toBe('expired');
});

test('for 60 seconds: over at 60', async () => {
  const { box, clock } = await world();
  const { cap } = await approveFor(box, { seconds: 60 });
  clock.advance(59_999);
  expect(await code(E(cap).read())).toBe('ok');
  clock.advance(1);
  expect(await code(E(cap).read())).toBe('expired');
  for (const seconds of [0, -1, Number.NaN, '60' as unknown as number, Number.POSITIVE_INFINITY])
    if (seconds !== ('60' as unknown)) expect(await code(approveFor(box, { seconds }))).toBe('invalid');
});

test('a session: until it ends, however it does, or somebody revokes', async () => {
  const { box, clock, store } = await world();
  const [one, two, three] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const caps = await Promise.all([one, two, three].map(({ promise: ended }) => approveSession(box, { ended })));
  clock.advance(24 * 3_600_000);
  for (const { cap } of caps) expect(await code(E(cap).read())).toBe('ok');
  one.resolve();
  two.reject(new Error('it crashed'));
  await caps[2]?.revoke('enough');
  await jobs();
  for (const { cap } of caps) expect(await code(E(cap).read())).toBe('revoked');
  expect((await lines(store, 'revoke')).map(({ why }) => why).sort()).toEqual([
    'enough',
    'the session ended',
    'the session ended',
  ]);
});

test('a session’s approval dies with the boot of the machine, a permanent one does not', async () => {
  const { box, clock } = await world();
  const session = await approveSession(box, { ended: new Promise(() => {}) });
  const permanent = await approvePermanent(box);
  const boot = clock.boottime();
  Object.defineProperty(clock, 'bootId', { value: 'another' });
  expect(clock.boottime()).toBe(boot);
  expect(await code(E(session.cap).read())).toBe('expired');
  expect(await code(E(permanent.cap).read())).toBe('ok');
});

test('permanent: 90 days, with each outcome in the ledger', async () => {
  const { box, clock, store } = await world();
  const { cap, revoke } = await approvePermanent(box);
  clock.advance(90 * 24 * 3_600_000 - 1);
  expect(await code(E(cap).read())).toBe('ok');
  const kinds = (await lines(store)).map(({ k }) => k).filter((k) => k !== 'checkpoint');
  expect(kinds).toEqual(['grant', 'call', 'result']);
  clock.advance(1);
  expect(await code(E(cap).read())).toBe('expired');
  await revoke();
});

test('they are made in the vats that own the cap', async () => {
  const { box } = await world(definitions.slice(0, 0));
  const other = await world();
  const { cap } = await approveOnce(box as Far<Box>);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await lines(other.store)).toEqual([]);
});

test('in a turn they are refused: there `revocable` is', async () => {
  const { box, vat } = await world();
  const tried: Promise<unknown>[] = [];
  await vat.turn(() => void tried.push(approveOnce(box)));
  expect(await code(tried[0])).toBe('not-callable');
});
