/**
 * `node child.ts SUBJECT PLACE LIFE`: the process that gets killed. Tells on descriptor 3.
 *
 * Life 0 is no life: it opens and closes a store and ends by itself, so that its compiled code is kept
 * (`compiled.ts`).
 */
import { writeSync } from 'node:fs';
import { openAt, type Place } from './here.ts';
import type { Subject } from './subjects/subject.ts';

const [name = '', text = '', life = ''] = process.argv.slice(2);
const place: Place = JSON.parse(text);

const { subject }: { subject: Subject } = await import(`./subjects/${name}.ts`);
if (life === '0') {
  await (await openAt(place)).close();
  await subject.check(place, []);
} else {
  const tell = (word: string, which: number): void => void writeSync(3, `${word} ${which}\n`);
  tell('up', 0);
  await subject.work(place, Number(life), tell);
}
