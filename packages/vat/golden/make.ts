/**
 * `node packages/vat/golden/make.ts`: writes the golden store of this version beside this file, once, before a release.
 * `node test/golden/make-postgres.ts` does so for PostgreSQL.
 *
 * `golden.test.ts` looks for everything in it. A store that is here is never written again: it stands for those that are out there.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../src/index.ts';
import { writeGolden } from './write.ts';

const VERSION = 4; // of `store/sqlite.ts`
const folder = join(import.meta.dirname, `store-v${VERSION}`);
if (existsSync(folder)) throw new Error(`${folder} is there already: it is never written again`);

await writeGolden(await openStore({ path: folder }));
rmSync(join(folder, 'reserve'), { force: true }); // made again at each opening
