import { expect, onTestFinished, test } from 'vitest';
import { CapError, type Definition, define, E, openVats, spawn, type Vats } from '../index.ts';
import { makeSwappable } from './swappable.ts';

interface Greeter {
  greet(): string;
}
const Greeter: Definition<Greeter, [word: string]> = define('Greeter', (_bcom, word) => ({ greet: () => word }));
const Revoked: Definition<Greeter, []> = define('Revoked', () => ({
  greet: () => {
    throw new CapError('revoked', 'gone');
  },
}));

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

test('the proxy reaches the target of the moment, at once where that is near', async () => {
  const vat = (await open()).vat('a');
  const { proxy, swapper } = await vat.turn(() => {
    const made = makeSwappable(spawn(Greeter('one')));
    expect(made.proxy.greet()).toBe('one');
    made.swapper.swap(spawn(Greeter('two')));
    expect(made.proxy.greet()).toBe('two');
    return made;
  });
  await E(swapper).swap(vat.spawn(Greeter('three')));
  expect(await E(proxy).greet()).toBe('three');
});

test('swapping in one that throws revokes, for every holder of the proxy', async () => {
  const vat = (await open()).vat('a');
  const { proxy, swapper } = await vat.turn(() => makeSwappable(spawn(Greeter('one'))));
  await vat.turn(() => (swapper as unknown as { swap(to: Greeter): void }).swap(spawn(Revoked())));
  await expect(E(proxy).greet()).rejects.toMatchObject({ code: 'revoked' });
});

test('a swap in a failing turn never was', async () => {
  const vat = (await open()).vat('a');
  const { proxy, swapper } = await vat.turn(() => makeSwappable(spawn(Greeter('one'))));
  const failing = vat.turn(() => {
    (swapper as unknown as { swap(to: Greeter): void }).swap(spawn(Greeter('two')));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await E(proxy).greet()).toBe('one');
});

test('a target of another vat is sent to', async () => {
  const vats = await open();
  const far = await vats.vat('b').spawn(Greeter('from b'));
  const { proxy } = await vats.vat('a').turn(() => makeSwappable(far as unknown as Greeter));
  expect(await E(proxy).greet()).toBe('from b');
});

test('a proxy cannot be swapped in for itself, and two in a circle break only the call', async () => {
  const vat = (await open()).vat('a');
  const { a, b } = await vat.turn(() => {
    const a = makeSwappable(spawn(Greeter('a')));
    expect(() => a.swapper.swap(a.proxy)).toThrow(expect.objectContaining({ code: 'cycle' }));
    const b = makeSwappable(a.proxy);
    return { a, b };
  });
  await E(a.swapper).swap(b.proxy);
  await expect(E(a.proxy).greet()).rejects.toThrow();
  await E(a.swapper).swap(vat.spawn(Greeter('again')));
  expect(await E(b.proxy).greet()).toBe('again');
});

test('the holder of the proxy finds neither swapper nor target', async () => {
  const vat = (await open()).vat('a');
  const { proxy } = await vat.turn(() => makeSwappable(spawn(Greeter('one'))));
  const probing = proxy as unknown as { swap(to: unknown): void };
  await expect(E(probing).swap(proxy)).rejects.toMatchObject({ code: 'no-such-method' });
});
