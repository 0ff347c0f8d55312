/** A copy of a whole directory: there in one step, or not at all. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, openDescriptors, scratch, temporaries } from '../../test/scratch.ts';

const recursive = { recursive: true };

test('a recursive copy has the files, modes and inner links of its source, and what is hidden is left out', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d/a/b'), { recursive: true });
  fs.mkdirSync(s.at('d/empty'), { mode: 0o700 });
  fs.writeFileSync(s.at('d/a/run'), 'x'.repeat(300_000), { mode: 0o755 });
  fs.writeFileSync(s.at('d/a/b/nothing'), '');
  fs.writeFileSync(s.at('d/.env'), 'hidden');
  fs.symlinkSync('../run', s.at('d/a/b/l'));
  const cap = await s.cap.except(['.env']);
  await cap.copy('d', 'copy', recursive);
  expect(fs.readdirSync(s.at('copy'), { recursive: true }).sort()).toEqual(
    ['a', 'a/b', 'a/b/l', 'a/b/nothing', 'a/run', 'empty'].sort(),
  );
  expect(fs.readFileSync(s.at('copy/a/b/l'), 'utf8')).toBe('x'.repeat(300_000));
  expect([fs.statSync(s.at('copy/a/run')).mode & 0o777, fs.statSync(s.at('copy/empty')).mode & 0o777]).toEqual([
    0o755, 0o700,
  ]);
  expect(fs.statSync(s.at('copy')).mode).toBe(fs.statSync(s.at('d')).mode);
  // Into itself, and a single file as without the option.
  await cap.copy('d', 'd/a/again', recursive);
  expect(fs.readdirSync(s.at('d/a/again')).sort()).toEqual(['a', 'empty']);
  await cap.copy('d/a/run', 'file', recursive);
  expect(fs.statSync(s.at('file')).size).toBe(300_000);
});

test('a recursive copy that is refused leaves nothing: what exists, a link that leads out, a FIFO’s place, limits, rights', async () => {
  await using s = await scratch({ maxEntries: 20, maxDepth: 6 });
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  fs.writeFileSync(s.at('d/f'), 'content');
  fs.mkdirSync(s.at('there'));
  const before = openDescriptors();
  expect(await code(s.cap.copy('d', 'there', recursive))).toBe('EXISTS');
  expect(await code(s.cap.copy('d', 'none/x', recursive))).toBe('NOT_FOUND');
  expect(await code(s.cap.copy('d', 'x'))).toBe('IS_A_DIRECTORY');
  expect(await code((await s.cap.only(['copy'])).copy('d', 'x', recursive))).toBe('NOT_PERMITTED');
  expect(await code((await s.cap.withQuota({ bytes: 3 })).copy('d', 'x', recursive))).toBe('FS_LIMIT');
  for (const text of [s.outside('secret'), '../../outside', '../there']) {
    fs.symlinkSync(text, s.at('d/l'));
    expect([text, await code(s.cap.copy('d', 'x', recursive))]).toEqual([text, 'RESOLVED_OUTSIDE']);
    fs.unlinkSync(s.at('d/l'));
  }
  fs.mkdirSync(s.at('d/1/2/3/4/5/6'), { recursive: true });
  expect(await code(s.cap.copy('d', 'x', recursive))).toBe('FS_LIMIT');
  fs.rmSync(s.at('d/1'), { recursive: true });
  for (let i = 0; i < 30; i++) fs.writeFileSync(s.at(`d/e/${i}`), '');
  expect(await code(s.cap.copy('d', 'x', recursive))).toBe('FS_LIMIT');
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['d', 'there']);
  expect(temporaries(s.at('.'))).toEqual([]);
  expect(openDescriptors()).toBe(before);
});
