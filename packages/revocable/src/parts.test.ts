/** The lines of streams that came out of a grant: which parts are counted, and which have lines of their own. */
import { type ByteSink, type ByteSource, driver, E, type Far, iterate, verifyLedger } from '@hob/vat';
import { ephemeral, forwardsTo } from '@hob/vat/forwarder';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { code, lines, peerOf, say, type World, world } from '../test/world.ts';
import { gated, guardCalls, type Judge, membrane, type Revoker, revocable } from './index.ts';

interface Files {
  read(parts: number): ByteSource;
  write(): ByteSink;
  odd(value: unknown): ByteSource;
}
const none = async (): Promise<void> => {};
const madeSource = (next: () => Promise<unknown>): ByteSource =>
  driver({ next, return: none } as never) as unknown as ByteSource;
const opened = driver<Files>({
  read: ([parts]) => {
    let left = parts;
    return madeSource(async () => {
      left -= 1;
      return left < 0 ? undefined : new Uint8Array(1000);
    });
  },
  write: () =>
    driver<ByteSink>({
      write: async ([chunk]) => {
        if (chunk.length === 0) throw new TypeError('an empty chunk');
      },
      close: none,
      abort: none,
    }) as unknown as ByteSink,
  odd: ([value]) => madeSource(async () => value),
});

type Line = Readonly<Record<string, unknown>>;
type Offer = (all: World) => object;
interface Reader {
  readonly all: World;
  readonly files: Far<Files>;
  close(): Promise<void>;
  /** The lines without the id of the grant and the arguments. */
  lines(): Promise<readonly Line[]>;
}
/** An agent behind a wire that was granted `offer`. */
async function reader(offer: Offer): Promise<Reader> {
  const all = await world();
  const granted = await all.vat.turn(() => offer(all));
  const { host, client } = peerOf<Files>(granted);
  return {
    all,
    files: (await E(client.bootstrap).give()) as Far<Files>,
    close: async () => {
      client.close();
      await host.closed;
    },
    lines: async () => {
      const kept = (await lines(all.store)).filter(({ k }) => k === 'call' || k === 'result' || k === 'refuse');
      return kept.map(({ grant: _, args: __, ...rest }) => rest);
    },
  };
}
/** One whose grant can be revoked. */
async function revocableReader(): Promise<Reader & { revoke(): Promise<void> }> {
  const revokers: Far<Revoker>[] = [];
  const made = await reader(() => {
    const { cap, revoker } = revocable(opened, {});
    revokers.push(revoker as Far<Revoker>);
    return cap as object;
  });
  return { ...made, revoke: async () => void (await E(revokers[0] as Far<Revoker>).revoke('enough')) };
}
const plain: Offer = () => revocable(opened, {}).cap as object;
const source = async (files: Far<Files>, parts: number): Promise<Far<ByteSource>> =>
  (await E(files).read(parts)) as unknown as Far<ByteSource>;
const sink = async (files: Far<Files>): Promise<Far<ByteSink>> => (await E(files).write()) as unknown as Far<ByteSink>;
async function readAll(from: Far<ByteSource>): Promise<number> {
  let bytes = 0;
  for await (const chunk of iterate(from, { max: 1000, ahead: 2 })) bytes += chunk.length;
  return bytes;
}

test('a stream that is read to its end writes one line when it opens and one with counts when it ends', async () => {
  const { files, lines } = await reader(plain);
  expect(await readAll(await source(files, 50))).toBe(50_000);
  expect(await lines()).toEqual([
    { k: 'call', method: 'read', argc: 1 },
    { k: 'result', method: 'read', stream: 'read', parts: 50, bytes: 50_000, code: 'ok' },
  ]);
});

test('the line comes once, also when the reader stops early and more than once', async () => {
  const { files, lines } = await reader(plain);
  const from = await source(files, 50);
  await E(from).next();
  await E(from).return();
  await E(from).return();
  expect((await lines()).slice(1)).toEqual([
    { k: 'result', method: 'read', stream: 'read', parts: 1, bytes: 1000, code: 'ok' },
  ]);
});

test('a stream that its peer leaves behind has its line when the connection ends', async () => {
  const { files, lines, close } = await reader(plain);
  const from = await source(files, 50);
  await E(from).next();
  await close();
  await expect
    .poll(async () => (await lines()).at(-1))
    .toEqual({ k: 'result', method: 'read', stream: 'read', parts: 1, bytes: 1000, code: 'ok' });
});

