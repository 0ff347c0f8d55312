/** The parts of the bench `durable` that have a process of their own, with a small store. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const child = (...args: string[]): number => {
  const program = join(import.meta.dirname, 'durable-child.ts');
  return Number(execFileSync(process.execPath, [...process.execArgv, program, ...args], { encoding: 'utf8' }));
};

test('a sweep is measured, however quick the sweep after the first turn is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(child('make', folder, '10000')).toBe(10_000);
  expect(child('sweep', folder)).toBeGreaterThan(0);
  expect(child('sweep', folder)).toBeGreaterThan(0);
});
