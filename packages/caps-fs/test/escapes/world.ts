/**
 * The place where a row of the table is played: a root to be confined to, with the things that the row plants,
 * and beside it an outside that must never be seen.
 *
 * Promise: `snapshot()` differs when anything of either was made, changed or removed.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** Text and names that only the outside has. */
export const SECRET = 'outside: nobody with the cap may read this';
export const OUTSIDE_NAME = 'known-only-outside';

/** In the text of a link `OUTSIDE`, `ROOT` and `TOP` stand for paths of the host. */
export type Thing =
  | { readonly link: string; readonly owner?: number }
  | { readonly file: string; readonly mode?: number }
  | { readonly dir: number; readonly owner?: number }
  | { readonly hard: string }
  | { readonly bind: string }
  | { readonly device: readonly [kind: 'c' | 'b', major: number, minor: number] }
  | 'fifo'
  | 'tmpfs'
  | 'socket';

/**
 * In the order of the record. A name is a path beneath the root, its parents are made; `\xNN` stands for that
 * byte.
 */
export type Plants = Readonly<Record<string, Thing>>;

export interface TestWorld extends AsyncDisposable {
  readonly top: string;
  readonly root: string;
  readonly outside: string;
  snapshot(): { readonly root: string; readonly outside: string };
}

// In memory where there is such a place: thousands of worlds are made, and each write waits for its disk.
const place = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

export async function makeWorld(plants: Plants): Promise<TestWorld> {
  const top = fs.mkdtempSync(path.join(place, 'caps-fs-'));
  const root = path.join(top, 'root');
  const outside = path.join(top, 'outside');
  fs.mkdirSync(path.join(root, 'dir', 'deep'), { recursive: true });
  fs.writeFileSync(path.join(root, 'dir', 'file'), 'inside');
  fs.writeFileSync(path.join(root, 'file'), 'inside');
  // For recursive copies. No row plants anything in it.
  for (const dir of ['whole', 'dir/whole']) {
    fs.mkdirSync(path.join(root, dir));
    fs.writeFileSync(path.join(root, dir, 'file'), 'inside');
  }
  fs.mkdirSync(path.join(outside, 'dir'), { recursive: true });
  for (const name of ['secret', 'dir/secret', OUTSIDE_NAME]) fs.writeFileSync(path.join(outside, name), SECRET);
  const servers: net.Server[] = [];
  let mounted = false;
  const world = {
    top,
    root,
    outside,
    snapshot: () => ({ root: picture(root), outside: picture(outside) }),
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await new Promise((closed) => server.close(closed));
      // By where they are now: what they stand in may have been renamed.
      for (const mount of mounted ? mountsBeneath(top) : []) execFileSync('umount', ['-l', mount]);
      const closed = Object.values(plants).some(
        (thing) => typeof thing === 'object' && 'dir' in thing && (thing.dir & 0o700) !== 0o700,
      );
      if (closed) execFileSync('chmod', ['-R', 'u+rwx', top], { stdio: 'ignore' });
      fs.rmSync(top, { recursive: true, force: true });
    },
  };
  try {
    for (const [name, thing] of Object.entries(plants)) await plant(rawPath(root, name), thing);
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
  return world;

  async function plant(at: Buffer, thing: Thing): Promise<void> {
    const text = at.toString();
    fs.mkdirSync(path.dirname(text), { recursive: true });
    if (thing === 'fifo') execFileSync('mkfifo', [text]);
    else if (thing === 'socket') {
      const server = net.createServer().listen(text);
      await once(server, 'listening');
      servers.push(server);
    } else if (thing === 'tmpfs' || 'bind' in thing) {
      const from = thing === 'tmpfs' ? undefined : thing.bind.replace('OUTSIDE', outside).replace('ROOT', root);
      if (from === undefined || fs.statSync(from).isDirectory()) fs.mkdirSync(at, { recursive: true });
      else fs.writeFileSync(at, '');
      // Recursive: in a user namespace nothing that was hidden by a mount may be laid bare.
      execFileSync('mount', from === undefined ? ['-t', 'tmpfs', 'none', text] : ['--rbind', from, text]);
      mounted = true;
    } else if ('link' in thing) {
      const target = thing.link.replace('OUTSIDE', outside).replace('ROOT', root).replace('TOP', top);
      fs.symlinkSync(rawPath('', target), at);
      if (thing.owner !== undefined) fs.lchownSync(at, thing.owner, thing.owner);
    } else if ('file' in thing) {
      fs.writeFileSync(at, thing.file);
      if (thing.mode !== undefined) fs.chmodSync(at, thing.mode);
    } else if ('dir' in thing) {
      fs.mkdirSync(at, { recursive: true });
      fs.chmodSync(at, thing.dir);
      if (thing.owner !== undefined) fs.chownSync(at, thing.owner, thing.owner);
    } else if ('hard' in thing) fs.linkSync(thing.hard.replace('OUTSIDE', outside).replace('ROOT', root), at);
    else execFileSync('mknod', [text, ...thing.device.map(String)]);
  }
}

function mountsBeneath(top: string): string[] {
  const points = fs
    .readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${top}/`)).toReversed();
}

/** `\xNN` as that byte, so that rows can name what is not UTF-8. */
function rawPath(root: string, name: string): Buffer {
  const parts = name.split(/(\\x[0-9a-f]{2})/);
  const bytes = parts.map((part, i) => (i % 2 === 1 ? Buffer.from(part.slice(2), 'hex') : Buffer.from(part)));
  return Buffer.concat(root === '' ? bytes : [Buffer.from(`${root}/`), ...bytes]);
}

/** Every name with what it is; not into other mounts, nor into what may not be read. */
function picture(dir: string): string {
  const lines: string[] = [];
  const look = (at: Buffer, device: number): void => {
    let names: Buffer[];
    try {
      names = fs.readdirSync(at, 'buffer').sort(Buffer.compare);
    } catch {
      return;
    }
    for (const name of names) {
      const entry = Buffer.concat([at, Buffer.from('/'), name]);
      const s = fs.lstatSync(entry);
      const line = [entry.toString('latin1'), s.mode.toString(8), s.size, s.ino];
      if (s.isFile()) line.push(s.mtimeMs);
      if (s.isSymbolicLink()) line.push(fs.readlinkSync(entry, 'buffer').toString('latin1'));
      if (s.isFile() && s.size <= 4096 && s.dev === device) line.push(contentOf(entry));
      lines.push(line.join(' '));
      if (s.isDirectory() && s.dev === device) look(entry, device);
    }
  };
  const start = fs.lstatSync(dir, { throwIfNoEntry: false });
  if (start?.isDirectory()) look(Buffer.from(dir), start.dev);
  return lines.join('\n');
}

function contentOf(file: Buffer): string {
  try {
    return fs.readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
