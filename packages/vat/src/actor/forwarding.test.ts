/**
 * The parts of forwarders: references that are never stored, answers passed on, refusals that commit,
 * identity.
 */
import { expect, onTestFinished, test } from 'vitest';
import { CapError } from '../core/errors.ts';
import { isReference } from '../core/reference.ts';
import type { AnyDefinition, Definition, Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { passOn } from '../eventual/passing.ts';
import { farOf, promise } from '../eventual/resolver.ts';
import { openStore } from '../store/store.ts';
import { driver } from '../turn/driver.ts';
import { define, defineProcedure } from '../turn/portrait.ts';
import { attempt, byMessage, freshName, under } from '../turn/turn.ts';
import { watch } from '../turn/watch.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { vatOf, vatsOf } from '../vats/which-vats.ts';
import { spawn } from './actor.ts';
import { ephemeral } from './ephemeral.ts';
import { breakAnswer, frozenCopy, frozenData, tellAnyway } from './forwarding.ts';
import { argumentsOf, became, becomes, lastingName } from './identity.ts';

interface Cell {
  get(): unknown;
  set(value: unknown): void;
}
const Cell: Definition<Cell, [value: unknown]> = define('Cell', (bcom, value) => ({
  get: () => value,
  set: (next) => bcom(Cell(next)),
}));

async function open(definitions?: readonly AnyDefinition[]): Promise<Vats> {
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, ...(definitions === undefined ? {} : { definitions }) });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  return vats;
}
const code = (promised: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(promised).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );
const jobs = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
type Any = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
const say = (x: unknown, method: string, ...args: readonly unknown[]): Promise<unknown> =>
  (E(x as object) as unknown as Any)[method]?.(...args) as Promise<unknown>;

test('an ephemeral is called as an actor is: near in its vat, by message from elsewhere, each a turn of its own', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const made = await vat.turn(() => ephemeral('echo', (method, args) => [method, args, byMessage()]) as never);
  expect(await say(made, 'hello', 1)).toEqual(['hello', [1], true]);
  expect(await vat.turn(() => (made as unknown as { hello(): unknown }).hello() as never)).toEqual([
    'hello',
    [],
    false,
  ]);
  expect(await code(vats.vat('b').turn(() => void (made as unknown as { hello(): unknown }).hello()))).toBe(
    'not-callable',
  );
  const throws = await vat.turn(() => ephemeral('throws', () => { throw new CapError('denied', 'no'); }) as never); // biome-ignore format: one line
  expect(await code(say(throws, 'x'))).toBe('denied');
  const waits = await vat.turn(() => ephemeral('waits', () => Promise.resolve(1)) as never);
  expect(await code(say(waits, 'x'))).toBe('async-behaviour');
});

test('an ephemeral stands in no durable portrait, and is an actor to the meter until it is collected', async () => {
  const vats = await open([Cell]);
  const meter = vats.meter('m', { actors: 5 });
  const vat = vats.vat('a', { meter });
  expect(await code(vat.turn(() => void spawn(Cell(ephemeral('x', () => 1)))))).toBe('invalid');
  expect(await code(vat.turn(() => void Array.from({ length: 6 }, () => ephemeral('x', () => 1))))).toBe('limit');
});

test('breakAnswer: the turn commits, and its answer breaks', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const cell = await vat.spawn(Cell(0));
  const Breaks: Definition<object, []> = defineProcedure('Breaks', () => () => {
    (cell as unknown as Cell).set(7);
    breakAnswer(new CapError('denied', 'but it is set'));
  });
  expect(await code(say(await vat.spawn(Breaks()), 'x'))).toBe('denied');
  expect(await E(cell).get()).toBe(7);
});

test('tellAnyway arrives once, whether the turn commits, fails or undoes a part', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const Tally: Definition<{ add(): void; count(): number }, [n: number]> = define('Tally', (bcom, n) => ({ add: () => bcom(Tally(n + 1)), count: () => n })); // biome-ignore format: one line
  const tally = await vat.spawn(Tally(0));
  const near = tally as unknown as object;
  await vat.turn(() => tellAnyway(near, 'add'));
  expect(await E(tally).count()).toBe(1);
  await code(vat.turn(() => { tellAnyway(near, 'add'); throw new Error('undone'); })); // biome-ignore format: one line
  expect(await E(tally).count()).toBe(2);
  await vat.turn(() => {
    try {
      attempt(() => { tellAnyway(near, 'add'); throw new Error('undone'); }); // biome-ignore format: one line
    } catch {}
  });
  expect(await E(tally).count()).toBe(3);
  expect(await code(vats.vat('b').turn(() => tellAnyway(near, 'add')))).toBe('invalid');
});

test('passOn: what is pipelined goes through `next` before the answer is there, in order, and to the answer itself afterwards', async () => {
  const vats = await open();
  const seen: string[] = [];
  const kept = promise<Far<Cell>>();
  const real = await vats.vat('b').spawn(Cell('real'));
  const Passes: Definition<object, []> = defineProcedure(
    'Passes',
    () => () =>
      passOn(kept.promise as Promise<unknown>, {
        ok: (value) => value,
        broken: (error) => {
          throw error;
        },
        next: (method, args) => {
          seen.push(method);
          return say(kept.promise, method, ...args);
        },
      }),
  );
  const answer = say(await vats.vat('a').spawn(Passes()), 'x');
  const first = say(answer, 'get');
  await jobs();
  expect(seen).toEqual(['get']);
  kept.resolver.resolve(real);
  expect(await first).toBe('real');
  await answer;
  expect(await say(answer, 'get')).toBe('real');
  expect(seen).toEqual(['get']);
});

