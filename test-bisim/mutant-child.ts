/** Plays one reading of a file, in a process where HOB_MUTANT leaves something out of the directory cap; says which class it is. */
import '../bench/lockdown.ts';
import { playFiles } from './files.ts';
import { openWorlds } from './play.ts';

const [python = '', path = ''] = process.argv.slice(2);
const worlds = await openWorlds(python, '0.19.0');
const played = await playFiles(worlds.fileWorlds, [{ op: 'read', path }]);
await worlds.close();
process.stdout.write(`${played.class}\n`);
