/** Paths without a link: each spelling of what is there, and of what is not. */
import { belowFile, directory, file, missing, outcomes, parentMissing, type Row, row } from '../row.ts';

/** `x/` of a file: no operation takes it for the file. */
const fileAsDirectory = outcomes('NOT_A_DIRECTORY', {
  write: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  append: 'IS_A_DIRECTORY',
  edit: 'NOT_A_DIRECTORY',
  copyTo: 'IS_A_DIRECTORY',
  renameTo: 'NOT_A_DIRECTORY',
  mkdir: 'EXISTS',
});
const missingAsDirectory = outcomes('NOT_FOUND', {
  write: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  append: 'IS_A_DIRECTORY',
  copyTo: 'IS_A_DIRECTORY',
  renameTo: 'NOT_A_DIRECTORY',
  mkdir: 'ok',
  mkdirs: 'ok',
});
const ownDirectory = outcomes('IS_A_DIRECTORY', {
  stat: 'ok',
  list: 'ok',
  entries: 'ok',
  subdir: 'ok',
  mkdir: 'EXISTS',
  mkdirs: 'ok',
  remove: 'NOT_PERMITTED',
  removeAll: 'NOT_PERMITTED',
  renameFrom: 'NOT_PERMITTED',
  renameTo: 'NOT_PERMITTED',
});
const slashed = { ...directory, copyTo: 'IS_A_DIRECTORY', renameTo: 'NOT_A_DIRECTORY' } as const;
const emptyDirectory = { ...directory, remove: 'ok' } as const;
const deep = (depth: number) => Array.from({ length: depth }, (_, i) => `d${i % 10}`).join('/');
const bytes255 = 'あ'.repeat(85);

export const plain: readonly Row[] = [
  row('a file', 'dir/file', file),
  row('a file after ./', './dir/file', file),
  row('a file with // inside', 'dir//file', file),
  row('a file with /./ inside', 'dir/./file', file),
  row('a file with every empty spelling', './/.//dir/.//./file', file),
  row('file/', 'dir/file/', fileAsDirectory),
  row('file/.', 'dir/file/.', fileAsDirectory),
  row('file//', 'dir/file//', fileAsDirectory),
  row('file/./.', 'dir/file/./.', fileAsDirectory),
  row('beneath a file', 'dir/file/x', belowFile),
  row('two beneath a file', 'dir/file/x/y', belowFile),
  row('a directory', 'dir', directory),
  row('dir/', 'dir/', slashed),
  row('dir/.', 'dir/.', slashed),
  row('dir//.//', 'dir//.//', slashed),
  row('an empty directory', 'dir/deep', emptyDirectory),
  row('an empty directory/', 'dir/deep/', { ...slashed, remove: 'ok' }),
  row('the own directory as .', '.', ownDirectory),
  row('the own directory as ./', './', ownDirectory),
  row('the own directory as .//./.', './/./.', ownDirectory),
  row('nothing', 'none', missing),
  row('nothing in a directory', 'dir/none', missing),
  row('nothing/', 'none/', missingAsDirectory),
  row('nothing/.', 'none/.', missingAsDirectory),
  row('beneath nothing', 'none/x', parentMissing),
  row('128 deep', deep(128), { ...directory, remove: 'ok' }, { [deep(128)]: { dir: 0o755 } }),
  row('128 deep, and nothing of it is there', deep(128), parentMissing),
  row('a file 128 deep', `${deep(127)}/f`, file, { [`${deep(127)}/f`]: { file: 'inside' } }),
  row('a name of 255 bytes', 'n'.repeat(255), file, { ['n'.repeat(255)]: { file: 'inside' } }),
  row('a name of 255 bytes in 85 characters', bytes255, file, { [bytes255]: { file: 'inside' } }),
  row('a name of 255 bytes that is not there', 'm'.repeat(255), missing),
];
