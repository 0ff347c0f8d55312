/** The type of a row of the table, and the outcomes that many rows share. */
import type { FsCode } from '../../src/base/errors.ts';
import type { FsCap } from '../../src/index.ts';
import { type OperationName, operationNames } from './operations.ts';
import type { Plants, TestWorld } from './world.ts';

/** A code, `ok`, or `*` where only that nothing gets out is asked for. */
export type ExpectedCode = FsCode | 'ok' | '*';
export type ExpectedCodes = Readonly<Record<OperationName, ExpectedCode>>;

/** The user that can play a row. `mounts` is a process that may mount, in a mount namespace of its own. */
export type Player = 'root' | 'nonroot' | 'mounts';

export interface Row {
  readonly name: string;
  /** The value that the holder sends as a path. It may have any type. */
  readonly path: unknown;
  readonly plants: Plants;
  readonly outcomes: ExpectedCodes;
  readonly player?: Player;
  /** The granter put outside content in here by himself: a hard link. */
  readonly mayReadOutside?: boolean;
  /** Operations that have taken effect in part when they are refused. */
  readonly partial?: readonly OperationName[];
  /** After the root was opened. */
  readonly then?: (world: TestWorld) => void;
  /** The cap that is attacked, if it is not the root's own. */
  readonly cap?: (root: FsCap) => Promise<FsCap>;
}

type Change = Partial<Record<OperationName, ExpectedCode>>;

/**
 * The same for each operation, but for some. A pattern matches other names than a path means, so `glob` only
 * must not leak.
 */
export function outcomes(all: ExpectedCode, but: Change = {}): ExpectedCodes {
  const base = Object.fromEntries(operationNames.map((name) => [name, all])) as Record<OperationName, ExpectedCode>;
  return { ...base, glob: '*', search: '*', searchReport: '*', ...but };
}

export function row(
  name: string,
  path: unknown,
  expected: ExpectedCodes,
  plants: Plants = {},
  more: Omit<Row, 'name' | 'path' | 'outcomes' | 'plants'> = {},
): Row {
  // Searched is what can be read: a directory by what is in it.
  const { read, search } = expected;
  const searched = search === '*' ? (read === 'IS_A_DIRECTORY' ? 'ok' : read) : search;
  const outcomes = { ...expected, search: searched, searchReport: searched };
  return { name, path, outcomes, plants, ...more };
}

const notADirectory: Change = {
  list: 'NOT_A_DIRECTORY',
  entries: 'NOT_A_DIRECTORY',
  subdir: 'NOT_A_DIRECTORY',
  tree: 'NOT_A_DIRECTORY',
};
const exists: Change = {
  copyTo: 'EXISTS',
  renameTo: 'EXISTS',
  mkdir: 'EXISTS',
  symlink: 'EXISTS',
  copyTreeTo: 'EXISTS',
};
/** Every operation that reads the content of one file. */
export const readingAll = (code: ExpectedCode): Change => ({
  read: code,
  readText: code,
  readTail: code,
  readMany: code,
  openRead: code,
  copyFrom: code,
});
/** Every operation that changes the content of one file. */
export const changingAll = (code: ExpectedCode): Change => ({
  write: code,
  writeParents: code,
  edit: code,
  openWrite: code,
  append: code,
  writeAt: code,
  truncate: code,
});
/** Every operation that lists a directory. */
export const listingAll = (code: ExpectedCode): Change => ({ list: code, entries: code, subdir: code, tree: code });
/** `x/` is not a name of a link. */
export const noLinkName: Change = { readlink: 'PATH_INVALID', symlink: 'PATH_INVALID' };
const notAFile = changingAll('NOT_A_FILE');

