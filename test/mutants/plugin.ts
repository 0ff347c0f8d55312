/** A plugin of vitest that leaves out the mechanism of the mutant that `HOB_MUTANT` names. Without it, none. */
import { join } from 'node:path';
import { editsOf, replaceOnce } from './mutant.ts';
import { tableOf } from './table.ts';

const ROOT: string = join(import.meta.dirname, '..', '..');

interface Plugin {
  readonly name: string;
  readonly enforce: 'pre';
  transform(code: string, id: string): string | undefined;
}

export async function mutated(): Promise<Plugin[]> {
  const name = process.env['HOB_MUTANT'];
  if (name === undefined || name === '') return [];
  const row = (await tableOf()).find((mutant) => mutant.name === name);
  if (row === undefined) throw new Error(`HOB_MUTANT=${name}: no row of test/mutants has this name`);
  const edits = Map.groupBy(editsOf(row), ({ file }) => join(ROOT, file));
  return [
    {
      name: 'hob-mutant',
      enforce: 'pre',
      transform: (code, id) =>
        edits.get(id.split('?', 1)[0] as string)?.reduce((text, edit) => replaceOnce(text, edit), code),
    },
  ];
}
