/** The combinator: what the author of a policy can rely on, and what a caller cannot get past. */
import { CapError, type Definition, define, driver, E, type Far, promise, spawn } from '@hob/vat';
import { ephemeral } from '@hob/vat/forwarder';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Box, code, jobs, lines, say, slowDriver, world } from '../../test/world.ts';
import { facet, forward, gated, type Judge, revocable } from '../index.ts';

test('before gets method, arguments and vat time; if it throws, the caller gets the error and nothing is sent', async () => {
  const { box, clock, vat } = await world();
  const seen: unknown[] = [];
  const Seen: Definition<{ note(what: unknown): void }, []> = define('Seen', () => ({ note: (what) => void seen.push(what) })); // biome-ignore format: one line
  const note = await vat.spawn(Seen());
  const noting = forward<readonly [seen: { note(what: unknown): void }]>('noting', {
    before: ([to], method, args, now) => {
      to.note([method, args, now]);
      if (method === 'write') throw new CapError('denied', 'read only');
    },
  });
  const cap = (await vat.turn(() =>
    noting(box, note as unknown as { note(what: unknown): void }),
  )) as unknown as Far<Box>;
  expect(await E(cap).read()).toBe('box');
  expect(await code(E(cap).write('x'))).toBe('denied');
  expect(await E(box).read()).toBe('box');
  expect(seen).toEqual([
    ['read', [], clock.boottime()],
    ['write', ['x'], clock.boottime()],
  ]);
});

test('everything that comes out shares one state: a budget of characters holds for all of it', async () => {
  const { box } = await world();
  const budget = forward<readonly [left: number]>('budget', {
    before: ([left], method, args) => {
      if (method !== 'write') return;
      const next = left - String(args[0]).length;
      if (next < 0) throw new CapError('limit', `${left} characters are left`);
      return [next];
    },
  });
  const cap = budget(box, 10);
  const sub = (await E(cap).open('a')) as unknown as Far<Box>;
  await E(sub).write('123456');
  expect(await code(E(cap).write('12345'))).toBe('limit');
  expect(await code(E(cap).write('1234'))).toBe('ok');
  expect(await code(E(sub).write('1'))).toBe('limit');
});

test('after gets each outcome, and its next state is kept even if the call failed', async () => {
  const { box } = await world();
  const fails = forward<readonly [failed: number]>('fails', {
    before: ([failed]) => {
      if (failed >= 2) throw new CapError('denied', 'too many failures');
    },
    after: ([failed], _method, { ok, error }) => {
      if (!ok) expect((error as CapError).code).toBe('NOT_FOUND');
      return ok ? undefined : [failed + 1];
    },
  });
  const cap = fails(box, 0);
  expect(await E(cap).read()).toBe('box');
  for (let i = 0; i < 2; i += 1) expect(await code(E(cap).fail())).toBe('NOT_FOUND');
  expect(await code(E(cap).read())).toBe('denied');
});

test('wrap decides what comes out', async () => {
  const { box } = await world();
  const loud = forward<readonly []>('loud', { wrap: (_state, value) => typeof value === 'string' ? value.toUpperCase() : value }); // biome-ignore format: one line
  expect(await E(loud(box)).read()).toBe('BOX');
});

test('a forwarder with a state is reached by message only: a near caller could undo it and keep the result', async () => {
  const { vats } = await world();
  const vat = vats.vat('one');
  const near = forward<readonly []>('near one', { near: true });
  const remembers = forward<readonly [n: number]>('remembers', { before: ([n]) => [n + 1] });
  const lies = forward<readonly [n: number]>('lies', { near: true, before: ([n]) => [n + 1] });
  const gatedBy = spawnless;
  for (const [made, expected] of [
    [(b: Box) => near(b), 'ok'],
    [(b: Box) => facet(b, ['read']), 'ok'],
    [(b: Box) => revocable(b, {}).cap, 'ok'],
    [(b: Box) => remembers(b, 0), 'not-callable'],
    [(b: Box) => lies(b, 0), 'not-callable'],
    [(b: Box) => revocable(b, { uses: 3 }).cap, 'not-callable'],
    [(b: Box) => revocable(b, { where: { read: { 0: { is: undefined } } } }).cap, 'not-callable'],
    [(b: Box) => gated(b, gatedBy as unknown as Judge), 'not-callable'],
  ] as const)
    expect(await code(vat.turn(() => (made(spawn(Box('b'))) as unknown as Box).read()))).toBe(expected);
});
const spawnless = driver<Judge>({ ask: () => true });