test('passOn: a cut tells the caller at once, whatever the object behind does', async () => {
  const vats = await open();
  const never = promise<unknown>();
  const late: unknown[] = [];
  const Passes: Definition<object, []> = defineProcedure(
    'Passes',
    () => () => passOn(never.promise, { ok: (value) => void late.push(value), broken: () => {}, cause: 'c1' }),
  );
  const answer = code(say(await vats.vat('a').spawn(Passes()), 'x'));
  await jobs();
  await vats.cut('c1', new CapError('revoked', 'over'));
  expect(await answer).toBe('revoked');
  never.resolver.resolve('late');
  await jobs();
  expect(late).toEqual(['late']);
});

test('watch: the signal fires at the cut, who cuts waits for done, and a cause that ended already fires at once', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const made: ReturnType<typeof watch>[] = [];
  await vat.turn(() => void made.push(watch(['c1'])));
  await code(vat.turn(() => { made.push(watch(['c1'])); throw new Error('undone'); })); // biome-ignore format: one line
  expect(made.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  let cut = false;
  const cutting = vats.cut('c1', new CapError('revoked', 'over')).then(() => (cut = true));
  await jobs();
  expect([made[0]?.signal.aborted, cut]).toEqual([true, false]);
  made[0]?.done();
  await cutting;
  await vat.turn(() => void made.push(watch(['c1'])));
  expect(made[2]?.signal.aborted).toBe(true);
  made[2]?.done();
});

test('argumentsOf: who has the definition sees in, and only into actors that are of it now', async () => {
  const vats = await open();
  const Twin: Definition<Cell, [value: unknown]> = define('Cell', (_bcom, value) => ({ get: () => value, set: () => undefined })); // biome-ignore format: one line
  const cell = await vats.vat('a').spawn(Cell('inside'));
  expect(argumentsOf(cell, Cell)).toEqual(['inside']);
  expect(argumentsOf(cell, Twin)).toBe(undefined);
  for (const other of [undefined, null, 7, {}, () => {}, driver<{ x(): void }>({ x: () => {} }), Cell])
    expect(argumentsOf(other, Cell)).toBe(undefined);
  const undone: object[] = [];
  await code(vats.vat('a').turn(() => { undone.push(spawn(Cell(1))); throw new Error('undone'); })); // biome-ignore format: one line
  expect(argumentsOf(undone[0], Cell)).toBe(undefined);
});

test('lastingName: one name an object, none for what ends with the process', async () => {
  const vats = await open([Cell]);
  const vat = vats.vat('a');
  const [one, two] = [await vat.spawn(Cell(1)), await vat.spawn(Cell(2))];
  const names = await vat.turn(() =>
    [one, one, two, ephemeral('x', () => 1)].map((each) => lastingName(each as object)),
  );
  expect(names[0]).toBe(names[1]);
  expect(names[0]).not.toBe(names[2]);
  expect(names[3]).toBe(undefined);
  const memory = await open();
  expect(await memory.vat('a').turn(() => lastingName(spawn(Cell(1))))).toBe(undefined);
});

test('became: a reference that was a promise is what that has become', async () => {
  const vats = await open();
  const cell = await vats.vat('a').spawn(Cell(1));
  const later = promise<Far<Cell>>();
  const ref = farOf(later.promise);
  expect(became(ref)).toBe(ref);
  const waited = becomes(ref);
  later.resolver.resolve(cell);
  expect(await waited).toBe(cell);
  expect(became(ref)).toBe(cell);
  expect(becomes(cell)).toBe(cell);
  expect(became(7)).toBe(7);
  expect([vatOf(cell)?.name, vatsOf(cell) === vats, vatOf({})]).toEqual(['a', true, undefined]);
});

test('frozen copies: nobody changes them, and nobody’s code runs to make them', async () => {
  const vats = await open();
  const from = { list: [1], who: await vats.vat('a').spawn(Cell(1)) };
  const copy = frozenData(from);
  from.list.push(2);
  expect(copy.list).toEqual([1]);
  expect(isReference(copy.who)).toBe(true);
  expect(Object.isFrozen(copy) && Object.isFrozen(copy.list)).toBe(true);
  for (const bad of [{ get x(): number { return 1; } }, new Proxy({}, {}), Promise.resolve(1), () => {}, new Map()]) // biome-ignore format: one line
    expect(() => frozenData(bad)).toThrowError(expect.objectContaining({ code: 'invalid' }));
  expect(await vats.vat('a').turn(() => Object.isFrozen(frozenCopy({ a: 1 })))).toBe(true);
});

test('names are never given twice, not in two vats either', async () => {
  const vats = await open();
  const other = await openVats();
  onTestFinished(() => other.close());
  const names = await Promise.all([vats, other].flatMap((each) => ['a', 'b'].flatMap((name) => Array.from({ length: 50 }, () => each.vat(name).turn(() => freshName('r')))))); // biome-ignore format: one line
  expect(new Set(names).size).toBe(200);
  expect(await vats.vat('a').turn(() => under('x', () => freshName('g')).startsWith('g'))).toBe(true);
});
