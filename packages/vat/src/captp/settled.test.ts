/** Promises that are settled and mentioned again: also by what they became. */
import { expect, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { StepWire } from '../../test/step-wire.ts';
import { ask, endoPeer, wire } from '../../test/wire.ts';
import { type Definition, define, driver, E, type Far, promise, type Vats } from '../index.ts';
import { type Connection, captp } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Knots {
  /** A list that contains the promise of itself. */
  knot(): { p: Promise<unknown> };
  /** Two lists, each of which contains the promise of the other. */
  pair(): { x: Promise<unknown>; y: Promise<unknown> };
  again(): { p: Promise<string> };
}
const known = promise<string>();
known.resolver.resolve('known');
const knots = driver<Knots>({
  knot: () => {
    const made = promise<unknown>();
    queueMicrotask(() => made.resolver.resolve([made.promise]));
    return { p: made.promise };
  },
  pair: () => {
    const [x, y] = [promise<unknown>(), promise<unknown>()];
    queueMicrotask(() => {
      x.resolver.resolve([y.promise, new Uint8Array([1])]);
      y.resolver.resolve([x.promise, new Uint8Array([2])]);
    });
    return { x: x.promise, y: y.promise };
  },
  again: () => ({ p: known.promise }),
});

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));
const open = closedAfterEachTest<Connection>();
const peer = (): { readonly peer: HobPeer; readonly host: Connection } => {
  const [ours, theirs] = memoryPair();
  const host = captp(ours, { bootstrap: knots });
  open.push(host);
  return { peer: new HobPeer(theirs), host };
};
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test.each(['hob.1', 'captp'] as const)(
  '%s: what contains the promise of itself crosses, and ends there',
  async (dialect) => {
    const [a, b] = memoryPair();
    const host = captp(a, { dialect, bootstrap: knots });
    const client = captp<Knots>(b, { dialect });
    open.push(host, client);
    const far = client.bootstrap as Far<Knots>;
    for (let i = 0; i < 3; i += 1) {
      const { p } = await E(far).knot();
      const [inner] = (await p) as [Promise<unknown>];
      expect(await inner).toBe(await p);
      const { x, y } = await E(far).pair();
      const [inX, one] = (await x) as [Promise<unknown>, Uint8Array];
      expect([await inX, one]).toEqual([await y, new Uint8Array([1])]);
      expect(((await y) as unknown[])[1]).toEqual(new Uint8Array([2]));
    }
    await quiet();
    expect(host.stats()).toMatchObject({ questions: 0, promises: 0 });
    expect(client.stats()).toMatchObject({ questions: 0, promises: 0 });
    if (dialect === 'hob.1') expect(host.stats()).toMatchObject({ exports: 1, imports: 1, bytes: 500 });
  },
);

test('a settled promise keeps its number until it is given back; a mention that crosses is told of again', async () => {
  const { peer: client, host } = peer();
  client.say(['deliver', 0, 'again', [], 1]);
  await client.until(([name]) => name === 'resolve');
  client.say(['deliver', 0, 'again', [], 2]);
  const [, , { p: first }] = (await client.until(([name, id]) => name === 'return' && id === 1)) as never as [0, 0, { p: { n: number } }]; // biome-ignore format: one line
  expect(JSON.parse(await client.answer(2))).toEqual({ p: first });
  // Dropped before the second mention was heard.
  const told = (): number => client.said.filter(([name, id]) => name === 'resolve' && id === first.n).length;
  expect(told()).toBe(1);
  client.say(['drop', first.n, 1]);
  await quiet();
  expect(told()).toBe(2);
  client.say(['drop', first.n, 0]);
  await quiet();
  expect(told()).toBe(2);
  client.say(['drop', first.n, 1]);
  await quiet();
  expect(host.stats().exports).toBe(1);
  expect(told()).toBe(2);
});

