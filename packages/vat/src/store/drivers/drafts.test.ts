/** What killed processes left is removed, and nothing else. The processes are real. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { backup, openStore } from '../store.ts';
import { restoreStore } from './backup.ts';
import { draftOf, processMark, removeDrafts, removeLeft } from './drafts.ts';

const test = requires('linux');

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-drafts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A process that makes a draft of the file, says its name, and waits to be killed. */
async function drafting(file: string): Promise<{ readonly draft: string; kill(): Promise<void> }> {
  const module = JSON.stringify(new URL('./drafts.ts', import.meta.url).href);
  const text = `import { writeFileSync } from 'node:fs'; import { draftOf } from ${module};
    const draft = draftOf(${JSON.stringify(file)}); writeFileSync(draft, 'half'); console.log(draft); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] }); // biome-ignore format: one line
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  const draft = await new Promise<string>((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes).trim()))); // biome-ignore format: one line
  return { draft, kill };
}

test('a draft of a killed process goes; that of a process that lives, of another place, and every other file stay', async () => {
  const file = join(place(), 'copy.db');
  const [dead, lives] = [await drafting(file), await drafting(file)];
  await dead.kill();
  const [pid = '', start = '', where = ''] = processMark().split('-');
  const others = [
    `${file}.part`,
    `${file}.7.part`,
    `${file}.${pid}-${start}-00000000.part`, // the mark of another boot or container
    `${file}.1-1-00000000.part`,
    `${file}.${processMark()}.part.keep`,
    `${file}x.${dead.draft.slice(file.length + 1)}`,
    draftOf(file),
  ];
  for (const other of others) writeFileSync(other, 'mine');
  // The number of a process that ended is given to another one.
  const parent = `${file}.${process.ppid}-1-${where}.part`;
  writeFileSync(parent, 'half');
  expect(existsSync(dead.draft)).toBe(true);
  removeDrafts(file);
  expect([dead.draft, parent].filter((path) => existsSync(path))).toEqual([]);
  expect([lives.draft, ...others].filter((path) => !existsSync(path))).toEqual([]);
  await lives.kill();
  removeDrafts(file);
  expect(existsSync(lives.draft)).toBe(false);
});

test('a folder goes with all that is in it, and a link goes without what it leads to', async () => {
  const folder = place();
  const { draft, kill } = await drafting(join(folder, 'x'));
  await kill();
  const mark = draft.slice(join(folder, 'x.').length, -'.part'.length);
  mkdirSync(join(folder, `entry-${mark}-abcdef`));
  writeFileSync(join(folder, `entry-${mark}-abcdef`, 'secret'), 'secret');
  writeFileSync(join(folder, `entry-${mark}-abc`), 'other');
  removeLeft(folder, { before: 'entry-', after: '-[a-z]{6}' });
  expect(readdirSync(folder).sort()).toEqual([`entry-${mark}-abc`, draft.slice(folder.length + 1)].sort());
  removeLeft(join(folder, 'none'), { before: '', after: '' });
});

test('a killed backup and a killed restore hold up nobody, and leave nothing behind the next one', async () => {
  const folder = place();
  const store = await openStore({ path: join(folder, 'state') });
  const file = join(folder, 'copy.db');
  await (await drafting(file)).kill();
  await backup(store, file);
  await store.close();
  const target = join(folder, 'restored');
  mkdirSync(target);
  await (await drafting(join(target, 'store.db'))).kill();
  await restoreStore(file, { path: target });
  expect(readdirSync(target)).toEqual(['store.db']);
  expect(readdirSync(folder).sort()).toEqual(['copy.db', 'restored', 'state']);
});