test('a near call through forwarders without a changing state returns at once', async () => {
  const { vats } = await world();
  expect(
    await vats.vat('one').turn(() => {
      const cap = facet(revocable(revocable(spawn(Box('b')), {}).cap, { for: 1000 }).cap, ['read']) as unknown as Box;
      return cap.read();
    }),
  ).toBe('b');
});

test('an object behind that throws undoes its call and nothing of the forwarder', async () => {
  const { vats, store } = await world();
  const vat = vats.vat('one');
  const { cap } = (await vat.turn(() => revocable(spawn(Box('b')), {}) as never)) as unknown as { cap: Far<Box> };
  expect(await code(E(cap).fail())).toBe('NOT_FOUND');
  expect(await E(cap).read()).toBe('b');
  expect((await lines(store)).map(({ k, code: said }) => [k, said])).toEqual([
    ['grant', undefined],
    ['call', 'NOT_FOUND'],
    ['result', 'NOT_FOUND'],
    ['call', undefined],
  ]);
});

// ---- grants and facets --------------------------------------------------------------------------------------------------------

test('uses: so many calls pass, whatever they return and whichever forwarder they use', async () => {
  const { box } = await world();
  const { cap } = revocable(box, { uses: 3 });
  const sub = (await E(cap).open('a')) as unknown as Far<Box>;
  expect(await code(E(sub).fail())).toBe('NOT_FOUND');
  const codes = await Promise.all([code(E(cap).read()), code(E(sub).read()), code(E(cap).read())]);
  expect(codes).toEqual(['ok', 'exhausted', 'exhausted']);
});

test('a PIN of three tries stays at three: an object behind that throws gives none back', async () => {
  const { vats } = await world();
  const Safe: Definition<{ open(pin: string): string }, []> = define('Safe', () => ({
    open: (pin) => {
      if (pin !== '1234') throw new CapError('denied', 'wrong PIN');
      return 'gold';
    },
  }));
  const safe = (await vats.vat('boxes').spawn(Safe())) as Far<{ open(pin: string): string }>;
  const { cap } = revocable(safe, { uses: 3 });
  for (const pin of ['0000', '1111', '2222']) expect(await code(E(cap).open(pin))).toBe('denied');
  expect(await code(E(cap).open('1234'))).toBe('exhausted');
});

test('a grant with uses keeps the order of its calls', async () => {
  await world();
  const seen: number[] = [];
  const inner = driver<{ n(x: number): void }>({ n: ([x]) => void seen.push(x) });
  const { cap } = revocable(inner, { uses: 1000 });
  await Promise.all(Array.from({ length: 500 }, (_, n) => E(cap).n(n)));
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n));
});