test('an Endo peer passes a promise again after it was settled, and says no more of it', async () => {
  const { Far } = await import('@endo/pass-style');
  const [ours, theirs] = wire();
  const connection = captp<{ give(): { p: Promise<string> } }>(ours, { dialect: 'captp', bootstrap: knots });
  open.push(connection);
  const p = Promise.resolve('kept');
  const { bootstrap } = endoPeer(theirs, Far('peer', { give: () => Object.freeze({ p }) }));
  for (let i = 0; i < 3; i += 1) {
    const given = (await E(connection.bootstrap).give()) as { p: Promise<string> };
    expect(await given.p).toBe('kept');
    await quiet();
    expect(await ((await ask(bootstrap, 'again')) as { p: Promise<string> }).p).toBe('known');
  }
});

interface Ring {
  give(): { p: Promise<unknown> };
  join(given: { p: Promise<unknown> }): void;
  /** Its own promise becomes what `of` answers when it is given that. */
  call(of: Far<Back>): void;
}
interface Back {
  back(given: { p: Promise<unknown> }): unknown;
}
// An actor: a driver that answers with a promise is waited for by the program itself.
const Back: Definition<Back, []> = define('Back', () => ({ back: ({ p }) => p }));

/**
 * Two vats that can each make a promise of their own become one of the other. Frames arrive when `step` is
 * called.
 */
function ring() {
  const wire = new StepWire();
  const there = promise<unknown>();
  const here = promise<unknown>();
  const theirs = driver<Ring>({
    give: () => ({ p: there.promise }),
    join: ([{ p }]) => there.resolver.resolve(p),
    call: ([of]) => {
      there.resolver.resolve(E(of).back({ p: there.promise }));
    },
  });
  const host = captp<object>(wire.ends[0], { bootstrap: theirs });
  const client = captp<Ring>(wire.ends[1]);
  const step = async (): Promise<boolean> => {
    await quiet();
    return [wire.step(0), wire.step(1)].includes(true);
  };
  const settle = async (): Promise<number> => {
    let rounds = 0;
    while (rounds < 50 && (await step())) rounds += 1;
    return rounds;
  };
  const end = async (): Promise<void> => {
    client.close();
    while (wire.step(0));
    await Promise.all([client.closed, host.closed]);
  };
  return { there, here, host, client, settle, end };
}
const how = (asked: PromiseLike<unknown>): { said: string } => {
  const seen = { said: 'waits' };
  asked.then(
    (value) => (seen.said = `became ${String(value)}`),
    (error: { code?: string }) => (seen.said = error.code ?? 'broken'),
  );
  return seen;
};
const sendTo = (p: unknown): Promise<unknown> => E(p as Promise<{ m(): unknown }>).m() as Promise<unknown>;

test.each([
  ['one after the other', false, false],
  ['at once, so that what they say crosses', true, false],
  ['one after the other, with calls on their way', false, true],
  ['at once, with calls on their way', true, true],
])(
  'a ring of promises through two vats breaks with cycle, and nothing goes round in it: %s',
  async (_name, crossing, busy) => {
    const { there, here, client, host, settle, end } = ring();
    const given = E(client.bootstrap).give();
    await settle();
    const { p } = (await given) as { p: Promise<unknown> };
    const seen = [how(there.promise), how(here.promise), how(p)];
    if (busy) seen.push(how(sendTo(p)), how(sendTo(here.promise)));
    E.sendOnly(client.bootstrap).join({ p: here.promise });
    if (!crossing) await settle();
    if (busy) seen.push(how(sendTo(p)), how(sendTo(there.promise)));
    here.resolver.resolve(p);
    E.sendOnly(here.promise as unknown as Promise<{ m(): void }>).m();
    if (busy) seen.push(how(sendTo(p)), how(sendTo(here.promise)), how(sendTo(there.promise)));
    const rounds = await settle();
    expect(rounds).toBeLessThan(50);
    expect(new Set(seen.map(({ said }) => said))).toEqual(new Set(['cycle']));
    const late = [how(sendTo(p)), how(sendTo(here.promise)), how(sendTo(there.promise))];
    await settle();
    expect(late.map(({ said }) => said)).toEqual(['cycle', 'cycle', 'cycle']);
    expect(host.stats()).toMatchObject({ questions: 0, promises: 0 });
    expect(client.stats()).toMatchObject({ questions: 0, promises: 0 });
    await end();
  },
);

