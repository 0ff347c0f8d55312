/** The only file that uses SQLite. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from './sqlite.ts';

test('a copy is taken however much is written meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-sqlite-'));
  const sqlite = openSqlite(folder, {
    version: 1,
    oldest: 1,
    sql: 'CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)',
    upgrades: {},
  });
  onTestFinished(() => {
    sqlite.close();
    rmSync(folder, { recursive: true });
  });
  let over = false;
  let writes = 0;
  const writing = (async () => {
    while (!over) {
      sqlite.transaction(() => sqlite.run('INSERT INTO t (v) VALUES (?)', 'x'.repeat(200)));
      writes += 1;
      await new Promise((resolve) => setTimeout(resolve, writes % 2));
    }
  })();
  for (let n = 0; n < 150; n += 1) {
    const file = join(folder, `copy-${n}`);
    await sqlite.copyTo(file);
    expect(statSync(file).size).toBeGreaterThan(4096);
  }
  over = true;
  await writing;
  expect(writes).toBeGreaterThan(10);
});
