/** A border, attacked from both sides. */
import { becomes, CapError, type Definition, define, driver, E, type Far, isReference, promise, spawn } from '@hob/vat';
import { expect, test } from 'vitest';
import { serve, wire } from '../test/pair.ts';
import { Box, code, jobs, lines, say, slowDriver, type World, world } from '../test/world.ts';
import { type Forwarded, membrane } from './index.ts';

interface Listener {
  hear(what: unknown): unknown;
  heard(): readonly unknown[];
  last(): unknown;
}
/** On the holder's side: keeps what it hears. */
const Listener: Definition<Listener, [heard: readonly unknown[]]> = define('Listener', (bcom, heard) => ({
  hear: (what) => bcom(Listener([...heard, what]), what),
  heard: () => heard,
  last: () => heard.at(-1),
}));

/** The same, in memory and in a store that lasts: wrappers are other things there, promises are not. */
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

both('%s: an object has one face, however often and by whichever way it comes out', async (_where, durable) => {
  const { cap } = await bordered(durable);
  const first = await E(cap).deep();
  const second = await E(cap).deep();
  expect(first.self).toBe(second.self);
  // It is the cap itself: that is the box's face already.
  expect(first.self).toBe(await becomes(cap));
  expect(first.self).not.toBe(first.list[0]?.inner);
  // Also by a promise, and within data.
  const given = (await E(cap).give({ a: [first.self] })) as { a: readonly unknown[] };
  expect(given.a[0]).toBe(first.self);
});

both('%s: a face that comes home is the object itself again', async (_where, durable) => {
  const { cap, box } = await bordered(durable);
  const { self } = await E(cap).deep();
  expect(self).not.toBe(box);
  expect(await say(cap, 'isSelf', self)).toBe(true);
  expect(await say(cap, 'isSelf', cap)).toBe(true);
  expect(await say(cap, 'same', { self }.self, cap)).toBe(true);
});

both('%s: a callback has one face for what is behind, and comes home bare', async (_where, durable) => {
  const { cap, listener } = await bordered(durable);
  expect(await say(cap, 'same', listener, listener)).toBe(true);
  expect(await say(cap, 'give', listener)).toBe(listener);
  expect(await say(cap, 'give', [{ listener }])).toEqual([{ listener }]);
});

both(
  '%s: what is behind never gets a callback bare, and what it says to one comes out wrapped',
  async (_where, durable) => {
    const { cap, box, listener, revoker, vats } = await bordered(durable);
    // The box keeps nothing itself: a spy behind the border is told what the box would see.
    const spy = await vats.vat('boxes').spawn(Listener([]));
    const inside = membrane(spy, {});
    await say(inside.cap, 'hear', listener);
    const seen = await E(spy).last();
    expect(isReference(seen)).toBe(true);
    expect(seen).not.toBe(listener);
    // Behind the border says its own object to the callback: the holder hears a face of it, not the object.
    await say(cap, 'call', listener, 'hear', cap);
    expect((await E(listener).last()) as unknown).not.toBe(box);
    await say(seen, 'hear', spy);
    const got = await E(listener).last();
    expect(got).not.toBe(spy);
    expect(await code(say(got, 'heard'))).toBe('ok');
    // Closed, neither side reaches the other.
    await E(inside.revoker).revoke();
    expect(await code(say(got, 'heard'))).toBe('revoked');
    expect(await code(say(seen, 'hear', 'still there?'))).toBe('revoked');
    await E(revoker).revoke();
  },
);

both('%s: everything that came out ends with it, however deep and by whichever way', async (_where, durable) => {
  const { cap, revoker } = await bordered(durable);
  const sub = await E(E(cap).open('a')).open('b');
  const { list, self } = await E(cap).deep();
  const all = [cap, sub, self, list[0]?.inner];
  for (const each of all) expect(await code(say(each, 'read'))).toBe('ok');
  await E(revoker).revoke();
  for (const each of all) expect(await code(say(each, 'read'))).toBe('revoked');
});

test('a promise is wrapped before anybody can pipeline to it: what it becomes is never bare', async () => {
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

test('a promise that goes in is wrapped too: calls on it go out to the holder through the border, and end with it', async () => {
  const { cap, revoker, vats, box } = await bordered(undefined);
  const listener = await vats.vat('holder').spawn(Listener([]));
  const kept = promise<Far<Listener>>();
  // The box calls the promise before it is anything.
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

test('calls on answers that are not there yet go on at once, each in its turn', async () => {
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
  const face = await opened;
  expect(await say(face, 'read', 4)).toBe(4);
  expect(order).toEqual(['open', 'read 1', 'read 2', 'read 3', 'read 4']);
});

test('what is pipelined has passed the border before the answer is there: its line is in the ledger already', async () => {
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

test('errors cross as data: a code and a text, frozen, and no way to anything', async () => {
  const { cap } = await bordered(undefined);
  const error = (await E(cap).fail().catch((caught: unknown) => caught)) as CapError; // biome-ignore format: one line
  expect(error).toBeInstanceOf(CapError);
  expect(error.code).toBe('NOT_FOUND');
  expect(Object.isFrozen(error)).toBe(true);
  const given = (await say(cap, 'give', [new CapError('denied', 'no')])) as readonly CapError[];
  expect(given[0]?.code).toBe('denied');
});

test('within a turn: one near call each way, one face, nothing bare', async () => {
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

test('a near caller’s getter and Proxy are read once, before the border, and never by what is behind', async () => {
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

test('a face that was made in a turn that was undone is made anew', async () => {
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

test('memory: a face that nobody holds goes, and another comes in its place', async () => {
  const { cap } = await bordered(undefined);
  const seen = await (async () => new WeakRef((await E(cap).open('a')) as object))();
  for (let i = 0; i < 20 && seen.deref() !== undefined; i += 1) {
    await jobs(5);
    (globalThis as { gc?: () => void }).gc?.();
  }
  expect(seen.deref()).toBe(undefined);
});

test('two membranes over one object are two borders', async () => {
  const { box } = await world();
  const [a, b] = [membrane(box, {}), membrane(box, {})];
  const { self } = await E(a.cap).deep();
  // The other's face is an object like any other: it goes in wrapped, and is not taken for its own.
  expect(await say(b.cap, 'isSelf', self)).toBe(false);
  await E(a.revoker).revoke();
  expect(await code(E(b.cap).read())).toBe('ok');
  expect(await code(say(self, 'read'))).toBe('revoked');
});

/** A chain of calls, each on the answer of the one before, sent by hand at once: the frames that went each way until the last was answered. */
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

test('pipelining through a membrane adds no round trip: the same frames, and nothing more has to be sent', async () => {
  const { box } = await world();
  const bare = await chain(box);
  const bordered = await chain(membrane(box, {}).cap);
  expect(bare.answer).toBe('"box/a/b"');
  expect(bordered).toEqual(bare);
});
