/** The threat model, row by row, over each resolver: `test/escapes/rows`. */
import { expect, test } from 'vitest';
import { missing } from '../../../test/probes.ts';
import { backends, lacks } from '../test/backends.ts';
import { judge, plays } from '../test/escapes/judge.ts';
import { operationNames } from '../test/escapes/operations.ts';
import { rows } from '../test/escapes/rows/index.ts';

for (const backend of backends) {
  const lacking = await lacks(backend);
  if (lacking !== undefined) {
    test(`${backend}: the table of escapes`, (context) => context.skip(lacking));
    continue;
  }
  for (const row of rows.filter((row) => plays(row))) {
    test(`${backend}: ${row.name}`, async (context) => {
      const reason = Object.values(row.plants).includes('fifo') ? missing('mkfifo') : undefined;
      if (reason !== undefined) context.skip(reason);
      const { faults, cells } = await judge(row, backend);
      expect(faults).toEqual([]);
      expect(cells).toBe(operationNames.length);
    });
  }
}

test('the table has at least 150 rows, each with a name of its own', () => {
  expect(rows.length).toBeGreaterThanOrEqual(150);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});
