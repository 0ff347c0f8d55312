/**
 * Finds out what a call would change before anybody is asked. It reads the file through the cap that the
 * call would go to.
 *
 * Promise: a diff is of one version of a file, and names that version. If nothing can be shown, the request
 * says so, and why. The caller is not told, because a refusal must not reveal a file that the caller may
 * not read.
 */
import { E } from '@hob/vat';
import type { FileVersion } from '../state/records.ts';
import { safeText } from '../text/safe-text.ts';
import { methodText } from './display.ts';
import { codeOf, type Directory, statNow } from './file-now.ts';
import { previewAppend, previewEdit, previewTruncate, previewWrite, previewWriteAt } from './preview-content.ts';
import {
  previewChmod,
  previewCopy,
  previewRemove,
  previewRename,
  previewSetTimes,
  previewSymlink,
} from './preview-names.ts';
import { effectOnly, type Looks, type Preview, pathText } from './preview-text.ts';

const looks: Readonly<Record<string, Looks>> = {
  append: previewAppend,
  chmod: previewChmod,
  copy: previewCopy,
  edit: previewEdit,
  remove: previewRemove,
  rename: previewRename,
  setTimes: previewSetTimes,
  symlink: previewSymlink,
  truncate: previewTruncate,
  write: previewWrite,
  writeAt: previewWriteAt,
};

/** In a turn. The promise never rejects. */
export function previewOf(of: object, method: string, args: readonly unknown[]): Promise<Preview> {
  const [path] = args;
  const look = Object.hasOwn(looks, method) ? looks[method] : undefined;
  if (look !== undefined && typeof path === 'string') {
    const { effect, preview } = look(of as Directory, path, args);
    return E.when(
      preview(),
      (shown) => shown,
      (error) => ({
        ...effectOnly(effect),
        rows: [['what it would change', `cannot be shown: it says ${safeText(codeOf(error), 64).text}`]],
      }),
    ) as Promise<Preview>;
  }
  const called = `calls ${methodText(method)}`;
  const effect = typeof path === 'string' ? `${called} on ${pathText(path)}` : called;
  return E.when(undefined, () => effectOnly(effect)) as Promise<Preview>;
}

/** In a turn: whether the files are still as they were shown. */
export function filesUnchanged(of: object, seen: readonly FileVersion[]): Promise<boolean> {
  const [first, ...rest] = seen;
  if (first === undefined) return E.when(true, (yes) => yes) as Promise<boolean>;
  const [path, version] = first;
  return E.when(statNow(of as Directory, path), (stat) =>
    stat?.version === version ? filesUnchanged(of, rest) : false,
  ) as unknown as Promise<boolean>;
}
