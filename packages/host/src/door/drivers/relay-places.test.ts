/** The number of relays of a front door. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { RelayPlaces } from './relay-places.ts';

test('there are so many relays at once, one for each socket, and a socket that closes makes room', async () => {
  const places = new RelayPlaces(2);
  const [one, two, three] = [new PassThrough(), new PassThrough(), new PassThrough()];
  expect([one, two, three].map((socket) => places.take(socket))).toEqual([true, true, false]);
  expect(three.destroyed).toBe(false);
  // A second request of a socket ends it.
  expect(places.take(one)).toBe(false);
  expect([one.destroyed, two.destroyed]).toEqual([true, false]);
  await once(one, 'close');
  expect(places.take(three)).toBe(true);
  places.close();
  expect([two.destroyed, three.destroyed]).toEqual([true, true]);
});
