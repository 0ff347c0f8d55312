/** A border around an object of another process: what pipelining through it costs, counted in round trips of the wire between the two. */
import { captp, type Duplex, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { enter, wire } from '../test/pair.ts';
import { Box, world } from '../test/world.ts';
import { facet, membrane, revocable } from './index.ts';

interface Held {
  /** The box of the other process, as this one has it. */
  readonly box: Far<Box>;
  /** From now on what the other process says stays on its way. Answers how to let it go. */
  hold(): () => void;
  /** What was asked of boxes in the other process. */
  readonly asked: readonly string[];
}

/** A box in vats of its own, at the far end of a wire. */
async function elsewhere(dialect: 'hob.1' | 'captp'): Promise<Held> {
  const asked: string[] = [];
  const peer = await openVats({ observe: ({ method }) => void asked.push(method) });
  const over = wire();
  const [far, near] = over.ends;
  let held: (() => void)[] | undefined;
  const slow: Duplex = {
    ...near,
    onFrame: (then) => near.onFrame((frame) => (held === undefined ? then(frame) : void held.push(() => then(frame)))),
  };
  const box = await peer.vat('boxes').spawn(Box('box'));
  const theirs = captp(far, { bootstrap: box as Far<object>, dialect });
  const ours = captp<Box>(slow, { dialect });
  onTestFinished(async () => {
    ours.close();
    theirs.close();
    await Promise.all([ours.closed, theirs.closed]);
    await peer.close();
  });
  await E(ours.bootstrap).read();
  return {
    box: ours.bootstrap,
    hold() {
      const kept: (() => void)[] = [];
      held = kept;
      return () => {
        held = undefined;
        for (const go of kept) go();
      };
    },
    asked,
  };
}

const chained = (cap: Far<Box>): Promise<string> => E(E(E(E(cap).open('a')).open('b')).open('c')).read() as never;
const moment = async (): Promise<void> => {
  for (let i = 0; i < 30; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

for (const dialect of ['hob.1', 'captp'] as const)
  test.each<[string, (box: Box) => object]>([
    ['nothing', (box) => box],
    ['a facet', (box) => facet(box, ['open', 'read'])],
    ['a grant', (box) => revocable(box, {}).cap],
    ['a membrane', (box) => membrane(box, {}).cap],
    ['a membrane around a grant', (box) => membrane(revocable(box, {}).cap, {}).cap],
  ])(`${dialect}: four hops through %s are one round trip`, async (_name, around) => {
    const { vat } = await world();
    const { box, hold, asked } = await elsewhere(dialect);
    const cap = (await vat.turn(() => around(box as unknown as Box))) as unknown as Far<Box>;
    // Also for somebody in a third process.
    for (const holder of [cap, enter(cap)]) {
      expect(await E(holder).read()).toBe('box');
      const before = asked.length;
      const go = hold();
      const answer = chained(holder);
      await moment();
      // The last one has been asked although nothing was answered yet.
      expect(asked.slice(before)).toEqual(['open', 'open', 'open', 'read']);
      go();
      expect(await answer).toBe('box/a/b/c');
    }
  });
