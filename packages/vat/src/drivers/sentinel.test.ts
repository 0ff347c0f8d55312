import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sentinelOf } from './sentinel.ts';

function place() {
  const above = mkdtempSync(join(tmpdir(), 'hob-sentinel-'));
  onTestFinished(() => rmSync(above, { recursive: true }));
  mkdirSync(join(above, 'store'));
  return { folder: join(above, 'store'), file: join(above, 'store.sentinel') };
}

test('it says what was noted last, to the next process too', () => {
  const { folder, file } = place();
  const one = sentinelOf(folder);
  expect(one.read()).toBeUndefined();
  expect(one.begin({ store: 'abc', commits: 0 })).toBe(true);
  for (let commits = 1; commits <= 5; commits += 1) {
    one.note({ store: 'abc', commits });
    expect(one.read()).toEqual({ store: 'abc', commits });
  }
  one.close();
  const two = sentinelOf(folder);
  expect(two.read()).toEqual({ store: 'abc', commits: 5 });
  two.note({ store: 'abc', commits: 6 });
  expect(two.read()).toEqual({ store: 'abc', commits: 6 });
  two.close();
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

test('a write that a power cut tore, at any byte, leaves what was said before it', () => {
  const { folder, file } = place();
  const one = sentinelOf(folder);
  one.begin({ store: 'abc', commits: 0 });
  one.note({ store: 'abc', commits: 7 });
  const before = readFileSync(file);
  one.note({ store: 'abc', commits: 12 });
  const after = readFileSync(file);
  one.close();
  for (let torn = 0; torn < after.length; torn += 1) {
    writeFileSync(file, Buffer.concat([after.subarray(0, torn), before.subarray(torn)]));
    const two = sentinelOf(folder);
    expect([7, 12], `torn at ${torn}`).toContain(two.read()?.commits);
    two.close();
  }
});

test('what is no sentinel says nothing; where none can be kept it says so', () => {
  const { folder, file } = place();
  for (const junk of ['', 'x', '0'.repeat(256), `${'a b c '.repeat(40)}`]) {
    writeFileSync(file, junk);
    const one = sentinelOf(folder);
    expect(one.read(), junk).toBeUndefined();
    one.close();
  }
  const nowhere = sentinelOf('/proc/nowhere/at/all');
  expect([nowhere.read(), nowhere.begin({ store: 'a', commits: 0 })]).toEqual([undefined, false]);
});
