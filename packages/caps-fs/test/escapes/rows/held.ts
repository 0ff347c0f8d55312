/** Roots and subdirectories that move, go or change while a cap holds them. */
import fs from 'node:fs';
import type { FsCap } from '../../../src/index.ts';
import { escapes, file, linkOutside, listingAll, missing, outcomes, outside, type Row, row } from '../row.ts';
import type { TestWorld } from '../world.ts';

const rename = (from: string, to: string) => (world: TestWorld) =>
  fs.renameSync(`${world.top}/${from}`, `${world.top}/${to}`);
const sub = (path: string) => (root: FsCap) => root.subdir(path);

/** The directory is gone: nothing can be made in it, not even by who holds it open. */
const gone = outcomes('NOT_FOUND');
const readOnly = outcomes('ok', {
  write: 'READ_ONLY',
  edit: 'READ_ONLY',
  openWrite: 'READ_ONLY',
  append: 'READ_ONLY',
  copyFrom: 'READ_ONLY',
  copyTo: 'READ_ONLY',
  renameFrom: 'READ_ONLY',
  renameTo: 'READ_ONLY',
  mkdir: 'READ_ONLY',
  mkdirs: 'READ_ONLY',
  writeParents: 'READ_ONLY',
  writeAt: 'READ_ONLY',
  truncate: 'READ_ONLY',
  chmod: 'READ_ONLY',
  setTimes: 'READ_ONLY',
  symlink: 'READ_ONLY',
  copyTreeFrom: 'READ_ONLY',
  copyTreeTo: 'READ_ONLY',
  renameOver: 'READ_ONLY',
  renameOverFrom: 'READ_ONLY',
  remove: 'READ_ONLY',
  removeAll: 'READ_ONLY',
});

export const held: readonly Row[] = [
  row('a root that was renamed', 'dir/file', file, {}, { then: rename('root', 'moved') }),
  row('a root that was moved outside', 'dir/file', file, {}, { then: rename('root', 'outside/../moved') }),
  row(
    'a root that was exchanged for a link to outside',
    'secret',
    missing,
    {},
    {
      then: (world) => {
        rename('root', 'moved')(world);
        fs.symlinkSync('outside', world.root);
      },
    },
  ),
  row(
    'a root that was exchanged for the outside',
    'secret',
    missing,
    {},
    {
      then: (world) => {
        rename('root', 'moved')(world);
        rename('outside', 'root')(world);
        fs.mkdirSync(world.outside);
      },
    },
  ),
  row(
    'a root that was removed',
    'dir/file',
    gone,
    {},
    {
      then: (world) => fs.rmSync(world.root, { recursive: true }),
    },
  ),
  row(
    'a new name in a root that was removed',
    'none',
    gone,
    {},
    {
      then: (world) => fs.rmSync(world.root, { recursive: true }),
    },
  ),
  row(
    'a root that was removed and made again',
    'file',
    gone,
    {},
    {
      then: (world) => {
        fs.rmSync(world.root, { recursive: true });
        fs.mkdirSync(world.root);
        fs.writeFileSync(`${world.root}/file`, 'another');
      },
    },
  ),
  row(
    'a link of a root that was moved beside',
    'l',
    linkOutside,
    { l: { link: '../outside/secret' } },
    {
      then: rename('root', 'moved'),
    },
  ),

  row(
    'a file of a subdirectory',
    'deep/file',
    file,
    { 'dir/deep/file': { file: 'inside' }, 'dir/x': { file: 'x' } },
    { cap: withFile },
  ),
  row('.. of a subdirectory', '../file', escapes, {}, { cap: sub('dir') }),
  row(
    'a link of a subdirectory to its parent',
    'l',
    linkOutside,
    { 'dir/file2': { file: 'inside' }, 'dir/l': { link: '../file' } },
    { cap: sub('dir') },
  ),
  row(
    'below a link of a subdirectory to its parent',
    'l/file',
    outside,
    { 'dir/l': { link: '..' } },
    { cap: sub('dir') },
  ),
  row(
    'a subdirectory that is a link still ends where it leads',
    'l',
    linkOutside,
    { m: { link: 'dir' }, 'dir/l': { link: '../file' } },
    { cap: sub('m') },
  ),
  row(
    'a subdirectory that moved outside ends at itself',
    'l/secret',
    outside,
    { 'dir/l': { link: '..' } },
    {
      cap: sub('dir'),
      then: rename('root/dir', 'elsewhere'),
    },
  ),
  row(
    'a subdirectory whose name now leads outside',
    'secret',
    missing,
    {},
    {
      cap: sub('dir'),
      then: (world) => {
        rename('root/dir', 'root/away')(world);
        fs.symlinkSync(world.outside, `${world.root}/dir`);
      },
    },
  ),
  row(
    'a subdirectory that was removed',
    'file',
    gone,
    {},
    {
      cap: sub('dir'),
      then: (world) => fs.rmSync(`${world.root}/dir`, { recursive: true }),
    },
  ),

  row(
    'a link to outside, read-only',
    'l',
    { ...readOnly, ...seenOutside() },
    { l: { link: 'OUTSIDE/secret' } },
    {
      cap: (root) => root.readOnly(),
    },
  ),
  row(
    'below a link to outside, read-only',
    'l/secret',
    { ...readOnly, ...seenOutside(), stat: 'RESOLVED_OUTSIDE' },
    { l: { link: 'OUTSIDE' } },
    {
      cap: (root) => root.readOnly(),
    },
  ),
];

/** The operations that need a `file` beside find it there. */
async function withFile(root: FsCap): Promise<FsCap> {
  return await root.subdir('dir');
}

function seenOutside() {
  const out = 'RESOLVED_OUTSIDE' as const;
  return {
    ...listingAll(out),
    read: out,
    readText: out,
    readTail: out,
    readMany: out,
    openRead: out,
    statFollow: out,
    readlink: out,
  } as const;
}
