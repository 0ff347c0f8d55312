/** A grant over the wire: looking for rings of promises (`vat/src/captp/session/rings.ts`) is no call of it. */
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { jobs, lines, peerOf, type Slow, slowDriver, world } from '../test/world.ts';
import { revocable } from './index.ts';

test('an answer that a peer waits for is one line of each grant on its way, and nothing but the call arrives', async () => {
  const { vat, store } = await world();
  const { cap: slow, calls } = slowDriver();
  const granted = await vat.turn((): object => {
    const above = revocable(slow, { for: 60_000 }).cap;
    return revocable(above as never, { for: 60_000 }).cap as object;
  });
  const { client } = peerOf<Slow>(granted);
  const pipelined = (E(E(client.bootstrap).give()) as never as Slow).slow();
  await expect.poll(() => calls.length).toBe(1);
  const cap = (await E(client.bootstrap).give()) as Far<Slow>;
  const held = E(cap).slow();
  await expect.poll(() => calls.length).toBe(2);
  for (const { answer } of calls) answer('here');
  expect(await Promise.all([pipelined, held])).toEqual(['here', 'here']);
  await jobs();
  expect((await lines(store, 'call')).map(({ method }) => method)).toEqual(['slow', 'slow', 'slow', 'slow']);
  expect(await lines(store, 'refuse')).toEqual([]);
});
