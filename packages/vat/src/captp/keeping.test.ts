/**
 * Memory that a peer can make this end keep with few bytes: texts, symbols, waiting frames, repeated
 * promises.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { shapes, weigh } from '../../attack/shapes.ts';
import { HobPeer } from '../../test/hob-peer.ts';
import { RawPeer } from '../../test/wire.ts';
import type { Account } from '../core/meter.ts';
import { type CapError, driver, E, type Far, openVats, promise } from '../index.ts';
import { type CapTPOptions, type Connected, captp } from './captp.ts';
import type { Duplex } from './session/duplex.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Peer {
  hear(value: unknown): unknown;
}
interface Offer {
  echo(value: unknown): unknown;
  call(listener: Far<Peer>): Promise<unknown>;
  never(): unknown;
  long(letters: number): string;
}
const later = promise<string>();
const reasons: CapError[] = [];
const offer = driver<Offer>({
  echo: ([value]) => value,
  // It keeps why its call failed, as a program does that writes a log.
  call: ([listener]) =>
    E(listener)
      .hear(1)
      .then(null, (error: CapError) => void reasons.push(error)),
  never: () => [later.promise],
  long: ([letters]) => 'x'.repeat(letters),
});

function served(options: CapTPOptions): { readonly ours: Connected<Peer>; readonly theirs: Duplex } {
  const [a, b] = memoryPair();
  const ours = captp<Peer>(a, { bootstrap: offer, ...options });
  onTestFinished(async () => {
    ours.close();
    await ours.closed;
  });
  return { ours, theirs: b };
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const kept = (): number => {
  (globalThis as unknown as { gc(): void }).gc();
  return process.memoryUsage().heapUsed;
};

test('captp: a peer that never says what its bootstrap is cannot let answers pile up behind that', async () => {
  const { ours, theirs } = served({ dialect: 'captp', limits: { memoryBytes: 200_000 } });
  const peer = new RawPeer(theirs);
  // From here on all that is said waits for the peer to answer its first question.
  const called = E(ours.bootstrap).hear(1);
  called.catch(() => {});
  for (let n = 2; n < 42; n += 1) {
    peer.call(`q-${n}`, 'o-1', 'echo', ['x'.repeat(10_000)]);
    // One at a time: no call is under way when the next one comes.
    await quiet();
  }
  expect(peer.closed).toEqual({ code: 4400, reason: 'this connection keeps more than it may: connect again' });
  await expect(called).rejects.toMatchObject({ code: 'disconnected' });
});

/** A wire whose peer never reads: all that is sent waits. */
function unread(limits: CapTPOptions['limits'] & object) {
  const { ours, theirs, sent } = (() => {
    const [a, b] = memoryPair();
    let buffered = 0;
    const full: Duplex = {
      send: (frame) => {
        buffered += frame.length;
      },
      get buffered() {
        return buffered;
      },
      onFrame: (then) => a.onFrame(then),
      onClose: (then) => a.onClose(then),
      close: (code, reason) => a.close(code, reason),
    };
    return { ours: captp<Peer>(full, { bootstrap: offer, limits }), theirs: b, sent: () => buffered };
  })();
  onTestFinished(async () => {
    ours.close();
    await ours.closed;
  });
  return { ours, peer: new HobPeer(theirs), sent };
}
const answer = 100_000;

test('a peer that does not read is closed on at its limit, also where what it asked for in one frame is answered in one go', async () => {
  const bufferedBytes = 300_000;
  const { peer, sent } = unread({ bufferedBytes, frameBytes: 1 << 20 });
  peer.say(
    ['deliver', 0, 'long', [answer], 1],
    ...Array.from({ length: 100 }, (_, i) => ['deliver', 0, 'long', [answer], 2 + i]),
  );
  expect(await peer.end()).toBe('4400 the peer does not read what it asked for');
  expect(sent()).toBeLessThan(bufferedBytes + (1 << 20) + 2 * answer);
});

