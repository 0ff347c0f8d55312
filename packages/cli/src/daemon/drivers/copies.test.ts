/** Copies of a served state: what is under the name of a backup is whole, whenever a process is killed. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { inherited } from '../../../../../test/mutants/environment.ts';
import { resolveHook } from '../../../test/hob.ts';
import { checkFree, copier, removeCopies, takeCopy } from './copies.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hob-copies-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  mkdirSync(join(path, 'granter'));
  return path;
}

test('a copy becomes the backup, for its owner only, and neither it nor a draft stays behind', async () => {
  const at = folder();
  const own = join(at, 'granter');
  const copy = copier(own, async (file) => writeFileSync(file, 'state', { mode: 0o600 }));
  takeCopy(own, await copy(), join(at, 'backup.db'));
  expect(readFileSync(join(at, 'backup.db'), 'utf8')).toBe('state');
  expect(statSync(join(at, 'backup.db')).mode & 0o777).toBe(0o600);
  expect([readdirSync(at).sort(), readdirSync(own)]).toEqual([['backup.db', 'granter'], []]);
});

test('a file of that name stays as it is, also one that appears meanwhile', async () => {
  const at = folder();
  const own = join(at, 'granter');
  const file = join(at, 'backup.db');
  const copy = copier(own, async (path) => writeFileSync(path, 'state'));
  const name = await copy();
  checkFree(file);
  writeFileSync(file, 'precious');
  expect(() => checkFree(file)).toThrow(/^a file of that name exists already/);
  expect(() => takeCopy(own, name, file)).toThrow(/^a file of that name exists already/);
  expect(readFileSync(file, 'utf8')).toBe('precious');
  expect([readdirSync(at).sort(), readdirSync(own)]).toEqual([['backup.db', 'granter'], []]);
});

test('at most one copy stays behind: the next one replaces it, two are not written at once, and a name is no path', async () => {
  const at = folder();
  const own = join(at, 'granter');
  let writing = 0;
  const copy = copier(own, async (path) => {
    writing += 1;
    expect(writing).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(path, 'state');
    writing -= 1;
  });
  const names = await Promise.all([copy(), copy(), copy()]);
  expect(new Set(names).size).toBe(3);
  expect(readdirSync(own)).toEqual([names[2]]);
  expect(() => takeCopy(own, names[0]!, join(at, 'backup.db'))).toThrow(/^another backup was begun meanwhile/);
  writeFileSync(join(own, 'socket'), '');
  removeCopies(own);
  expect(readdirSync(own)).toEqual(['socket']);
  expect(() => takeCopy(own, '../granter/socket', join(at, 'backup.db'))).toThrow(/^the host has named no copy/);
  expect(readdirSync(at)).toEqual(['granter']);
});

test('kill -9 while a copy is taken leaves no half file under the name of the backup', async () => {
  const at = folder();
  const own = join(at, 'granter');
  const file = join(at, 'backup.db');
  const bytes = 256 * 1024 * 1024;
  const program = join(at, 'take.mjs');
  writeFileSync(
    program,
    `import { takeCopy } from ${JSON.stringify(fileURLToPath(new URL('./copies.ts', import.meta.url)))};
console.log('begins');
takeCopy(${JSON.stringify(own)}, 'backup-1', ${JSON.stringify(file)});`,
  );
  for (let round = 0; round < 3; round += 1) {
    writeFileSync(join(own, 'backup-1'), '');
    truncateSync(join(own, 'backup-1'), bytes);
    const child = spawn(process.execPath, ['--import', resolveHook, program], {
      env: { PATH: process.env['PATH'] ?? '', ...inherited() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    // Killed as soon as anything of it is on the disk.
    const begun = (): boolean =>
      readdirSync(at).some((name) => name.startsWith('backup.db') && statSync(join(at, name)).size > 0);
    while (child.exitCode === null && !begun()) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGKILL');
    await ended;
    if (existsSync(file)) expect(statSync(file).size, `round ${round}`).toBe(bytes);
    for (const name of readdirSync(at)) if (name.startsWith('backup.db')) rmSync(join(at, name));
  }
});