test('a promise that becomes the answer which waits for it, through another vat, breaks with cycle', async () => {
  const { there, client, settle, end } = ring();
  const seen = how(there.promise);
  E.sendOnly(client.bootstrap).call(await vats.vat('client').spawn(Back()));
  expect(await settle()).toBeLessThan(50);
  expect(seen.said).toBe('cycle');
  await end();
});

test('a promise that becomes one of the peer’s is what that becomes, and calls on it keep their order', async () => {
  for (const settledFirst of [false, true]) {
    const { there, here, client, settle, end } = ring();
    const { p } = (await Promise.all([E(client.bootstrap).give(), settle()]))[0] as { p: Promise<unknown> };
    const heard: number[] = [];
    const ear = driver<{ hear(n: number): void }>({ hear: ([n]) => void heard.push(n) });
    const tell = (to: unknown, n: number): unknown => E.sendOnly(to as Promise<{ hear(n: number): void }>).hear(n);
    const seen = how(p);
    tell(p, 1);
    E.sendOnly(client.bootstrap).join({ p: here.promise });
    tell(p, 2);
    if (settledFirst) await settle();
    tell(p, 3);
    here.resolver.resolve(ear);
    tell(p, 4);
    await settle();
    tell(p, 5);
    tell(there.promise, 6);
    await settle();
    expect(heard).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seen.said).toMatch(/^became/);
    expect(await p).toBe(ear);
    await end();
  }
});

test('two peers cannot make an answer and a promise wait for each other: it breaks with cycle, and nobody runs in circles', async () => {
  const join = () => {
    const [ours, theirs] = memoryPair();
    const connection = captp<Giver>(ours);
    open.push(connection);
    return { far: connection.bootstrap, peer: new HobPeer(theirs) };
  };
  const [b, c] = [join(), join()];
  const heard = async ({ peer }: typeof b, method: string): Promise<readonly unknown[]> =>
    (await peer.until(([name, , called]) => name === 'deliver' && called === method)) ?? [];
  const given = E(c.far).give();
  c.peer.say(['return', (await heard(c, 'give'))[4], { p: { '@': 'promise', n: 1 } }]);
  const { p } = await given;
  const answer = E(b.far).ask();
  const seen = how(answer as Promise<unknown>);
  // Both have calls on their way, so they have to wait until those are there.
  E.sendOnly(p as unknown as Far<{ m(): void }>).m();
  E.sendOnly(answer as unknown as Far<{ m(): void }>).m();
  E.sendOnly(c.far).take(answer);
  E.sendOnly(b.far).take(p);
  const number = async (of: typeof b): Promise<unknown> => ((await heard(of, 'take'))[3] as [{ n: number }])[0].n;
  c.peer.say(['resolve', 1, { '@': 'yours', n: await number(c) }]);
  await quiet();
  b.peer.say(['return', (await heard(b, 'ask'))[4], { '@': 'yours', n: await number(b) }]);
  await expect.poll(() => seen.said, { timeout: 20_000 }).toBe('cycle');
  // Broken when it is said, before anybody could ask what it waits for.
  expect(b.peer.said.filter(([, , called]) => called === '__flush__')).toEqual([]);
  const other = promise<unknown>();
  other.resolver.resolve(p);
  expect(await Promise.race([other.promise, quiet()])).toBeUndefined();
});
interface Giver {
  give(): { p: Promise<unknown> };
  ask(): Promise<unknown>;
  take(p: unknown): void;
}
