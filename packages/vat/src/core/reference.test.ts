/** A holder of a reference can send to it, and nothing else. */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  type Definition,
  define,
  defineProcedure,
  driver,
  E,
  promise,
  spawn,
  type Table,
  table,
  type Vats,
} from '../index.ts';
import { Target } from './message.ts';

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));

interface Cell {
  get(): unknown;
  set(x: unknown): void;
}
const Cell: Definition<Cell, [x: unknown]> = define('Cell', (bcom, x) => ({
  get: () => x,
  set: (next) => bcom(Cell(next)),
}));
const Fn: Definition<() => string, [secret: string]> = define('Fn', (_bcom, secret) => () => secret.slice(0, 1));
const Any: Definition<Cell, [secret: string]> = defineProcedure('Any', () => (method) => method);

/** Everything that can be named from here without calling a method of the actor. */
function reachable(from: object): Set<unknown> {
  const seen = new Set<unknown>();
  const todo: unknown[] = [from];
  const language = new Set<unknown>([
    Object.prototype,
    Function.prototype,
    Promise.prototype,
    Object,
    Function,
    Promise,
  ]);
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at) || language.has(at))
      continue;
    seen.add(at);
    todo.push(Object.getPrototypeOf(at));
    for (const key of Reflect.ownKeys(at)) {
      const own = Object.getOwnPropertyDescriptor(at, key);
      todo.push(own?.value, own?.get, own?.set);
    }
    for (const name of ['constructor', '__proto__', 'target', 'of', 'is', 'open'])
      todo.push(Reflect.get(at, name, from));
  }
  return seen;
}

async function holders(): Promise<Record<string, object>> {
  const vat = vats.vat('a');
  const [cell, fn, any] = await vat.turn(() => [spawn(Cell('secret')), spawn(Fn('secret')), spawn(Any('secret'))]);
  const { resolver } = promise<number>();
  const made = driver<{ read(): string }>({ read: () => 'text' });
  return { cell, fn, any, resolver, made, portrait: Cell('secret') } as unknown as Record<string, object>;
}

test('nothing that can be reached from a reference or a portrait opens it: no target, no class, no state', async () => {
  for (const [name, held] of Object.entries(await holders())) {
    for (const thing of reachable(held)) {
      expect(thing instanceof Target, name).toBe(false);
      expect(typeof thing === 'function' && /^class\b/.test(Function.prototype.toString.call(thing)), name).toBe(false);
    }
    expect((held as { constructor?: unknown }).constructor === Object || typeof held === 'function', name).toBe(true);
    expect(JSON.stringify(held) ?? '', name).not.toContain('secret');
  }
});

test('a reference and all that its holders share of it is frozen', async () => {
  for (const [name, held] of Object.entries(await holders()))
    for (
      let at: unknown = held;
      at !== null && at !== Object.prototype && at !== Function.prototype;
      at = Object.getPrototypeOf(at)
    ) {
      expect(Object.isFrozen(at), name).toBe(true);
      expect(
        Reflect.set(at as object, 'get', () => 'mine'),
        name,
      ).toBe(false);
      expect(Reflect.setPrototypeOf(at as object, null), name).toBe(false);
    }
});

test('a method taken off a reference does nothing without one, and reaches only what it is called on', async () => {
  const { cell } = await holders();
  const other = await vats.vat('a').spawn(Cell('other'));
  const { get } = cell as unknown as Cell;
  expect(() => get()).toThrow(TypeError);
  expect(() => Reflect.apply(get, Object.create(cell as object), [])).toThrow(TypeError);
  expect(() => Reflect.apply(get, new Proxy(cell as object, {}), [])).toThrow(TypeError);
  expect(await Reflect.apply(get, other, [])).toBe('other');
  expect(Object.isFrozen(get)).toBe(true);
});

test('a table gives no way around its journal', async () => {
  let held: Table<number> | undefined;
  await vats.vat('a').turn(() => {
    held = table<number>();
    held.set('k', 1);
    for (const thing of reachable(held))
      expect(typeof thing === 'function' && /^class\b/.test(Function.prototype.toString.call(thing))).toBe(false);
    expect(Object.isFrozen(held)).toBe(true);
  });
  expect(() => held?.get('k')).toThrow(expect.objectContaining({ code: 'not-callable' }));
});

test('one actor is one reference, and two of a kind are two', async () => {
  const { cell } = await holders();
  const keep = await vats.vat('b').spawn(Cell(cell));
  expect(await E(keep).get()).toBe(cell);
  const [one, two] = [await vats.vat('a').spawn(Cell(0)), await vats.vat('a').spawn(Cell(0))];
  expect(one).not.toBe(two);
  expect(Object.getPrototypeOf(one)).toBe(Object.getPrototypeOf(two));
});

test('a forged reference is no reference', async () => {
  const { cell } = await holders();
  const forged = Object.create(Object.getPrototypeOf(cell as object));
  await expect((E(forged) as unknown as Cell).get()).rejects.toBeDefined();
  await expect(vats.vat('a').turn(() => spawn(Cell(forged)))).rejects.toMatchObject({ code: 'invalid' });
});

test('inspecting a procedure sends no message', async () => {
  const { any } = await holders();
  const asked = any as unknown as Record<string, unknown>;
  expect([asked['then'], asked['toJSON'], asked['nodeType'], asked[Symbol.iterator as never]]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(String(any)).toBe('[object Alleged: procedure]');
});
