/**
 * One program file of this machine, held by a descriptor.
 *
 * It stays the file that was there when the cap was made. Its inode number is not reused while the descriptor
 * is open, so no other file can pass for it. A file that is changed in place has another size or time of
 * change.
 */
import fs from 'node:fs';
import { basename } from 'node:path';
import { CapError } from '@hob/vat';
import type { Mount, SandboxSpec } from '../sandbox-spec.ts';

interface Executable extends Disposable {
  /** Path inside. */
  readonly program: string;
  /** Its name, as `argv[0]`. */
  readonly name: string;
  readonly is: NonNullable<SandboxSpec['is']>;
  /** The mounts that it needs besides the system image. */
  readonly mounts: readonly Mount[];
  /** Whether the file is unchanged, as far as its metadata tells. */
  isSame(): boolean;
  close(): void;
}

const O_PATH = 0o10000000;

/** Closes the descriptor if its cap was dropped without `close`. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

/** Errors: `E_EXEC_NOT_FOUND`; `unavailable` if the machine cannot tell whether it is there. */
export function openExecutable(path: string): Executable {
  let fd: number;
  let real: string;
  try {
    real = fs.realpathSync(path);
    fd = fs.openSync(real, O_PATH);
  } catch (error) {
    if (!/^(?:ENOENT|ENOTDIR|ELOOP|ENAMETOOLONG|EACCES)$/.test(String((error as NodeJS.ErrnoException).code)))
      throw new CapError(
        'unavailable',
        'this program cannot be checked now: look at the disk, and at the limit of open files',
      );
    throw new CapError('E_EXEC_NOT_FOUND', 'there is no such program on this machine');
  }
  const { dev, ino, size, mtimeNs, mode } = fs.fstatSync(fd, { bigint: true });
  if ((mode & 0o170000n) !== 0o100000n || (mode & 0o111n) === 0n) {
    fs.closeSync(fd);
    throw new CapError('E_EXEC_NOT_FOUND', 'this is not a program: it has to be an executable file');
  }
  const name = basename(path);
  // A program of the system image runs at its own path, because it looks for its files next to itself.
  const inImage = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(real);
  const at = `/opt/hob/command/${name}`;
  let open = true;
  const close = (): void => {
    if (open) fs.closeSync(fd);
    open = false;
  };
  const made: Executable = Object.freeze({
    program: inImage ? real : at,
    name,
    is: Object.freeze({ dev, ino, size, mtimeNs }),
    mounts: inImage ? [] : [Object.freeze({ fd, dev, ino, at, writable: false, system: true })],
    isSame: () => {
      const now = fs.fstatSync(fd, { bigint: true });
      return now.nlink > 0n && now.size === size && now.mtimeNs === mtimeNs;
    },
    close: () => {
      forgotten.unregister(made);
      close();
    },
    [Symbol.dispose]: () => made.close(),
  });
  forgotten.register(made, close, made);
  return made;
}
