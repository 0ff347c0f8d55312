/** Every test file has its run, and only the deep run needs the real Hermes and the SDKs of agent loops. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deepFiles, differInPlain, filesOf, ownProcess, slowFiles, tiers } from './tiers.ts';

const everything = ['{packages,test,test-bisim,examples,bench}/**/*.test.ts'];
const inTier = (tier: string): string[] => filesOf(tier, everything);

test('each test file is in the run of npm test or in the deep run, or in both', () => {
  const all = filesOf(undefined, everything);
  expect(all.length).toBeGreaterThan(200);
  expect([...new Set([...inTier('test'), ...inTier('deep')])].sort()).toEqual(all);
  // A check is a part of the tests.
  expect(inTier('check').filter((file) => !inTier('test').includes(file))).toEqual([]);
});

test('a file whose volume depends on the run is in the deep run, too', () => {
  const asks = inTier('test').filter((file) => /import .* from '.*\/depth\.ts'/.test(readFileSync(file, 'utf8')));
  expect(asks.length).toBeGreaterThan(5);
  expect(asks.filter((file) => !inTier('deep').includes(file))).toEqual([]);
});

test('each entry of the lists is a file that is there', () => {
  for (const entry of [...deepFiles, ...slowFiles, ...ownProcess, ...differInPlain])
    expect(filesOf(undefined, [entry]), entry).not.toEqual([]);
});

test('npm test asks for no Hermes and no SDKs', () => {
  const asks = inTier('test').filter((file) =>
    /requires\([^)]*'(?:hermes|sdks|mcpServers|claude|opencode|gemini)'|hermesPython\(/.test(
      readFileSync(file, 'utf8'),
    ),
  );
  expect(asks).toEqual([]);
});

test('a tier that nobody knows is an error', () => {
  expect(() => filesOf('slow', everything)).toThrow(`HOB_TIER is one of ${tiers.join(', ')}, not slow`);
});