/** By no spelling and no operation is there anything. */
export const escapes: ExpectedCodes = outcomes('PATH_ESCAPES');
export const absolute: ExpectedCodes = outcomes('PATH_ABSOLUTE');
export const invalid: ExpectedCodes = outcomes('PATH_INVALID');
/** A parent leads out. */
export const outside: ExpectedCodes = outcomes('RESOLVED_OUTSIDE');
export const loop: ExpectedCodes = outcomes('LINK_LOOP');
export const parentMissing: ExpectedCodes = outcomes('NOT_FOUND', { mkdirs: 'ok', writeParents: 'ok' });
/** A parent is a link that leads to nothing: `mkdir -p` does not fill in where it points. */
export const danglingParent: ExpectedCodes = outcomes('NOT_FOUND');
export const belowFile: ExpectedCodes = outcomes('NOT_A_DIRECTORY');

export const file: ExpectedCodes = outcomes('ok', {
  ...notADirectory,
  ...exists,
  mkdirs: 'NOT_A_DIRECTORY',
  readlink: 'invalid',
});

/** Nothing there, in a directory that is. */
export const missing: ExpectedCodes = outcomes('NOT_FOUND', {
  write: 'ok',
  openWrite: 'ok',
  append: 'ok',
  copyTo: 'ok',
  renameTo: 'ok',
  mkdir: 'ok',
  mkdirs: 'ok',
  writeParents: 'ok',
  symlink: 'ok',
  copyTreeTo: 'ok',
  renameOver: 'ok',
});

/** With something in it. */
export const directory: ExpectedCodes = outcomes('ok', {
  ...exists,
  ...readingAll('IS_A_DIRECTORY'),
  ...changingAll('IS_A_DIRECTORY'),
  remove: 'NOT_EMPTY',
  readlink: 'invalid',
  renameOver: 'IS_A_DIRECTORY',
  renameOverFrom: 'NOT_A_DIRECTORY',
});

/**
 * The last name is a link: never written through nor replaced, removed and renamed itself, read where it
 * leads.
 */
export function link(leadsTo: Change): ExpectedCodes {
  const own: Change = { copyTo: 'NOT_A_FILE', chmod: 'NOT_A_FILE', setTimes: 'NOT_A_FILE' };
  return outcomes('ok', { ...notAFile, ...exists, ...own, ...leadsTo });
}

const seen = (all: ExpectedCode, readlink: ExpectedCode = 'ok'): Change => ({
  ...readingAll(all),
  ...listingAll(all),
  mkdirs: all,
  statFollow: all,
  copyTreeFrom: all,
  readlink,
});

export const linkToFile: ExpectedCodes = link({ ...notADirectory, mkdirs: 'NOT_A_DIRECTORY' });
export const linkToDirectory: ExpectedCodes = link(readingAll('IS_A_DIRECTORY'));
/** By its own text. Such a text is not told. */
export const linkOutside: ExpectedCodes = link(seen('RESOLVED_OUTSIDE', 'RESOLVED_OUTSIDE'));
/** By the text of a link that it leads to, or of one in its text. */
export const linkOutsideByAnother: ExpectedCodes = link(seen('RESOLVED_OUTSIDE'));
export const linkToNothing: ExpectedCodes = link(seen('NOT_FOUND'));
export const linkLoop: ExpectedCodes = link(seen('LINK_LOOP'));
export const linkThroughFile: ExpectedCodes = link(seen('NOT_A_DIRECTORY'));
export const linkMalformed: ExpectedCodes = link(seen('PATH_INVALID', 'PATH_INVALID'));

/** FIFO, socket, device: refused without being opened; removed and renamed like any name. */
export const special: ExpectedCodes = outcomes('ok', {
  ...notADirectory,
  ...exists,
  ...notAFile,
  ...readingAll('NOT_A_FILE'),
  copyTreeFrom: 'NOT_A_FILE',
  chmod: 'NOT_A_FILE',
  setTimes: 'NOT_A_FILE',
  readlink: 'invalid',
  mkdirs: 'NOT_A_DIRECTORY',
});
export const linkToSpecial: ExpectedCodes = link({
  ...notADirectory,
  ...readingAll('NOT_A_FILE'),
  copyTreeFrom: 'NOT_A_FILE',
  mkdirs: 'NOT_A_DIRECTORY',
});
