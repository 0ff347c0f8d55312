/** The methods of a directory cap, as data: for `only`, for a grant that asks about changes, for tests. */
import type { FsCap } from './fs-cap.ts';

type Method = keyof FsCap;

/** The methods that change something beneath the directory. A grant with `gated: changingMethods` asks about each. */
export const changingMethods: readonly Method[] = Object.freeze<Method[]>([
  'write',
  'append',
  'edit',
  'mkdir',
  'remove',
  'rename',
  'copy',
  'openWrite',
  'writeAt',
  'truncate',
  'chmod',
  'setTimes',
  'symlink',
]);

/** The methods that show something beneath the directory and change nothing. */
export const readingMethods: readonly Method[] = Object.freeze<Method[]>([
  'read',
  'readText',
  'readMany',
  'readlink',
  'openRead',
  'stat',
  'list',
  'entries',
  'tree',
  'glob',
  'search',
  'searchReport',
  'subdir',
]);

/** The methods that make a cap with fewer rights, and the one that ends the cap. */
const ownMethods: readonly Method[] = ['readOnly', 'only', 'except', 'withQuota', 'close'];

export const allMethods: ReadonlySet<string> = new Set<Method>([...readingMethods, ...changingMethods, ...ownMethods]);
