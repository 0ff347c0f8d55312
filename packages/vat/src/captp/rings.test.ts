/** Rings of promises through several vats. They are not detected, and end with one of their connections. */
import { describe, expect, test } from 'vitest';
import { closedAfterEachTest } from '../../test/opened.ts';
import { RawPeer } from '../../test/wire.ts';
import { driver, E, type Far, promise } from '../index.ts';
import { type Connected, type Connection, captp, type DialectName } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Giver {
  give(): { p: Promise<unknown> };
}

const open = closedAfterEachTest<Connection>();
function join<T extends object>(bootstrap: object, dialect: DialectName): Connected<T> {
  const [a, b] = memoryPair();
  const far = captp<T>(b, { dialect });
  open.push(captp(a, { dialect, bootstrap }), far);
  return far;
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const how = async (waited: PromiseLike<unknown>): Promise<string> => {
  try {
    return `became ${String(await waited)}`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};
const call = (p: unknown): PromiseLike<unknown> => E(p as Far<{ m(): unknown }>).m();

/** So many vats in a circle: each has a promise of its own, and that of the next one. */
async function circle(dialect: DialectName, count: number) {
  const made = Array.from({ length: count }, () => promise<unknown>());
  const far = made.map((_, i) =>
    join<Giver>(
      driver<Giver>({ give: () => ({ p: (made[(i + 1) % made.length] as (typeof made)[0]).promise }) }),
      dialect,
    ),
  );
  const given = await Promise.all(far.map(({ bootstrap }) => E(bootstrap).give()));
  return { made, far, next: given.map(({ p }) => p) };
}

describe.each<[DialectName, number]>([
  ['hob.1', 3],
  ['captp', 2],
  ['captp', 3],
])('%s', (dialect, count) => {
  test(`a ring of promises through ${count} vats waits, and ends with its connection, as do the calls in it`, async () => {
    const { made, far, next } = await circle(dialect, count);
    const over: string[] = [];
    const seen = [...made.map((each) => each.promise), ...next].map(how);
    for (const each of seen) void each.then((said) => over.push(said));
    for (const [i, { resolver }] of made.entries()) resolver.resolve(next[i]);
    await quiet();
    expect(over).toEqual([]);
    const inside = how(call(next[0]));
    await new Promise((resolve) => setImmediate(resolve));
    far[0]?.close();
    expect(new Set(await Promise.all([...seen, inside]))).toEqual(new Set(['disconnected']));
  });

  test(`a long way round through ${count} vats that ends is no ring: what it ends with arrives, in order`, async () => {
    const { made, next } = await circle(dialect, count);
    const last = count - 1;
    const heard: number[] = [];
    const ear = driver<{ hear(n: number): void }>({ hear: ([n]) => void heard.push(n) });
    const tell = (n: number): Promise<unknown> => E(next[last] as unknown as Far<{ hear(n: number): void }>).hear(n);
    const told = [tell(1)];
    for (let i = 0; i < last; i += 1) made[i]?.resolver.resolve(next[i]);
    told.push(tell(2));
    await quiet();
    told.push(tell(3));
    made[last]?.resolver.resolve(ear);
    await Promise.all(told);
    await tell(4);
    expect(heard).toEqual([1, 2, 3, 4]);
    expect(await how(made[0]?.promise as Promise<unknown>)).toMatch(/^became/);
  });
});

test('an Endo peer is called nothing that no program called, also where others wait for its promise', async () => {
  const p = promise<unknown>();
  const hall = driver<Giver & { become(what: { p: Promise<unknown> }): void }>({
    give: () => ({ p: p.promise }),
    become: ([what]) => void p.resolver.resolve(what.p),
  });
  // Somebody else waits for `p`, which becomes a promise of the Endo peer's.
  const waits = how((await E(join<Giver>(hall, 'hob.1').bootstrap).give()).p);
  const [a, b] = memoryPair();
  open.push(captp(a, { dialect: 'captp', bootstrap: hall }));
  const peer = new RawPeer(b);
  peer.start();
  await peer.answer('q-1');
  peer.call('q-2', 'o-1', 'become', [{ p: { '@qclass': 'slot', index: 0 } }], ['p+5']);
  await peer.answer('q-2');
  await quiet();
  expect(peer.said.filter(({ type }) => type !== 'CTP_RETURN')).toEqual([]);
  peer.send({ type: 'CTP_RESOLVE', promiseID: 'p-5', res: { body: '"kept"', slots: [] } });
  expect(await waits).toBe('became kept');
});
