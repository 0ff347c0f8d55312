/** Approvals: once, for a time, for a session, permanent. */
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { type Box, code, jobs, lines, world } from '../test/world.ts';
import { approveFor, approveOnce, approvePermanent, approveSession, definitions } from './index.ts';

test('approveOnce allows one call', async () => {
  const { box } = await world();
  const { cap } = await approveOnce(box);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('approveOnce ends after 15 minutes, even unused', async () => {
  const { box, clock } = await world();
  const { cap } = await approveOnce(box);
  clock.advance(15 * 60_000);
  expect(await code(E(cap).read())).toBe('expired');
});

test('approveFor 60 seconds ends at 60', async () => {
  const { box, clock } = await world();
  const { cap } = await approveFor(box, { seconds: 60 });
  clock.advance(59_999);
  expect(await code(E(cap).read())).toBe('ok');
  clock.advance(1);
  expect(await code(E(cap).read())).toBe('expired');
  for (const seconds of [0, -1, Number.NaN, '60' as unknown as number, Number.POSITIVE_INFINITY])
    if (seconds !== ('60' as unknown)) expect(await code(approveFor(box, { seconds }))).toBe('invalid');
});

test('approveSession ends when the session ends in any way, or when it is revoked', async () => {
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

test('approveSession ends with the boot of the machine, approvePermanent does not', async () => {
  const { box, clock } = await world();
  const session = await approveSession(box, { ended: new Promise(() => {}) });
  const permanent = await approvePermanent(box);
  const boot = clock.boottime();
  Object.defineProperty(clock, 'bootId', { value: 'another' });
  expect(clock.boottime()).toBe(boot);
  expect(await code(E(session.cap).read())).toBe('expired');
  expect(await code(E(permanent.cap).read())).toBe('ok');
});

test('approvePermanent lasts 90 days, with each result in the ledger', async () => {
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

test('approvals are made in the vats that own the cap', async () => {
  const { box } = await world(definitions.slice(0, 0));
  const other = await world();
  const { cap } = await approveOnce(box as Far<Box>);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await lines(other.store)).toEqual([]);
});

test('approvals are refused in a turn: use `revocable` there', async () => {
  const { box, vat } = await world();
  const tried: Promise<unknown>[] = [];
  await vat.turn(() => void tried.push(approveOnce(box)));
  expect(await code(tried[0])).toBe('not-callable');
});

test('a session without an end gets no approval', async () => {
  const { box, store } = await world();
  expect(await code(approveSession(box, {} as never))).toBe('invalid');
  expect(await lines(store)).toEqual([]);
});
