/**
 * A membrane around an object of another process: pipelining through it, counted in round trips on the wire.
 */
import { captp, type Duplex, driver, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { enter, wire } from '../test/pair.ts';
import { Box, world } from '../test/world.ts';
import { facet, membrane, type Revoker, revocable } from './index.ts';

interface Held {
  /** The box of the other process, as this process has it. */
  readonly box: Far<Box>;
  /** Holds back all frames of the other process from now on. Returns a function that releases them. */
  hold(): () => void;
  /** The calls that boxes in the other process got. */
  readonly asked: readonly string[];
}

/** A box in its own vats, at the far end of a wire. */
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
    // The same holds for a third process.
    for (const holder of [cap, enter(cap)]) {
      expect(await E(holder).read()).toBe('box');
      const before = asked.length;
      const go = hold();
      const answer = chained(holder);
      await moment();
      // The last call has arrived although no result has come back.
      expect(asked.slice(before)).toEqual(['open', 'open', 'open', 'read']);
      go();
      expect(await answer).toBe('box/a/b/c');
    }
  });

test('a revocation ends its own grant, and none that another vat made of the same object', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const outside = driver<{ wait(): string; read(): string }>({
    wait: (_args, { signal }) =>
      new Promise((done, no) => {
        signal.addEventListener('abort', () => no(signal.reason as Error));
        setTimeout(() => done('done'), 50);
      }),
    read: () => 'read',
  });
  const grant = (name: string) => vats.vat(name).turn(() => revocable(outside, {}) as never) as Promise<Made>;
  interface Made {
    readonly cap: typeof outside;
    readonly revoker: Far<Revoker>;
  }
  const [one, two] = [await grant('one'), await grant('two')];
  const [ends, goesOn] = [E(one.cap).wait(), E(two.cap).wait()];
  const ended = expect(ends).rejects.toMatchObject({ code: 'revoked' });
  await E(two.cap).read();
  await E(one.revoker).revoke();
  await ended;
  expect([await E(two.cap).read(), await goesOn]).toEqual(['read', 'done']);
});
