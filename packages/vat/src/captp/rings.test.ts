/** Promises of several vats, each of which is made to be the next one: whoever waits for one of them is told, through however many vats. */
import { afterEach, describe, expect, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { memoryPair } from '../drivers/memory-pair.ts';
import { type Definition, define, driver, E, type Far, openVats, promise } from '../index.ts';
import { type Connected, type Connection, captp, type DialectName } from './captp.ts';

interface Giver {
  give(): { p: Promise<unknown> };
}
interface Asked {
  ask(given: { p: Promise<unknown> }): unknown;
}

const open: Connection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) {
    connection.close();
    await connection.closed;
  }
});
function join<T extends object>(bootstrap: object, dialect: DialectName): Connected<T> {
  const [a, b] = memoryPair();
  const far = captp<T>(b, { dialect });
  open.push(captp(a, { dialect, bootstrap }), far);
  return far;
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const how = async (waited: unknown): Promise<string> => {
  try {
    return `became ${String(await waited)}`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};
/** The different ones; `waits` where the loop has gone round so often that nothing more will come. */
async function told(seen: readonly Promise<string>[]): Promise<Set<string>> {
  const all = seen.map(() => 'waits');
  for (const [i, each] of seen.entries()) void each.then((said) => (all[i] = said));
  for (let i = 0; i < 100 && all.includes('waits'); i += 1) await quiet();
  return new Set(all);
}
const call = (p: unknown): PromiseLike<unknown> => E(p as Far<{ m(): unknown }>).m();

/** So many vats in a circle: each has a promise of its own, and that of the next one. */
async function circle(dialects: readonly DialectName[]) {
  const made = dialects.map(() => promise<unknown>());
  const far = dialects.map((dialect, i) =>
    join<Giver>(
      driver<Giver>({ give: () => ({ p: (made[(i + 1) % made.length] as (typeof made)[0]).promise }) }),
      dialect,
    ),
  );
  const given = await Promise.all(far.map(({ bootstrap }) => E(bootstrap).give()));
  return { made, next: given.map(({ p }) => p) };
}
const settled = (): Promise<void> =>
  expect
    .poll(() => open.map((connection) => connection.stats()).filter((s) => s.questions + s.promises > 0), {
      timeout: 20_000,
    })
    .toEqual([]);

const both: readonly DialectName[] = ['hob.1', 'captp'];
describe.each(both)('%s', (dialect) => {
  test.each([2, 3, 4, 7])(
    'a ring of promises through %i vats breaks with cycle, and nothing goes round in it',
    async (count) => {
      for (const atOnce of [true, false]) {
        const { made, next } = await circle(Array.from({ length: count }, () => dialect));
        const seen = [...made.map((each) => each.promise), ...next, ...next.map(call)].map(how);
        for (const [i, { resolver }] of made.entries()) {
          resolver.resolve(next[i]);
          if (!atOnce) await quiet();
          if (i === 1) seen.push(...next.map(call).map(how));
        }
        expect(await told(seen)).toEqual(new Set(['cycle']));
        expect(await told([...next, ...made.map((each) => each.promise)].map(call).map(how))).toEqual(
          new Set(['cycle']),
        );
        await settled();
      }
    },
  );

  test.each([2, 3, 5])(
    'a promise that becomes the answer which waits for it, through %i vats, breaks with cycle',
    async (count) => {
      const vats = await openVats();
      const vat = vats.vat('all');
      let last = (await vat.spawn(Back())) as Far<Asked>;
      for (let i = 1; i < count; i += 1)
        last = (await vat.spawn(Pass(join<Asked>(last, dialect).bootstrap as never))) as Far<Asked>;
      const { bootstrap } = join<Asked>(last, dialect);
      const mine = promise<unknown>();
      const answer = E(bootstrap).ask({ p: mine.promise });
      await quiet();
      mine.resolver.resolve(answer);
      expect(await told([mine.promise, answer, call(answer)].map(how))).toEqual(new Set(['cycle']));
      await settled();
      await vats.close();
    },
  );

  test('who waits outside of a ring for what is in it is told, too', async () => {
    const { made, next } = await circle([dialect, dialect, dialect]);
    const own = promise<unknown>();
    const { p } = await E(join<Giver>(driver<Giver>({ give: () => ({ p: own.promise }) }), dialect).bootstrap).give();
    own.resolver.resolve(next[0]);
    const seen = [how(p), how(call(p))];
    await quiet();
    for (const [i, { resolver }] of made.entries()) resolver.resolve(next[i]);
    expect(await told(seen)).toEqual(new Set(['cycle']));
  });

  test('a long way round that ends is no ring: what it ends with arrives, in order', async () => {
    const { made, next } = await circle([dialect, dialect, dialect, dialect]);
    const heard: number[] = [];
    const ear = driver<{ hear(n: number): void }>({ hear: ([n]) => void heard.push(n) });
    const tell = (n: number): Promise<unknown> => E(next[3] as unknown as Far<{ hear(n: number): void }>).hear(n);
    const told = [tell(1)];
    for (const i of [1, 0, 2]) (made[i] as (typeof made)[0]).resolver.resolve(next[i]);
    told.push(tell(2));
    await quiet();
    told.push(tell(3));
    (made[3] as (typeof made)[0]).resolver.resolve(ear);
    await Promise.all(told);
    await tell(4);
    expect(heard).toEqual([1, 2, 3, 4]);
    expect(await how(made[0]?.promise)).toMatch(/^became/);
  });
});

test('a ring through vats that speak different dialects breaks with cycle', async () => {
  const { made, next } = await circle(['hob.1', 'captp', 'hob.1', 'captp', 'captp']);
  for (const [i, { resolver }] of made.entries()) resolver.resolve(next[i]);
  expect(await told(next.map(how))).toEqual(new Set(['cycle']));
});

describe.each(both)('%s', (dialect) => {
  test('a ring closes while one of its promises waits, to keep the order, until what was sent to it has come home', async () => {
    const [x, y, z, w] = [promise<unknown>(), promise<unknown>(), promise<unknown>(), promise<unknown>()];
    const give = (p: Promise<unknown>): object => driver<Giver>({ give: () => ({ p }) });
    const [a, b] = memoryPair();
    const ofA = captp<Giver>(a, { dialect, bootstrap: give(x.promise) });
    const ofB = captp<Giver>(b, { dialect, bootstrap: give(y.promise) });
    open.push(ofA, ofB);
    const { p: xB } = await E(ofB.bootstrap).give();
    const { p: yA } = await E(ofA.bootstrap).give();
    const far = (p: Promise<unknown>): Promise<{ p: Promise<unknown> }> =>
      E(join<Giver>(give(p), dialect).bootstrap).give();
    const { p: zB } = await far(z.promise);
    const { p: wC } = await far(w.promise);
    const { p: xD } = await far(xB);
    const seen = [x.promise, y.promise, z.promise, w.promise, xB, yA, zB, wC, xD].map(how);
    // This goes to A, and home to B again: until it is there, x waits there.
    const sent = how(call(xB));
    await quiet();
    for (const [of, to] of [
      [x, yA],
      [y, zB],
      [z, wC],
      [w, xD],
    ] as const) {
      of.resolver.resolve(to);
      await quiet();
    }
    expect(await told([...seen, sent])).toEqual(new Set(['cycle']));
    await settled();
  });

  test('a question that waits where nothing was decided yet goes on when it is', async () => {
    // Made from its beginning: the last of it to be decided is of a kind for which nobody asks.
    const { made, next } = await circle([dialect, dialect, dialect]);
    const seen = [...made.map((each) => each.promise), ...next].map(how);
    const vats = await openVats();
    const asker = await vats
      .vat('x')
      .spawn(Pass(join<Asked>(await vats.vat('y').spawn(Back()), dialect).bootstrap as never));
    const own = promise<unknown>();
    const answer = E(join<Asked>(asker, dialect).bootstrap).ask({ p: own.promise });
    seen.push(how(answer), how(own.promise));
    own.resolver.resolve(next[0]);
    await quiet();
    for (const [i, { resolver }] of made.entries()) {
      resolver.resolve(i === 2 ? answer : next[i]);
      await quiet();
    }
    expect(await told(seen)).toEqual(new Set(['cycle']));
    await settled();
    await vats.close();
  });
});

// ---- peers who lie ------------------------------------------------------------------------------------------------------------

interface Hall extends Giver {
  /** `p` becomes what the peer sends. */
  become(what: { p: Promise<unknown> }): void;
  other(): { p: Promise<unknown> };
}

/** A host with two promises: a bystander waits for `p`, which becomes the promise of a peer that speaks by hand. */
async function decidedByPeer() {
  const [p, other] = [promise<unknown>(), promise<unknown>()];
  const called: unknown[] = [];
  const hall = driver<Hall & { __ring__(): void }>({
    give: () => ({ p: p.promise }),
    other: () => ({ p: other.promise }),
    become: ([what]) => void p.resolver.resolve(what.p),
    __ring__: () => void called.push('called'),
  });
  const bystander = (await E(join<Hall>(hall, 'hob.1').bootstrap).give()).p;
  let over = false;
  const saw = how(bystander).finally(() => {
    over = true;
  });
  const [a, b] = memoryPair();
  const host = captp(a, { bootstrap: hall });
  open.push(host);
  const peer = new HobPeer(b);
  const number = async (question: number): Promise<number> =>
    (JSON.parse(await peer.answer(question)) as { p: { n: number } }).p.n;
  peer.say(['deliver', 0, 'give', [], 1], ['deliver', 0, 'other', [], 2]);
  const [given, spare] = [await number(1), await number(2)];
  peer.say(['deliver', 0, 'become', [{ p: { '@': 'promise', n: 1 } }], 3]);
  await peer.answer(3);
  const marks = (): (readonly unknown[])[] => peer.said.filter(([, , method]) => method === '__ring__');
  return { peer, host, given, spare, other, p, saw, over: () => over, called, marks };
}

test('who has let go of a promise cannot break it any more: not by a late yes, nor by the word that it was asked with', async () => {
  const { peer, given, spare, other, p, saw, over, marks } = await decidedByPeer();
  const asked = (await peer.until(([, , method]) => method === '__ring__')) as readonly unknown[];
  const [, , , [word], question] = asked as [unknown, unknown, unknown, [string], number];
  // From now on the host decides it.
  peer.say(['resolve', 1, { '@': 'yours', n: spare }]);
  await quiet();
  peer.say(['return', question, true]);
  peer.say(['deliver', given, '__ring__', [word], 10], ['deliver', spare, '__ring__', [word], 11]);
  await quiet();
  expect({ over: over(), marks: marks().length }).toEqual({ over: false, marks: 1 });
  other.resolver.resolve('what the host says');
  expect([await saw, await how(p.promise)]).toEqual(['became what the host says', 'became what the host says']);
});

test('a yes of who decides a promise breaks that one, as he could anyway, and no other', async () => {
  const { peer, spare, other, saw } = await decidedByPeer();
  const [, , , , question] = (await peer.until(([, , method]) => method === '__ring__')) as unknown[];
  peer.say(['return', question, true]);
  expect(await saw).toBe('cycle');
  peer.say(['deliver', spare, '__ring__', ['a word'], 10]);
  await quiet();
  other.resolver.resolve('what the host says');
  expect(await how(other.promise)).toBe('became what the host says');
});

test('a question that goes round and round passes each promise once, and everybody who asked is answered', async () => {
  const { peer, given, saw, over, marks } = await decidedByPeer();
  await peer.until(([, , method]) => method === '__ring__');
  const questions = Array.from({ length: 200 }, (_, i) => 10 + i);
  for (const id of questions) {
    peer.say(['deliver', given, '__ring__', ['round'], id]);
    if (id % 20 === 0) await quiet();
  }
  await quiet();
  expect(marks().filter(([, , , args]) => (args as unknown[])[0] === 'round')).toHaveLength(1);
  expect(over()).toBe(false);
  peer.say(['resolve', 1, 'data']);
  expect(await saw).toBe('became data');
  for (const id of questions) expect(JSON.parse(await peer.answer(id))).toEqual({ '@': 'undefined' });
});

test('a question that nobody asked breaks nothing, and reaches no object', async () => {
  const { peer, given, spare, called, other, saw } = await decidedByPeer();
  await peer.until(([, , method]) => method === '__ring__');
  const words = ['', '0'.repeat(32), 'x'.repeat(65), 1, null, {}];
  peer.say(...words.map((word, i) => ['deliver', spare, '__ring__', [word], 10 + i]));
  peer.say(['deliver', given, '__ring__', ['no question']]);
  peer.say(['deliver', 0, '__ring__', ['x'], 20], ['deliver', [1], '__ring__', [], 21]);
  for (const id of [12, 13, 14, 15, 20, 21]) expect(JSON.parse(await peer.answer(id))).toEqual({ '@': 'undefined' });
  await quiet();
  expect(called).toEqual([]);
  peer.say(['resolve', 1, { '@': 'yours', n: spare }]);
  other.resolver.resolve('what the host says');
  expect(await saw).toBe('became what the host says');
  for (const id of [10, 11]) expect(JSON.parse(await peer.answer(id))).toEqual({ '@': 'undefined' });
});

test('of questions that wait nothing is left when the connection is gone, though the promise never settles', async () => {
  const { peer, host, given, spare, saw } = await decidedByPeer();
  for (let id = 10; id < 2010; id += 1)
    peer.say(['deliver', id % 2 === 0 ? given : spare, '__ring__', [`word ${id}`], id]);
  await quiet();
  expect(host.stats().answers).toBeGreaterThan(2000);
  peer.leave();
  await host.closed;
  expect(await saw).toBe('disconnected');
  expect(Object.values(host.stats()).filter((count) => count !== 0)).toEqual([]);
});

const Back: Definition<Asked, []> = define('Back', () => ({ ask: ({ p }) => p }));
const Pass: Definition<Asked, [next: Far<Asked>]> = define('Pass', (_bcom, next) => ({
  ask: (given) => E(next).ask(given) as never,
}));
