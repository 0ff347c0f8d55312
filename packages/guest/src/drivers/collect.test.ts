/** Collects the garbage of a process that waits. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { collect } from './collect.ts';

test('garbage is collected at once, and no context has a function for it afterwards', async () => {
  const garbage = new WeakRef([1]);
  // A WeakRef keeps its object until the turn of the event loop ends.
  await new Promise((done) => setImmediate(done));
  collect();
  expect(garbage.deref()).toBe(undefined);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
