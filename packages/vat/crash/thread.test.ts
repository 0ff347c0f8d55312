import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { startThread } from '../src/store/drivers/thread.ts';
import { stand } from './stand.ts';

test('whoever waits for the thread gets the answer to its own question, however late the notice of the one before comes', async () => {
  const thread = await startThread(new URL('./late-thread.ts', import.meta.url), undefined);
  onTestFinished(() => thread.close());
  // The answer is there before anybody waits for it: its notice then wakes who asks next.
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (this: Worker, ...given: Parameters<typeof post>) {
    Reflect.apply(post, this, given);
    stand(30);
  };
  onTestFinished(() => {
    Worker.prototype.postMessage = post;
  });
  const asked = Array.from({ length: 10 }, (_, i) => i);
  expect(asked.map((i) => thread.ask('echo', i))).toEqual(asked);
});
