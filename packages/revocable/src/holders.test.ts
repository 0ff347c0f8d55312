/** A cap and its revoker: attacks of a holder of one on the other. */
import { type Definition, define, driver, E, type Far, isReference, spawn, verifyLedger } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { enter } from '../test/pair.ts';
import { Box, code, jobs, lines, say, slowDriver, type World, world } from '../test/world.ts';
import { type Forwarded, membrane, revocable } from './index.ts';

/** Every value that can be reached from `root` without sending a message. */
function reachable(root: unknown): Set<unknown> {
  const found = new Set<unknown>();
  const left = [root];
  while (left.length > 0) {
    const at = left.pop();
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || found.has(at)) continue;
    found.add(at);
    left.push(Object.getPrototypeOf(at));
    for (const key of Reflect.ownKeys(at)) {
      const own = Object.getOwnPropertyDescriptor(at, key);
      left.push(own?.value, own?.get, own?.set);
    }
  }
  return found;
}

async function granted(
  make: (box: Far<Box>) => Forwarded<Box>,
): Promise<World & { cap: Far<Box>; revoker: Far<object>; secret: readonly unknown[] }> {
  const all = await world();
  const { cap, revoker } = make(all.box);
  await E(cap).read();
  return { ...all, cap, revoker: revoker as Far<object>, secret: [revoker, all.box] };
}
const kinds = test.each([
  ['revocable', (box: Far<Box>) => revocable(box, {})],
  ['counted', (box: Far<Box>) => revocable(box, { uses: 1000 })],
  ['membrane', (box: Far<Box>) => membrane(box, {})],
]);

kinds('%s: no method name reaches the state', async (_name, make) => {
  const { cap, secret } = await granted(make);
  const names = [
    'revoke', 'expire', 'finish', 'begin', 'latch', 'look', 'onFulfilled', 'onBroken', 'passResult', 'reveal', 'actor', 'state', 'inner', 'callNear', 'self', 'bcom',
    'then', 'constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', 'cap', 'revoker', '', 'admit', 'state', 'prototype',
  ]; // biome-ignore format: a list
  const tricks = [[], [{}], ['x'], [secret[0]], [cap], [0, false, 'revoke', [], true]];
  for (const name of names.filter((each) => each !== 'call'))
    for (const args of tricks) {
      const answer = await Promise.resolve()
        .then(() => say(cap, name, ...args))
        .catch(() => undefined);
      expect(secret).not.toContain(answer);
    }
  expect(await code(E(cap).read())).toBe('ok');
});

