/** `strangers-child.ts FOLDER BACKEND`: an ordinary user beside files and directories of somebody else's. */
import fs from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';
import { code } from './scratch.ts';

const [folder = '', backend = 'proc'] = process.argv.slice(2);
const all = (...names: string[]): string[] =>
  fs.readdirSync(join(folder, ...names), { recursive: true, encoding: 'utf8' }).sort();

const cap = await openFsCap(folder, { backend: backend as Backend });
const said: Record<string, unknown> = {
  locked: await code(cap.remove('locked', { recursive: true })),
  lockedLeft: all('locked'),
  sticky: await code(cap.remove('in-sticky', { recursive: true })),
  stickyLeft: all('in-sticky'),
  unreadable: await code(cap.remove('unreadable', { recursive: true })),
  unreadableLeft: fs.existsSync(join(folder, 'unreadable', 'a')),
  emptyOfTheirs: await code(cap.remove('empty', { recursive: true })),
  renamed: await code(cap.rename('theirs', 'moved')),
  renamedLink: await code(cap.rename('their-link', 'moved-link')),
  over: await code(cap.rename('moved', 'own')),
  own: fs.readFileSync(join(folder, 'own'), 'utf8'),
  outOfSticky: await code(cap.rename('sticky/theirs', 'taken')),
  withinSticky: await code(cap.rename('sticky/theirs', 'sticky/again')),
  intoSticky: await code(cap.rename('open', 'sticky/open')),
  outOfLocked: await code(cap.rename('locked/sub/theirs', 'taken')),
};
await cap.close();
process.stdout.write(JSON.stringify(said));
