/** A membrane, attacked from both sides. */
import { CapError, type Definition, define, driver, E, type Far, isReference, promise, spawn } from '@hob/vat';
import { becomes } from '@hob/vat/forwarder';
import { expect, test } from 'vitest';
import { serve, wire } from '../test/pair.ts';
import { Box, code, jobs, lines, say, slowDriver, type World, world } from '../test/world.ts';
import { type Forwarded, membrane } from './index.ts';

interface Listener {
  hear(what: unknown): unknown;
  heard(): readonly unknown[];
  last(): unknown;
}
/** On the holder's side: keeps what it gets. */
const Listener: Definition<Listener, [heard: readonly unknown[]]> = define('Listener', (bcom, heard) => ({
  hear: (what) => bcom(Listener([...heard, what]), what),
  heard: () => heard,
  last: () => heard.at(-1),
}));

/** The same tests in memory and in a durable store, which keep their forwarders in different ways. */
const both = test.each([
  ['in memory', undefined],
  ['in a durable vat', [Listener]],
] as const);
async function bordered(
  durable: readonly never[] | readonly (typeof Listener)[] | undefined,
): Promise<World & Forwarded<Box> & { readonly listener: Far<Listener> }> {
  const all = await world(durable);
  const listener = await all.vats.vat('holder').spawn(Listener([]));
  return { ...all, ...membrane(all.box, {}), listener };
}

both('%s: an object has one forwarder, by whichever way it comes out', async (_where, durable) => {
  const { cap } = await bordered(durable);
  const first = await E(cap).deep();
  const second = await E(cap).deep();
  expect(first.self).toBe(second.self);
  // It is the cap itself, which already is the forwarder of the box.
  expect(first.self).toBe(await becomes(cap));
  expect(first.self).not.toBe(first.list[0]?.inner);
  // Also through a promise, and within data.
  const given = (await E(cap).give({ a: [first.self] })) as { a: readonly unknown[] };
  expect(given.a[0]).toBe(first.self);
});

both('%s: a forwarder that comes home is the object itself again', async (_where, durable) => {
  const { cap, box } = await bordered(durable);
  const { self } = await E(cap).deep();
  expect(self).not.toBe(box);
  expect(await say(cap, 'isSelf', self)).toBe(true);
  expect(await say(cap, 'isSelf', cap)).toBe(true);
  expect(await say(cap, 'same', { self }.self, cap)).toBe(true);
});

both('%s: a callback has one forwarder inside, and comes home unwrapped', async (_where, durable) => {
  const { cap, listener } = await bordered(durable);
  expect(await say(cap, 'same', listener, listener)).toBe(true);
  expect(await say(cap, 'give', listener)).toBe(listener);
  expect(await say(cap, 'give', [{ listener }])).toEqual([{ listener }]);
});

both(
  '%s: what is behind never gets a callback bare, and what it says to one comes out wrapped',
  async (_where, durable) => {
    const { cap, box, listener, revoker, vats } = await bordered(durable);
    // The box keeps nothing. A spy behind the membrane is told what the box would see.
    const spy = await vats.vat('boxes').spawn(Listener([]));
    const inside = membrane(spy, {});
    await say(inside.cap, 'hear', listener);
    const seen = await E(spy).last();
    expect(isReference(seen)).toBe(true);
    expect(seen).not.toBe(listener);
    // The object behind passes its own object to the callback. The holder gets a forwarder of it, not the
    // object.
    await say(cap, 'call', listener, 'hear', cap);
    expect((await E(listener).last()) as unknown).not.toBe(box);
    await say(seen, 'hear', spy);
    const got = await E(listener).last();
    expect(got).not.toBe(spy);
    expect(await code(say(got, 'heard'))).toBe('ok');
    // Once it is closed, neither side reaches the other.
    await E(inside.revoker).revoke();
    expect(await code(say(got, 'heard'))).toBe('revoked');
    expect(await code(say(seen, 'hear', 'still there?'))).toBe('revoked');
    await E(revoker).revoke();
  },
);

