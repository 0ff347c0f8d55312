/**
 * Writes a first manifest.
 *
 * Promise: no file is overwritten. The manifest lies outside of its root, the root is no folder of the host, and what
 * is written is checked like every manifest, so `hob check` has nothing to say about it.
 */
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkRoot } from '@hob/host/programs';
import { check, jsonSchema, lineOf, type Start, starterText } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';
import { surroundings } from './layers.ts';
import { textAt, writeNewFile } from './new-file.ts';
import { ownCode } from './own-code.ts';
import { absolute, fromHome } from './places.ts';

/** The schema lies beside the manifest, so an editor finds it without a network. */
const SCHEMA = 'hob.schema.json';

/** Errors: `Mistake` (something has this name). */
export function checkFree(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
    throw new Mistake(`${file} is there already, and stays as it is: name another file, or remove it first`);
}

/** The real path of the folder that a person named. `own` are the manifest and the state. Errors: `Mistake`. */
export function rootAt(text: string, own: readonly string[]): string {
  const path = absolute(fromHome(text));
  try {
    return checkRoot(path, [...own, ...ownCode()]);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    throw new Mistake(
      code === 'E_ROOT_CONTAINS_HOST_STATE'
        ? `${path} is, contains or lies inside the manifest, the state or the code of hob, or has a link on the way to them: name another folder (--root), or another place for the manifest`
        : `there is no folder ${path} that may be read: make it, or name another (--root)`,
    );
  }
}

/** Writes the manifest, and the schema for editors. Returns the path of the schema. Errors: `Mistake`. */
export function writeStart(file: string, start: Start): { readonly schema: string; readonly isOld: boolean } {
  const text = starterText(start, `./${SCHEMA}`);
  const layer = { layer: 'user' as const, file, folder: dirname(file), text };
  const { mistakes } = check([layer], surroundings());
  if (mistakes.length > 0) throw new Mistake(`no manifest can be written with these answers:\n${mistakes.map(lineOf).join('\n')}`); // biome-ignore format: one line
  writeNewFile(file, text);
  const schema = join(dirname(file), SCHEMA);
  const wanted = `${JSON.stringify(jsonSchema(), undefined, 2)}\n`;
  const there = textAt(schema);
  if (there === undefined) writeNewFile(schema, wanted);
  return { schema, isOld: there !== undefined && there !== wanted };
}
