/** Objects that an Endo peer has collected are released on this side, and those that it still has stay. */
import { expect, test } from 'vitest';
import { closedAfterEachTest } from '../../test/opened.ts';
import { ask, endoPeer, RawPeer, wire } from '../../test/wire.ts';
import { driver, E, type Far, promise } from '../index.ts';
import { type CapTPOptions, type Connection, captp } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Thing {
  name(): string;
}
interface Shop {
  fresh(): Thing;
  same(): Thing;
  pair(): Thing[];
  wait(): { p: Promise<unknown> };
  call(listener: object, times: number): Promise<void>;
  give(listener: object): void;
}
const thing = (): Far<Thing> => driver<Thing>({ name: () => 'thing' });
let settle: (value: unknown) => void;
function shop(): object {
  const one = thing();
  const later = promise<unknown>();
  settle = (value) => later.resolver.resolve(value);
  type Ear = Far<{ hear(value: unknown): void }>;
  return driver<Shop>({
    fresh: () => thing() as never,
    same: () => one as never,
    pair: () => [one, one] as never,
    wait: () => ({ p: later.promise }),
    call: async ([listener, times]) => {
      for (let i = 0; i < times; i += 1) await E(listener as Ear).hear(i);
    },
    give: ([listener]) => void E.sendOnly(listener as Ear).hear(one),
  });
}

const open = closedAfterEachTest<Connection>();
async function raw(options: CapTPOptions = {}): Promise<{ readonly peer: RawPeer; readonly host: Connection }> {
  const [a, b] = memoryPair();
  const host = captp(a, { dialect: 'captp', bootstrap: shop(), ...options });
  open.push(host);
  const peer = new RawPeer(b);
  peer.start();
  await peer.answer('q-1');
  return { peer, host };
}
const slotOf = (peer: RawPeer, question: string): string =>
  (peer.said.find(({ answerID }) => answerID === question)?.result?.slots[0] ?? 'none').replace('+', '-');
const drop = (peer: RawPeer, slotID: string, decRefs = 1): void =>
  peer.send({ type: 'CTP_DROP', slotID, decRefs, epoch: 0 });
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('a session is not used up by twelve times as many answered objects as it may have, each dropped at once', async () => {
  const { peer, host } = await raw({ limits: { exports: 1001 } });
  const atOnce = 1000;
  for (let n = 2; n < 12_002; n += atOnce) {
    for (let i = n; i < n + atOnce; i += 1) peer.call(`q-${i}`, 'o-1', 'fresh', []);
    expect(await peer.answer(`q-${n + atOnce - 1}`)).toContain('slot');
    const given = peer.said.map(({ result }) => result?.slots[0]?.replace('+', '-'));
    peer.said.length = 0;
    for (const slot of given) if (slot !== undefined && slot !== 'o-1') drop(peer, slot);
  }
  await quiet();
  expect(host.stats()).toMatchObject({ exports: 1, promises: 0 });
  // The bootstrap's own answer, and no more than that.
  expect(host.stats().answers).toBeLessThan(2);
  expect(host.stats().bytes).toBeLessThan(5000);
}, 120_000);

test('an Endo peer that collects garbage may take out more than a connection may give at once', async () => {
  const [ours, theirs] = wire();
  const host = captp(ours, { dialect: 'captp', bootstrap: shop(), limits: { exports: 60 } });
  open.push(host);
  const { bootstrap } = endoPeer(theirs, undefined, { gcImports: true });
  const to = await bootstrap;
  const gc = (globalThis as unknown as { gc(): void }).gc;
  for (let round = 0; round < 8; round += 1) {
    const names: unknown[] = [];
    for (let i = 0; i < 50; i += 1) names.push(ask(await ask(to, 'fresh'), 'name'));
    expect(new Set(await Promise.all(names))).toEqual(new Set(['thing']));
    await expect
      .poll(
        () => {
          gc();
          return host.stats().exports;
        },
        { timeout: 30_000 },
      )
      .toBeLessThan(10);
  }
}, 120_000);

test('an object that was dropped is given again under a new number, and works', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'same', []);
  await peer.answer('q-2');
  const first = slotOf(peer, 'q-2');
  drop(peer, first);
  peer.call('q-3', 'o-1', 'same', []);
  await peer.answer('q-3');
  const second = slotOf(peer, 'q-3');
  expect(second).not.toBe(first);
  peer.call('q-4', second, 'name', []);
  expect(await peer.answer('q-4')).toBe('"thing"');
  expect(host.stats().exports).toBe(2);
});

