/** The simulated disk itself: it keeps what was synced, and nothing for certain that was not. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { openStore } from '../src/index.ts';
import { chanceFrom } from './crash.ts';
import { cut, type Disk, environmentOf, SECTOR, seal } from './powercut.ts';
import { buildShim } from './shim.ts';

const onPowerCut = requires('linux', 'cc');

function newDisk(): Disk {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'hob-powercut-')));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const disk = { folder: join(place, 'disk'), shadow: join(place, 'shadow') };
  mkdirSync(disk.folder);
  seal(disk);
  return disk;
}

/** Runs a program in the disk's folder, which has these words. */
function run(disk: Disk, program: string): void {
  const words = `
    import * as fs from 'node:fs';
    const put = (name, text) => fs.writeFileSync(name, text);
    const sync = (name) => { const fd = fs.openSync(name, 'r'); fs.fsyncSync(fd); fs.closeSync(fd); };
    const save = (name, text) => { put(name, text); sync(name); };`;
  execFileSync(process.execPath, ['--input-type=module', '-e', words + program], {
    cwd: disk.folder,
    env: { ...process.env, ...environmentOf(disk, buildShim('powercut')) },
  });
}

const text = (disk: Disk, name: string): string => readFileSync(join(disk.folder, name), 'utf8');
const names = (disk: Disk, folder = '.'): string[] => readdirSync(join(disk.folder, folder)).sort();
const noChance = (): number => expect.fail('nothing is left to chance here');

onPowerCut('what was not synced is gone: bytes of a file, names of a folder', () => {
  const disk = newDisk();
  run(
    disk,
    `save('overwritten', 'old'); save('grown', 'old'); save('cut off', 'old'); save('renamed', 'old'); save('removed', 'old');
     put('never synced', 'new'); fs.mkdirSync('folder'); sync('.');
     put('overwritten', 'new'); fs.appendFileSync('grown', 'new'); fs.truncateSync('cut off', 1);
     fs.renameSync('renamed', 'to this'); fs.unlinkSync('removed');
     save('nameless', 'new'); save('folder/nameless', 'new');`,
  );
  cut(disk, 'synced', noChance);
  expect(names(disk)).toEqual(['cut off', 'folder', 'grown', 'never synced', 'overwritten', 'removed', 'renamed']);
  for (const name of ['overwritten', 'grown', 'cut off', 'renamed', 'removed'])
    expect(text(disk, name), name).toBe('old');
  expect(text(disk, 'never synced')).toBe('');
  expect(names(disk, 'folder')).toEqual([]);
});

onPowerCut('what was synced is there: fsync and fdatasync, through any descriptor, after renames and removals', () => {
  const disk = newDisk();
  run(
    disk,
    `save('a', 'old'); put('a', 'newer');
     const fd = fs.openSync('a', 'a'); fs.writeSync(fd, '!'); fs.fdatasyncSync(fd);
     save('b', 'b'); fs.renameSync('b', 'c'); save('d', 'd'); fs.unlinkSync('d');
     fs.mkdirSync('e/f', { recursive: true }); save('e/f/g', 'g'); sync('e/f'); sync('e');
     fs.mkdirSync('${'long '.repeat(40)}'); sync('.');`,
  );
  cut(disk, 'synced', noChance);
  expect(names(disk)).toEqual(['a', 'c', 'e', 'long '.repeat(40)]);
  expect([text(disk, 'a'), text(disk, 'c'), text(disk, 'e/f/g')]).toEqual(['newer!', 'b', 'g']);
  // The disk holds exactly the rest that a cut left: cutting again changes nothing.
  cut(disk, 'synced', noChance);
  expect(text(disk, 'a')).toBe('newer!');
});

onPowerCut('a file that got the number of a removed one does not get its bytes', () => {
  const disk = newDisk();
  run(
    disk,
    `for (let i = 0; i < 50; i += 1) { save('old', 'old'); fs.unlinkSync('old'); put('new' + i, 'new'); } sync('.');`,
  );
  cut(disk, 'synced', noChance);
  for (const name of names(disk)) expect(text(disk, name), name).toBe('');
});

