/**
 * Plays one reading of a file, or one sequence of approvals, in a process where HOB_MUTANT leaves something out; says which classes come
 * of it.
 */
import '../bench/lockdown.ts';
import { join } from 'node:path';
import { openApprovals } from './approvals.ts';
import { playFiles } from './files.ts';
import { openWorlds } from './play.ts';
import { scratch } from './scratch.ts';
import { openShim } from './shim.ts';

const VERSION = '0.19.0';
const [python = '', what = '', given = ''] = process.argv.slice(2);
const classes = what === 'file' ? [await readFile(given)] : await ask();
process.stdout.write(`${classes.join(' ')}\n`);

async function readFile(path: string): Promise<string> {
  const worlds = await openWorlds(python, VERSION);
  const played = await playFiles(worlds.fileWorlds, [{ op: 'read', path }]);
  await worlds.close();
  return played.class;
}

async function ask(): Promise<readonly string[]> {
  const { path: folder, remove } = scratch('approvals');
  const shim = openShim(VERSION, join(folder, 'hermes'));
  const worlds = await openApprovals(shim, join(folder, 'host'));
  const judged = await worlds.play(JSON.parse(given));
  await worlds.close();
  await shim.close();
  remove();
  return judged.map((each) => each.class);
}
