/**
 * The closed set of codes, and one table of their messages.
 *
 * Promise: an error that leaves this package is a `CapError` built here. It carries no path of the host, no
 * errno, no system call and no cause. Node's errors name `/proc/self/fd/9/x` or the real path, so none of
 * them is ever wrapped.
 */
import { CapError } from '@hob/vat';
import { KernelError } from './kernel.ts';

export type FsCode = keyof typeof messages;

// A test vector fixes the first three texts word for word. No detail is ever added to them.
const messages = {
  PATH_ESCAPES: 'path escapes',
  PATH_ABSOLUTE: 'absolute paths forbidden',
  RESOLVED_OUTSIDE: 'resolved outside root',
  PATH_INVALID: 'malformed path: give names separated by "/", each at most 255 bytes of UTF-8',
  LINK_LOOP: 'too many links: name the file directly',
  NOT_FOUND: 'no such file or directory: list() shows what there is',
  EXISTS: 'exists already: choose another name or remove it first',
  NOT_A_DIRECTORY: 'not a directory: list() of where it is shows which are',
  IS_A_DIRECTORY: 'is a directory: name a file in it',
  NOT_EMPTY: 'directory not empty: remove its entries first or ask for recursive',
  NOT_A_FILE: 'not a regular file: name the file itself, with one name',
  NOT_PERMITTED: 'not permitted: neither retry nor another spelling will help, ask for a wider grant',
  READ_ONLY: 'read-only: ask for a capability that may write',
  CLOSED: 'closed: ask for the capability again',
  UNSUPPORTED: 'not supported here',
  FS_LIMIT: 'limit reached',
  NO_SPACE: 'no space left: remove something first',
  STALE: 'changed since that version: read it again',
  NO_MATCH: 'text not found: read the file and copy the passage exactly',
  AMBIGUOUS: 'text found more than once: give more of what surrounds it',
  BUSY: 'busy, it changes while being used: try again',
  IO: 'input/output error: try again, and if it stays tell whoever granted the directory',
  invalid: 'malformed argument',
} as const;

/** `detail` names the limit or the argument. It is always our own text and never comes from the host. */
export function refusal(code: FsCode, detail?: string): CapError {
  return new CapError(code, detail === undefined ? messages[code] : `${messages[code]}: ${detail}`);
}

const fromErrno: ReadonlyMap<string, FsCode> = new Map<string, FsCode>([
  ['ENOENT', 'NOT_FOUND'],
  ['ESTALE', 'NOT_FOUND'],
  ['EEXIST', 'EXISTS'],
  ['ENOTDIR', 'NOT_A_DIRECTORY'],
  ['EISDIR', 'IS_A_DIRECTORY'],
  ['ENOTEMPTY', 'NOT_EMPTY'],
  ['EXDEV', 'RESOLVED_OUTSIDE'],
  ['ELOOP', 'RESOLVED_OUTSIDE'],
  ['ENAMETOOLONG', 'PATH_INVALID'],
  ['EINVAL', 'PATH_INVALID'],
  ['EILSEQ', 'PATH_INVALID'],
  ['ENXIO', 'NOT_A_FILE'],
  ['ENODEV', 'NOT_A_FILE'],
  ['EACCES', 'NOT_PERMITTED'],
  ['EPERM', 'NOT_PERMITTED'],
  ['EROFS', 'NOT_PERMITTED'],
  ['ETXTBSY', 'NOT_PERMITTED'],
  ['EMFILE', 'FS_LIMIT'],
  ['ENFILE', 'FS_LIMIT'],
  ['EFBIG', 'FS_LIMIT'],
  ['ENOMEM', 'FS_LIMIT'],
  ['EMLINK', 'FS_LIMIT'],
  ['ENOSPC', 'NO_SPACE'],
  ['EDQUOT', 'NO_SPACE'],
  ['EAGAIN', 'BUSY'],
  ['EBUSY', 'BUSY'],
  ['ENOSYS', 'UNSUPPORTED'],
  ['ENOTSUP', 'UNSUPPORTED'],
  ['EOPNOTSUPP', 'UNSUPPORTED'],
]);

/**
 * Turns a kernel error into the refusal that a caller may see. Any other error passes through: it is ours, or
 * a bug.
 */
export function outward(thrown: unknown): unknown {
  if (!(thrown instanceof KernelError)) return thrown;
  const { errno } = thrown;
  const code = fromErrno.get(errno) ?? 'IO';
  // The grant permits it and the system does not. A wider grant would not help.
  const own = systemRefusals.get(errno);
  return own === undefined ? refusal(code, details.get(errno) ?? details.get(code)) : new CapError(code, own);
}

const modes = 'not permitted by the system: whoever granted the directory can change owners and modes in it';
/** Full texts by errno. They contain nothing of the host. */
export const systemRefusals: ReadonlyMap<string, string> = new Map([
  ['EACCES', modes],
  ['EPERM', modes],
  ['EROFS', 'not permitted by the system: its file system is read-only'],
  ['ETXTBSY', 'not permitted by the system: a program is running from that file, wait for its end'],
]);

/** By errno, or else by code. */
const details: ReadonlyMap<string, string> = new Map([
  ['ENAMETOOLONG', 'a name is longer than its file system permits'],
  ['EINVAL', 'its file system does not permit that name, or a directory would lie in itself'],
  ['EILSEQ', 'its file system does not permit these characters'],
  ['EMFILE', 'descriptors of the process, close something'],
  ['ENFILE', 'descriptors of the machine, try again later'],
  ['EFBIG', 'the largest file that its file system permits'],
  ['ENOMEM', 'memory of the machine, try again later'],
  ['EMLINK', 'entries of one directory, or names of one file'],
  ['UNSUPPORTED', 'its file system cannot do that, ask for another directory'],
]);

export function failedWith(thrown: unknown, ...errnos: readonly string[]): boolean {
  return thrown instanceof KernelError && errnos.includes(thrown.errno);
}