onPowerCut('threads that sync at once do not get each other’s bytes or names, and none is lost', () => {
  const disk = newDisk();
  run(
    disk,
    `const { Worker } = await import('node:worker_threads');
     const work = (mine) => {
       const fs = process.getBuiltinModule('node:fs');
       const shared = fs.openSync('shared', 'r+');
       for (let i = 0; i < 300; i += 1) {
         const fd = fs.openSync(mine + (i % 7), 'w');
         fs.writeSync(fd, (mine + i + ' ').repeat(i)); fs.fsyncSync(fd); fs.closeSync(fd);
         fs.writeSync(shared, mine, Number(mine) * 512); fs.fsyncSync(shared);
         if (i % 50 === 0) { const folder = fs.openSync('.', 'r'); fs.fsyncSync(folder); fs.closeSync(folder); }
       }
     };
     put('shared', ' '.repeat(4096));
     const threads = [1, 2, 3].map((mine) => new Worker('(' + work + ')("' + mine + '")', { eval: true }));
     await Promise.all(threads.map((one) => new Promise((resolve, reject) => one.once('error', reject).once('exit', resolve))));
     sync('.');`,
  );
  cut(disk, 'synced', noChance);
  expect(names(disk).length).toBe(3 * 7 + 1);
  for (const mine of ['1', '2', '3']) {
    for (let i = 293; i < 300; i += 1) expect(text(disk, mine + (i % 7)), mine + i).toBe(`${mine}${i} `.repeat(i));
    expect(text(disk, 'shared').charAt(Number(mine) * 512)).toBe(mine);
  }
});

onPowerCut('left to chance, each sector is the old or the new one, and a seed says which', () => {
  const outcome = (seed: string): string => {
    const disk = newDisk();
    run(disk, `save('x', 'o'.repeat(${SECTOR * 64})); sync('.'); put('x', 'n'.repeat(${SECTOR * 80})); put('y', 'y');`);
    cut(disk, 'mixed', chanceFrom(seed));
    return existsSync(join(disk.folder, 'y')) ? `${text(disk, 'x')}y` : text(disk, 'x');
  };
  const seen = Array.from({ length: 12 }, (_, seed) => outcome(`${seed}`));
  expect(outcome('3')).toBe(seen[3]);
  expect(new Set(seen).size).toBeGreaterThan(4);
  expect(seen.some((one) => one.endsWith('y')) && seen.some((one) => !one.endsWith('y'))).toBe(true);
  for (const one of seen) expect(one).toMatch(new RegExp(`^(?:o{${SECTOR}}|n{${SECTOR}}|\0{${SECTOR}})*y?$`));
  expect(seen.some((one) => /on/.test(one) && /no/.test(one))).toBe(true);
});

onPowerCut('a truncation that was not synced is on the disk whole or not at all, as on a real disk', () => {
  const old = 'o'.repeat(SECTOR * 64);
  const outcome = (seed: string): string => {
    const disk = newDisk();
    run(disk, `save('x', 'o'.repeat(${SECTOR * 64})); sync('.'); fs.truncateSync('x');`);
    cut(disk, 'mixed', chanceFrom(seed));
    return text(disk, 'x');
  };
  expect(new Set(Array.from({ length: 12 }, (_, seed) => outcome(`${seed}`)))).toEqual(new Set(['', old]));
});

onPowerCut('it takes nobody’s lock away: a store under it stays closed to others', async () => {
  const disk = newDisk();
  const path = join(disk.folder, 'store');
  const program = join(import.meta.dirname, 'child.ts');
  const child = spawn(process.execPath, [program, 'ledger', JSON.stringify({ folder: path }), '2'], {
    env: { ...process.env, ...environmentOf(disk, buildShim('powercut')) },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const over = new Promise((resolve) => child.once('close', resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      void over.then(() => reject(new Error('the process that has the store ended')));
      let said = '';
      child.stdio[3]?.on('data', (chunk: Buffer) => (said += chunk).includes('acknowledged') && resolve());
    });
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    child.kill('SIGKILL');
    await over;
  }
});