test('order is kept up to the forwarder and through it, also over a promise for it', async () => {
  await world();
  const seen: number[] = [];
  const inner = driver<{ n(x: number): void; me(): unknown }>({ n: ([x]) => void seen.push(x), me: () => self });
  const self: unknown = inner;
  const { cap } = revocable(inner, {});
  const me = E(cap).me();
  const all: Promise<unknown>[] = [];
  for (let n = 0; n < 50; n += 1) all.push(say(me, 'n', n));
  await me;
  for (let n = 50; n < 100; n += 1) all.push(say(me, 'n', n));
  await Promise.all(all);
  expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test('a grant is over at its deadline by either clock, and for good', async () => {
  const { box, clock } = await world();
  const { cap } = revocable(box, { for: 1000 });
  const sub = (await E(cap).open('a')) as unknown as Far<Box>;
  clock.advance(999);
  expect(await E(sub).read()).toBe('box/a');
  clock.stepWall(1);
  expect(await code(E(cap).read())).toBe('expired');
  clock.stepWall(-10_000);
  for (const each of [cap, sub]) expect(await code(E(each).read())).toBe('expired');
});

test('a near caller that sees the grant expired and undoes its turn does not undo the end', async () => {
  const { vats, clock } = await world();
  const vat = vats.vat('one');
  const cap = (await vat.turn(() => revocable(spawn(Box('b')), { for: 1000 }).cap as never)) as unknown as Box;
  clock.stepWall(1000);
  expect(await code(vat.turn(() => cap.read()))).toBe('expired');
  clock.stepWall(-1000);
  expect(await code(vat.turn(() => cap.read()))).toBe('expired');
});

test('facet: these methods and no others; their results come out unwrapped', async () => {
  const { box } = await world();
  const cap = facet(box, ['open', 'read']);
  expect(await E(cap).read()).toBe('box');
  for (const method of ['write', 'fail', '', 'toString', 'Read', 'read '])
    expect(await code(say(cap, method, 'x')), method).toBe('no-such-method');
  expect(await code(say(await E(cap).open('a'), 'write', 'x'))).toBe('ok');
  expect(() => facet(box, [])).toThrowError(expect.objectContaining({ code: 'invalid' }));
});

test('an audited grant writes each call and each result to the ledger', async () => {
  const { box, store } = await world();
  const { cap } = revocable(box, { audited: true });
  await E(cap).read();
  await code(E(cap).fail());
  const sub = (await E(cap).open('a')) as unknown as Far<Box>;
  await E(sub).read();
  const [, ...after] = await lines(store);
  expect(after.map(({ k, method, code: said }) => [k, method, said])).toEqual([
    ['call', 'read', undefined],
    ['result', 'read', 'ok'],
    ['call', 'fail', undefined],
    ['result', 'fail', 'NOT_FOUND'],
    ['call', 'open', undefined],
    ['result', 'open', 'ok'],
    ['call', 'read', undefined],
    ['result', 'read', 'ok'],
  ]);
});

// ---- gated -----------------------------------------------------------------------------------------------------------------

function person(): { readonly judge: Far<Judge>; readonly asked: { call: unknown; say(answer: unknown): void }[] } {
  const asked: { call: unknown; say(answer: unknown): void }[] = [];
  const judge = driver<Judge>({ ask: ([call]) => new Promise((say) => void asked.push({ call, say: say as never })) });
  return { judge, asked };
}

test('gated: nothing is sent before a yes, and everything but true is a no', async () => {
  const { box } = await world();
  const { judge, asked } = person();
  const cap = gated(box, judge);
  for (const answer of [false, undefined, 'yes', 1, {}]) {
    const written = code(E(cap).write('x'));
    await jobs();
    expect(await E(box).read()).toBe('box');
    asked.at(-1)?.say(answer);
    expect(await written).toBe('denied');
  }
  const written = code(E(cap).write('x'));
  await jobs();
  expect(asked.at(-1)?.call).toEqual({ method: 'write', args: ['x'], via: [] });
  asked.at(-1)?.say(true);
  expect(await written).toBe('ok');
  expect(await E(box).read()).toBe('x');
});

test('gated: a judge that throws is a no', async () => {
  const { box } = await world();
  const cap = gated(box, driver<Judge>({ ask: () => { throw new CapError('unavailable', 'nobody there'); } })); // biome-ignore format: one line
  expect(await code(E(cap).read())).toBe('unavailable');
});

test('gated: arguments that could change after approval are refused before anybody is asked', async () => {
  const { box } = await world();
  const { judge, asked } = person();
  const cap = gated(box, judge);
  const never = promise<string>();
  for (const what of [box, { deep: [box] }, never.promise, [never.promise], driver<{ x(): void }>({ x: () => {} })])
    expect(await code(say(cap, 'give', what))).toBe('invalid');
  expect(asked).toEqual([]);
});

test('gated: a waiting call may be overtaken, and is never sent if its grant ends meanwhile', async () => {
  const { box } = await world();
  const { judge, asked } = person();
  const { cap, revoker } = revocable(gated(box, judge), {});
  const first = code(E(cap).write('first'));
  const second = code(E(cap).write('second'));
  await jobs();
  asked[1]?.say(true);
  expect(await second).toBe('ok');
  expect(await E(box).read()).toBe('second');
  const revoked = E(revoker).revoke();
  expect(await first).toBe('revoked');
  asked[0]?.say(true);
  await revoked;
  expect(await E(box).read()).toBe('second');
});

test('revocation ends a wait for its caller although nothing can abort the object behind', async () => {
  const { vats, store } = await world();
  const later = promise<string>();
  const Waiter: Definition<{ wait(): Promise<string> }, []> = define('Waiter', () => ({ wait: () => later.promise }));
  const waiter = await vats.vat('boxes').spawn(Waiter());
  const { cap, revoker } = revocable(waiter as Far<{ wait(): Promise<string> }>, {});
  const answer = code(E(cap).wait());
  await jobs();
  await E(revoker).revoke();
  // Nobody has resolved `later`, so a caller that is not cut off would wait for ever.
  expect(await Promise.race([answer, jobs(1000).then(() => 'still waiting')])).toBe('revoked');
  later.resolver.resolve('secret');
  await jobs();
  expect((await lines(store, 'result')).map(({ code: said }) => said)).toEqual(['revoked']);
});

test('the end of the grace is told to a waiting caller and its driver', async () => {
  const { clock, store } = await world();
  const others = clock.pending();
  const { cap: slow, calls } = slowDriver();
  onTestFinished(() => calls[0]?.answer('late'));
  const { cap } = revocable(slow, { for: 1000 });
  const answer = code(E(cap).slow());
  await jobs();
  clock.advance(1000);
  await jobs();
  expect((await lines(store, 'expire')).length).toBe(1);
  expect(calls[0]?.signal.aborted).toBe(false);
  clock.advance(99);
  await jobs();
  expect(calls[0]?.signal.aborted).toBe(false);
  clock.advance(1);
  expect(await answer).toBe('expired');
  expect(calls[0]?.signal.aborted).toBe(true);
  expect(clock.pending()).toBe(others);
});

const jsonOfRecords = fc.jsonValue().filter((data) => !JSON.stringify(data).includes('"__proto__":'));

test('all data passes through forwarders unchanged', async () => {
  const { box } = await world();
  const caps = [{}, { uses: 10_000 }, { for: 60_000 }, { audited: true }].map((terms) => revocable(box, terms).cap);
  await fc.assert(
    // Names of Object.prototype are data. Only `__proto__` is refused, at the sender.
    fc.asyncProperty(jsonOfRecords, async (data) => {
      for (const cap of caps) expect(await say(cap, 'give', data)).toEqual(data);
    }),
    { numRuns: 50 },
  );
  const bytes = new Uint8Array([1, 2, 3]);
  for (const cap of caps) expect(await say(cap, 'give', { bytes, n: [1n, undefined, -0] })).toEqual({ bytes, n: [1n, undefined, -0] }); // biome-ignore format: one line
});

test('a policy that changes the bytes of a result changes them only for its own caller', async () => {
  const { vat } = await world();
  const vandal = forward<readonly []>('vandal', {
    after: (_, __, outcome) => void (outcome as { readonly value?: Uint8Array }).value?.fill(9),
  });
  const kept = await vat.turn(() => {
    const bytes = E.when(undefined, () => new Uint8Array([1, 2, 3]));
    const memory = ephemeral('memory', () => bytes) as Far<{ read(): Uint8Array }>;
    return E.when(E(vandal(memory)).read(), () => E(memory).read());
  });
  expect(kept).toEqual(new Uint8Array([1, 2, 3]));
});
