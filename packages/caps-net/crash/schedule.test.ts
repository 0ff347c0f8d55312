/** kill -9 at any moment: no run happens twice, and each is counted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../../test/sources.ts';

const KILLS = 10;

test(`over ${KILLS} kills no run begins twice, and the schedule goes on`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-schedule-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const runs = (): string[] => {
    try {
      return readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  const start = String(Date.now());
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = runs().length;
    const child = spawn(process.execPath, [join(ROOT, 'packages/caps-net/crash/schedule-child.ts'), folder, start], { stdio: ['ignore', 'pipe', 'inherit'] }); // biome-ignore format: one line
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await expect.poll(() => runs().length, { timeout: 200_000, interval: 20 }).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, (kill * 17) % 150));
    child.kill('SIGKILL');
    await exited;
  }
  const numbers = runs().map((line) => Number(line.split(' ')[0]));
  const dues = runs().map((line) => line.split(' ')[1]);
  expect(numbers.length).toBeGreaterThanOrEqual(KILLS);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(new Set(dues).size).toBe(dues.length);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
}, 600_000);
