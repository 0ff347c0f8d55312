/**
 * `node test/golden/make-postgres.ts`: writes the golden store of this version of the tables in PostgreSQL. Run it once,
 * before a release. It never overwrites a golden store.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresStore } from '../../packages/store-postgres/src/index.ts';
import { STEPS } from '../../packages/store-postgres/src/schema.ts';
import { writeGolden } from '../../packages/vat/golden/write.ts';
import { openCluster } from '../postgres-cluster.ts';
import { FOLDER } from './postgres.ts';

const file = join(FOLDER, `store-v${STEPS.length}.sql`);
if (existsSync(file)) throw new Error(`${file} is there already, and a golden store is never overwritten`);

const cluster = await openCluster();
try {
  await writeGolden(await postgresStore({ url: cluster.url }));
  // As a backup is made: see the package's README.
  const args = ['-h', cluster.socket, '-U', 'hob', '-n', 'hob', '--inserts', '-T', '*.reserve', 'postgres'];
  const dump = execFileSync('pg_dump', args, { encoding: 'utf8' });
  // For `psql` alone, and other ones each time.
  const plain = dump.split('\n').filter((line) => !/^\\(?:un)?restrict /.test(line));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, plain.join('\n'));
} finally {
  await cluster.remove();
}
