import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, E, openVats, spawn, type Vats } from '../index.ts';
import { makeTicker, type Tickable, type Ticker } from './ticker.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

interface Mayfly extends Tickable {
  age(): number;
}
/** Leaves after `life` ticks. */
const Mayfly: Definition<Mayfly, [age: number, life: number]> = define('Mayfly', (bcom, age, life) => ({
  tick: () => bcom(Mayfly(age + 1, life), age + 1 < life),
  age: () => age,
}));
const Breeder: Definition<Tickable, [ticker: Ticker]> = define('Breeder', (_bcom, ticker) => ({
  tick: (child) => {
    ticker.register(child as Tickable);
    return undefined;
  },
}));
const Bomb: Definition<Tickable, []> = define('Bomb', () => ({
  tick: () => {
    throw new Error('boom');
  },
}));

test('each is ticked once a tick until it answers false', async () => {
  const vat = (await open()).vat('a');
  await vat.turn(() => {
    const ticker = makeTicker();
    const flies = [1, 2, 9].map((life) => spawn(Mayfly(0, life)));
    for (const fly of flies) ticker.register(fly);
    for (let i = 0; i < 4; i += 1) ticker.tick();
    expect(flies.map((fly) => fly.age())).toEqual([1, 2, 4]);
    expect(ticker.count()).toBe(1);
  });
});

test('an object that registers during a tick begins with the next one', async () => {
  const vat = (await open()).vat('a');
  await vat.turn(() => {
    const [ticker, child] = [makeTicker(), spawn(Mayfly(0, 9))];
    ticker.register(spawn(Breeder(ticker)));
    ticker.tick(child);
    expect([child.age(), ticker.count()]).toEqual([0, 2]);
    ticker.tick(child);
    expect([child.age(), ticker.count()]).toEqual([1, 3]);
  });
});

test('if one throws, nobody was ticked', async () => {
  const vat = (await open()).vat('a');
  const { ticker, fly } = await vat.turn(() => {
    const made = { ticker: makeTicker(), fly: spawn(Mayfly(0, 9)) };
    made.ticker.register(made.fly);
    made.ticker.register(spawn(Bomb()));
    return made;
  });
  await expect(E(ticker).tick()).rejects.toThrow('boom');
  expect(await E(fly).age()).toBe(0);
});

test('an object of another vat is not taken', async () => {
  const vats = await open();
  const ticker = await vats.vat('a').turn(() => makeTicker());
  const far = await vats.vat('b').spawn(Mayfly(0, 9));
  await expect(E(ticker).register(far)).rejects.toMatchObject({ code: 'not-callable' });
});

test('foldr combines the registered objects, the last one first, and getTicked lists them in their order', async () => {
  const vat = (await open()).vat('a');
  const Step: Definition<(fly: Tickable, rest: string) => string, []> = define(
    'Step',
    () => (fly, rest) => `${rest}${(fly as Mayfly).age()}`,
  );
  const ticker = await vat.turn(() => {
    const made = makeTicker();
    const flies = [0, 1, 2].map((age) => spawn(Mayfly(age, 9)));
    for (const fly of flies) made.register(fly);
    expect(made.getTicked()).toEqual(flies);
    expect(made.foldr((fly, rest) => `${rest}${(fly as Mayfly).age()}`, '')).toBe('210');
    expect(makeTicker().foldr(() => 'never', 'init')).toBe('init');
    return made;
  });
  const step = await vat.spawn(Step());
  expect(await (E(ticker) as unknown as Ticker).foldr(step as never, '>')).toBe('>210');
});
