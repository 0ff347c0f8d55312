/** A search tells which files it could not look at, and whether there is more. And the tree of a directory. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';

test('a report says what was skipped and whether there is more, for texts and patterns, here and in a thread', async () => {
  for (const many of [0, 700]) {
    await using s = await scratch({ maxSearchMs: 600_000 });
    fs.writeFileSync(s.at('a'), 'needle\nneedle\n');
    fs.writeFileSync(s.at('b'), 'needle\n');
    fs.writeFileSync(s.at('binary'), Buffer.from('\0needle\n'));
    fs.writeFileSync(s.at('large'), 'needle\n'.padEnd(8 * 1024 * 1024 + 1));
    fs.writeFileSync(s.at('ignored'), 'needle\n');
    fs.writeFileSync(s.at('.gitignore'), 'ignored\n');
    fs.mkdirSync(s.at('z'));
    for (let i = 0; i < many; i++) fs.writeFileSync(s.at(`z/${i}`), 'x');
    const skipped = [
      { path: 'binary', reason: 'binary' },
      { path: 'large', reason: 'large' },
    ];
    for (const query of ['needle', { pattern: 'ne+dle' }]) {
      const all = await s.cap.searchReport(query);
      expect(all.hits).toEqual(await s.cap.search(query));
      expect([all.hits.length, all.truncated, all.skipped]).toEqual([3, false, skipped]);
      expect(await s.cap.searchReport(query, { limit: 3 })).toEqual(all);
      const two = await s.cap.searchReport(query, { limit: 2 });
      expect([two.hits.length, two.truncated]).toEqual([2, true]);
    }
  }
});

test('the tree of a directory shows each directory before what is in it, as deep and as much as asked for', async () => {
  for (const many of [0, 700]) {
    await using s = await scratch({ maxSearchMs: 600_000 });
    fs.mkdirSync(s.at('d/a/b'), { recursive: true });
    fs.writeFileSync(s.at('d/a/b/f'), '');
    fs.symlinkSync(s.outside('.'), s.at('d/out'));
    fs.mkdirSync(s.at('z'));
    for (let i = 0; i < many; i++) fs.writeFileSync(s.at(`z/${i}`), '');
    const whole = [
      { path: 'd/a', kind: 'dir' },
      { path: 'd/a/b', kind: 'dir' },
      { path: 'd/a/b/f', kind: 'file' },
      { path: 'd/out', kind: 'link' },
    ];
    expect(await s.cap.tree('d')).toEqual({ entries: whole, truncated: false });
    expect(await s.cap.tree('d', { depth: 1 })).toEqual({ entries: [whole[0], whole[3]], truncated: false });
    expect(await s.cap.tree('d', { limit: 2 })).toEqual({ entries: whole.slice(0, 2), truncated: true });
    expect((await s.cap.tree()).entries.length).toBe(6 + many);
    expect((await (await s.cap.except(['b'])).tree('d')).entries).toEqual([whole[0], whole[3]]);
    expect(await code(s.cap.tree('d/out'))).toBe('RESOLVED_OUTSIDE');
    expect(await code(s.cap.tree('d/a/b/f'))).toBe('NOT_A_DIRECTORY');
  }
});