test('what a sink was given is in the line of its close, which is on the disk before the close goes out', async () => {
  const { files, lines } = await reader(plain);
  const to = await sink(files);
  await Promise.all([1, 2, 3].map((n) => E(to).write(new Uint8Array(n))));
  await E(to).close();
  const other = await sink(files);
  await E(other).write(new Uint8Array(9));
  await E(other).abort();
  expect(await lines()).toEqual([
    { k: 'call', method: 'write', argc: 0 },
    { k: 'call', method: 'close', argc: 0, parts: 3, bytes: 6 },
    { k: 'call', method: 'write', argc: 0 },
    { k: 'result', method: 'write', stream: 'write', parts: 1, bytes: 9, code: 'ok' },
  ]);
});

const yes = driver<Judge>({ ask: () => Promise.resolve(true) });
const each: readonly (readonly [string, Offer])[] = [
  ['a grant with a number of uses', () => revocable(opened, { uses: 1000 }).cap as object],
  ['a membrane with a number of uses', () => membrane(opened, { uses: 1000 }).cap as object],
  ['a gate', () => revocable(gated(opened, yes as never), {}).cap as object],
  [
    'a grant that another one with a number of uses is behind',
    () => revocable(revocable(opened, { uses: 1000 }).cap as Far<Files>, {}).cap as object,
  ],
  [
    'a guard that says something about each call',
    ({ vats }) => {
      guardCalls(vats, () => ({ fields: { risk: 'low' } }));
      return revocable(opened, {}).cap as object;
    },
  ],
];
test.each(each)('%s: each part has its own line', async (_what, offer) => {
  const { files, lines } = await reader(offer);
  const from = await source(files, 3);
  for (let n = 0; n < 4; n += 1) await E(from).next(1000);
  const to = await sink(files);
  await E(to).write(new Uint8Array(1));
  const parts = (await lines()).filter(
    ({ k, method, argc }) => k === 'call' && (method === 'next' || (method === 'write' && argc === 1)),
  );
  expect(parts.length).toBe(5);
});

test('an audited grant: the parts of a stream have no lines, and no end is missing', async () => {
  const { files, lines, all } = await reader(() => revocable(opened, { audited: true }).cap as object);
  expect(await readAll(await source(files, 5))).toBe(5000);
  const to = await sink(files);
  await E(to).write(new Uint8Array(1));
  await E(to).close();
  expect(await lines()).toEqual([
    { k: 'call', method: 'read', audited: true, argc: 1 },
    { k: 'result', method: 'read', audited: true, code: 'ok' },
    { k: 'result', method: 'read', stream: 'read', parts: 5, bytes: 5000, code: 'ok' },
    { k: 'call', method: 'write', audited: true, argc: 0 },
    { k: 'result', method: 'write', audited: true, code: 'ok' },
    { k: 'call', method: 'close', audited: true, argc: 0, parts: 1, bytes: 1 },
    { k: 'result', method: 'close', audited: true, code: 'ok' },
  ]);
  expect(await verifyLedger(all.store)).not.toHaveProperty('unended');
});

test.each([['a text'], [7], [null], [{ bytes: new Uint8Array(1) }], [[]]])(
  'attack: an object that looks like a stream gives %j by next: that has a line before it leaves',
  async (value) => {
    const { files, lines } = await reader(plain);
    const from = (await E(files).odd(value)) as unknown as Far<ByteSource>;
    expect(await E(from).next()).toEqual(value);
    expect((await lines()).slice(1)).toEqual([{ k: 'call', method: 'next' }]);
  },
);

test('attack: a reference that comes out of next is one of the grant', async () => {
  const { files, lines, revoke } = await revocableReader();
  const from = (await E(files).odd(opened)) as unknown as Far<ByteSource>;
  const out = (await E(from).next()) as unknown as Far<Files>;
  await revoke();
  expect(await code(E(out).read(1) as PromiseLike<unknown>)).toBe('revoked');
  expect((await lines()).map(({ k, method }) => [k, method])).toContainEqual(['call', 'next']);
});

test.each([
  ['next', ['a text']],
  ['next', [1, 2]],
  ['next', [{}]],
  ['return', [1]],
  ['close', []],
  ['other', []],
] as const)('attack: a message in %s(...%j) of a source has a line', async (method, args) => {
  const { files, lines } = await reader(plain);
  const from = await source(files, 5);
  await code(say(from, method, ...args));
  expect((await lines())[1]).toMatchObject({ k: 'call', method, argc: args.length });
});

test('attack: a message in write, abort or next of a sink has a line', async () => {
  const { files, lines } = await reader(plain);
  const to = await sink(files);
  for (const [method, args] of [['write', ['text']], ['write', []], ['abort', [1]], ['next', []]] as const) // biome-ignore format: a list
    await code(say(to, method, ...args));
  expect((await lines()).filter(({ k }) => k === 'call').map(({ method }) => method)).toEqual([
    'write', 'write', 'write', 'abort', 'next',
  ]); // biome-ignore format: a list
});

