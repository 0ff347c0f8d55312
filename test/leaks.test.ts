/** The leak harness catches each kind, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runVitest } from './run-vitest.ts';

test('each kind of leftover fails its test and is named; a clean test passes', async () => {
  const source = readFileSync(new URL('fixtures/leaks.fixture.ts', import.meta.url), 'utf8');
  const names = [...source.matchAll(/^test\('(.*?)'/gm)].map((match) => match[1] ?? '');
  const clean = names.filter((name) => name.startsWith('clean'));
  const leaking = names.filter((name) => !name.startsWith('clean'));
  expect(leaking.length).toBeGreaterThan(9);

  const { passed, failed, failures, output } = await runVitest('leaks.fixture.ts', { HOB_LEAKS_SETTLE_MS: '500' });
  expect(
    Object.keys(failures).filter((name) => name.startsWith('clean')),
    output,
  ).toEqual([]);
  for (const name of leaking) expect(failures[name], name).toContain(`\n  ${name.split(' | ')[0]}`);
  expect({ passed, failed }, output).toEqual({ passed: clean.length, failed: leaking.length });
  // It is useful only with its place: the line in the test that made it.
  for (const name of ['timer of 60000 ms', 'timer | an immediate that is made anew in each round'])
    expect(failures[name]).toMatch(/made at .*leaks\.fixture\.ts:\d+/);
});
