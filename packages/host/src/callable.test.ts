/** `host.offer` refuses what can never be called, so that no grant of it spends a use on finding out. */
import { bound, facet, forward, revocable } from '@hob/revocable';
import {
  captp,
  type Definition,
  define,
  driver,
  E,
  type Far,
  memoryPair,
  openVats,
  promise,
  type Vats,
} from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, type TestHost, testHost } from '../test/test-host.ts';

interface Counter {
  next(): number;
}
const Counter: Definition<Counter, [n: number]> = define('callable.Counter', (bcom, n) => ({
  next: () => bcom(Counter(n + 1), n),
}));
const Nothing: Definition<object, []> = define('callable.Nothing', () => ({}));

const never = forward<readonly []>('callable.never', {
  before: () => {
    throw new RangeError('never');
  },
});

async function house(): Promise<{ readonly house: TestHost; readonly vats: Vats; readonly counter: Far<Counter> }> {
  const made = await testHost();
  const vats = await openVats();
  onTestFinished(async () => {
    await made.close();
    await vats.close();
  });
  return { house: made, vats, counter: (await vats.vat('a').spawn(Counter(0))) as Far<Counter> };
}

test('data, functions, promises and objects of the language', async () => {
  const { house: made, vats, counter } = await house();
  const rejected = Promise.reject(new Error('no'));
  rejected.catch(() => {});
  class Tools {
    use(): number {
      return 1;
    }
  }
  const wrong: Readonly<Record<string, unknown>> = {
    text: 'x',
    number: 5,
    nothing: undefined,
    none: null,
    function: () => 1,
    class: Tools,
    definition: Counter,
    portrait: Counter(0),
    array: [() => 1],
    date: new Date(0),
    pattern: /x/,
    map: new Map(),
    set: new Set(),
    error: new Error('x'),
    bytes: new Uint8Array(1),
    empty: {},
    data: { a: 1 },
    'nested methods': { tools: { use: () => 1 } },
    'a getter': {
      get use() {
        return () => 1;
      },
    },
    'only then': { then: () => 1 },
    promise: Promise.resolve({ use: () => 1 }),
    rejected,
    pending: promise().promise,
    'a turn': vats.vat('a').turn(() => 5),
    'a call': E(counter).next(),
  };
  for (const [what, object] of Object.entries(wrong))
    expect(await code(made.host.offer('offered', object as object)), what).toBe('invalid');
  // An instance of the class is fine, and nothing stands under the name.
  await expect(E(made.granter).grant(made.session.id, 'tool', 'offered', {})).rejects.toThrow();
  expect(await code(made.host.offer('offered', new Tools()))).toBe('ok');
});

test('a cap that has ended, and one of which no method passes', async () => {
  const { house: made, vats, counter } = await house();
  const revoked = revocable(counter, {});
  await E(revoked.revoker).revoke();
  const used = revocable(counter, { uses: 1 });
  await E(used.cap).next();
  const closing = await openVats();
  const gone = await closing.vat('a').spawn(Counter(0));
  await closing.close();
  const [a, b] = memoryPair();
  const serving = captp(a, { bootstrap: driver<Counter>({ next: () => 1 }) });
  const peer = captp<Counter>(b);
  const far = await peer.bootstrap;
  peer.close();
  await Promise.all([peer.closed, serving.closed]);
  const wrong: Readonly<Record<string, object>> = {
    revoked: revoked.cap,
    'beneath a revoked one': facet(revoked.cap as Far<Counter>, ['next']),
    used: used.cap,
    'of closed vats': gone,
    'of a lost peer': far as object,
    'a grant of one': (await vats.vat('a').turn(() => revocable(far as object, {}).cap as never)) as object,
    'no method': await vats.vat('a').spawn(Nothing()),
    'a facet of other methods': facet(counter, ['previous' as never]),
    'a forwarder of what never came to be': facet((E(counter) as never as { no(): Far<Counter> }).no(), ['next']),
  };
  for (const [what, object] of Object.entries(wrong))
    expect(await code(made.host.offer('offered', object)), what).toBe('invalid');
});

test('what may be called is offered, also if it refuses now, and looking at it costs nothing', async () => {
  const { house: made, counter } = await house();
  const once = revocable(counter, { uses: 1 });
  const right: Readonly<Record<string, object>> = {
    actor: counter,
    'one use': once.cap,
    facet: facet(counter, ['next']),
    'bounds that refuse no arguments': bound(counter, { next: { 0: { is: 1 } } }),
    'a filter that may change its mind': never(counter),
    driver: driver<Counter>({ next: () => 1 }),
    plain: { next: () => 1 },
  };
  let n = 0;
  for (const [what, object] of Object.entries(right)) {
    n += 1;
    expect(await code(made.host.offer(`offered-${'abcdefgh'[n]}`, object)), what).toBe('ok');
  }
  await E(made.granter).grant(made.session.id, 'one', 'offered-c', { uses: 1 });
  const one = held<Counter>(await made.enter(made.session.secret), 'one');
  expect(await E(one).next()).toBe(0);
});
