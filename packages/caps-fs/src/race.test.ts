import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { code, openDescriptors, SECRET, scratch, text } from '../test/scratch.ts';

const SECONDS = volume(0.5, 1.5);
/** A busy machine gets longer, until the attack has met both outcomes. */
const MOST_SECONDS = 20;

test('no swap of a directory or file with a link leads any operation outside', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('dir'));
  fs.writeFileSync(s.at('dir/secret'), 'inside');
  fs.writeFileSync(s.at('file'), 'inside');
  fs.symlinkSync(s.outside('.'), s.at('dirlink'));
  fs.symlinkSync(s.outside('secret'), s.at('filelink'));
  fs.symlinkSync('dir', s.at('via'));
  const before = openDescriptors();

  const attacker = fork(new URL('../test/swapper.ts', import.meta.url), [s.at('.')], { execArgv: [] });
  await once(attacker, 'message');
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const seen = new Set<string>();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const met = () => outcomes.has('inside') && outcomes.has('! RESOLVED_OUTSIDE');
  let attempts = 0;
  for (; seconds() < SECONDS || (!met() && seconds() < MOST_SECONDS); attempts++) {
    for (const path of ['dir/secret', 'file', 'via/secret']) {
      const got = await s.cap.read(path).then(text, (error: { code: string }) => `! ${error.code}`);
      seen.add(got);
      count(got);
    }
    const names = await s.cap.list('dir').catch(() => []);
    // Outside there is no `mine`; inside there is one from the first write on.
    seen.add(names.join());
    count(await code(s.cap.write('dir/mine', 'inside')));
    count(await code(s.cap.append('dir/appended', 'x')));
    if (attempts % 8 === 0) {
      const sub = await s.cap.subdir('via').catch(() => undefined);
      if (sub) seen.add(await sub.readText('secret').catch(() => ''));
      await sub?.close();
      // Through the link: by its own name it would be made anew in the gap, in the attacker's way.
      count(await code(s.cap.mkdir('via/a/b', { recursive: true })));
      count(await code(s.cap.remove('dir/a', { recursive: true })));
      count(await code(s.cap.copy('file', 'dir/copied')));
      count(await code(s.cap.remove('dir/copied')));
    }
  }
  attacker.send('stop');
  const [{ swaps }] = (await once(attacker, 'message')) as [{ swaps: number }];
  await once(attacker, 'exit');

  expect([...seen].filter((got) => got.includes(SECRET))).toEqual([]);
  expect(fs.readdirSync(s.outside('.'))).toEqual(['secret']);
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
  // The attack was one: both outcomes were met, and nothing but the closed set came out.
  expect(swaps).toBeGreaterThan(50);
  expect(outcomes.get('inside')).toBeGreaterThan(0);
  expect(outcomes.get('! RESOLVED_OUTSIDE') ?? 0).toBeGreaterThan(0);
  expect(outcomes.has('IO')).toBe(false);
  expect(openDescriptors()).toBe(before);
  if (process.env['HOB_TELL']) console.log({ swaps, attempts, outcomes });
});
