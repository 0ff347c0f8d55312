/**
 * `node child.ts SUBJECT FOLDER LIFE`: the process that gets killed. Tells on descriptor 3.
 *
 * Life 0 is no life: it opens and closes a store and ends by itself, so that its compiled code is kept
 * (`compiled.ts`).
 */
import { writeSync } from 'node:fs';
import { openStore } from '../src/index.ts';
import { sentinelOf } from './here.ts';
import type { Subject } from './subjects/subject.ts';

const [name = '', folder = '', life = ''] = process.argv.slice(2);

const { subject }: { subject: Subject } = await import(`./subjects/${name}.ts`);
if (life === '0') {
  await (await openStore({ path: folder, sentinel: sentinelOf(folder) })).close();
  await subject.check(folder, []);
} else {
  const tell = (word: string, which: number): void => void writeSync(3, `${word} ${which}\n`);
  tell('up', 0);
  await subject.work(folder, Number(life), tell);
}
