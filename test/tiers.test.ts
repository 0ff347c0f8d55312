/** Every test file has its run, and only the deep run needs the real Hermes and the SDKs of agent loops. */
import { readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { deepFiles, differInPlain, filesOf, ownProcess, sameInNative, sameInPlain, slowFiles, tiers } from './tiers.ts';

const everything = ['{packages,test,test-bisim,examples,bench}/**/*.test.ts'];
const files = Object.fromEntries(tiers.map((tier) => [tier, filesOf(tier, everything)]));
const inTier = (tier: string): readonly string[] => files[tier] ?? [];

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
  const all = filesOf(undefined, everything);
  const entries = [...deepFiles, ...slowFiles, ...ownProcess, ...differInPlain, ...sameInPlain, ...sameInNative];
  expect(entries.filter((entry) => !all.some((file) => matchesGlob(file, entry)))).toEqual([]);
});

test('npm test asks for no Hermes and no SDKs', () => {
  const asks = inTier('test').filter((file) =>
    /requires\([^)]*'(?:hermes|sdks|agentdojo|mcpServers|mcpCheckers|claude|codex|opencode|gemini)'|hermesPython\(/.test(
      readFileSync(file, 'utf8'),
    ),
  );
  expect(asks).toEqual([]);
});

test('a tier that nobody knows is an error', () => {
  expect(() => filesOf('slow', everything)).toThrow(`HOB_TIER is one of ${tiers.join(', ')}, not slow`);
});
