/**
 * A thread that answers, and gives notice of it only some time later: as one that loses its processor in
 * between.
 */
import { serveThread } from '../src/store/drivers/thread.ts';
import { stand } from './stand.ts';

const { notify } = Atomics;
Atomics.notify = (...given: readonly unknown[]): number => {
  stand(10);
  return Reflect.apply(notify, Atomics, given);
};

serveThread(() => ({ echo: (said: unknown) => said, close() {} }));
