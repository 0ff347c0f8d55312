/** Grace times, with a look that takes as long as the test wants. */
import type { Connection, Far, Meter } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { RequestWaiters } from '../state/waiters.ts';
import { Presence } from './presence.ts';

const flush = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('if a peer connects during the check of a session’s grants, the session is not checked again while the peer is connected', async () => {
  const clock = testClock();
  const looks: PromiseWithResolvers<boolean>[] = [];
  const presence = new Presence({
    waiters: new RequestWaiters(() => {}),
    sessions: {
      entered: async () => true,
      endUnlessLasting() {
        const look = Promise.withResolvers<boolean>();
        looks.push(look);
        return look.promise;
      },
    },
    clock,
    graceMs: 1000,
    fault(error) {
      throw error;
    },
  });
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  const connection = { closed: closed.promise, close() {} } as unknown as Connection;
  presence.left('work');
  clock.advance(1000);
  expect(looks).toHaveLength(1);
  const peer = { who: 'work', session: 'work', face: {} as Far<object>, meter: {} as Meter };
  presence.welcome(peer, 'hob.1', connection);
  looks[0]?.resolve(true);
  await flush();
  clock.advance(1_000_000);
  expect(looks).toHaveLength(1);
  closed.resolve({ code: 1006, reason: '' });
  await flush();
  clock.advance(1000);
  expect(looks).toHaveLength(2);
  looks[1]?.resolve(true);
  await flush();
  clock.advance(60_000);
  expect(looks).toHaveLength(3);
  presence.close();
});
