/**
 * What a test needs of the machine.
 *
 * Promise: a test whose need is missing is skipped with the reason, and is listed at the end of `npm test`.
 * `HOB_REQUIRE=cc,root` says that this machine is supposed to have them: then a missing one fails the test instead.
 *
 *     requires('userns')('a program sees only what it was given', async () => { … });
 */
import { type TestContext, test } from 'vitest';
import { missing, NEEDS, type Need, needs } from './probes.ts';

export { missing, NEEDS, type Need, needs } from './probes.ts';

/** What `HOB_REQUIRE` says this machine has. */
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

/** A `test` for what needs something. */
export function requires(...names: [Need, ...Need[]]): (name: string, body: Body, timeout?: number) => void {
  const lacking = names.find((name) => !needs(name));
  return (name, body, timeout) => {
    if (lacking === undefined) test(name, body, timeout);
    else if (required().includes(lacking)) test(name, () => fail(lacking));
    else test(name, (context) => context.skip(missing(lacking)));
  };
}

/** The same, said in one call. */
export const testWith = (names: [Need, ...Need[]], name: string, body: Body, timeout?: number): void =>
  requires(...names)(name, body, timeout);

export function fail(need: Need): never {
  throw new Error(`HOB_REQUIRE names ${need}, which this machine lacks: ${missing(need)}`);
}