test('operations in a frame after the answer that ended the session are ignored', async () => {
  const { ours, theirs } = served({ limits: { memoryBytes: 20_000 } });
  const peer = new HobPeer(theirs);
  peer.say(
    // Refused at once, and kept until the peer is done with them.
    ...Array.from({ length: 500 }, (_, i) => ['deliver', 0, 'then', [], 1 + i]),
    [
      'deliver',
      0,
      'echo',
      [
        { '@': 'object', n: 7 },
        { '@': 'promise', n: 8 },
      ],
      501,
    ],
    ['resolve', 8, { '@': 'object', n: 9 }],
  );
  expect(await peer.end()).toBe('4400 this connection keeps more than it may: connect again');
  expect(ours.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
});

test('bytes that wait in the socket count against the memory of the connection', async () => {
  const memoryBytes = 1_000_000;
  const { peer, ours, sent } = unread({ memoryBytes });
  let most = 0;
  for (let id = 1; id < 40 && peer.closed === undefined; id += 1) {
    // It says that it is done with the answers themselves.
    peer.say(['deliver', 0, 'long', [answer], id], ...(id > 1 ? [['done', id - 1]] : []));
    await quiet();
    most = Math.max(most, ours.stats().bytes);
  }
  expect(peer.closed).toEqual({ code: 4400, reason: 'this connection keeps more than it may: connect again' });
  expect(sent()).toBeLessThan(memoryBytes + 2 * answer);
  expect(most).toBeLessThanOrEqual(memoryBytes);
});

test('the beginning of a long text of a peer’s is kept, and not all of it behind that', async () => {
  const { theirs } = served({});
  const peer = new HobPeer(theirs);
  const before = kept();
  for (let n = 1; n <= 40; n += 1) {
    peer.say(['deliver', 0, 'call', [{ '@': 'object', n: 1 }], n]);
    const asked = await peer.until(([name, , , , question]) => name === 'deliver' && question === n);
    expect(asked?.[4]).toBe(n);
    peer.say(['fail', n, 'error', 'x'.repeat(900_000) + n]);
    await peer.answer(n);
    peer.say(['done', n]);
  }
  peer.said.length = 0;
  expect(reasons.map(({ message }) => message.length)).toEqual(Array.from({ length: 40 }, () => 4000));
  expect(kept() - before).toBeLessThan(8 << 20);
  reasons.length = 0;
});

test('a promise that is given back and asked for again, often, is waited for once', async () => {
  const { ours, theirs } = served({});
  const peer = new HobPeer(theirs);
  for (let n = 1; n <= 20; n += 1) {
    peer.say(['deliver', 0, 'never', [], n]);
    const [given] = JSON.parse(await peer.answer(n)) as [{ n: number }];
    peer.say(['done', n], ...(n < 20 ? [['drop', given.n, 1]] : []));
  }
  await quiet();
  expect(ours.stats()).toMatchObject({ promises: 1, answers: 0 });
  later.resolver.resolve('there');
  await peer.until(([name]) => name === 'resolve');
  await quiet();
  expect(peer.said.filter(([name]) => name === 'resolve')).toHaveLength(1);
});

describe.each(['hob.1', 'captp'] as const)('%s', (dialect) => {
  test('a call that a driver has not answered goes on counting for its session when its connection ends', async () => {
    const open: ((value: unknown) => void)[] = [];
    const slow = driver<{ wait(text: string): unknown }>({ wait: () => new Promise((resolve) => open.push(resolve)) });
    const vats = await openVats();
    onTestFinished(() => vats.close());
    const [meter, other] = [vats.meter('one'), vats.meter('other')];
    /** Leaves `calls` of 100,000 letters unanswered; how the connection ended, if it did. */
    const enter = async (calls: number, of = meter): Promise<string | undefined> => {
      const { ours, theirs } = served({ dialect, bootstrap: slow, meter: of, limits: { memoryBytes: 2_500_000 } });
      const text = 'x'.repeat(100_000);
      let closed: string | undefined;
      if (dialect === 'hob.1') {
        const peer = new HobPeer(theirs);
        for (let id = 1; id <= calls; id += 1) peer.say(['deliver', 0, 'wait', [text], id]);
        await quiet();
        closed = peer.closed?.reason;
      } else {
        const peer = new RawPeer(theirs);
        peer.start();
        for (let id = 2; id <= calls + 1; id += 1) peer.call(`q-${id}`, 'o-1', 'wait', [text]);
        await quiet();
        closed = peer.closed?.reason;
      }
      ours.close();
      await ours.closed;
      return closed;
    };
    expect(await enter(8)).toBe(undefined);
    expect(open).toHaveLength(8);
    // Each connection may keep ten of them; by reconnecting the session would keep as many as it likes.
    const why: (string | undefined)[] = [];
    for (let i = 0; i < 10; i += 1) why.push(await enter(8));
    expect(why.at(-1)).toMatch(/^calls of earlier connections still run/);
    expect(open.length).toBeLessThan(30);
    expect(await enter(8, other)).toBe(undefined);
    for (const answer of open.splice(0)) answer('done');
    await quiet();
    expect((meter as Account).outliving).toBe(0);
    expect(await enter(8)).toBe(undefined);
    for (const answer of open.splice(0)) answer('done');
    await quiet();
    expect([(meter as Account).outliving, (other as Account).outliving]).toEqual([0, 0]);
  });

  test('a connection counts at least four fifths of the heap that it uses, whatever the shape of the data', async () => {
    const dear = [
      'records with new keys',
      'records with 8 known keys in new orders',
      'short strings',
      'long strings beyond Latin-1',
    ];
    // Objects that are made once, the first time, do not count.
    await weigh(shapes[0] as (typeof shapes)[0], dialect, 1 << 20);
    for (const shape of shapes.filter(({ name }) => dear.includes(name))) {
      const { heap, counted } = await weigh(shape, dialect, 8 << 20);
      expect(heap / counted, shape.name).toBeLessThan(1.2);
    }
  }, 120_000);
});