both('%s: everything that came out ends with it, however deep, by any way', async (_where, durable) => {
  const { cap, revoker } = await bordered(durable);
  const sub = await E(E(cap).open('a')).open('b');
  const { list, self } = await E(cap).deep();
  const all = [cap, sub, self, list[0]?.inner];
  for (const each of all) expect(await code(say(each, 'read'))).toBe('ok');
  await E(revoker).revoke();
  for (const each of all) expect(await code(say(each, 'read'))).toBe('revoked');
});

test('a promise is wrapped before anybody can pipeline to it: it never becomes an unwrapped object', async () => {
  const { vats, box } = await world();
  const kept = promise<Far<Box>>();
  const Later: Definition<{ later(): unknown; inData(): unknown }, []> = define('Later', () => ({
    later: () => kept.promise,
    inData: () => ({ p: kept.promise }),
  }));
  const later = await vats.vat('boxes').spawn(Later());
  const { cap, revoker } = membrane(later as Far<{ later(): unknown; inData(): unknown }>, {});
  const direct = say(cap, 'later');
  const early = code(say(direct, 'read'));
  const data = (await say(cap, 'inData')) as { p: Promise<unknown> };
  const inData = code(say(data.p, 'read'));
  await jobs();
  await E(revoker).revoke();
  kept.resolver.resolve(box);
  expect([await early, await inData]).toEqual(['revoked', 'revoked']);
  expect(await code(direct)).toBe('revoked');
});

test('a promise that goes inwards is wrapped too: calls on it pass the membrane, and end with it', async () => {
  const { cap, revoker, vats, box } = await bordered(undefined);
  const listener = await vats.vat('holder').spawn(Listener([]));
  const kept = promise<Far<Listener>>();
  // The box calls the promise while it is pending.
  const called = say(cap, 'call', kept.promise, 'hear', cap);
  await jobs();
  kept.resolver.resolve(listener);
  const answer = await called;
  expect(answer).not.toBe(box);
  expect(await E(listener).last()).not.toBe(box);
  const never = promise<Far<Listener>>();
  const hanging = code(say(cap, 'call', never.promise, 'hear', 1));
  await jobs();
  await E(revoker).revoke();
  expect(await hanging).toBe('revoked');
  never.resolver.break(new CapError('invalid', 'over'));
});

test('calls on pending promises are sent at once, each in its turn', async () => {
  await world();
  const gate = promise<unknown>();
  const order: string[] = [];
  const inner = driver<{ open(): unknown }>({
    open: async () => {
      await gate.promise;
      order.push('open');
      return driver<{ read(n: number): number }>({
        read: ([n]) => {
          order.push(`read ${n}`);
          return n;
        },
      });
    },
  });
  const { cap } = membrane(inner, {});
  const opened = E(cap).open();
  const answers = [1, 2, 3].map((n) => say(opened, 'read', n));
  await jobs();
  gate.resolver.resolve(undefined);
  expect(await Promise.all(answers)).toEqual([1, 2, 3]);
  const out = await opened;
  expect(await say(out, 'read', 4)).toBe(4);
  expect(order).toEqual(['open', 'read 1', 'read 2', 'read 3', 'read 4']);
});

test('a pipelined call has its ledger line before the promise is resolved', async () => {
  const { store } = await world();
  const { cap: slow, calls } = slowDriver();
  const { cap } = membrane(slow, {});
  const answer = E(cap).slow();
  const pipelined = code(say(answer, 'read'));
  await jobs();
  expect((await lines(store, 'call')).map(({ method }) => method)).toEqual(['slow', 'read']);
  calls[0]?.answer(7);
  expect(await pipelined).toBe('not-callable'); // it was data
});

test('errors cross as frozen data: a code and a text, and no reference', async () => {
  const { cap } = await bordered(undefined);
  const error = (await E(cap).fail().catch((caught: unknown) => caught)) as CapError; // biome-ignore format: one line
  expect(error).toBeInstanceOf(CapError);
  expect(error.code).toBe('NOT_FOUND');
  expect(Object.isFrozen(error)).toBe(true);
  const given = (await say(cap, 'give', [new CapError('denied', 'no')])) as readonly CapError[];
  expect(given[0]?.code).toBe('denied');
});

