import fs from 'node:fs';
import { expect, test } from 'vitest';
import { scratch, temporaries } from '../../test/scratch.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { openFsCap } from '../index.ts';
import { openWith } from '../open.ts';

const hour = 3_600_000;

test('the leftover of a killed process is removed after an hour, by a listing, and only for a holder that may remove', async () => {
  await using s = await scratch();
  let ahead = 0;
  const cap = openWith({ ...chooseBackend(), now: () => Date.now() + ahead }, s.at('.'));
  fs.mkdirSync(s.at('d/.~caps-00000000000000dd/deep'), { recursive: true });
  fs.writeFileSync(s.at('d/.~caps-00000000000000dd/deep/f'), '');
  fs.writeFileSync(s.at('d/.~caps-0123456789abcdef'), 'left');
  // Somebody else's, or of another form.
  fs.writeFileSync(s.at('d/.~caps-of-somebody'), 'theirs');
  fs.utimesSync(s.at('d/.~caps-0123456789abcdef'), 1, 1);
  expect(await cap.list('d')).toEqual(['.~caps-of-somebody']);
  expect(temporaries(s.at('d')).length).toBe(3);
  ahead = hour + 120_000;
  for (const less of [await cap.readOnly(), await cap.only(['list', 'write'])]) await less.list('d');
  expect(temporaries(s.at('d')).length).toBe(3);
  expect(await cap.list('d')).toEqual(['.~caps-of-somebody']);
  expect(temporaries(s.at('d'))).toEqual(['.~caps-of-somebody']);
  await cap.close();
});

test('a draft that is being written is never swept, and neither is a young leftover when its root is opened', async () => {
  await using s = await scratch();
  let ahead = 0;
  const cap = openWith({ ...chooseBackend('proc'), now: () => Date.now() + ahead }, s.at('.'));
  const sink = await cap.openWrite('f');
  await sink.write(new Uint8Array([1]));
  ahead = hour;
  await cap.list();
  await sink.close();
  expect(await cap.list()).toEqual(['f']);
  await cap.close();
  // `openFsCap` uses the real clock, so this leftover is too young to be swept.
  fs.writeFileSync(s.at('.~caps-0123456789abcdef'), '');
  await (await openFsCap(s.at('.'))).close();
  expect(temporaries(s.at('.')).length).toBe(1);
});
