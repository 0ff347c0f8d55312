/** Bytes that a driver hands over. */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { type ByteSource, driver, driverOf, E, handOver, type Vats } from '../index.ts';

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));

const fresh = (): Uint8Array => new Uint8Array(1000).fill(7);
const answered = async (bytes: Uint8Array): Promise<Uint8Array> =>
  (await E(driver<{ get(): Uint8Array }>({ get: () => handOver(bytes) })).get()) as Uint8Array;

test('the giver of bytes can change nothing any more: every view of them is empty', async () => {
  const kept = fresh();
  const views = [new Uint8Array(kept.buffer, 10, 5), new DataView(kept.buffer), new Uint32Array(kept.buffer)];
  const { buffer } = kept;
  const got = await answered(kept);
  expect(kept.length + buffer.byteLength + (views[0] as Uint8Array).length + (views[2] as Uint32Array).length).toBe(0);
  expect(() => (views[1] as DataView).setUint8(0, 9)).toThrow(TypeError);
  kept[0] = 9;
  expect(() => kept.set([9], 0)).toThrow(TypeError);
  expect(() => structuredClone(buffer, { transfer: [buffer] })).toThrow();
  expect(got).toEqual(fresh());
  expect(got.buffer.byteLength).toBe(1000);
});

test('bytes are given away once, and only as the answer of a driver', async () => {
  const marked = handOver(fresh());
  // As an argument, in a portrait or within data they are copied, and the marked bytes stay unchanged.
  const echo = driver<{ echo(value: unknown): unknown }>({ echo: ([value]) => value });
  expect(await E(echo).echo(marked)).toEqual(fresh());
  expect(await E(echo).echo([marked])).toEqual([fresh()]);
  expect(marked).toEqual(fresh());
  const within = driver<{ get(): { readonly bytes: Uint8Array } }>({ get: () => ({ bytes: marked }) });
  expect(await E(within).get()).toEqual({ bytes: fresh() });
  expect(marked).toEqual(fresh());
  // The received bytes are not marked: a program that returns them keeps its own.
  const got = await answered(marked);
  const again = driver<{ get(): Uint8Array }>({ get: () => got });
  expect(await E(again).get()).toEqual(fresh());
  expect(got).toEqual(fresh());
  expect(marked.length).toBe(0);
  await expect(answered(marked)).rejects.toMatchObject({ code: 'invalid' });
});

test('bytes that are part of a larger buffer, shared or growable are copied, and the rest of the buffer is left alone', async () => {
  const whole = fresh();
  expect(await answered(whole.subarray(10, 20))).toEqual(new Uint8Array(10).fill(7));
  expect(whole).toEqual(fresh());
  const pooled = Buffer.from('of a pool that others use');
  expect(Buffer.from(await answered(pooled)).toString()).toBe('of a pool that others use');
  expect(pooled.toString()).toBe('of a pool that others use');
  const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7);
  const got = await answered(shared);
  shared.fill(9);
  expect(got).toEqual(new Uint8Array(4).fill(7));
  expect(got.buffer).toBeInstanceOf(ArrayBuffer);
  const growing = new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 })).fill(7);
  const fixed = await answered(growing);
  growing.fill(9);
  expect(fixed).toEqual(new Uint8Array(4).fill(7));
  const { memory } = { memory: new WebAssembly.Memory({ initial: 1 }) };
  const wasm = new Uint8Array(memory.buffer);
  expect((await answered(wasm)).length).toBe(65_536);
  expect(wasm.length).toBe(65_536);
  expect(await answered(new Uint8Array(0))).toEqual(new Uint8Array(0));
});

test('views that lie about themselves are not believed', async () => {
  class Lying extends Uint8Array {
    override get byteLength(): number {
      return 4;
    }
    override get buffer(): ArrayBuffer {
      return new ArrayBuffer(4);
    }
  }
  const real = new ArrayBuffer(8);
  expect((await answered(new Lying(real, 0, 4))).length).toBe(4);
  expect(real.byteLength).toBe(8);
  const trap = new Proxy(fresh(), {});
  await expect(answered(trap)).rejects.toMatchObject({ code: 'invalid' });
});

test('a stream of an object with methods gives its parts away too', async () => {
  const parts: Uint8Array[] = [];
  const source: ByteSource = {
    next: async () => {
      const part = fresh();
      parts.push(part);
      return handOver(part);
    },
    return: async () => {},
  };
  const far = driverOf<{ open(): Promise<ByteSource> }>({ open: async () => source });
  const stream = await E(far).open();
  expect(await E(stream as never as ByteSource).next()).toEqual(fresh());
  expect(parts.map((part) => part.length)).toEqual([0]);
});
