/**
 * Runs in a mount namespace in which `mounted/d` and `mounted/f` are bind mounts of what is outside the root.
 */
import fs from 'node:fs';
import path from 'node:path';
import { openFsCap } from '../src/index.ts';
import { code } from './scratch.ts';

const root = process.argv[2] ?? '';
const cap = await openFsCap(root);
const asked: Record<string, Promise<unknown>> = {
  list: cap.list('mounted/d'),
  read: cap.read('mounted/d/secret'),
  missing: cap.read('mounted/d/none'),
  file: cap.read('mounted/f'),
  appendFile: cap.append('mounted/f', 'x'),
  append: cap.append('mounted/d/secret', 'x'),
  write: cap.write('mounted/d/secret', 'x'),
  mkdir: cap.mkdir('mounted/d/new'),
  mkdirs: cap.mkdir('mounted/d/new', { recursive: true }),
  remove: cap.remove('mounted/d/secret'),
  removeAll: cap.remove('mounted/d', { recursive: true }),
  rename: cap.rename('mounted/d/secret', 'stolen'),
  stat: cap.stat('mounted/d'),
  statWithin: cap.stat('mounted/d/secret'),
  statMissing: cap.stat('mounted/d/none'),
  statBelowMissing: cap.stat('mounted/d/none/more'),
  subdir: cap.subdir('mounted/d'),
};
// All are asked at once: none may count as unheard while another is waited for.
for (const answer of Object.values(asked)) answer.catch(() => {});
const refused: string[][] = [];
for (const [what, answer] of Object.entries(asked)) refused.push([what, await code(answer)]);
const seen = (await cap.entries('mounted')).map(({ name, kind }) => [name, kind]);
const left = fs.readdirSync(path.join(root, 'mounted/d'));
await cap.close();
console.log(JSON.stringify({ refused, seen, left }));
