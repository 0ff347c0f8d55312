import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, E, type Far, openStore, openVats, spawn } from '../index.ts';
import { pushdownDefinitions } from './definitions.ts';
import { makePushdown, type PdStack } from './pushdown.ts';

interface Mode {
  name(): string;
}
const Mode: Definition<Mode, [name: string]> = define('Mode', (_bcom, name) => ({ name: () => name }));
const Twice: Definition<(n: number) => number, []> = define('Twice', () => (n) => 2 * n);
const code = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test('the forwarder stands for the object on top, and an empty stack is unavailable', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  await vats.vat('a').turn(() => {
    const { stack, forwarder } = makePushdown<Mode>();
    const [menu, game] = [spawn(Mode('menu')), spawn(Mode('game'))];
    expect([stack.isEmpty(), code(() => stack.pop()), code(() => forwarder.name())]).toEqual([
      true,
      'unavailable',
      'unavailable',
    ]);
    stack.push(menu);
    stack.push(game);
    expect(forwarder.name()).toBe('game');
    expect(stack.pop()).toBe(game);
    expect([forwarder.name(), stack.isEmpty()]).toEqual(['menu', false]);
    expect(code(() => (forwarder as unknown as PdStack).pop())).toBe('no-such-method');
    const functions = makePushdown(spawn(Twice()));
    expect(functions.forwarder(4)).toBe(8);
  });
});

test('an object of another vat is reached by message; a failed turn leaves the stack; a restart keeps it', async () => {
  const store = await openStore({ memory: true });
  const Holder: Definition<{ all(): readonly unknown[] }, [all: readonly unknown[]]> = define('Holder', (_b, all) => ({
    all: () => all,
  }));
  const definitions = [...pushdownDefinitions, Mode, Holder];
  let vats = await openVats({ store, definitions });
  const far = await vats.vat('b').root('far', () => Mode('far'));
  await vats.vat('a').root('holder', () => {
    const { stack, forwarder } = makePushdown<Mode>(spawn(Mode('near')));
    stack.push(far as unknown as Mode);
    return Holder([stack, forwarder]);
  });
  for (let restart = 0; restart < 2; restart += 1) {
    const vat = vats.vat('a');
    const holder = await vat.root('holder', () => Holder([]));
    const [stack, forwarder] = (await E(holder).all()) as unknown as [Far<PdStack>, Far<Mode>];
    expect(await E(forwarder).name()).toBe('far');
    const failing = vat.turn(() => {
      (stack as unknown as PdStack).pop();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await E(forwarder).name()).toBe('far');
    await vats.close();
    vats = await openVats({ store, definitions });
  }
  await vats.close();
  await store.close();
});