test('after the grant ended, a refused part is recorded with what had passed before', async () => {
  const { files, lines, revoke } = await revocableReader();
  const from = await source(files, 50);
  for (let n = 0; n < 7; n += 1) await E(from).next();
  await revoke();
  expect(await code(E(from).next())).toBe('revoked');
  expect(await code(E(from).next())).toBe('revoked');
  const [, refused, counted, ...others] = await lines();
  expect(refused).toMatchObject({ k: 'refuse', method: 'next', code: 'revoked' });
  expect(counted).toEqual({ k: 'result', method: 'read', stream: 'read', parts: 7, bytes: 7000, code: 'revoked' });
  expect(others.filter(({ k }) => k !== 'refuse')).toEqual([]);
});

test.each([false, true])('a part that fails has a line (audited: %s)', async (audited) => {
  const { files, lines } = await reader(() => revocable(opened, audited ? { audited } : {}).cap as object);
  const to = await sink(files);
  await E(to).write(new Uint8Array(4));
  expect(await code(E(to).write(new Uint8Array(0)))).not.toBe('ok');
  expect((await lines()).slice(audited ? 2 : 1)).toEqual([
    { k: 'result', method: 'write', code: 'error' },
    { k: 'result', method: 'write', stream: 'write', parts: 2, bytes: 4, code: 'error' },
  ]);
});

test('a stream that nobody holds any more and nobody ended has its line', async () => {
  const all = await world();
  const { cap } = await all.vat.turn(() => revocable(opened, {}));
  const readOne = async (): Promise<void> => {
    const from = await source(cap as Far<Files>, 9);
    await E(from).next();
  };
  await readOne();
  const counted = async (): Promise<readonly Line[]> =>
    (await lines(all.store, 'result')).map(({ grant: _, ...rest }) => rest);
  await expect
    .poll(
      async () => {
        globalThis.gc?.();
        return counted();
      },
      { timeout: 10_000 },
    )
    .toContainEqual({ k: 'result', method: 'read', stream: 'read', parts: 1, bytes: 1000, code: 'dropped' });
});

test('property: the counts of all lines are what passed, and no call but a part is without a line', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant('next' as const) },
    { weight: 5, arbitrary: fc.constant('write' as const) },
    fc.constantFrom('empty' as const, 'return' as const, 'abort' as const, 'close' as const, 'open' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, audited) => {
      const { files, lines, close } = await reader(() => revocable(opened, audited ? { audited } : {}).cap as object);
      let passed = 0;
      let withLine = 2;
      let [from, to] = [await source(files, 4), await sink(files)];
      for (const each of steps) {
        if (each === 'next') passed += ((await E(from).next()) as Uint8Array | undefined)?.length ?? 0;
        if (each === 'write') {
          await E(to).write(new Uint8Array(10));
          passed += 10;
        }
        if (each === 'empty') await code(E(to).write(new Uint8Array(0)));
        if (each === 'return') await E(from).return();
        if (each === 'abort') await E(to).abort();
        if (each === 'close' || each === 'open') withLine += each === 'close' ? 1 : 2;
        if (each === 'close') await E(to).close();
        if (each === 'open') [from, to] = [await source(files, 4), await sink(files)];
      }
      await close();
      const sums = async (): Promise<number> =>
        (await lines()).reduce((sum, { bytes }) => sum + (typeof bytes === 'number' ? bytes : 0), 0);
      await expect
        .poll(
          () => {
            globalThis.gc?.();
            return sums();
          },
          { timeout: 20_000 },
        )
        .toBe(passed);
      expect((await lines()).filter(({ k }) => k === 'call').length).toBe(withLine);
    }),
    { numRuns: volume(15, 50) },
  );
});

test('if two turns receive the same part and one changes it, the other has the bytes that were sent', async () => {
  const { vat } = await world();
  const like = madeSource(none);
  const told: number[][] = [];
  await vat.turn(() => {
    const part = E.when(undefined, () => new Uint8Array([1, 2, 3]));
    const source = ephemeral('a source with one part', () => part);
    forwardsTo(source, like);
    const { cap } = revocable(ephemeral('files', () => source) as Far<Files>, {});
    const stream = E(cap).read(1) as unknown as Far<ByteSource>;
    for (let n = 0; n < 2; n += 1)
      E.when(E(stream).next(), (bytes) => {
        told.push([...(bytes as Uint8Array)]);
        (bytes as Uint8Array).fill(9);
      });
  });
  const whole = [1, 2, 3];
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([whole, whole]);
});
