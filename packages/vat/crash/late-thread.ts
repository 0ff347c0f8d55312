/**
 * A thread that answers, and gives notice of it only when somebody waits: the caller has its answer by then, and waits for
 * that to its next question. A thread that loses its processor in between does the same.
 */
import { serveThread } from '../src/store/drivers/thread.ts';
import { stand } from './stand.ts';

const { notify } = Atomics;
Atomics.notify = (...given: readonly unknown[]): number => {
  // Bounded, since nobody waits any more after the last question.
  for (let tries = 0; tries < 200; tries += 1) {
    const woken = Reflect.apply(notify, Atomics, given) as number;
    if (woken > 0) return woken;
    stand(1);
  }
  return 0;
};

serveThread(() => ({ echo: (said: unknown) => said, close() {} }));
