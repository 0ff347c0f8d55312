/** Where a directory is, for the program that runs the host. The holder of the cap is the attacker: it finds no path. */
import fs from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { placeOf } from '@hob/vat/forwarder';
import { expect, test } from 'vitest';
import { scratch } from '../test/scratch.ts';
import { openFsCap } from './open.ts';

test('the host learns where a directory is, also of what was made from it, and where it was moved to', async () => {
  await using ground = await scratch();
  const folder = fs.realpathSync(ground.at('.'));
  fs.mkdirSync(path.join(folder, 'a', 'b'), { recursive: true });
  await using cap = await openFsCap(path.join(folder, 'a'));
  expect(placeOf(cap)).toEqual({ kind: 'directory', name: path.join(folder, 'a') });
  const sub = await cap.subdir('b');
  expect(placeOf(sub)).toEqual({ kind: 'directory', name: path.join(folder, 'a', 'b') });
  expect(placeOf(await sub.readOnly())).toEqual({
    kind: 'directory',
    name: path.join(folder, 'a', 'b'),
    readOnly: true,
  });
  fs.renameSync(path.join(folder, 'a'), path.join(folder, 'c'));
  expect(placeOf(sub)).toMatchObject({ name: path.join(folder, 'c', 'b') });
  await sub.close();
  expect(placeOf(sub)).toBeUndefined();
});

test('whoever holds the cap itself finds no path in it: not by any property, method or way to print it', async () => {
  await using ground = await scratch();
  const folder = fs.realpathSync(ground.at('..'));
  const { cap } = ground;
  const texts: string[] = [
    String(cap),
    JSON.stringify(cap),
    inspect(cap, { showHidden: true, depth: 5, customInspect: false }),
  ];
  for (
    let at: object | null = cap;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const key of Reflect.ownKeys(at)) {
      const value = Reflect.get(at, key, cap) as unknown;
      texts.push(inspect(value, { showHidden: true }));
      if (typeof value !== 'function' || key === 'close' || key === Symbol.asyncDispose) continue;
      for (const args of [[], ['x'], [{}], [undefined, undefined], [new AbortController().signal]])
        try {
          const answer: unknown = await Promise.race([
            Reflect.apply(value, cap, args),
            new Promise((resolve) => setImmediate(resolve)),
          ]);
          texts.push(inspect(answer, { showHidden: true, depth: 5 }));
        } catch (error) {
          texts.push(inspect((error as Error).message));
        }
    }
  expect(texts.length).toBeGreaterThan(60);
  expect(texts.filter((text) => text.includes(path.basename(folder)))).toEqual([]);
});
