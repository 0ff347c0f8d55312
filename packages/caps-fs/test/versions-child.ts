/** `versions-child.ts FOLDER BACKEND [KEY]`: the version of the file `f`, and whether a write with the version in `v` is made. */
import fs from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';
import { code } from './scratch.ts';

const [folder = '', backend = 'proc', versionKey] = process.argv.slice(2);
const cap = await openFsCap(folder, {
  backend: backend as Backend,
  ...(versionKey === undefined ? {} : { versionKey }),
});
const { version } = await cap.stat('f');
const known = fs.existsSync(join(folder, 'v')) ? fs.readFileSync(join(folder, 'v'), 'utf8') : undefined;
const written = known === undefined ? 'none' : await code(cap.write('f', 'again', { version: known }));
await cap.close();
process.stdout.write(JSON.stringify({ version, written }));
