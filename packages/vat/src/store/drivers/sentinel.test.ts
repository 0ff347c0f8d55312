import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sentinelIn } from './sentinel.ts';

function place() {
  const above = mkdtempSync(join(tmpdir(), 'hob-sentinel-'));
  onTestFinished(() => rmSync(above, { recursive: true }));
  const folder = join(above, 'store');
  mkdirSync(folder);
  const directory = join(above, 'xdg', 'hob');
  return { above, folder, directory, file: join(directory, 'abc.sentinel'), open: () => sentinelIn(directory, folder) };
}

test('it says what was noted last, to the next process too', () => {
  const { file, open } = place();
  const one = open();
  expect(one.read('abc')).toBeUndefined();
  one.begin({ store: 'abc', commits: 0 });
  for (let commits = 1; commits <= 5; commits += 1) {
    one.note({ store: 'abc', commits });
    expect(one.read('abc')).toEqual({ store: 'abc', commits });
  }
  one.close();
  const two = open();
  expect(two.read('abc')).toEqual({ store: 'abc', commits: 5 });
  two.begin({ store: 'abc', commits: 5 });
  two.note({ store: 'abc', commits: 6 });
  expect(two.read('abc')).toEqual({ store: 'abc', commits: 6 });
  two.close();
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

test('it says the last line of the ledger, too, also where there is none yet', () => {
  const { open } = place();
  const one = open();
  for (const head of [
    { seq: 0, hash: '' },
    { seq: 12, hash: 'x'.repeat(43) },
  ]) {
    one.begin({ store: 'abc', commits: 3, head });
    expect(open().read('abc')).toMatchObject({ store: 'abc', commits: 3, head });
  }
  one.close();
});

test('it says where the store was opened last, without the path; a record of an earlier version says no place', () => {
  const { above, folder, directory, open } = place();
  const one = open();
  one.begin({ store: 'abc', commits: 3, head: { seq: 1, hash: 'h' } });
  one.close();
  expect(open().storeHere()).toMatchObject({ store: 'abc', commits: 3 });
  expect(readFileSync(join(directory, 'abc.sentinel'), 'latin1')).not.toContain(above);
  const other = join(above, 'other');
  mkdirSync(other);
  expect(sentinelIn(directory, other).storeHere()).toBeUndefined();
  const moved = sentinelIn(directory, other);
  moved.begin({ store: 'abc', commits: 4, head: { seq: 1, hash: 'h' } });
  moved.close();
  expect([open().storeHere(), sentinelIn(directory, other).storeHere()?.commits]).toEqual([undefined, 4]);
  const old = open();
  old.begin({ store: 'abd', commits: 5 });
  old.close();
  expect(open().storeHere()).toBeUndefined();
  expect(sentinelIn(join(above, 'none'), folder).storeHere()).toBeUndefined();
});

test('a write that a power cut tore, at any byte, leaves what was said before it', () => {
  const { file, open } = place();
  const one = open();
  one.begin({ store: 'abc', commits: 0 });
  one.note({ store: 'abc', commits: 7 });
  const before = readFileSync(file);
  one.note({ store: 'abc', commits: 12 });
  const after = readFileSync(file);
  one.close();
  for (let torn = 0; torn < after.length; torn += 1) {
    writeFileSync(file, Buffer.concat([after.subarray(0, torn), before.subarray(torn)]));
    const two = open();
    expect([7, 12], `torn at ${torn}`).toContain(two.read('abc')?.commits);
    two.close();
  }
});

test('stores share a folder, and none is told of another', () => {
  const { directory, open } = place();
  const [one, two] = [open(), open()];
  one.begin({ store: 'abc', commits: 3 });
  two.begin({ store: 'def', commits: 4 });
  one.note({ store: 'abc', commits: 5 });
  expect([one.read('abc'), two.read('def'), one.read('ghi')]).toEqual([
    { store: 'abc', commits: 5 },
    { store: 'def', commits: 4 },
    undefined,
  ]);
  writeFileSync(join(directory, 'ghi.sentinel'), readFileSync(join(directory, 'abc.sentinel')));
  expect(open().read('ghi')).toBeUndefined();
  one.close();
  two.close();
});

test('what is no sentinel says nothing; where none can be kept it is refused, and nothing of the host is said', () => {
  const { above, folder, directory, file, open } = place();
  mkdirSync(directory, { recursive: true });
  for (const junk of ['', 'x', '0'.repeat(512), `${'a b c '.repeat(90)}`]) {
    writeFileSync(file, junk);
    expect(open().read('abc'), junk).toBeUndefined();
  }
  writeFileSync(join(above, 'file'), '');
  for (const nowhere of ['/proc/nowhere/at/all', join(above, 'file'), join(above, 'file', 'x')]) {
    const one = sentinelIn(nowhere, folder);
    expect(one.read('a')).toBeUndefined();
    expect(() => one.begin({ store: 'a', commits: 0 })).toThrow(
      expect.objectContaining({ code: 'unavailable', message: expect.not.stringContaining(nowhere) }),
    );
  }
});

test('a folder inside the state, also by a link, is refused: it would be put back with it', () => {
  const { above, folder } = place();
  symlinkSync(folder, join(above, 'link'));
  for (const inside of [folder, join(folder, 'sentinel'), join(above, 'link', 'deep', 'er')])
    expect(() => sentinelIn(inside, folder).begin({ store: 'a', commits: 0 })).toThrow(
      expect.objectContaining({ code: 'invalid' }),
    );
  expect(readdirSync(folder).filter((name) => name.endsWith('.sentinel'))).toEqual([]);
});
