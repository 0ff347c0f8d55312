/**
 * Bytes cannot be frozen, so each holder has bytes of its own. The attackers are a policy of another author, a driver
 * and a host program. Each of them changes all bytes that it gets.
 */
import { driver, E, type Far } from '@hob/vat';
import { ephemeral } from '@hob/vat/forwarder';
import { expect, test } from 'vitest';
import { world } from '../test/world.ts';
import { forward, gated, guardCalls, type Judge, type Onlooker, revocable } from './index.ts';

interface Memory {
  read(): Uint8Array;
  write(bytes: Uint8Array): void;
}
const whole = (): Uint8Array => new Uint8Array([1, 2, 3]);
const readable = (): Far<Memory> => driver<Pick<Memory, 'read'>>({ read: whole }) as Far<Memory>;

/** A policy that keeps the bytes of a call, and changes them later. */
function vandal() {
  let kept: Uint8Array = new Uint8Array();
  const over = forward<readonly []>('vandal', { before: (_, __, [bytes]) => void (kept = bytes as Uint8Array) });
  return { over, change: () => void kept.fill(9) };
}

test('a policy in front of a gate cannot change the bytes of a call after they were shown', async () => {
  await world();
  const sent: unknown[] = [];
  const memory = driver<Pick<Memory, 'write'>>({ write: ([bytes]) => void sent.push(bytes) });
  const shown: unknown[] = [];
  const answer = Promise.withResolvers<boolean>();
  const judge = driver<Judge>(
    {
      ask: ([{ args }]) => {
        shown.push(...args);
        return answer.promise;
      },
    },
    { name: 'judge' },
  );
  const { over, change } = vandal();
  const written = E(over(gated(memory as Far<Memory>, judge))).write(whole());
  await expect.poll(() => shown).toEqual([whole()]);
  change();
  answer.resolve(true);
  await written;
  expect(sent).toEqual([whole()]);
});

test('a policy in front of a guarded grant cannot change the bytes that the onlooker is shown', async () => {
  const { vats } = await world();
  const { over, change } = vandal();
  const memory = driver<Pick<Memory, 'write'>>({ write: () => change() });
  const seen: unknown[] = [];
  const onlooker = driver<Onlooker>({ look: ([{ args }]) => void seen.push(...args) });
  guardCalls(vats, () => ({ onlooker: onlooker as unknown as Onlooker }));
  await E(over(revocable(memory as Far<Memory>, {}).cap)).write(whole());
  expect(seen).toEqual([whole()]);
});

test('a host program changes only its own bytes, also if others get the value of the same promise', async () => {
  const { vat } = await world();
  const file = readable();
  const memory = (await vat.turn(() => {
    const bytes = E(file).read();
    return ephemeral('memory', () => bytes);
  })) as Far<Memory>;
  const deep = (await vat.turn(() => {
    const bytes = E.when(undefined, () => ({ deep: [whole()] }));
    return ephemeral('deep', () => bytes);
  })) as Far<{ read(): { readonly deep: readonly Uint8Array[] } }>;
  const granted = <T extends object>(cap: Far<T>): Far<T> => revocable(cap, {}).cap;
  for (const cap of [memory, granted(memory), granted(granted(memory))])
    for (let n = 0; n < 3; n += 1) {
      const bytes = await E(cap).read();
      expect(bytes).toEqual(whole());
      bytes.fill(9);
    }
  for (const cap of [deep, granted(deep)])
    for (let n = 0; n < 3; n += 1) {
      const [bytes] = (await E(cap).read()).deep;
      expect(bytes).toEqual(whole());
      bytes?.fill(9);
    }
});

test('a driver changes or transfers only its own bytes, also if it was given a promise of them', async () => {
  const { vat } = await world();
  const taker = driver<{ take(bytes: unknown, more: { readonly bytes: unknown }): void }>({
    take: async ([first, more]) => {
      const [bytes, { buffer }] = (await Promise.all([first, more.bytes])) as [Uint8Array, Uint8Array];
      bytes.fill(9);
      structuredClone(buffer, { transfer: [buffer] });
    },
  });
  const file = readable();
  for (const cap of [file, revocable(file, {}).cap]) {
    const left = vat.turn(() => {
      const bytes = E(cap).read();
      const take = () => E(taker).take(bytes, { bytes });
      return E.when(take(), () => E.when(take(), () => bytes));
    });
    expect(await left).toEqual(whole());
  }
});