test('within a turn: one near call each way, one forwarder, nothing unwrapped', async () => {
  const { vats } = await world();
  const vat = vats.vat('one');
  const told = await vat.turn(() => {
    const inner = spawn(Box('box'));
    const near = membrane(inner, {}).cap as unknown as Box;
    const { self } = near.deep();
    const listener = spawn(Listener([]));
    return [
      self === near.deep().self,
      (self as unknown) !== inner,
      near.isSelf(self),
      near.isSelf(inner),
      near.give(listener) === listener,
      near.open('a').read(),
      near.read(),
    ];
  });
  expect(told).toEqual([true, true, true, false, true, 'box/a', 'box']);
});

test('a getter or Proxy of a near caller is read once, before the membrane, and never by the object behind', async () => {
  const { vats } = await world();
  const vat = vats.vat('one');
  const tricks: unknown[] = [
    { get what(): string { return 'x'; } },
    new Proxy({}, {}),
    { deep: [new Proxy([], {})] },
  ]; // biome-ignore format: short
  for (const trick of tricks)
    expect(await code(vat.turn(() => (membrane(spawn(Box('b')), {}).cap as unknown as Box).give(trick)))).toBe(
      'invalid',
    );
});

test('a forwarder that was made in a turn that was undone is made anew', async () => {
  const { vat } = await world([Listener]);
  const [cap] = (await vat.turn(() => {
    const box = spawn(Box('box'));
    return [membrane(box, {}).cap] as never;
  })) as unknown as [Far<Box>];
  expect(
    await code(
      vat.turn(() => {
        (cap as unknown as Box).deep();
        throw new CapError('invalid', 'undone');
      }),
    ),
  ).toBe('invalid');
  const { self } = await E(cap).deep();
  expect(await code(say(self, 'read'))).toBe('ok');
});

test('memory: a forwarder that nobody holds is collected, and a new one takes its place', async () => {
  const { cap } = await bordered(undefined);
  const seen = await (async () => new WeakRef((await E(cap).open('a')) as object))();
  for (let i = 0; i < 20 && seen.deref() !== undefined; i += 1) {
    await jobs(5);
    (globalThis as { gc?: () => void }).gc?.();
  }
  expect(seen.deref()).toBe(undefined);
});

test('two membranes around one object are independent', async () => {
  const { box } = await world();
  const [a, b] = [membrane(box, {}), membrane(box, {})];
  const { self } = await E(a.cap).deep();
  // A forwarder of the other membrane is an ordinary object: it goes inwards wrapped.
  expect(await say(b.cap, 'isSelf', self)).toBe(false);
  await E(a.revoker).revoke();
  expect(await code(E(b.cap).read())).toBe('ok');
  expect(await code(say(self, 'read'))).toBe('revoked');
});

/**
 * Sends a chain of pipelined calls at once. Returns the frames that went each way until the last one
 * returned.
 */
async function chain(
  cap: Far<object>,
): Promise<{ readonly out: number; readonly back: number; readonly answer: unknown }> {
  const over = wire();
  serve(cap, over);
  const [, peer] = over.ends;
  const answered = new Promise<unknown>((resolve) =>
    peer.onFrame((frame) => {
      const said = JSON.parse(frame as string) as { answerID?: string; result?: { body: string } };
      if (said.answerID === 'q-4') resolve(said.result?.body);
    }),
  );
  const say4 = (what: object): void => peer.send(JSON.stringify({ epoch: 0, ...what }));
  const call = (questionID: string, target: string, method: string, ...args: unknown[]): void =>
    say4({ type: 'CTP_CALL', questionID, target, method: { body: JSON.stringify([method, args]), slots: [] } });
  say4({ type: 'CTP_BOOTSTRAP', questionID: 'q-1' });
  call('q-2', 'q-1', 'open', 'a');
  call('q-3', 'q-2', 'open', 'b');
  call('q-4', 'q-3', 'read');
  const answer = await answered;
  const frames = over.sent.filter(({ frame }) => !String(frame).includes('"question')); // the host’s own bootstrap call is not ours
  return { out: 4, back: frames.filter(({ from }) => from === 0).length, answer };
}

test('pipelining through a membrane adds no round trip and no frame', async () => {
  const { box } = await world();
  const bare = await chain(box);
  const bordered = await chain(membrane(box, {}).cap);
  expect(bare.answer).toBe('"box/a/b"');
  expect(bordered).toEqual(bare);
});
