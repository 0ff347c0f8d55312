/** Skips have a reason, and a machine that is supposed to have something fails without it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fail, missing, NEEDS, needs, required } from './needs.ts';
import { runVitest } from './run-vitest.ts';
import { blank, filesIn, isTest, read } from './sources.ts';

const lacking = needs('root') ? 'nonroot' : 'root';
const here = needs('root') ? 'root' : 'nonroot';

test('this machine has what HOB_REQUIRE says it has', () => {
  for (const need of required()) if (!needs(need)) fail(need);
});

test('every need is either there or has a reason', () => {
  for (const need of NEEDS) expect(missing(need) ?? 'needs nothing').toMatch(/^needs /);
  expect(missing('root') === undefined).not.toBe(missing('nonroot') === undefined);
});

test('HOB_REQUIRE is a list of known names', () => {
  expect(required('')).toEqual([]);
  expect(required('cc, root,')).toEqual(['cc', 'root']);
  expect(() => required('cc,gold')).toThrow(/gold/);
});

test('a hook that sets up what tests need runs only where they run', () => {
  // vitest runs the hooks of a file whose tests all skip themselves, and a hook that fails fails the file.
  const bare = filesIn()
    .filter((file) => isTest(file) && /\bconst \w+ = requires\(/.test(read(file).text))
    .filter((file) => /(?<!\.)\b(?:before|after)All\(/.test(blank(read(file).text)))
    .filter((file) => !file.startsWith('test/needs.'));
  expect(bare).toEqual([]);
});

test('with no program in PATH the tests that need some are skipped with their reasons, and none fails', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'hob-no-programs-'));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const files = ['packages/vat/src/captp/python.test.ts', 'packages/caps-shell/src/confined.test.ts'];
  const { failed, skips, output } = await runVitest(files, { PATH: empty, HOB_TIER: '' });
  expect(failed, output).toBe(0);
  expect([...new Set(skips.map(({ reason }) => reason))].sort()).toEqual([
    'needs Python >= 3.11 (python3)',
    'needs a C compiler that links statically (cc, libc6-dev)',
  ]);
  expect(skips.length).toBeGreaterThan(30);
});

test('a missing need skips the test and gives the reason', async () => {
  const { code, passed, failed, skips, output } = await runVitest('needs.fixture.ts');
  expect({ code, passed, failed }, output).toEqual({ code: 0, passed: 1, failed: 0 });
  expect(skips).toEqual([expect.objectContaining({ name: 'lacking', reason: missing(lacking) })]);
});

test('a missing need that HOB_REQUIRE names fails the test', async () => {
  const { code, passed, failures, skips } = await runVitest('needs.fixture.ts', { HOB_REQUIRE: `${here},${lacking}` });
  expect({ code, passed, skips }).toEqual({ code: 1, passed: 1, skips: [] });
  expect(failures['lacking']).toContain(`HOB_REQUIRE names ${lacking}`);
});

test('a skip without a reason counts as a failure', async () => {
  const { failed, skips, output } = await runVitest('skips.fixture.ts');
  expect({ failed, skips: skips.map((skip) => skip.reason) }).toEqual({ failed: 1, skips: ['the moon is full'] });
  expect(output).toContain('skips.fixture.ts > without a reason');
});
