import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import type { Definition, Far, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { makeEngine } from '../store/engine.ts';
import { memoryRows } from '../store/memory.ts';
import { engineOf, storeOf } from '../store/store.ts';
import { define } from '../turn/portrait.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

interface Node {
  put(key: string, node: Node | null): void;
  get(key: string): Node | undefined;
  number(): number;
}
/** Holds others in its portrait (`p…`) and in a table (`t…`). */
const Node: Definition<Node, [number: number, held: Readonly<Record<string, Node>>, rows: Table<Node>]> = define(
  'Node',
  (bcom, number, held, rows) => ({
    put(key, node) {
      if (key.startsWith('t')) {
        if (node === null) rows.delete(key);
        else rows.set(key, node);
        return undefined;
      }
      const { [key]: _, ...others } = held;
      return bcom(Node(number, node === null ? others : { ...others, [key]: node }, rows));
    },
    get: (key) => (key.startsWith('t') ? rows.get(key) : held[key]),
    number: () => number,
  }),
);
const make = (number: number): Node => spawn(Node(number, {}, table()));

async function opened(rows = memoryRows()) {
  const store = storeOf(makeEngine(rows));
  const vats = await openVats({ store, definitions: [Node] });
  const close = async (): Promise<void> => {
    await vats.close();
    await store.close();
  };
  onTestFinished(close);
  const actors = (): number => engineOf(store).scan('a/').length;
  return { vats, close, actors };
}

async function collect(): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise(setImmediate);
  }
}

const rootOf = (vats: Vats): Promise<Far<Node>> => vats.vat('v').root('root', () => Node(0, {}, table()));

test('unreachable objects are deleted with their rows; roots, sturdyrefs and held objects stay', async () => {
  const rows = memoryRows();
  const first = await opened(rows);
  const root = await rootOf(first.vats);
  const secret = await first.vats.sturdyref(await first.vats.vat('v').turn(() => make(1)));
  await first.vats.vat('v').turn(() => {
    const inner = make(2);
    (root as unknown as Node).put('p', inner);
    inner.put('t', make(3));
    const garbage = make(4);
    garbage.put('t', make(5));
    garbage.put('p', garbage);
  });
  await first.vats.settled();
  await first.close();
  const { vats, actors } = await opened(rows);
  const held = await vats.vat('v').turn(() => make(6));
  expect(actors()).toBe(7);
  expect(await vats.sweep()).toBe(3); // 4, 5 and the row of 4
  expect(actors()).toBe(5);
  expect(await vats.sweep()).toBe(0);
  const again = await rootOf(vats);
  expect(await E(E(E(again).get('p') as never as Far<Node>).get('t') as never as Far<Node>).number()).toBe(3);
  expect(await E(await vats.restore<Node>(secret)).number()).toBe(1);
  expect(await E(held as unknown as Far<Node>).number()).toBe(6);
});

const step = fc.record({
  at: fc.nat(5),
  key: fc.constantFrom('p1', 'p2', 't1', 't2'),
  what: fc.constantFrom('new', 'move', 'clear'),
  to: fc.nat(5),
  also: fc.constantFrom('p1', 'p2', 't1', 't2'),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
interface Model {
  readonly number: number;
  readonly held: Map<string, Model>;
}

/** The node reached from the root in so many steps, in the vat and in the model. */
function walk(root: Node, model: Model, steps: number, key: string): [Node, Model] {
  let [node, known] = [root, model];
  for (let i = 0; i < steps; i += 1) {
    const next = node.get(key);
    const expected = known.held.get(key);
    expect(next?.number()).toBe(expected?.number);
    if (next === undefined || expected === undefined) break;
    [node, known] = [next, expected];
  }
  return [node, known];
}

test('with turns that move references about while it runs, all that can be reached is there, and in the end nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 12 }), async (before, during) => {
      const rows = memoryRows();
      const model: Model = { number: 0, held: new Map() };
      let number = 0;
      const act = (vats: Vats, root: Far<Node>, { at, key, what, to, also }: Step): Promise<unknown> =>
        vats.vat('v').turn(() => {
          const [node, known] = walk(root as unknown as Node, model, at, key);
          const [other, otherKnown] = walk(root as unknown as Node, model, to, also);
          if (what === 'new') {
            number += 1;
            node.put(key, make(number));
            known.held.set(key, { number, held: new Map() });
          } else if (what === 'clear') {
            node.put(key, null);
            known.held.delete(key);
          } else {
            const moved = node.get(key);
            const movedKnown = known.held.get(key);
            if (moved === undefined || movedKnown === undefined) return;
            other.put(also, moved);
            otherKnown.held.set(also, movedKnown);
            if (node !== other || key !== also) {
              node.put(key, null);
              known.held.delete(key);
            }
          }
        });
      const first = await opened(rows);
      for (const one of before) await act(first.vats, await rootOf(first.vats), one);
      await first.vats.settled();
      await first.close();

      const second = await opened(rows);
      const sweeping = second.vats.sweep();
      for (const one of during) await act(second.vats, await rootOf(second.vats), one);
      await sweeping;
      await second.close();

      const third = await opened(rows);
      await third.vats.sweep();
      const reached = new Set<Model>();
      const check = (node: Node, known: Model): void => {
        expect(node.number()).toBe(known.number);
        if (reached.has(known)) return;
        reached.add(known);
        for (const key of ['p1', 'p2', 't1', 't2']) {
          const [inner, expected] = [node.get(key), known.held.get(key)];
          expect(inner === undefined).toBe(expected === undefined);
          if (inner !== undefined && expected !== undefined) check(inner, expected);
        }
      };
      const root = await rootOf(third.vats);
      await third.vats.vat('v').turn(() => check(root as unknown as Node, model));
      expect(third.actors()).toBe(reached.size);
      await third.close();
    }),
    { numRuns: 60 },
  );
});

test('the sweep runs in slices: the event loop goes on, and an object is deleted or kept as a whole', async () => {
  const { vats, actors } = await opened();
  const root = await rootOf(vats);
  for (let i = 0; i < 20; i += 1)
    await vats.vat('v').turn(() => {
      for (let j = 0; j < 100; j += 1) make(j);
      (root as unknown as Node).put(`t${i}`, make(i));
    });
  await collect();
  let breaths = 0;
  let going = true;
  const breathe = (): void => {
    breaths += 1;
    if (going) setImmediate(breathe);
  };
  setImmediate(breathe);
  await vats.sweep();
  going = false;
  await new Promise(setImmediate);
  expect(breaths).toBeGreaterThan(2);
  expect(actors()).toBeLessThan(2021);
  for (let i = 0; i < 20; i += 1) expect(await E(E(root).get(`t${i}`) as never as Far<Node>).number()).toBe(i);
});

test('objects that an earlier process left are deleted after the first turns of the next one', async () => {
  const rows = memoryRows();
  const first = await opened(rows);
  await rootOf(first.vats);
  await first.vats.vat('v').turn(() => void make(1));
  await first.close();
  const { vats, actors } = await opened(rows);
  expect(actors()).toBe(2);
  await E(await rootOf(vats)).number();
  await vi.waitFor(() => expect(actors()).toBe(1), { timeout: 30_000 });
});
