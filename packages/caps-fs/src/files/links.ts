/**
 * Makes and reads links.
 *
 * Promise: a link that is made here stays beneath the cap's directory, and only the text of such a link is told.
 * The text of another one could name places of the host. (Whoever renames a link or a directory above it may make
 * it lead out. Then no operation follows it.)
 */
import { takeString } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import { isTemporary } from '../base/names.ts';
import { refuseIfFull } from '../root/free-space.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import { type Path, parseLink, parsePath } from '../root/path.ts';
import { locateDeep } from '../root/resolve.ts';
import { charge, refuseExcepted } from '../root/terms.ts';
import type { Operation } from './operation.ts';

const maxText = 4_095;

export function symlink(text: unknown, path: unknown): Operation<void> {
  const taken = takeString(text, 'the text of a link');
  const bytes = new TextEncoder().encode(taken);
  if (taken === '' || bytes.length > maxText)
    throw refusal('PATH_INVALID', `the text of a link has 1 to ${maxText} bytes`);
  if (taken.includes('\0')) throw refusal('PATH_INVALID', 'the text of a link has a NUL');
  const parsed = takeName(path);
  return (held) => {
    const { kernel, order } = held.root;
    return order.exclusive(() => {
      using target = locateDeep(held, parsed);
      refuseOutside(held, bytes, target.depth);
      if (kernel.lstat(target.dir, target.name)) throw refusal('EXISTS');
      refuseIfFull(held, target.dir, 0);
      charge(held.terms, { files: 1 });
      kernel.symlink(taken, target.dir, target.name);
    });
  };
}

export function readlink(path: unknown): Operation<string> {
  const parsed = takeName(path);
  return (held) => {
    const { kernel } = held.root;
    using target = locateDeep(held, parsed);
    try {
      const bytes = kernel.readLink(target.dir, target.name);
      refuseOutside(held, bytes, target.depth);
      return new TextDecoder().decode(bytes);
    } catch (error) {
      if (failedWith(error, 'EINVAL')) throw refusal('invalid', 'the path names no link');
      throw error;
    }
  };
}

/** `l/` names the directory that the link `l` leads to. */
function takeName(path: unknown): Path {
  const parsed = parsePath(path);
  if (parsed.directory) throw refusal('PATH_INVALID', 'the name of a link does not end in a slash');
  return parsed;
}

/** `depth` is how many directories lie between the link and the cap's directory. */
export function refuseOutside(held: HeldDirectory, bytes: Uint8Array, depth: number): void {
  const { absolute, names } = parseLink(bytes);
  if (absolute) throw refusal('RESOLVED_OUTSIDE');
  let at = depth;
  for (const name of names) {
    at += name === '..' ? -1 : 1;
    if (at < 0) throw refusal('RESOLVED_OUTSIDE');
    if (name === '..') continue;
    if (isTemporary(name)) throw refusal('NOT_FOUND');
    refuseExcepted(held.terms, name);
  }
}
