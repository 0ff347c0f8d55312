/**
 * Leaves one mechanism out of the Node process that imports this file: the mutant that `HOB_MUTANT` names.
 *
 * `NODE_OPTIONS=--import=FILE` brings it into a test's child processes and their worker threads (`environmentOf` in
 * `environment.ts`). Modules get the replaced text from the loader. A program that reads our sources as text, as the
 * guests' bundler does, gets it from `fs.readFileSync`. It does nothing without `HOB_MUTANT`, and in Node older than
 * 24, which runs only npm and the set-up.
 */
import fs from 'node:fs';
import * as module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const name = process.env.HOB_MUTANT;
if (name && module.stripTypeScriptTypes !== undefined) await leaveOut(name);

async function leaveOut(mutant) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const [{ editsOf, replaceOnce }, { tableOf }] = await Promise.all([import('./mutant.ts'), import('./table.ts')]);
  const row = (await tableOf()).find((each) => each.name === mutant);
  if (row === undefined) throw new Error(`HOB_MUTANT=${mutant}: no row of test/mutants has this name`);

  /** The edits of each file, by its path. */
  const edits = Map.groupBy(editsOf(row), ({ file }) => resolve(root, file));
  const replaced = (path, text) => edits.get(path)?.reduce((so, edit) => replaceOnce(so, edit), text);
  const read = fs.readFileSync;
  const texts = new Map([...edits.keys()].map((path) => [path, replaced(path, read(path, 'utf8'))]));
  const urls = new Map([...texts].map(([path, text]) => [pathToFileURL(path).href, text]));

  module.registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const text = urls.get(url);
      return text === undefined ? loaded : { ...loaded, source: text };
    },
  });
  fs.readFileSync = (file, ...options) => {
    const path = file instanceof URL ? fileURLToPath(file) : file;
    const text = typeof path === 'string' ? texts.get(resolve(path)) : undefined;
    if (text === undefined) return read(file, ...options);
    return options.length === 0 || options[0] === null ? Buffer.from(text) : text;
  };
  module.syncBuiltinESMExports();
}
