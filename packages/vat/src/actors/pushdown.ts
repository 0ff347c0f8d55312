/**
 * A stack of objects, and a forwarder that always stands for the one on top: a menu over a game, a mode over
 * another. After Goblins' `spawn-pushdown-pair`.
 *
 * Promise: whoever holds the forwarder reaches only the object on top, and cannot change the stack. A turn that
 * fails leaves the stack as it was. Each object costs one row.
 */
import { spawn, spawnLike } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Table } from '../core/types.ts';
import { define, defineProcedure } from '../turn/portrait.ts';
import { type Cell, makeCell } from './cell.ts';
import { callOrSend } from './opportunistic.ts';

/** The stack behind a forwarder. Goblins' `spawn-push` is `push(spawn(…))` here. */
export interface PdStack<T extends object = object> {
  push(object: T): void;
  /** Takes the object on top away and returns it. Throws `unavailable` if the stack is empty. */
  pop(): T;
  isEmpty(): boolean;
}

type Stack = readonly [rows: Table<object>, depth: Cell<number>];

const empty = (): CapError => new CapError('unavailable', 'the stack is empty: push an object first');

export const PdStack: Definition<PdStack, Stack> = define('PdStack', (_bcom, rows, depth) => ({
  push(object) {
    rows.set(String(depth.read()), object);
    depth.write(depth.read() + 1);
  },
  pop() {
    const top = String(depth.read() - 1);
    const object = rows.get(top);
    if (object === undefined) throw empty();
    rows.delete(top);
    depth.write(depth.read() - 1);
    return object;
  },
  isEmpty: () => depth.read() === 0,
}));

/** The definition of the forwarder: passes every call on to the object on top. */
export const PdForwarder: Definition<object, Stack> = defineProcedure(
  'PdForwarder',
  (_bcom, rows, depth) => (method, args) => {
    const top = rows.get(String(depth.read() - 1));
    if (top === undefined) throw empty();
    return callOrSend(top, method, args);
  },
);

/** Makes a stack and its forwarder. With `first`, that is on the stack, and the forwarder is called like it. In a turn. */
export function makePushdown<T extends object>(first?: T): { readonly stack: PdStack<T>; readonly forwarder: T } {
  const [rows, depth] = [table<object>(), makeCell(0)];
  const stack = spawn(PdStack(rows, depth)) as PdStack<T>;
  if (first !== undefined) stack.push(first);
  return { stack, forwarder: spawnLike(first, PdForwarder(rows, depth)) as T };
}