kinds('%s: no property, prototype or error reaches it', async (_name, make) => {
  const { cap, secret } = await granted(make);
  const errors = await Promise.all(
    [E(cap).fail(), say(cap, 'revoke'), say(cap, ''), say(cap, 'open', () => {})].map((p) =>
      p.catch((caught: unknown) => caught),
    ),
  );
  const { self } = await E(cap).deep();
  for (const root of [cap, self, ...errors]) {
    const found = reachable(root);
    for (const forbidden of secret) expect(found.has(forbidden)).toBe(false);
    expect([...found].filter((each) => each !== root && isReference(each))).toEqual([]);
  }
  for (const error of errors)
    expect(JSON.stringify(error) + String((error as Error).message)).not.toMatch(/revoker|boxes|grants\//);
});

kinds('%s: neither the ledger nor a dry run reaches it', async (_name, make) => {
  const { cap, store, vats } = await granted(make);
  await code(E(cap).fail());
  const text = JSON.stringify(await lines(store));
  expect(text).not.toMatch(/revoker|hob1_/);
  const seen = await vats.vat('peeker').peek(() => [E(cap as unknown as Box).read(), cap]);
  const all = [...reachable(seen)];
  expect(all.filter((each) => isReference(each) && each !== cap)).toEqual([]);
  expect(JSON.stringify([seen.changed, seen.sent])).not.toMatch(/revoker/);
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
});

kinds('%s: a clone is no cap', async (_name, make) => {
  const { cap, vats } = await granted(make);
  const clones: unknown[] = [];
  try {
    clones.push(structuredClone(cap));
  } catch {}
  clones.push(
    JSON.parse(JSON.stringify(cap) ?? 'null'),
    { ...(cap as object) },
    Object.create(cap as object),
    Object.assign({}, cap),
  );
  for (const clone of clones) {
    expect(isReference(clone)).toBe(false);
    if (clone !== null && typeof clone === 'object') {
      const answer = await Promise.resolve().then(() => say(clone, 'read')).catch(() => 'refused'); // biome-ignore format: one line
      expect(answer).not.toBe('box');
    }
  }
  const proxy = new Proxy(cap as object, {});
  expect(await code(vats.vat('one').turn(() => void E(spawn(Box('b'))).give(proxy)))).toBe('invalid');
  const channel = new MessageChannel();
  onTestFinished(() => {
    channel.port1.close();
    channel.port2.close();
  });
  const got = new Promise((resolve) => {
    channel.port2.onmessage = ({ data }) => resolve(data);
  });
  try {
    channel.port1.postMessage(cap);
    expect(isReference(await got)).toBe(false);
  } catch {}
});

kinds('%s: over the wire, back, and on to a third session: one cap, one counter, one end', async (_name, make) => {
  const all = await world();
  const { cap, revoker } = make(all.box);
  interface Board {
    put(what: object): void;
    take(): unknown;
    cap(): unknown;
  }
  const Board: Definition<Board, [cap: object, what: unknown]> = define('Board', (bcom, own, what) => ({
    put: (next) => bcom(Board(own, next)),
    take: () => what,
    cap: () => own,
  }));
  const board = await all.vats.vat('board').spawn(Board(cap as unknown as object, undefined));
  const [one, two] = [enter(board), enter(board)];
  const first = await E(one).cap();
  expect(await say(first, 'read')).toBe('box');
  // One session handed it on and the other took it. On the host it is the same cap.
  await say(one, 'put', first);
  expect(await E(board).take()).toBe(await E(board).cap());
  const second = await E(two).take();
  expect(await say(second, 'read')).toBe('box');
  for (const name of ['revoke', 'state', 'inner', 'reveal', 'actor', 'look', ''])
    expect(await code(say(second, name)), name).not.toBe('ok');
  await E(revoker).revoke();
  for (const each of [first, second, cap]) expect(await code(say(each, 'read'))).toBe('revoked');
});

test('a cap that is handed on has one counter: two sessions and the host spend the same uses', async () => {
  const { box } = await world();
  const { cap } = revocable(box, { uses: 3 });
  const peer = enter(cap);
  expect(await code(say(peer, 'read'))).toBe('ok');
  expect(await code(E(cap).read())).toBe('ok');
  expect(await code(say(peer, 'read'))).toBe('ok');
  expect(await code(say(peer, 'read'))).toBe('exhausted');
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('the revoker is no way to the cap', async () => {
  const { revoker } = await granted((box) => revocable(box, {}));
  for (const method of ['read', 'open', 'cap', 'inner', 'look', 'actor', 'expire', ''])
    expect(await code(say(revoker, method)), method).toBe('no-such-method');
});

test('revoke during 1,000 calls tells every caller and driver at once, and returns when the drivers are done', async () => {
  const { store } = await world();
  const { cap: slow, calls } = slowDriver();
  const { cap, revoker } = revocable(slow, {});
  const answers = Array.from({ length: 1000 }, () => code(E(cap).slow()));
  await jobs(50);
  expect(calls).toHaveLength(1000);
  let done = false;
  const revoked = E(revoker).revoke().then(() => (done = true)); // biome-ignore format: one line
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['revoked']));
  expect(calls.every(({ signal }) => signal.aborted)).toBe(true);
  for (const call of calls.slice(1)) call.answer('late');
  await jobs();
  expect(done).toBe(false); // one is still at work
  calls[0]?.answer('late');
  await revoked;
  expect(await code(E(cap).slow())).toBe('revoked');
  expect((await lines(store, 'result')).filter(({ code: said }) => said === 'revoked')).toHaveLength(1000);
});

test('a stream that came out closes with the grant, in the middle of a read', async () => {
  await world();
  let aborted = false;
  const source = driver<{ open(): unknown }>({
    open: () =>
      driver<{ next(): Promise<string>; return(): void }>({
        next: (_args, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(signal.reason);
            }),
          ),
        return: () => {},
      }),
  });
  const { cap, revoker } = revocable(source, {});
  const stream = await E(cap).open();
  const next = code(say(stream, 'next'));
  await jobs();
  await E(revoker).revoke();
  expect(await next).toBe('revoked');
  expect(aborted).toBe(true);
  expect(await code(say(stream, 'next'))).toBe('revoked');
});
