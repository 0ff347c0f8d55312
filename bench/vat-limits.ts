/** Two costs that once grew faster than the size: subscribers of one publisher, and nested near calls. */
import { type Definition, define, E, spawn, type Vat } from '@hob/vat';
import { makePubSub, type PubSub, type Subscriber } from '@hob/vat/actors';
import type { Case } from './measure.ts';

const SUBSCRIBERS = 5_000;
const DEPTH = 10_000;

const Ear: Definition<Subscriber, []> = define('Ear', () => ({ notify: () => undefined }));

interface Stair {
  /** Calls itself `n` times, each call within the one before, and returns how deep it came. */
  down(n: number): number;
}
const Stair: Definition<Stair, []> = define('Stair', (bcom) => ({
  down: (n) => (n === 0 ? 0 : 1 + bcom.self.down(n - 1)),
}));

/** The ms that `count` subscriptions take, in one turn for each of `publishers` new publishers. */
async function subscribed(vat: Vat, publishers: number, count: number): Promise<number> {
  let ms = 0;
  for (let done = 0; done < publishers; done += 1)
    await vat.turn(() => {
      const ears = Array.from({ length: count }, () => spawn(Ear()));
      const publisher: PubSub = makePubSub();
      const began = performance.now();
      for (const ear of ears) publisher.subscribe(ear);
      ms += performance.now() - began;
      if (publisher.subscribers().length !== count) throw new Error('subscribers are missing');
    });
  return ms;
}

export async function limitCases(vat: Vat): Promise<readonly Case[]> {
  const stair = await vat.spawn(Stair());
  return [
    {
      name: `PubSub: ${SUBSCRIBERS} subscribe in one turn vs ${SUBSCRIBERS / 10} in each of ten`,
      n: 1,
      rounds: 5,
      unit: 'ms',
      ours: () => subscribed(vat, 1, SUBSCRIBERS),
      peer: () => subscribed(vat, 10, SUBSCRIBERS / 10),
      goal: { text: '<= 3 x', met: ({ ratio }) => ratio <= 3 },
    },
    {
      name: `near calls nested ${DEPTH} deep, each call`,
      n: DEPTH,
      rounds: 5,
      ours: async (n) => {
        const began = performance.now();
        if ((await E(stair).down(n)) !== n) throw new Error('it did not come so deep');
        return ((performance.now() - began) * 1e6) / n;
      },
      goal: { text: `${DEPTH} deep`, met: ({ ours }) => Number.isFinite(ours) },
    },
  ];
}
