/**
 * `chdir-child.ts BACKEND`: opens `root` of where it is, goes to `outside` instead, and tells what it then
 * sees and makes.
 */
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';
import { code, text } from './scratch.ts';

const [backend] = process.argv.slice(2);
const cap = await openFsCap('root', { backend: backend as Backend });
const sub = await cap.subdir('dir');
process.chdir('outside');
await cap.write('made', 'made');
await sub.mkdir('deep/er', { recursive: true });
await cap.copy('secret', 'dir/copied');
await cap.remove('tree', { recursive: true });
const seen = {
  read: text(await cap.read('secret')),
  below: text(await sub.read('secret')),
  list: await cap.list(),
  glob: await cap.glob('**'),
  search: (await cap.search('side')).map((hit) => hit.text),
  // In a thread, which has a working directory of its process.
  pattern: (await cap.search({ pattern: 's.de' })).map((hit) => hit.text),
  there: await code(cap.read('only-outside')),
};
await cap.close();
process.stdout.write(JSON.stringify(seen));
