/** The example of `@hob/store-postgres`, as two machines that share a database. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../test/needs.ts';
import { openCluster } from '../test/postgres-cluster.ts';

requires('postgres')('a host goes on from another machine, and says in one line why it does not', async () => {
  const cluster = await openCluster();
  onTestFinished(() => cluster.remove());
  const folder = mkdtempSync(join(tmpdir(), 'hob-example-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run = async (url: string, machine: string): Promise<string> => {
    const program = join(import.meta.dirname, 'postgres-host.ts');
    const args = [program, url, join(folder, machine)];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args).catch((error) => error);
    return `${stdout}${stderr}`;
  };
  expect(await run(cluster.url, 'one')).toBe('a new session has a bell for three rings\nbell: 3 left\n');
  expect(await run(cluster.url, 'two')).toBe('the session goes on\nbell: 3 left\n');
  expect(await run('postgres://nobody@127.0.0.1:1/hob', 'three')).toBe(
    'the database server does not answer: check that it runs and can be reached\n',
  );
});
