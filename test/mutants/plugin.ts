/** A plugin of vitest that leaves out the mechanism of the mutant that `HOB_MUTANT` names. Without it, none. */
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';
import { editsOf, replaceOnce } from './mutant.ts';
import { tableOf } from './table.ts';

const ROOT: string = join(import.meta.dirname, '..', '..');

export async function mutated(): Promise<Plugin[]> {
  const name = process.env['HOB_MUTANT'];
  if (name === undefined || name === '') return [];
  const row = (await tableOf()).find((mutant) => mutant.name === name);
  if (row === undefined) throw new Error(`HOB_MUTANT=${name}: no row of test/mutants has this name`);
  const edits = Map.groupBy(editsOf(row), ({ file }) => join(ROOT, file));
  const editsIn = (id: string) => edits.get(id.split('?', 1)[0] as string);
  return [
    {
      name: 'hob-mutant',
      enforce: 'pre',
      // The cache keeps a module as it is without mutants, and never a changed one.
      configureVitest: (vitest) =>
        vitest.defineCacheKeyGenerator(({ id }) => (editsIn(id) === undefined ? undefined : false)),
      transform: (code, id) => editsIn(id)?.reduce((text, edit) => replaceOnce(text, edit), code),
    },
  ];
}
