/** A thread that answers, and gives notice of it only some time later: as one that loses its processor in between. */
import { serveThread } from '../src/drivers/thread.ts';
import { stand } from './stand.ts';

const notify = Atomics.notify;
Atomics.notify = (...given: Parameters<typeof notify>) => {
  stand(10);
  return notify(...given);
};

serveThread(() => ({ echo: (said: unknown) => said, close() {} }));
