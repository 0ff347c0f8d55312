/**
 * `node child.ts SUBJECT FOLDER LIFE`: the process that gets killed. Tells on descriptor 3.
 *
 * Compiled code is kept: starting is most of what one kill costs.
 */
import { writeSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Subject } from './subjects/subject.ts';

const [name = '', folder = '', life = ''] = process.argv.slice(2);

enableCompileCache(join(import.meta.dirname, '..', '..', '..', '.toolchain', 'crash', 'compiled'));
const { subject }: { subject: Subject } = await import(`./subjects/${name}.ts`);
if (life === '1') flushCompileCache(); // it would be written at exit, and there is none

const tell = (word: string, which: number): void => void writeSync(3, `${word} ${which}\n`);
tell('up', 0);
await subject.work(folder, Number(life), tell);
