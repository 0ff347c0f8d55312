/**
 * The needs of a test: programs and rights of the machine.
 *
 * Promise: a test whose need is missing is skipped with the reason, and is listed at the end of `npm test`.
 * `HOB_REQUIRE=cc,root` says that this machine is supposed to have them: then a missing one fails the test instead.
 *
 *     const test = requires('userns');
 *     test.beforeAll(() => { … });
 *     test('a program sees only what it was given', async () => { … });
 */
import { afterAll, beforeAll, type TestContext, test } from 'vitest';
import { missing, NEEDS, type Need, needs } from './probes.ts';

export { missing, NEEDS, type Need, needs } from './probes.ts';

/** The needs that `HOB_REQUIRE` says this machine has. */
export function required(list: string = process.env['HOB_REQUIRE'] ?? ''): readonly Need[] {
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map(asNeed);
}

function asNeed(name: string): Need {
  const need = NEEDS.find((known) => known === name);
  if (need === undefined)
    throw new Error(`HOB_REQUIRE names ${name}, which nobody knows; there are ${NEEDS.join(', ')}`);
  return need;
}

type Body = (context: TestContext) => unknown;
type Hook = (body: () => unknown, timeout?: number) => void;

interface Requiring {
  (name: string, body: Body, timeout?: number): void;
  /** Hooks for what these tests use. They run only where the tests do: elsewhere they would fail the file. */
  readonly beforeAll: Hook;
  readonly afterAll: Hook;
}

/** A `test` for what needs something. */
export function requires(...names: [Need, ...Need[]]): Requiring {
  const lacking = names.find((name) => !needs(name));
  const testing = (name: string, body: Body, timeout?: number): void => {
    if (lacking === undefined) test(name, body, timeout);
    else if (required().includes(lacking)) test(name, () => fail(lacking));
    else test(name, (context) => context.skip(missing(lacking)));
  };
  const hook =
    (add: (body: () => Promise<void>, timeout?: number) => void): Hook =>
    (body, timeout) => {
      // Vitest may call the function that a hook returns, so this returns nothing.
      if (lacking === undefined) add(async () => void (await body()), timeout);
    };
  return Object.assign(testing, { beforeAll: hook(beforeAll), afterAll: hook(afterAll) });
}

/** The same, said in one call. */
export const testWith = (names: [Need, ...Need[]], name: string, body: Body, timeout?: number): void =>
  requires(...names)(name, body, timeout);

export function fail(need: Need): never {
  throw new Error(`HOB_REQUIRE names ${need}, which this machine lacks: ${missing(need)}`);
}
