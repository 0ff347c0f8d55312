/** Hostile manifests: each is refused with its file, the line of the mistake, and what to write. */
import { expect, test } from 'vitest';
import { HOSTILE } from '../test/hostile.ts';
import { check, lineOf } from './index.ts';

test('there are 200 of them', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(200);
  expect(new Set(HOSTILE.map(({ text }) => text)).size).toBe(HOSTILE.length);
});

test.for(HOSTILE.map((one) => [one.name, one] as const))('%s is refused with file, line and remedy', ([, one]) => {
  const { text, line, says } = one;
  const { plan, mistakes } = check([{ layer: 'project', file: 'hob.yaml', text }], { now: Date.parse('2026-11-23') });
  expect(plan).toBeUndefined();
  const count = text.split(/\r\n|\r|\n/).length;
  for (const mistake of mistakes) {
    expect(mistake.file).toBe('hob.yaml');
    expect(mistake.line).toBeLessThanOrEqual(count);
    expect(mistake.column).toBeGreaterThan(0);
    for (const part of [mistake.wrong, mistake.write]) expect(part).toMatch(/\w/);
    expect(lineOf(mistake)).toMatch(/^hob\.yaml:\d+:\d+: [\P{C}]*$/u);
    expect(lineOf(mistake).length).toBeLessThan(1000);
  }
  expect(mistakes.length).toBeLessThanOrEqual(50);
  expect(
    mistakes
      .filter((mistake) => mistake.line === line)
      .map(lineOf)
      .join('\n'),
  ).toContain(says);
});
