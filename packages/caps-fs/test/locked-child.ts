/**
 * `locked-child.ts FOLDER BACKEND`: trees whose directories forbid everything to everybody, and what a cap
 * can do with them.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';
import { code } from './scratch.ts';

const [folder = '', backend = 'proc'] = process.argv.slice(2);
const at = (...names: string[]): string => join(folder, ...names);
const modeOf = (path: string): string => (fs.lstatSync(path).mode & 0o7777).toString(8);

/** `a/b/c` with a file in each, locked from within. A link leads to a directory beside it. */
function plant(name: string): void {
  fs.mkdirSync(at(name, 'a', 'b', 'c'), { recursive: true });
  for (const path of ['a', 'a/b', 'a/b/c']) fs.writeFileSync(at(name, path, 'f'), '', { mode: 0 });
  fs.symlinkSync(at('beside'), at(name, 'a', 'link'));
  for (const path of ['a/b/c', 'a/b', 'a', '']) fs.chmodSync(at(name, path), path === 'a/b' ? 0o444 : 0);
}
fs.mkdirSync(at('beside'), { mode: 0o500 });
plant('tree');
plant('kept');
fs.mkdirSync(at('empty'), { mode: 0 });
fs.mkdirSync(at('full', 'in'), { recursive: true });
fs.chmodSync(at('full'), 0);

const cap = await openFsCap(folder, { backend: backend as Backend });
const said: Record<string, unknown> = {
  read: await code(cap.read('tree/a/f')),
  list: await code(cap.list('tree')),
  // Refused for what lies deep in it: then nothing has changed.
  excepted: await code((await cap.except(['c'])).remove('kept', { recursive: true })),
  keptMode: modeOf(at('kept')),
  readOnly: await code((await cap.readOnly()).remove('kept', { recursive: true })),
  full: await code(cap.remove('full')),
  fullMode: modeOf(at('full')),
  empty: await code(cap.remove('empty')),
  tree: await code(cap.remove('tree', { recursive: true })),
  kept: await code(cap.remove('kept', { recursive: true })),
  fullThen: await code(cap.remove('full', { recursive: true })),
  beside: modeOf(at('beside')),
  left: fs.readdirSync(folder),
};
await cap.close();
process.stdout.write(JSON.stringify(said));