test('a mention that crosses with a drop keeps the object', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'same', []);
  peer.call('q-3', 'o-1', 'same', []);
  await peer.answer('q-3');
  // It had read only the first answer when it collected the object.
  drop(peer, slotOf(peer, 'q-2'));
  peer.call('q-4', slotOf(peer, 'q-3'), 'name', []);
  expect(await peer.answer('q-4')).toBe('"thing"');
  drop(peer, slotOf(peer, 'q-3'));
  await quiet();
  expect(host.stats().exports).toBe(1);
});

test('an object that one message mentions twice is dropped by one count, as Endo counts', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'pair', []);
  await peer.answer('q-2');
  drop(peer, slotOf(peer, 'q-2'));
  await quiet();
  expect(host.stats().exports).toBe(1);
});

test('calls of the peer’s own object, which Endo counts for ours of that number, hide no mention that crosses', async () => {
  const { peer, host } = await raw();
  // Its object 2, as the first that it is given is `o+2`.
  const listener = { '@qclass': 'slot', index: 0 };
  peer.call('q-2', 'o-1', 'call', [listener, 3], ['o+2']);
  for (let i = 1; i <= 3; i += 1) {
    const asked = await peer.until(({ type, questionID }) => type === 'CTP_CALL' && questionID === `q-${i + 1}`);
    peer.send({ type: 'CTP_RETURN', answerID: asked?.questionID, result: { body: '1', slots: [] } });
  }
  await peer.answer('q-2');
  peer.call('q-3', 'o-1', 'same', []);
  await peer.answer('q-3');
  const slot = slotOf(peer, 'q-3');
  expect(slot).toBe('o-2');
  peer.call('q-4', 'o-1', 'same', []);
  await peer.answer('q-4');
  // Three calls of its object 2, and one mention of ours; the second mention is on its way.
  drop(peer, slot, 4);
  peer.call('q-5', slot, 'name', []);
  expect(await peer.answer('q-5')).toBe('"thing"');
  drop(peer, slot, 1);
  await quiet();
  expect(host.stats().exports).toBe(1);
});

test('a message that calls the peer’s object and mentions ours of that number counts once', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'give', [{ '@qclass': 'slot', index: 0 }], ['o+2']);
  const said = await peer.until(({ type }) => type === 'CTP_CALL');
  expect([said?.target, (said as unknown as { method: { slots: string[] } }).method.slots]).toEqual(['o-2', ['o+2']]);
  drop(peer, 'o-2', 1);
  await quiet();
  expect(host.stats().exports).toBe(1);
});

test('a call on an answer whose object was dropped is refused, and the connection stays', async () => {
  const { peer } = await raw();
  peer.call('q-2', 'o-1', 'fresh', []);
  await peer.answer('q-2');
  drop(peer, slotOf(peer, 'q-2'));
  peer.call('q-3', 'q-2', 'name', []);
  expect(await peer.answer('q-3')).toMatch(/^not-callable: /);
  peer.call('q-4', 'o-1', 'fresh', []);
  expect(await peer.answer('q-4')).toContain('slot');
});

test('a promise that is dropped and crosses with a mention is told again what it became', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'wait', []);
  peer.call('q-3', 'o-1', 'wait', []);
  await peer.answer('q-3');
  const slot = slotOf(peer, 'q-2');
  settle('there');
  await peer.until(({ type }) => type === 'CTP_RESOLVE');
  drop(peer, slot, 1);
  await quiet();
  expect(peer.said.filter(({ type }) => type === 'CTP_RESOLVE')).toHaveLength(2);
  drop(peer, slot, 1);
  await quiet();
  expect(host.stats()).toMatchObject({ exports: 1, promises: 0 });
});

test('the bootstrap stays, however often it is dropped; so does everything else where nothing is counted', async () => {
  const { peer, host } = await raw();
  peer.call('q-2', 'o-1', 'fresh', []);
  await peer.answer('q-2');
  const slot = slotOf(peer, 'q-2');
  for (const [dropped, count] of [
    ['o-1', 1000],
    ['o-0', 1],
    ['p-0', 1],
    [slot, 0],
    ['o-99', 5],
    ['p-99', 5],
  ] as const)
    drop(peer, dropped, count);
  peer.call('q-3', slot, 'name', []);
  expect(await peer.answer('q-3')).toBe('"thing"');
  peer.call('q-4', 'o-1', 'fresh', []);
  expect(await peer.answer('q-4')).toContain('slot');
  expect(host.stats().exports).toBe(3);
});
