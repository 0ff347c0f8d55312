/**
 * The threat model, row by row: `test/escapes/rows`. `npm test` plays each row over one resolver, with every third
 * operation; the deep run plays each over each, with all of them.
 */
import { expect, test } from 'vitest';
import { deep } from '../../../test/depth.ts';
import { missing } from '../../../test/probes.ts';
import { backends, lacks } from '../test/backends.ts';
import { judge, plays } from '../test/escapes/judge.ts';
import { operationNames } from '../test/escapes/operations.ts';
import { rows } from '../test/escapes/rows/index.ts';

const lacking = new Map(await Promise.all(backends.map(async (backend) => [backend, await lacks(backend)] as const)));
for (const [backend, reason] of lacking)
  if (reason !== undefined) test(`${backend}: the table of escapes`, (context) => context.skip(reason));

const there = backends.filter((backend) => lacking.get(backend) === undefined);
for (const [turn, backend] of there.entries()) {
  const inThisRun = rows.filter((row, n) => plays(row) && (deep || n % there.length === turn));
  for (const [at, row] of inThisRun.entries()) {
    const some = operationNames.filter((_, n) => deep || n % 3 === at % 3);
    test(`${backend}: ${row.name}`, async (context) => {
      const reason = Object.values(row.plants).includes('fifo') ? missing('mkfifo') : undefined;
      if (reason !== undefined) context.skip(reason);
      const { faults, cells } = await judge(row, backend, some);
      expect(faults).toEqual([]);
      expect(cells).toBe(some.length);
    });
  }
}

test('the table has at least 150 rows, each with a name of its own', () => {
  expect(rows.length).toBeGreaterThanOrEqual(150);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});
